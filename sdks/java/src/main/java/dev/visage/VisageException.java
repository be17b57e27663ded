package dev.visage;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A failed call: an error of the service, or of the connection to it. */
public final class VisageException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private static final String UNREACHABLE = "UNREACHABLE";

  /** The delay before a retry that a server sends in trailers (gRFC A6); negative means not to retry. */
  private static final Metadata.Key<String> PUSHBACK =
      Metadata.Key.of("grpc-retry-pushback-ms", Metadata.ASCII_STRING_MARSHALLER);

  /** The retryable codes of errors without a response of the service. CANCELLED is a stream that a proxy has reset. */
  private static final Set<Status.Code> RETRYABLE_CODES =
      Set.of(
          Status.Code.UNAVAILABLE, Status.Code.ABORTED, Status.Code.DEADLINE_EXCEEDED, Status.Code.CANCELLED);

  private final String reason;
  private final Map<String, String> metadata;
  private final boolean retryable;
  private final Duration retryAfter;

  private VisageException(
      String message,
      Throwable cause,
      String reason,
      Map<String, String> metadata,
      boolean retryable,
      Duration retryAfter) {
    super(message, cause);
    this.reason = reason;
    this.metadata = Map.copyOf(metadata);
    this.retryable = retryable;
    this.retryAfter = retryAfter;
  }

  /**
   * Converts what a call has thrown, unless the caller cancelled it. The gRPC exception is kept as the cause.
   *
   * @param address the URL of the service, which the message of an UNREACHABLE names
   */
  static VisageException from(StatusRuntimeException cause, String address) {
    Status status = cause.getStatus();
    List<Any> details = detailsOf(cause);
    Optional<ErrorInfo> info = find(details, ErrorInfo.class);
    Optional<Duration> retryDelay =
        find(details, RetryInfo.class)
            .map(RetryInfo::getRetryDelay)
            .map(delay -> Duration.ofSeconds(delay.getSeconds(), delay.getNanos()));
    Optional<Duration> pushback = retryDelay.isPresent() ? Optional.empty() : pushbackOf(cause);
    boolean isRetryable =
        info.map(it -> it.getMetadataOrDefault("retryable", "").equals("true"))
            .orElse(RETRYABLE_CODES.contains(status.getCode()));
    String withoutInfo = status.getCode() == Status.Code.DEADLINE_EXCEEDED ? "DEADLINE_PASSED" : UNREACHABLE;
    String reason = info.map(ErrorInfo::getReason).orElse(withoutInfo);
    String message = Optional.ofNullable(status.getDescription()).orElse(status.getCode().name());
    return new VisageException(
        reason.equals(UNREACHABLE) ? "Cannot reach " + address + ": " + message : message,
        cause,
        reason,
        info.map(ErrorInfo::getMetadataMap).orElse(Map.of()),
        isRetryable && !pushback.map(Duration::isNegative).orElse(false),
        retryDelay.or(() -> pushback.filter(delay -> !delay.isNegative())).orElse(Duration.ZERO));
  }

  /** The error of an image that the client could not read. */
  static VisageException unreadable(String message, IOException cause) {
    return new VisageException(message, cause, "UNREADABLE_IMAGE", Map.of(), false, Duration.ZERO);
  }

  /** The error of a call that the caller ended. */
  static VisageException cancelled(String message, Throwable cause) {
    return new VisageException(message, cause, "CANCELLED", Map.of(), false, Duration.ZERO);
  }

  /**
   * The reason from the table of errors in docs/errors.md, such as {@code NO_FACE}. Without a response of the service it
   * is {@code UNREACHABLE}, {@code DEADLINE_PASSED} or {@code CANCELLED}, and {@code UNREADABLE_IMAGE} for an image that
   * the client could not read.
   */
  public String reason() {
    return reason;
  }

  /** The code of the envelope, such as {@code 3001}; empty without a response of the service. */
  public Optional<String> code() {
    return Optional.ofNullable(metadata.get("code"));
  }

  /** The field of the request that caused the error, such as {@code img_1} or {@code gallery_id}. */
  public Optional<String> field() {
    return Optional.ofNullable(metadata.get("field"));
  }

  /** The stage that failed: {@code request}, {@code fetch}, {@code decode}, {@code find} or {@code quality}. */
  public Optional<String> stage() {
    return Optional.ofNullable(metadata.get("stage"));
  }

  /** Whether the same call may succeed later. */
  public boolean retryable() {
    return retryable;
  }

  /** The delay that the service asks for before a retry; zero if it asks for none. */
  public Duration retryAfter() {
    return retryAfter;
  }

  /** The error details; none if they are malformed, which only a broken proxy would send. */
  private static List<Any> detailsOf(StatusRuntimeException error) {
    try {
      return StatusProto.fromThrowable(error).getDetailsList();
    } catch (RuntimeException malformed) {
      return List.of();
    }
  }

  private static <T extends Message> Optional<T> find(List<Any> details, Class<T> type) {
    for (Any detail : details) {
      try {
        if (detail.is(type)) return Optional.of(detail.unpack(type));
      } catch (InvalidProtocolBufferException malformed) {
        return Optional.empty();
      }
    }
    return Optional.empty();
  }

  private static Optional<Duration> pushbackOf(StatusRuntimeException error) {
    Metadata trailers = error.getTrailers();
    String text = trailers == null ? null : trailers.get(PUSHBACK);
    if (text == null) return Optional.empty();
    try {
      return Optional.of(Duration.ofMillis(Long.parseLong(text)));
    } catch (NumberFormatException malformed) {
      // The rule of gRFC A6: an unreadable value means not to retry.
      return Optional.of(Duration.ofMillis(-1));
    }
  }
}
