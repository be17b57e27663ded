package dev.visage;

import dev.visage.v1.AnalyzeImageRequest;
import dev.visage.v1.AnalyzeImagesRequest;
import dev.visage.v1.AnalyzeImagesResponse;
import dev.visage.v1.FaceAnalysisServiceGrpc;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * The results of many images on one stream, as they are ready. Iterate over it once, in one thread, and close it.
 *
 * <p>A thread of its own reads the images and sends them. When the stream breaks, a new one is opened and the images
 * without a result are sent again. The iteration throws VisageException if that does not help, and the exception of the
 * images after the results of the images before it.
 */
public final class ImageStream<K> implements Iterable<StreamResult<K>>, AutoCloseable {
  /** How long the service lets an image wait for its turn, in addition to the time that it needs. */
  private static final Duration MAX_WAIT = Duration.ofSeconds(30);

  /** How often a wait looks whether the client was closed. */
  private static final long POLL_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** An image that has no result yet. */
  private record Sent<K>(K key, AnalyzeImagesRequest request) {}

  /** The end of a stream. The error is null if the service ended it. */
  private record End(StatusRuntimeException error, boolean wasIdle) {}

  private final Calls calls;
  private final Consumer<AnalyzeImageRequest.Builder> options;
  private final Iterator<StreamImage<K>> source;
  private final Thread sender = new Thread(this::send, "visage-stream");

  /** Guards everything below. */
  private final ReentrantLock lock = new ReentrantLock();

  private final Condition changed = lock.newCondition();

  /** By the key of their requests. The caller's own key may be of any type, and need not be unique. */
  private final Map<String, Sent<K>> unanswered = new LinkedHashMap<>();

  /** Those that the current stream has not sent. */
  private final Deque<AnalyzeImagesRequest> unsent = new ArrayDeque<>();

  private final Deque<StreamResult<K>> results = new ArrayDeque<>();
  private long count;
  private boolean isSourceDone;
  private RuntimeException sourceError;
  private Attempt attempt;
  private End end;
  private boolean isClosed;

  /** The attempts since the last result; null if there was no failure. */
  private Retry.Attempts failing;

  private long waitingSinceNanos;

  ImageStream(
      Iterable<StreamImage<K>> images, Calls calls, Consumer<AnalyzeImageRequest.Builder> options) {
    this.calls = calls;
    this.options = options;
    source = images.iterator();
    sender.setDaemon(true);
  }

  @Override
  public Iterator<StreamResult<K>> iterator() {
    lock.lock();
    try {
      if (attempt != null) throw new IllegalStateException("The results can be iterated over once.");
      open();
      sender.start();
    } finally {
      lock.unlock();
    }
    return new Iterator<>() {
      private StreamResult<K> next;

      @Override
      public boolean hasNext() {
        if (next == null) next = take();
        return next != null;
      }

      @Override
      public StreamResult<K> next() {
        if (!hasNext()) throw new NoSuchElementException();
        StreamResult<K> result = next;
        next = null;
        return result;
      }
    };
  }

  /** Cancels what is in progress. */
  @Override
  public void close() {
    lock.lock();
    try {
      isClosed = true;
      changed.signalAll();
      if (attempt != null) attempt.cancel("The caller closed the stream.");
      sender.interrupt();
    } finally {
      lock.unlock();
    }
  }

  /** Returns the next result, null at the end. */
  private StreamResult<K> take() {
    lock.lock();
    try {
      waitingSinceNanos = System.nanoTime();
      while (true) {
        while (results.isEmpty() && !hasEnded()) await();
        if (!results.isEmpty()) {
          attempt.requestNext();
          changed.signalAll();
          return results.poll();
        }
        if (isSourceDone && unanswered.isEmpty()) {
          if (sourceError != null) throw sourceError;
          return null;
        }
        reopen();
      }
    } finally {
      lock.unlock();
    }
  }

  private boolean hasEnded() {
    return end != null && (isSourceDone || !unanswered.isEmpty());
  }

  /** Waits for a change. Cancels the stream if a result is overdue. */
  private void await() {
    if (isClosed || calls.isClosed()) {
      throw VisageException.cancelled("The client or the stream is closed.", null);
    }
    long waitedNanos = System.nanoTime() - waitingSinceNanos;
    if (!unanswered.isEmpty() && waitedNanos > calls.timeout().plus(MAX_WAIT).toNanos()) {
      attempt.cancel("No result came within the deadline.");
      waitingSinceNanos = System.nanoTime();
    }
    try {
      changed.awaitNanos(POLL_NANOS);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw VisageException.cancelled("The call was interrupted.", interrupt);
    }
  }

  /** Opens a new stream for the images that have no result. */
  private void reopen() {
    // The service also ends a stream on which nothing was sent for a while.
    if (!end.wasIdle()) {
      if (failing == null) failing = calls.retry().new Attempts();
      var endedEarly = Status.UNAVAILABLE.withDescription("The stream ended before all results came.");
      StatusRuntimeException error = end.error() == null ? endedEarly.asRuntimeException() : end.error();
      lock.unlock();
      try {
        failing.awaitNext(error);
      } finally {
        lock.lock();
      }
    }
    unsent.clear();
    for (Sent<K> sent : unanswered.values()) unsent.add(sent.request());
    open();
    waitingSinceNanos = System.nanoTime();
  }

  private void open() {
    end = null;
    attempt = new Attempt();
    calls.reconnecting(FaceAnalysisServiceGrpc.newStub(calls.channel())).analyzeImages(attempt);
    changed.signalAll();
  }

  /** The sender's thread: reads images and sends them until the end of the stream. */
  private void send() {
    lock.lock();
    try {
      while (!isClosed) {
        if (attempt.isReady() && !unsent.isEmpty()) attempt.requests.onNext(unsent.poll());
        else if (unsent.isEmpty() && !isSourceDone && unanswered.size() + results.size() < calls.maxInFlight()) {
          readImage();
        } else {
          if (isSourceDone && unsent.isEmpty()) attempt.complete();
          changed.await();
        }
      }
    } catch (InterruptedException interrupt) {
      // The stream is closed.
    } finally {
      lock.unlock();
    }
  }

  /** Reads the next image without the lock. */
  private void readImage() {
    StreamImage<K> image = null;
    AnalyzeImageRequest request = null;
    RuntimeException error = null;
    lock.unlock();
    try {
      if (source.hasNext()) {
        image = source.next();
        request = requestOf(image);
      }
    } catch (RuntimeException cause) {
      error = cause;
    } finally {
      lock.lock();
    }
    if (request != null) {
      String key = String.valueOf(count++);
      if (unanswered.isEmpty()) waitingSinceNanos = System.nanoTime();
      var numbered = AnalyzeImagesRequest.newBuilder().setKey(key).setRequest(request).build();
      unanswered.put(key, new Sent<>(image.key(), numbered));
      unsent.add(numbered);
    } else if (image != null && error instanceof VisageException unreadable) {
      results.add(new StreamResult<>(image.key(), Optional.empty(), Optional.of(unreadable)));
    } else {
      isSourceDone = true;
      sourceError = error;
    }
    changed.signalAll();
  }

  private AnalyzeImageRequest requestOf(StreamImage<K> image) {
    var request = AnalyzeImageRequest.newBuilder();
    request.setImage(image.image().toTypedMessage()).addAllBoxes(image.boxes());
    return Calls.with(request, options).build();
  }

  /** One stream to the service. */
  private final class Attempt implements ClientResponseObserver<AnalyzeImagesRequest, AnalyzeImagesResponse> {
    private ClientCallStreamObserver<AnalyzeImagesRequest> requests;
    private boolean isComplete;
    private boolean hasResponse;

    @Override
    public void beforeStart(ClientCallStreamObserver<AnalyzeImagesRequest> observer) {
      requests = observer;
      // The next response is requested when the caller has taken the last one, so a slow caller slows the service.
      observer.disableAutoRequestWithInitial(1);
      observer.setOnReadyHandler(() -> update(() -> {}));
    }

    @Override
    public void onNext(AnalyzeImagesResponse response) {
      update(
          () -> {
            hasResponse = true;
            Sent<K> sent = unanswered.remove(response.getKey());
            if (sent == null) {
              requestNext();
              return;
            }
            failing = null;
            if (response.hasError()) {
              var error = calls.errorFrom(StatusProto.toStatusRuntimeException(response.getError()));
              results.add(new StreamResult<>(sent.key(), Optional.empty(), Optional.of(error)));
            } else {
              results.add(new StreamResult<>(sent.key(), Optional.of(response.getResponse()), Optional.empty()));
            }
          });
    }

    @Override
    public void onError(Throwable error) {
      var cause = Status.fromThrowable(error).asRuntimeException(Status.trailersFromThrowable(error));
      update(() -> end = new End(cause, unanswered.isEmpty()));
    }

    @Override
    public void onCompleted() {
      update(() -> end = new End(null, unanswered.isEmpty()));
    }

    boolean isReady() {
      return end == null && !isComplete && requests.isReady();
    }

    void requestNext() {
      if (hasResponse) requests.request(1);
      hasResponse = false;
    }

    void complete() {
      if (end == null && !isComplete) requests.onCompleted();
      isComplete = true;
    }

    void cancel(String reason) {
      requests.cancel(reason, null);
    }

    /** Changes the state, unless this stream was replaced by another one. */
    private void update(Runnable change) {
      lock.lock();
      try {
        if (attempt == this) change.run();
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }
}
