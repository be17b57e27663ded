package visage_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	visage "github.com/visage-face/visage/sdks/go"
	visagev1 "github.com/visage-face/visage/sdks/go/visage/v1"
)

// The service accepts VISAGE_ADMIN_KEY as the key of its operator.
func TestServiceManagesAUserAndItsAccount(t *testing.T) {
	ctx := context.Background()
	admin := openService(t, visage.Options{APIKey: os.Getenv("VISAGE_ADMIN_KEY")}).Admin()
	name := fmt.Sprintf("go-%d", time.Now().UnixNano())
	created, err := admin.CreateUser(ctx, &visagev1.CreateUserRequest{Name: name, Plan: "pro"})
	if err != nil {
		t.Fatal(err)
	}
	account := openService(t, visage.Options{APIKey: created.GetKey()}).Account()
	own, err := account.GetAccount(ctx, &visagev1.GetAccountRequest{})
	if err != nil || own.GetName() != name || own.GetPlan().GetName() != "pro" {
		t.Fatal(own, err)
	}
	renewed, err := account.CreateKey(ctx, &visagev1.CreateKeyRequest{})
	if err != nil || len(renewed.GetKeys()) != 2 {
		t.Fatal(renewed, err)
	}
	for _, key := range renewed.GetKeys() {
		_, err := account.DeleteKey(ctx, &visagev1.DeleteKeyRequest{Fingerprint: key.GetFingerprint()})
		if key.GetCurrent() {
			expectFailure(t, err, "KEY_IN_USE")
		} else if err != nil {
			t.Error(err)
		}
	}
	if usage, err := account.GetUsage(ctx, &visagev1.GetUsageRequest{}); err != nil || len(usage.GetCounts()) != 0 {
		t.Error(usage, err)
	}
	users, err := admin.ListUsers(ctx, &visagev1.ListUsersRequest{Query: name})
	if err != nil || users.GetTotalSize() != 1 {
		t.Error(users, err)
	}
	if _, err := admin.DeleteUser(ctx, &visagev1.DeleteUserRequest{User: name}); err != nil {
		t.Error(err)
	}
	_, err = admin.GetUser(ctx, &visagev1.GetUserRequest{User: name})
	expectFailure(t, err, "USER_NOT_FOUND")
}
