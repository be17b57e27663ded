package dev.visage;

import com.google.protobuf.Timestamp;
import dev.visage.v1.ExportGalleryResponse;
import dev.visage.v1.ImportFacesRequest;
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
 */
public record GalleryFace(
    String personId, String faceId, String displayName, Template template, Optional<Instant> createTime) {

  /** A face to import whose id is made from the embedding. */
  public GalleryFace(String personId, Template template) {
    this(personId, "", "", template, Optional.empty());
  }

  static GalleryFace from(ExportGalleryResponse message) {
    Timestamp time = message.getCreateTime();
    return new GalleryFace(
        message.getPersonId(),
        message.getFaceId(),
        message.getDisplayName(),
        Template.from(message.getEmbedding()),
        Optional.of(Instant.ofEpochSecond(time.getSeconds(), time.getNanos())));
  }

  ImportFacesRequest toImportRequest(String galleryId) {
    return ImportFacesRequest.newBuilder()
        .setGalleryId(galleryId)
        .setPersonId(personId)
        .setFaceId(faceId)
        .setDisplayName(displayName)
        .setEmbedding(template.toMessage())
        .build();
  }
}
