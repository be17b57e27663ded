package visage

import (
	"context"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	visagev1 "github.com/visage-face/visage/sdks/go/visage/v1"
)

var keyNotFound = failure{code: codes.NotFound, reason: "KEY_NOT_FOUND"}

// failingAccount fails as a failingService does.
type failingAccount struct {
	visagev1.UnimplementedAccountServiceServer
	failingService
}

func (s *failingAccount) GetUsage(
	ctx context.Context, request *visagev1.GetUsageRequest,
) (*visagev1.GetUsageResponse, error) {
	return &visagev1.GetUsageResponse{Counts: []*visagev1.UsageCount{{Month: request.GetFirstMonth()}}}, s.fail(ctx)
}

func (s *failingAccount) CreateKey(
	ctx context.Context, request *visagev1.CreateKeyRequest,
) (*visagev1.CreateKeyResponse, error) {
	return &visagev1.CreateKeyResponse{}, s.fail(ctx)
}

func (s *failingAccount) DeleteKey(
	ctx context.Context, request *visagev1.DeleteKeyRequest,
) (*visagev1.DeleteKeyResponse, error) {
	return &visagev1.DeleteKeyResponse{}, s.fail(ctx)
}

func TestCallsOfAnAccountFollowTheRulesOfTheClient(t *testing.T) {
	getUsage := func(ctx context.Context, account visagev1.AccountServiceClient) error {
		usage, err := account.GetUsage(ctx, &visagev1.GetUsageRequest{FirstMonth: "2026-01"})
		if err == nil && usage.GetCounts()[0].GetMonth() != "2026-01" {
			t.Error(usage)
		}
		return err
	}
	createKey := func(ctx context.Context, account visagev1.AccountServiceClient) error {
		_, err := account.CreateKey(ctx, &visagev1.CreateKeyRequest{})
		return err
	}
	deleteKey := func(ctx context.Context, account visagev1.AccountServiceClient) error {
		_, err := account.DeleteKey(ctx, &visagev1.DeleteKeyRequest{Fingerprint: "0123"})
		return err
	}
	for name, test := range map[string]struct {
		call     func(context.Context, visagev1.AccountServiceClient) error
		failures []failure
		calls    int
		reason   string
	}{
		"read":                          {getUsage, nil, 1, ""},
		"read after a lost response":    {getUsage, []failure{noResponse, draining}, 3, ""},
		"create after a rejection":      {createKey, []failure{overloaded, overloaded}, 3, ""},
		"not created twice":             {createKey, []failure{noResponse}, 1, ReasonUnreachable},
		"not created after an error":    {createKey, []failure{internal}, 1, "INTERNAL"},
		"deleted after a lost response": {deleteKey, []failure{noResponse, keyNotFound}, 2, ""},
		"nothing to delete":             {deleteKey, []failure{keyNotFound}, 1, "KEY_NOT_FOUND"},
	} {
		t.Run(name, func(t *testing.T) {
			service := &failingAccount{failingService: failingService{failures: test.failures}}
			register := func(server *grpc.Server) { visagev1.RegisterAccountServiceServer(server, service) }
			client := openServer(t, register, Options{})
			expectReason(t, test.call(context.Background(), client.Account()), test.reason)
			if service.calls != test.calls {
				t.Fatalf("got %d calls, want %d", service.calls, test.calls)
			}
		})
	}
}

func TestAClosedClientEndsCallsOfAnAccount(t *testing.T) {
	register := func(server *grpc.Server) { visagev1.RegisterAccountServiceServer(server, &failingAccount{}) }
	client := openServer(t, register, Options{})
	_ = client.Close()
	_, err := client.Account().GetAccount(context.Background(), &visagev1.GetAccountRequest{})
	expectReason(t, err, ReasonCancelled)
}
