package dev.visage;

import com.google.protobuf.Timestamp;
import dev.visage.v1.ExportGalleryResponse;
import dev.visage.v1.ImportFacesRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * A face of a gallery with its embedding, as {@link Galleries#export} returns it and {@link Galleries#importFaces}
 * takes it. It is biometric data.
 *
 * @param personId the id of the person
 * @param faceId the id of the face; an import makes it from the embedding if it is empty
 * @param displayName the name of the person; an import keeps an earlier name if this is empty
 * @param template the embedding and its model
 * @param createTime when the face was enrolled first; an import ignores it
 * @param expireTime when the person is deleted; empty if the person is kept, and an import then keeps an earlier time. In
 *     an import, a time of the past is valid: the person is deleted at once
 * @param ttl for an import, instead of {@code expireTime}: the time from now, or zero for no end
 */
public record GalleryFace(
    String personId,
    String faceId,
    String displayName,
    Template template,
    Optional<Instant> createTime,
    Optional<Instant> expireTime,
    Optional<Duration> ttl) {

  /** A face with an end or a time to live, or neither. */
  public GalleryFace {
    if (expireTime.isPresent() && ttl.isPresent()) {
      throw new IllegalArgumentException("Pass expireTime or ttl, not both.");
    }
  }

  /** A face of a person without an end. */
  public GalleryFace(
      String personId, String faceId, String displayName, Template template, Optional<Instant> createTime) {
    this(personId, faceId, displayName, template, createTime, Optional.empty(), Optional.empty());
  }

  /** A face to import whose id is made from the embedding. */
  public GalleryFace(String personId, Template template) {
    this(personId, "", "", template, Optional.empty());
  }

  /** The same face of a person who is deleted at a time. */
  public GalleryFace withExpireTime(Instant time) {
    return with(Optional.of(time), Optional.empty());
  }

  /** The same face of a person who is deleted when the time from now has passed. Zero keeps the person. */
  public GalleryFace withTtl(Duration ttl) {
    return with(Optional.empty(), Optional.of(ttl));
  }

  private GalleryFace with(Optional<Instant> newExpireTime, Optional<Duration> newTtl) {
    return new GalleryFace(personId, faceId, displayName, template, createTime, newExpireTime, newTtl);
  }

  static GalleryFace from(ExportGalleryResponse message) {
    return new GalleryFace(
        message.getPersonId(),
        message.getFaceId(),
        message.getDisplayName(),
        Template.from(message.getEmbedding()),
        Optional.of(instantOf(message.getCreateTime())),
        message.hasExpireTime() ? Optional.of(instantOf(message.getExpireTime())) : Optional.empty(),
        Optional.empty());
  }

  ImportFacesRequest toImportRequest(String galleryId) {
    var request =
        ImportFacesRequest.newBuilder()
            .setGalleryId(galleryId)
            .setPersonId(personId)
            .setFaceId(faceId)
            .setDisplayName(displayName)
            .setEmbedding(template.toMessage());
    expireTime.ifPresent(time -> request.setExpireTime(Expiration.at(time)));
    ttl.ifPresent(time -> request.setTtl(Expiration.after(time)));
    return request.build();
  }

  private static Instant instantOf(Timestamp time) {
    return Instant.ofEpochSecond(time.getSeconds(), time.getNanos());
  }
}
