package visage

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// createCertificate creates a self-signed certificate for 127.0.0.1.
func createCertificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotAfter:     time.Now().Add(time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

func TestTrustsTheGivenCAAndPresentsACertificate(t *testing.T) {
	serverCertificate, serverPool := createCertificate(t)
	clientCertificate, clientPool := createCertificate(t)
	address, _ := serve(t, (&fakeService{}).register, "127.0.0.1:0", grpc.Creds(credentials.NewTLS(&tls.Config{
		Certificates: []tls.Certificate{serverCertificate},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    clientPool,
	})))
	for name, test := range map[string]struct {
		config *tls.Config
		reason string
	}{
		"both":                  {&tls.Config{RootCAs: serverPool, Certificates: []tls.Certificate{clientCertificate}}, ""},
		"no client certificate": {&tls.Config{RootCAs: serverPool}, ReasonUnreachable},
		"no CA":                 {nil, ReasonUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			client := connect(t, "https://"+address, Options{TLS: test.config, Retries: NoRetries})
			_, err := client.GetFaceVec(context.Background(), photo, nil)
			expectReason(t, err, test.reason)
		})
	}
}
