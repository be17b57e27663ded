package dev.visage;

import dev.visage.v1.ExportGalleryResponse;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.stub.BlockingClientCall;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * The faces of a gallery, by the ids of the people and faces. Iterate over it once, in one thread, and close it.
 *
 * <p>The stream is opened for the first face. When it breaks, a new one is opened, which has the same order, and the faces
 * up to the last one that came are skipped. Each face must come within the timeout of the client; the time that the
 * caller takes does not count.
 */
public final class GalleryExport implements Iterable<GalleryFace>, AutoCloseable {
  /** The last face that came was deleted, so an export cannot go on. */
  private static final Status GALLERY_CHANGED =
      Status.UNAVAILABLE.withDescription("The stream broke, and the gallery has changed since.");

  private final Supplier<BlockingClientCall<?, ExportGalleryResponse>> stream;
  private final Calls calls;
  private boolean hasIterator;

  /** The last face that came; null before the first one. */
  private ExportGalleryResponse last;

  /** Whether the stream has not come to the last face yet. */
  private boolean isSkipping;

  /** Guarded by this. Null while no stream is open. */
  private BlockingClientCall<?, ExportGalleryResponse> call;

  /** Guarded by this. */
  private boolean isClosed;

  GalleryExport(Supplier<BlockingClientCall<?, ExportGalleryResponse>> stream, Calls calls) {
    this.stream = stream;
    this.calls = calls;
  }

  @Override
  public Iterator<GalleryFace> iterator() {
    if (hasIterator) throw new IllegalStateException("The faces can be iterated over once.");
    hasIterator = true;
    return new Iterator<>() {
      private ExportGalleryResponse next;
      private boolean isDone;

      @Override
      public boolean hasNext() {
        if (next == null && !isDone) {
          next = take();
          isDone = next == null;
        }
        return next != null;
      }

      @Override
      public GalleryFace next() {
        if (!hasNext()) throw new NoSuchElementException();
        GalleryFace face = GalleryFace.from(next);
        next = null;
        return face;
      }
    };
  }

  /** Cancels the stream. */
  @Override
  public synchronized void close() {
    isClosed = true;
    if (call != null) call.cancel("The caller closed the export.", null);
  }

  /** Returns the next face, null at the end. Opens a new stream if the current one breaks. */
  private ExportGalleryResponse take() {
    Retry.Attempts attempts = calls.retry().new Attempts();
    while (true) {
      try {
        ExportGalleryResponse face = read();
        if (!isSkipping) {
          last = face;
          return face;
        }
        if (face == null) throw calls.errorFrom(GALLERY_CHANGED.asRuntimeException());
        isSkipping = !isSame(face, last);
      } catch (StatusException error) {
        var cause = error.getStatus().asRuntimeException(error.getTrailers());
        if (isClosed()) throw VisageException.cancelled("The export is closed.", cause);
        reset();
        attempts.awaitNext(cause);
      }
    }
  }

  /** Returns the next face of the stream, null at its end. */
  private ExportGalleryResponse read() throws StatusException {
    try {
      return open().read(calls.timeout().toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException overdue) {
      close();
      var passed = Status.DEADLINE_EXCEEDED.withDescription("No face came in time.");
      throw calls.errorFrom(passed.withCause(overdue).asRuntimeException());
    } catch (InterruptedException interrupt) {
      close();
      Thread.currentThread().interrupt();
      throw VisageException.cancelled("The call was interrupted.", interrupt);
    }
  }

  private static boolean isSame(ExportGalleryResponse one, ExportGalleryResponse other) {
    return one.getPersonId().equals(other.getPersonId()) && one.getFaceId().equals(other.getFaceId());
  }

  private synchronized BlockingClientCall<?, ExportGalleryResponse> open() {
    if (isClosed) throw VisageException.cancelled("The export is closed.", null);
    if (call == null) {
      call = stream.get();
      isSkipping = last != null;
    }
    return call;
  }

  private synchronized void reset() {
    call = null;
  }

  private synchronized boolean isClosed() {
    return isClosed;
  }
}
