package dev.visage;

import dev.visage.v1.CreateGalleryRequest;
import dev.visage.v1.DeleteFaceRequest;
import dev.visage.v1.DeleteGalleryRequest;
import dev.visage.v1.DeletePersonRequest;
import dev.visage.v1.DeletePersonResponse;
import dev.visage.v1.EnrolFaceRequest;
import dev.visage.v1.EnrolFaceResponse;
import dev.visage.v1.ExportGalleryRequest;
import dev.visage.v1.ExportPersonRequest;
import dev.visage.v1.ExportPersonResponse;
import dev.visage.v1.Gallery;
import dev.visage.v1.GalleryServiceGrpc;
import dev.visage.v1.GetGalleryRequest;
import dev.visage.v1.GetPersonRequest;
import dev.visage.v1.IdentifyFacesRequest;
import dev.visage.v1.IdentifyFacesResponse;
import dev.visage.v1.ImportFacesResponse;
import dev.visage.v1.ListGalleriesRequest;
import dev.visage.v1.ListPeopleRequest;
import dev.visage.v1.Person;
import dev.visage.v1.ReplaceGalleryRequest;
import dev.visage.v1.UpdateGalleryRequest;
import dev.visage.v1.UpdatePersonRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Enrols people and tells to whom a face may belong. Calls follow the rules of the {@link VisageClient}, whose threads
 * share it.
 *
 * <p>Ids of galleries, people and faces are yours: 1 to 128 letters, digits and {@code .}, {@code _}, {@code ~}, {@code
 * -}. What does not exist, or belongs to another user, throws VisageException with the reason {@code GALLERY_NOT_FOUND},
 * {@code PERSON_NOT_FOUND} or {@code FACE_NOT_FOUND}. */
public final class Galleries {
  /** The most that the service returns. Every page counts as one request. */
  private static final int PAGE_SIZE = 1000;

  private final Calls calls;

  Galleries(Calls calls) {
    this.calls = calls;
  }

  /** Creates a gallery whose threshold the service chooses. */
  public Gallery create(String galleryId) {
    return create(galleryId, request -> {});
  }

  /**
   * Creates a gallery. It is only retried if the service has rejected it because of load. If the response is lost, {@link
   * #get} tells whether the gallery was created.
   *
   * @param options sets the name, the threshold or the {@link Expiration}: {@code request ->
   *     request.setDisplayName("Staff")}
   * @throws VisageException with the reason {@code GALLERY_EXISTS} if the id is taken
   */
  public Gallery create(String galleryId, Consumer<CreateGalleryRequest.Builder> options) {
    var request = CreateGalleryRequest.newBuilder().setGalleryId(galleryId);
    return calls
        .run(GalleryServiceGrpc.getCreateGalleryMethod(), () -> Calls.with(request, options).build())
        .getGallery();
  }

  /** Returns a gallery with the number of its people and faces. */
  public Gallery get(String galleryId) {
    var request = GetGalleryRequest.newBuilder().setGalleryId(galleryId).build();
    return calls.run(GalleryServiceGrpc.getGetGalleryMethod(), () -> request).getGallery();
  }

  /** All galleries of the user by id. A page is read when the last one has been taken. */
  public Iterable<Gallery> list() {
    return new PagedList<>(
        token -> {
          var request = ListGalleriesRequest.newBuilder().setPageSize(PAGE_SIZE).setPageToken(token).build();
          var page = calls.run(GalleryServiceGrpc.getListGalleriesMethod(), () -> request);
          return new PagedList.Page<>(page.getGalleriesList(), page.getNextPageToken());
        });
  }

  /**
   * Changes the name, the threshold, the alias or the {@link Expiration} of a gallery.
   *
   * @param changes sets what changes; the threshold 0 lets the service choose again
   */
  public Gallery update(String galleryId, Consumer<UpdateGalleryRequest.Builder> changes) {
    var request = UpdateGalleryRequest.newBuilder().setGalleryId(galleryId);
    return calls
        .run(GalleryServiceGrpc.getUpdateGalleryMethod(), () -> Calls.with(request, changes).build())
        .getGallery();
  }

  /**
   * Lets the successor take over the id, alias, name, threshold and end of a gallery at once, and deletes the gallery.
   *
   * @param options may set the revision of the gallery; if it has another one now, this fails with {@code
   *     GALLERY_CHANGED}
   */
  public Gallery replace(
      String galleryId, String successorId, Consumer<ReplaceGalleryRequest.Builder> options) {
    var request =
        ReplaceGalleryRequest.newBuilder().setGalleryId(galleryId).setSuccessorId(successorId);
    return calls
        .run(GalleryServiceGrpc.getReplaceGalleryMethod(), () -> Calls.with(request, options).build())
        .getGallery();
  }

  /** Deletes a gallery with everybody in it. When it returns, the templates are erased. */
  public void delete(String galleryId) {
    var request = DeleteGalleryRequest.newBuilder().setGalleryId(galleryId).build();
    calls.run(GalleryServiceGrpc.getDeleteGalleryMethod(), () -> request);
  }

  /** Adds a face to a person, and the person to the gallery if it is new. */
  public EnrolFaceResponse enrolFace(String galleryId, String personId, FaceInput face) {
    return enrolFace(galleryId, personId, face, request -> {});
  }

  /**
   * Adds a face to a person, and the person to the gallery if it is new. A person has 20 faces at most.
   *
   * @param options sets the name of the person, its {@link Expiration}, the id of the face, or {@code
   *     setSkipQualityCheck(true)}. A new person without an expiration gets the default of the plan.
   */
  public EnrolFaceResponse enrolFace(
      String galleryId, String personId, FaceInput face, Consumer<EnrolFaceRequest.Builder> options) {
    var request = EnrolFaceRequest.newBuilder().setGalleryId(galleryId).setPersonId(personId);
    return calls.run(
        GalleryServiceGrpc.getEnrolFaceMethod(),
        () -> Calls.with(request.setSource(face.toMessage()), options).build());
  }

  /** Returns a person with the ids of its faces. */
  public Person getPerson(String galleryId, String personId) {
    var request = GetPersonRequest.newBuilder().setGalleryId(galleryId).setPersonId(personId).build();
    return calls.run(GalleryServiceGrpc.getGetPersonMethod(), () -> request).getPerson();
  }

  /** All people of a gallery by id. A page is read when the last one has been taken. */
  public Iterable<Person> listPeople(String galleryId) {
    return new PagedList<>(
        token -> {
          var request =
              ListPeopleRequest.newBuilder()
                  .setGalleryId(galleryId)
                  .setPageSize(PAGE_SIZE)
                  .setPageToken(token)
                  .build();
          var page = calls.run(GalleryServiceGrpc.getListPeopleMethod(), () -> request);
          return new PagedList.Page<>(page.getPeopleList(), page.getNextPageToken());
        });
  }

  /** Renames a person. */
  public Person updatePerson(String galleryId, String personId, String displayName) {
    return updatePerson(galleryId, personId, request -> request.setDisplayName(displayName));
  }

  /**
   * Changes the name of a person, or how long it is kept.
   *
   * @param changes sets what changes: {@code request -> request.setTtl(Expiration.after(Duration.ofDays(30)))}
   */
  public Person updatePerson(String galleryId, String personId, Consumer<UpdatePersonRequest.Builder> changes) {
    var request = UpdatePersonRequest.newBuilder().setGalleryId(galleryId).setPersonId(personId);
    return calls
        .run(GalleryServiceGrpc.getUpdatePersonMethod(), () -> Calls.with(request, changes).build())
        .getPerson();
  }

  /**
   * Deletes a person with all faces, from a gallery or, with the gallery id {@code -}, from all galleries of the user.
   *
   * @return the receipt, which says whether the templates are erased; empty if the person was deleted by an attempt whose
   *     response was lost
   */
  public Optional<DeletePersonResponse> deletePerson(String galleryId, String personId) {
    var request = DeletePersonRequest.newBuilder().setGalleryId(galleryId).setPersonId(personId).build();
    return Optional.ofNullable(calls.run(GalleryServiceGrpc.getDeletePersonMethod(), () -> request));
  }

  /**
   * Returns everything that is stored about a person in a gallery or, with the gallery id {@code -}, in all galleries of
   * the user. It is biometric data.
   */
  public List<ExportPersonResponse> exportPerson(String galleryId, String personId) {
    var request = ExportPersonRequest.newBuilder().setGalleryId(galleryId).setPersonId(personId).build();
    var stub = GalleryServiceGrpc.newBlockingStub(calls.channel());
    return calls.run(
        () -> request,
        (deadline, prepared) -> {
          List<ExportPersonResponse> exported = new ArrayList<>();
          calls.reconnecting(stub).withDeadline(deadline).exportPerson(prepared).forEachRemaining(exported::add);
          return exported;
        },
        true);
  }

  /** Deletes a face of a person. When it returns, its template is erased. */
  public void deleteFace(String galleryId, String personId, String faceId) {
    var request =
        DeleteFaceRequest.newBuilder().setGalleryId(galleryId).setPersonId(personId).setFaceId(faceId).build();
    calls.run(GalleryServiceGrpc.getDeleteFaceMethod(), () -> request);
  }

  /** Finds the person to whom a face may belong: every face of an image, the one in a box, or an embedding. */
  public IdentifyFacesResponse identify(String galleryId, FaceInput face) {
    return identify(galleryId, face, request -> {});
  }

  /**
   * Finds the people to whom a face may belong: every face of an image, the one in a box, or an embedding. A stranger
   * has no matches, and an image without a face gives no faces.
   *
   * @param options sets how many people to return for each face, or a threshold for this call
   */
  public IdentifyFacesResponse identify(
      String galleryId, FaceInput face, Consumer<IdentifyFacesRequest.Builder> options) {
    var request = IdentifyFacesRequest.newBuilder().setGalleryId(galleryId);
    return calls.run(
        GalleryServiceGrpc.getIdentifyFacesMethod(),
        () -> Calls.with(request.setSource(face.toMessage()), options).build());
  }

  /** Returns all faces of a gallery with their embeddings. Close it. */
  public GalleryExport export(String galleryId) {
    var request = ExportGalleryRequest.newBuilder().setGalleryId(galleryId).build();
    var streams = GalleryServiceGrpc.newBlockingV2Stub(calls.channel());
    return new GalleryExport(() -> calls.reconnecting(streams).exportGallery(request), calls);
  }

  /**
   * Enrols faces that were exported, or embeddings of your own. Returns how many, and the revision of the gallery.
   *
   * <p>The faces are sent in calls of 5,000, and each call is retried. Faces with the same ids are replaced, so after an
   * error the import can be repeated. An exception of {@code faces} is thrown after the calls before it.
   */
  public ImportFacesResponse importFaces(String galleryId, Iterable<GalleryFace> faces) {
    ImportFacesResponse total = new GalleryImport(calls, galleryId).send(faces);
    if (total.getFaceCount() > 0) return total;
    // There was no call that would fail if the gallery does not exist.
    return total.toBuilder().setRevision(get(galleryId).getRevision()).build();
  }
}
