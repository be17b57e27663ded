package dev.visage;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.grpc.Metadata;
import io.grpc.ServerCredentials;
import io.grpc.TlsServerCredentials;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Base64;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class VisageClientBuilderTest {
  private static final ImageInput IMAGE = ImageInput.ofBytes(new byte[] {1});

  @TempDir static Path folder;
  private static Path serverCertificate;
  private static Path serverKey;
  private static Path clientCertificate;
  private static Path clientKey;

  @BeforeAll
  static void createCertificates() throws Exception {
    serverCertificate = folder.resolve("server.pem");
    serverKey = folder.resolve("server-key.pem");
    clientCertificate = folder.resolve("client.pem");
    clientKey = folder.resolve("client-key.pem");
    createCertificate("server", serverCertificate, serverKey);
    createCertificate("client", clientCertificate, clientKey);
  }

  /** Creates a self-signed certificate for localhost, and its key, as PEM. */
  private static void createCertificate(String name, Path certificate, Path key) throws Exception {
    Path store = folder.resolve(name + ".p12");
    String keytool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
    var process =
        new ProcessBuilder(keytool, "-genkeypair", "-alias", name, "-keyalg", "EC", "-groupname", "secp256r1",
                "-dname", "CN=" + name, "-ext", "san=dns:localhost", "-ext", "bc:c=ca:true", "-validity", "2",
                "-storetype", "PKCS12", "-storepass", "secret", "-keystore", store.toString())
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes());
    assertEquals(0, process.waitFor(), output);
    var keys = KeyStore.getInstance(store.toFile(), "secret".toCharArray());
    writePem(certificate, "CERTIFICATE", keys.getCertificate(name).getEncoded());
    writePem(key, "PRIVATE KEY", keys.getKey(name, "secret".toCharArray()).getEncoded());
  }

  private static void writePem(Path path, String type, byte[] content) throws Exception {
    String text = Base64.getMimeEncoder().encodeToString(content);
    Files.writeString(path, "-----BEGIN " + type + "-----\n" + text + "\n-----END " + type + "-----\n");
  }

  private static VisageClientBuilder tlsBuilder(FakeService service) {
    return VisageClient.builder("https://localhost:" + service.port()).retries(0);
  }

  @Test
  void sendsTheApiKey() throws Exception {
    try (var service = new FakeService();
        var client = VisageClient.builder(service.address()).apiKey("old").apiKey("key-1").build()) {
      client.getFaceVec(IMAGE);
      var name = Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
      assertEquals("Bearer key-1", service.headers.get(0).get(name));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "key\n", "two words", "schlüssel"})
  void rejectsApiKeysThatNoHeaderCanCarry(String key) {
    var builder = VisageClient.builder("http://localhost");
    assertThrows(IllegalArgumentException.class, () -> builder.apiKey(key));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "localhost:8080", "localhost", "ftp://localhost", "http://", "http://localhost/api", "http://u:p@localhost",
        "http://localhost?a=b", "http://local host", ""
      })
  void rejectsOtherAddresses(String address) {
    assertThrows(IllegalArgumentException.class, () -> VisageClient.builder(address));
  }

  @ParameterizedTest
  @ValueSource(strings = {"http://localhost", "https://localhost/", "http://[::1]:8080", "HTTP://localhost"})
  void acceptsAddresses(String address) {
    assertDoesNotThrow(() -> VisageClient.builder(address).build().close());
  }

  @Test
  void rejectsLimitsThatAllowNoCall() {
    var builder = VisageClient.builder("http://localhost");
    assertThrows(IllegalArgumentException.class, () -> builder.timeout(Duration.ZERO));
    assertThrows(IllegalArgumentException.class, () -> builder.retries(-1));
    assertThrows(IllegalArgumentException.class, () -> builder.maxInFlight(0));
  }

  @Test
  void trustsTheGivenCertificateOnly() throws Exception {
    var credentials = TlsServerCredentials.create(serverCertificate.toFile(), serverKey.toFile());
    try (var service = new FakeService(credentials);
        var trusting = tlsBuilder(service).ca(serverCertificate).build();
        var doubting = tlsBuilder(service).build()) {
      trusting.getFaceVec(IMAGE);
      var error = assertThrows(VisageException.class, () -> doubting.getFaceVec(IMAGE));
      assertEquals("UNREACHABLE", error.reason());
    }
  }

  @Test
  void identifiesItselfByItsCertificate() throws Exception {
    ServerCredentials credentials =
        TlsServerCredentials.newBuilder()
            .keyManager(serverCertificate.toFile(), serverKey.toFile())
            .trustManager(clientCertificate.toFile())
            .clientAuth(TlsServerCredentials.ClientAuth.REQUIRE)
            .build();
    try (var service = new FakeService(credentials);
        var known =
            tlsBuilder(service).ca(serverCertificate).clientCertificate(clientCertificate, clientKey).build();
        var unknown = tlsBuilder(service).ca(serverCertificate).build()) {
      known.getFaceVec(IMAGE);
      assertThrows(VisageException.class, () -> unknown.getFaceVec(IMAGE));
    }
  }

  @Test
  void rejectsUnusableCertificates() throws Exception {
    Path malformed = Files.writeString(folder.resolve("malformed.pem"), "no certificate");
    var plain = VisageClient.builder("http://localhost").ca(serverCertificate);
    assertThrows(IllegalArgumentException.class, plain::build);
    var missing = VisageClient.builder("https://localhost");
    assertThrows(UncheckedIOException.class, () -> missing.ca(folder.resolve("missing.pem")));
    var broken = VisageClient.builder("https://localhost").ca(malformed);
    assertThrows(IllegalArgumentException.class, broken::build);
  }
}
