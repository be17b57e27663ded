package dev.visage.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * Analyses the faces in images. The results are the same as those of face.v1.FaceService, before its rounding.
 * Images are JPEG or PNG, detected from their bytes, and have at most 10 MiB and 40 megapixels; the operator or the
 * user's plan may set other limits and formats. The EXIF orientation is applied first: all coordinates are in pixels of
 * the upright image. Images are not stored.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class FaceAnalysisServiceGrpc {

  private FaceAnalysisServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "visage.v1.FaceAnalysisService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.AnalyzeImageRequest,
      dev.visage.v1.AnalyzeImageResponse> getAnalyzeImageMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "AnalyzeImage",
      requestType = dev.visage.v1.AnalyzeImageRequest.class,
      responseType = dev.visage.v1.AnalyzeImageResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.visage.v1.AnalyzeImageRequest,
      dev.visage.v1.AnalyzeImageResponse> getAnalyzeImageMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.AnalyzeImageRequest, dev.visage.v1.AnalyzeImageResponse> getAnalyzeImageMethod;
    if ((getAnalyzeImageMethod = FaceAnalysisServiceGrpc.getAnalyzeImageMethod) == null) {
      synchronized (FaceAnalysisServiceGrpc.class) {
        if ((getAnalyzeImageMethod = FaceAnalysisServiceGrpc.getAnalyzeImageMethod) == null) {
          FaceAnalysisServiceGrpc.getAnalyzeImageMethod = getAnalyzeImageMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.AnalyzeImageRequest, dev.visage.v1.AnalyzeImageResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "AnalyzeImage"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.AnalyzeImageRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.AnalyzeImageResponse.getDefaultInstance()))
              .setSchemaDescriptor(new FaceAnalysisServiceMethodDescriptorSupplier("AnalyzeImage"))
              .build();
        }
      }
    }
    return getAnalyzeImageMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.AnalyzeImagesRequest,
      dev.visage.v1.AnalyzeImagesResponse> getAnalyzeImagesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "AnalyzeImages",
      requestType = dev.visage.v1.AnalyzeImagesRequest.class,
      responseType = dev.visage.v1.AnalyzeImagesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.BIDI_STREAMING)
  public static io.grpc.MethodDescriptor<dev.visage.v1.AnalyzeImagesRequest,
      dev.visage.v1.AnalyzeImagesResponse> getAnalyzeImagesMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.AnalyzeImagesRequest, dev.visage.v1.AnalyzeImagesResponse> getAnalyzeImagesMethod;
    if ((getAnalyzeImagesMethod = FaceAnalysisServiceGrpc.getAnalyzeImagesMethod) == null) {
      synchronized (FaceAnalysisServiceGrpc.class) {
        if ((getAnalyzeImagesMethod = FaceAnalysisServiceGrpc.getAnalyzeImagesMethod) == null) {
          FaceAnalysisServiceGrpc.getAnalyzeImagesMethod = getAnalyzeImagesMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.AnalyzeImagesRequest, dev.visage.v1.AnalyzeImagesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.BIDI_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "AnalyzeImages"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.AnalyzeImagesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.AnalyzeImagesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new FaceAnalysisServiceMethodDescriptorSupplier("AnalyzeImages"))
              .build();
        }
      }
    }
    return getAnalyzeImagesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.CompareFacesRequest,
      dev.visage.v1.CompareFacesResponse> getCompareFacesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CompareFaces",
      requestType = dev.visage.v1.CompareFacesRequest.class,
      responseType = dev.visage.v1.CompareFacesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.visage.v1.CompareFacesRequest,
      dev.visage.v1.CompareFacesResponse> getCompareFacesMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.CompareFacesRequest, dev.visage.v1.CompareFacesResponse> getCompareFacesMethod;
    if ((getCompareFacesMethod = FaceAnalysisServiceGrpc.getCompareFacesMethod) == null) {
      synchronized (FaceAnalysisServiceGrpc.class) {
        if ((getCompareFacesMethod = FaceAnalysisServiceGrpc.getCompareFacesMethod) == null) {
          FaceAnalysisServiceGrpc.getCompareFacesMethod = getCompareFacesMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.CompareFacesRequest, dev.visage.v1.CompareFacesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CompareFaces"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.CompareFacesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.CompareFacesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new FaceAnalysisServiceMethodDescriptorSupplier("CompareFaces"))
              .build();
        }
      }
    }
    return getCompareFacesMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static FaceAnalysisServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<FaceAnalysisServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<FaceAnalysisServiceStub>() {
        @java.lang.Override
        public FaceAnalysisServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new FaceAnalysisServiceStub(channel, callOptions);
        }
      };
    return FaceAnalysisServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static FaceAnalysisServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<FaceAnalysisServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<FaceAnalysisServiceBlockingV2Stub>() {
        @java.lang.Override
        public FaceAnalysisServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new FaceAnalysisServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return FaceAnalysisServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static FaceAnalysisServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<FaceAnalysisServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<FaceAnalysisServiceBlockingStub>() {
        @java.lang.Override
        public FaceAnalysisServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new FaceAnalysisServiceBlockingStub(channel, callOptions);
        }
      };
    return FaceAnalysisServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static FaceAnalysisServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<FaceAnalysisServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<FaceAnalysisServiceFutureStub>() {
        @java.lang.Override
        public FaceAnalysisServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new FaceAnalysisServiceFutureStub(channel, callOptions);
        }
      };
    return FaceAnalysisServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * Analyses the faces in images. The results are the same as those of face.v1.FaceService, before its rounding.
   * Images are JPEG or PNG, detected from their bytes, and have at most 10 MiB and 40 megapixels; the operator or the
   * user's plan may set other limits and formats. The EXIF orientation is applied first: all coordinates are in pixels of
   * the upright image. Images are not stored.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * Measures every face in an image. For an image without a face it succeeds and returns no faces.
     * </pre>
     */
    default void analyzeImage(dev.visage.v1.AnalyzeImageRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.AnalyzeImageResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getAnalyzeImageMethod(), responseObserver);
    }

    /**
     * <pre>
     * Measures the faces in many images. A response comes as soon as its image is done, so responses may come in another
     * order than requests. An image that cannot be analysed has an error in its response, and the stream goes on.
     * Send and receive at the same time: the service reads the next image only when earlier ones are done and their
     * responses were sent. A client that sends images and reads no responses for 30 seconds gets an error.
     * Every image counts as one request of the user. The stream needs gRPC or Connect over HTTP/2. Over plain HTTP, the
     * request and the response are lines of JSON (`application/x-ndjson`), one message in each line.
     * </pre>
     */
    default io.grpc.stub.StreamObserver<dev.visage.v1.AnalyzeImagesRequest> analyzeImages(
        io.grpc.stub.StreamObserver<dev.visage.v1.AnalyzeImagesResponse> responseObserver) {
      return io.grpc.stub.ServerCalls.asyncUnimplementedStreamingCall(getAnalyzeImagesMethod(), responseObserver);
    }

    /**
     * <pre>
     * Compares a face with every face in an image, or with a stored embedding. Fails with NO_FACE if the source is an
     * image without a face. A target without a face gives no matches.
     * </pre>
     */
    default void compareFaces(dev.visage.v1.CompareFacesRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.CompareFacesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCompareFacesMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service FaceAnalysisService.
   * <pre>
   * Analyses the faces in images. The results are the same as those of face.v1.FaceService, before its rounding.
   * Images are JPEG or PNG, detected from their bytes, and have at most 10 MiB and 40 megapixels; the operator or the
   * user's plan may set other limits and formats. The EXIF orientation is applied first: all coordinates are in pixels of
   * the upright image. Images are not stored.
   * </pre>
   */
  public static abstract class FaceAnalysisServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return FaceAnalysisServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service FaceAnalysisService.
   * <pre>
   * Analyses the faces in images. The results are the same as those of face.v1.FaceService, before its rounding.
   * Images are JPEG or PNG, detected from their bytes, and have at most 10 MiB and 40 megapixels; the operator or the
   * user's plan may set other limits and formats. The EXIF orientation is applied first: all coordinates are in pixels of
   * the upright image. Images are not stored.
   * </pre>
   */
  public static final class FaceAnalysisServiceStub
      extends io.grpc.stub.AbstractAsyncStub<FaceAnalysisServiceStub> {
    private FaceAnalysisServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected FaceAnalysisServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new FaceAnalysisServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * Measures every face in an image. For an image without a face it succeeds and returns no faces.
     * </pre>
     */
    public void analyzeImage(dev.visage.v1.AnalyzeImageRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.AnalyzeImageResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getAnalyzeImageMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Measures the faces in many images. A response comes as soon as its image is done, so responses may come in another
     * order than requests. An image that cannot be analysed has an error in its response, and the stream goes on.
     * Send and receive at the same time: the service reads the next image only when earlier ones are done and their
     * responses were sent. A client that sends images and reads no responses for 30 seconds gets an error.
     * Every image counts as one request of the user. The stream needs gRPC or Connect over HTTP/2. Over plain HTTP, the
     * request and the response are lines of JSON (`application/x-ndjson`), one message in each line.
     * </pre>
     */
    public io.grpc.stub.StreamObserver<dev.visage.v1.AnalyzeImagesRequest> analyzeImages(
        io.grpc.stub.StreamObserver<dev.visage.v1.AnalyzeImagesResponse> responseObserver) {
      return io.grpc.stub.ClientCalls.asyncBidiStreamingCall(
          getChannel().newCall(getAnalyzeImagesMethod(), getCallOptions()), responseObserver);
    }

    /**
     * <pre>
     * Compares a face with every face in an image, or with a stored embedding. Fails with NO_FACE if the source is an
     * image without a face. A target without a face gives no matches.
     * </pre>
     */
    public void compareFaces(dev.visage.v1.CompareFacesRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.CompareFacesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCompareFacesMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service FaceAnalysisService.
   * <pre>
   * Analyses the faces in images. The results are the same as those of face.v1.FaceService, before its rounding.
   * Images are JPEG or PNG, detected from their bytes, and have at most 10 MiB and 40 megapixels; the operator or the
   * user's plan may set other limits and formats. The EXIF orientation is applied first: all coordinates are in pixels of
   * the upright image. Images are not stored.
   * </pre>
   */
  public static final class FaceAnalysisServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<FaceAnalysisServiceBlockingV2Stub> {
    private FaceAnalysisServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected FaceAnalysisServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new FaceAnalysisServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * Measures every face in an image. For an image without a face it succeeds and returns no faces.
     * </pre>
     */
    public dev.visage.v1.AnalyzeImageResponse analyzeImage(dev.visage.v1.AnalyzeImageRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getAnalyzeImageMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Measures the faces in many images. A response comes as soon as its image is done, so responses may come in another
     * order than requests. An image that cannot be analysed has an error in its response, and the stream goes on.
     * Send and receive at the same time: the service reads the next image only when earlier ones are done and their
     * responses were sent. A client that sends images and reads no responses for 30 seconds gets an error.
     * Every image counts as one request of the user. The stream needs gRPC or Connect over HTTP/2. Over plain HTTP, the
     * request and the response are lines of JSON (`application/x-ndjson`), one message in each line.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<dev.visage.v1.AnalyzeImagesRequest, dev.visage.v1.AnalyzeImagesResponse>
        analyzeImages() {
      return io.grpc.stub.ClientCalls.blockingBidiStreamingCall(
          getChannel(), getAnalyzeImagesMethod(), getCallOptions());
    }

    /**
     * <pre>
     * Compares a face with every face in an image, or with a stored embedding. Fails with NO_FACE if the source is an
     * image without a face. A target without a face gives no matches.
     * </pre>
     */
    public dev.visage.v1.CompareFacesResponse compareFaces(dev.visage.v1.CompareFacesRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCompareFacesMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service FaceAnalysisService.
   * <pre>
   * Analyses the faces in images. The results are the same as those of face.v1.FaceService, before its rounding.
   * Images are JPEG or PNG, detected from their bytes, and have at most 10 MiB and 40 megapixels; the operator or the
   * user's plan may set other limits and formats. The EXIF orientation is applied first: all coordinates are in pixels of
   * the upright image. Images are not stored.
   * </pre>
   */
  public static final class FaceAnalysisServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<FaceAnalysisServiceBlockingStub> {
    private FaceAnalysisServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected FaceAnalysisServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new FaceAnalysisServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * Measures every face in an image. For an image without a face it succeeds and returns no faces.
     * </pre>
     */
    public dev.visage.v1.AnalyzeImageResponse analyzeImage(dev.visage.v1.AnalyzeImageRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getAnalyzeImageMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Compares a face with every face in an image, or with a stored embedding. Fails with NO_FACE if the source is an
     * image without a face. A target without a face gives no matches.
     * </pre>
     */
    public dev.visage.v1.CompareFacesResponse compareFaces(dev.visage.v1.CompareFacesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCompareFacesMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service FaceAnalysisService.
   * <pre>
   * Analyses the faces in images. The results are the same as those of face.v1.FaceService, before its rounding.
   * Images are JPEG or PNG, detected from their bytes, and have at most 10 MiB and 40 megapixels; the operator or the
   * user's plan may set other limits and formats. The EXIF orientation is applied first: all coordinates are in pixels of
   * the upright image. Images are not stored.
   * </pre>
   */
  public static final class FaceAnalysisServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<FaceAnalysisServiceFutureStub> {
    private FaceAnalysisServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected FaceAnalysisServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new FaceAnalysisServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * Measures every face in an image. For an image without a face it succeeds and returns no faces.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.visage.v1.AnalyzeImageResponse> analyzeImage(
        dev.visage.v1.AnalyzeImageRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getAnalyzeImageMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Compares a face with every face in an image, or with a stored embedding. Fails with NO_FACE if the source is an
     * image without a face. A target without a face gives no matches.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.visage.v1.CompareFacesResponse> compareFaces(
        dev.visage.v1.CompareFacesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCompareFacesMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_ANALYZE_IMAGE = 0;
  private static final int METHODID_COMPARE_FACES = 1;
  private static final int METHODID_ANALYZE_IMAGES = 2;

  private static final class MethodHandlers<Req, Resp> implements
      io.grpc.stub.ServerCalls.UnaryMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ServerStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ClientStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.BidiStreamingMethod<Req, Resp> {
    private final AsyncService serviceImpl;
    private final int methodId;

    MethodHandlers(AsyncService serviceImpl, int methodId) {
      this.serviceImpl = serviceImpl;
      this.methodId = methodId;
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public void invoke(Req request, io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        case METHODID_ANALYZE_IMAGE:
          serviceImpl.analyzeImage((dev.visage.v1.AnalyzeImageRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.AnalyzeImageResponse>) responseObserver);
          break;
        case METHODID_COMPARE_FACES:
          serviceImpl.compareFaces((dev.visage.v1.CompareFacesRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.CompareFacesResponse>) responseObserver);
          break;
        default:
          throw new AssertionError();
      }
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public io.grpc.stub.StreamObserver<Req> invoke(
        io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        case METHODID_ANALYZE_IMAGES:
          return (io.grpc.stub.StreamObserver<Req>) serviceImpl.analyzeImages(
              (io.grpc.stub.StreamObserver<dev.visage.v1.AnalyzeImagesResponse>) responseObserver);
        default:
          throw new AssertionError();
      }
    }
  }

  public static final io.grpc.ServerServiceDefinition bindService(AsyncService service) {
    return io.grpc.ServerServiceDefinition.builder(getServiceDescriptor())
        .addMethod(
          getAnalyzeImageMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.visage.v1.AnalyzeImageRequest,
              dev.visage.v1.AnalyzeImageResponse>(
                service, METHODID_ANALYZE_IMAGE)))
        .addMethod(
          getAnalyzeImagesMethod(),
          io.grpc.stub.ServerCalls.asyncBidiStreamingCall(
            new MethodHandlers<
              dev.visage.v1.AnalyzeImagesRequest,
              dev.visage.v1.AnalyzeImagesResponse>(
                service, METHODID_ANALYZE_IMAGES)))
        .addMethod(
          getCompareFacesMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.visage.v1.CompareFacesRequest,
              dev.visage.v1.CompareFacesResponse>(
                service, METHODID_COMPARE_FACES)))
        .build();
  }

  private static abstract class FaceAnalysisServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    FaceAnalysisServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return dev.visage.v1.FaceAnalysis.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("FaceAnalysisService");
    }
  }

  private static final class FaceAnalysisServiceFileDescriptorSupplier
      extends FaceAnalysisServiceBaseDescriptorSupplier {
    FaceAnalysisServiceFileDescriptorSupplier() {}
  }

  private static final class FaceAnalysisServiceMethodDescriptorSupplier
      extends FaceAnalysisServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    FaceAnalysisServiceMethodDescriptorSupplier(java.lang.String methodName) {
      this.methodName = methodName;
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.MethodDescriptor getMethodDescriptor() {
      return getServiceDescriptor().findMethodByName(methodName);
    }
  }

  private static volatile io.grpc.ServiceDescriptor serviceDescriptor;

  public static io.grpc.ServiceDescriptor getServiceDescriptor() {
    io.grpc.ServiceDescriptor result = serviceDescriptor;
    if (result == null) {
      synchronized (FaceAnalysisServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new FaceAnalysisServiceFileDescriptorSupplier())
              .addMethod(getAnalyzeImageMethod())
              .addMethod(getAnalyzeImagesMethod())
              .addMethod(getCompareFacesMethod())
              .build();
        }
      }
    }
    return result;
  }
}
