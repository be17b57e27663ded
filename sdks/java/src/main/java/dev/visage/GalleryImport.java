package dev.visage;

import dev.visage.v1.GalleryServiceGrpc;
import dev.visage.v1.GalleryServiceGrpc.GalleryServiceBlockingV2Stub;
import dev.visage.v1.ImportFacesRequest;
import dev.visage.v1.ImportFacesResponse;
import io.grpc.Deadline;
import io.grpc.Status;
import io.grpc.StatusException;
import java.util.ArrayList;
import java.util.List;

/** Sends the faces of an import, many in each call. */
final class GalleryImport {
  /** How many faces one call sends: about 3 MB, which are kept for a retry. */
  private static final int BATCH = 5000;

  private final Calls calls;
  private final String galleryId;
  private final GalleryServiceBlockingV2Stub stub;
  private final ImportFacesResponse.Builder total = ImportFacesResponse.newBuilder();

  GalleryImport(Calls calls, String galleryId) {
    this.calls = calls;
    this.galleryId = galleryId;
    stub = GalleryServiceGrpc.newBlockingV2Stub(calls.channel());
  }

  ImportFacesResponse send(Iterable<GalleryFace> faces) {
    List<ImportFacesRequest> batch = new ArrayList<>();
    for (GalleryFace face : faces) {
      batch.add(face.toImportRequest(galleryId));
      if (batch.size() == BATCH) sendBatch(batch);
    }
    if (!batch.isEmpty()) sendBatch(batch);
    return total.build();
  }

  private void sendBatch(List<ImportFacesRequest> batch) {
    ImportFacesResponse response = calls.run(() -> batch, this::call, true);
    total.setFaceCount(total.getFaceCount() + response.getFaceCount()).setRevision(response.getRevision());
    batch.clear();
  }

  private ImportFacesResponse call(Deadline deadline, List<ImportFacesRequest> batch) {
    var call = calls.reconnecting(stub).withDeadline(deadline).importFaces();
    try {
      for (ImportFacesRequest face : batch) {
        // The service has ended the call, and read throws its error.
        if (!call.write(face)) break;
      }
      call.halfClose();
      return call.read();
    } catch (StatusException error) {
      throw error.getStatus().asRuntimeException(error.getTrailers());
    } catch (InterruptedException interrupt) {
      call.cancel("The call was interrupted.", interrupt);
      Thread.currentThread().interrupt();
      throw Status.CANCELLED.withCause(interrupt).asRuntimeException();
    }
  }
}
