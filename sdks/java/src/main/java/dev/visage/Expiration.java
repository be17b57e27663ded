package dev.visage;

import com.google.protobuf.Timestamp;
import java.time.Duration;
import java.time.Instant;

/**
 * When a person or a gallery is deleted, for the builders of requests: {@code request ->
 * request.setExpireTime(Expiration.at(time))} or {@code request -> request.setTtl(Expiration.after(duration))}. Without
 * either, what exists keeps its time.
 */
public final class Expiration {
  private Expiration() {}

  /** At a time, for {@code setExpireTime}. */
  public static Timestamp at(Instant time) {
    return Timestamp.newBuilder().setSeconds(time.getEpochSecond()).setNanos(time.getNano()).build();
  }

  /** After a time from now, for {@code setTtl}. */
  public static com.google.protobuf.Duration after(Duration ttl) {
    return com.google.protobuf.Duration.newBuilder().setSeconds(ttl.getSeconds()).setNanos(ttl.getNano()).build();
  }

  /** Never, for {@code setTtl}: the person or the gallery is kept without an end. */
  public static com.google.protobuf.Duration never() {
    return com.google.protobuf.Duration.getDefaultInstance();
  }
}
