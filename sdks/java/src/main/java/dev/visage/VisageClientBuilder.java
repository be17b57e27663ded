package dev.visage;

import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.TlsChannelCredentials;
import io.grpc.stub.MetadataUtils;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** The options of a {@link VisageClient}. */
public final class VisageClientBuilder {
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  /** Detects a connection that a router has dropped, while calls wait for it. */
  private static final Duration KEEP_ALIVE = Duration.ofSeconds(30);

  private final URI address;
  private final TlsChannelCredentials.Builder tls = TlsChannelCredentials.newBuilder();
  private final Metadata headers = new Metadata();
  private boolean hasTlsOptions;
  private Duration timeout = Duration.ofSeconds(30);
  private int retries = 3;
  private int maxInFlight = 32;

  VisageClientBuilder(String address) {
    this.address = URI.create(address);
    String scheme = this.address.getScheme();
    boolean isHttp = "http".equalsIgnoreCase(scheme) || "https".equalsIgnoreCase(scheme);
    boolean hasOnlyHost =
        this.address.getHost() != null
            && this.address.getUserInfo() == null
            && this.address.getQuery() == null
            && this.address.getFragment() == null
            && this.address.getPath().matches("/?");
    if (!isHttp || !hasOnlyHost) {
      throw new IllegalArgumentException(
          "The address must be a URL such as http://localhost:8080, without a path: " + address);
    }
  }

  /** The API key, which every call sends. */
  public VisageClientBuilder apiKey(String apiKey) {
    if (!apiKey.matches("[!-~]+")) {
      throw new IllegalArgumentException("The API key is empty, or has spaces, line breaks or other characters.");
    }
    headers.discardAll(AUTHORIZATION);
    headers.put(AUTHORIZATION, "Bearer " + apiKey);
    return this;
  }

  /** Deadline of a call including its retries, but not the time that it waits for others to end. Default: 30 s. */
  public VisageClientBuilder timeout(Duration timeout) {
    require(timeout.compareTo(Duration.ZERO) > 0, "The timeout must be positive.");
    this.timeout = timeout;
    return this;
  }

  /**
   * How often a call with a retryable error is retried. {@code INTERNAL} is retried once at most. A call that the service
   * rejects because of load or a rate limit is retried until its deadline, unless this is zero. Default: 3.
   */
  public VisageClientBuilder retries(int retries) {
    require(retries >= 0, "The number of retries must not be negative.");
    this.retries = retries;
    return this;
  }

  /** How many calls run at the same time; more calls wait. Default: 32. */
  public VisageClientBuilder maxInFlight(int maxInFlight) {
    require(maxInFlight > 0, "The number of calls in flight must be positive.");
    this.maxInFlight = maxInFlight;
    return this;
  }

  /**
   * The certificates that sign the service's certificate, as a PEM file. Default: those of the Java runtime.
   *
   * @throws UncheckedIOException if the file cannot be read
   */
  public VisageClientBuilder ca(Path certificates) {
    hasTlsOptions = true;
    try {
      tls.trustManager(certificates.toFile());
    } catch (IOException cause) {
      throw new UncheckedIOException("Cannot read the certificates " + certificates, cause);
    }
    return this;
  }

  /**
   * The certificate by which the client identifies itself (mutual TLS), as PEM files. The key is PKCS #8.
   *
   * @throws UncheckedIOException if a file cannot be read
   */
  public VisageClientBuilder clientCertificate(Path certificate, Path key) {
    hasTlsOptions = true;
    try {
      tls.keyManager(certificate.toFile(), key.toFile());
    } catch (IOException cause) {
      throw new UncheckedIOException("Cannot read the certificate " + certificate + " or " + key, cause);
    }
    return this;
  }

  /**
   * Creates the client. It connects on first use.
   *
   * @throws IllegalArgumentException if there are options for TLS, but the address is not https, or a certificate or
   *     key is malformed
   */
  public VisageClient build() {
    boolean isTls = address.getScheme().equalsIgnoreCase("https");
    require(isTls || !hasTlsOptions, "Certificates need an https address.");
    var channel =
        newChannelBuilder(isTls)
            .intercept(MetadataUtils.newAttachHeadersInterceptor(headers))
            .keepAliveTime(KEEP_ALIVE.toSeconds(), TimeUnit.SECONDS)
            // Retries are made by the client, which knows the error details.
            .disableRetry()
            .build();
    return new VisageClient(new Calls(channel, address.toString(), timeout, retries, maxInFlight));
  }

  private ManagedChannelBuilder<?> newChannelBuilder(boolean isTls) {
    ChannelCredentials credentials = isTls ? tls.build() : InsecureChannelCredentials.create();
    int defaultPort = isTls ? 443 : 80;
    int port = address.getPort() == -1 ? defaultPort : address.getPort();
    try {
      return Grpc.newChannelBuilderForAddress(address.getHost(), port, credentials);
    } catch (RuntimeException cause) {
      if (!hasTlsOptions) throw cause;
      throw new IllegalArgumentException("A certificate or key is malformed: " + cause.getMessage(), cause);
    }
  }

  private static void require(boolean condition, String message) {
    if (!condition) throw new IllegalArgumentException(message);
  }
}
