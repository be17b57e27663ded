package visage.face.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * The four image operations.
 * Images are JPEG or PNG, detected from their bytes, and have at most 10 MiB and 40 megapixels; the operator or the
 * user's plan may set other limits and formats. The EXIF orientation is applied first: all coordinates are in pixels of
 * the upright image. About 1024 pixels are enough; larger images take longer. Images are not stored.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class FaceServiceGrpc {

  private FaceServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "face.v1.FaceService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<visage.face.v1.MatchFacesRequest,
      visage.face.v1.MatchFacesResponse> getMatchFacesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "MatchFaces",
      requestType = visage.face.v1.MatchFacesRequest.class,
      responseType = visage.face.v1.MatchFacesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<visage.face.v1.MatchFacesRequest,
      visage.face.v1.MatchFacesResponse> getMatchFacesMethod() {
    io.grpc.MethodDescriptor<visage.face.v1.MatchFacesRequest, visage.face.v1.MatchFacesResponse> getMatchFacesMethod;
    if ((getMatchFacesMethod = FaceServiceGrpc.getMatchFacesMethod) == null) {
      synchronized (FaceServiceGrpc.class) {
        if ((getMatchFacesMethod = FaceServiceGrpc.getMatchFacesMethod) == null) {
          FaceServiceGrpc.getMatchFacesMethod = getMatchFacesMethod =
              io.grpc.MethodDescriptor.<visage.face.v1.MatchFacesRequest, visage.face.v1.MatchFacesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "MatchFaces"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  visage.face.v1.MatchFacesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  visage.face.v1.MatchFacesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new FaceServiceMethodDescriptorSupplier("MatchFaces"))
              .build();
        }
      }
    }
    return getMatchFacesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<visage.face.v1.CompareFacesRequest,
      visage.face.v1.CompareFacesResponse> getCompareFacesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CompareFaces",
      requestType = visage.face.v1.CompareFacesRequest.class,
      responseType = visage.face.v1.CompareFacesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<visage.face.v1.CompareFacesRequest,
      visage.face.v1.CompareFacesResponse> getCompareFacesMethod() {
    io.grpc.MethodDescriptor<visage.face.v1.CompareFacesRequest, visage.face.v1.CompareFacesResponse> getCompareFacesMethod;
    if ((getCompareFacesMethod = FaceServiceGrpc.getCompareFacesMethod) == null) {
      synchronized (FaceServiceGrpc.class) {
        if ((getCompareFacesMethod = FaceServiceGrpc.getCompareFacesMethod) == null) {
          FaceServiceGrpc.getCompareFacesMethod = getCompareFacesMethod =
              io.grpc.MethodDescriptor.<visage.face.v1.CompareFacesRequest, visage.face.v1.CompareFacesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CompareFaces"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  visage.face.v1.CompareFacesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  visage.face.v1.CompareFacesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new FaceServiceMethodDescriptorSupplier("CompareFaces"))
              .build();
        }
      }
    }
    return getCompareFacesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<visage.face.v1.GetImageAttrRequest,
      visage.face.v1.GetImageAttrResponse> getGetImageAttrMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetImageAttr",
      requestType = visage.face.v1.GetImageAttrRequest.class,
      responseType = visage.face.v1.GetImageAttrResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<visage.face.v1.GetImageAttrRequest,
      visage.face.v1.GetImageAttrResponse> getGetImageAttrMethod() {
    io.grpc.MethodDescriptor<visage.face.v1.GetImageAttrRequest, visage.face.v1.GetImageAttrResponse> getGetImageAttrMethod;
    if ((getGetImageAttrMethod = FaceServiceGrpc.getGetImageAttrMethod) == null) {
      synchronized (FaceServiceGrpc.class) {
        if ((getGetImageAttrMethod = FaceServiceGrpc.getGetImageAttrMethod) == null) {
          FaceServiceGrpc.getGetImageAttrMethod = getGetImageAttrMethod =
              io.grpc.MethodDescriptor.<visage.face.v1.GetImageAttrRequest, visage.face.v1.GetImageAttrResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetImageAttr"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  visage.face.v1.GetImageAttrRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  visage.face.v1.GetImageAttrResponse.getDefaultInstance()))
              .setSchemaDescriptor(new FaceServiceMethodDescriptorSupplier("GetImageAttr"))
              .build();
        }
      }
    }
    return getGetImageAttrMethod;
  }

  private static volatile io.grpc.MethodDescriptor<visage.face.v1.GetFaceVecRequest,
      visage.face.v1.GetFaceVecResponse> getGetFaceVecMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetFaceVec",
      requestType = visage.face.v1.GetFaceVecRequest.class,
      responseType = visage.face.v1.GetFaceVecResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<visage.face.v1.GetFaceVecRequest,
      visage.face.v1.GetFaceVecResponse> getGetFaceVecMethod() {
    io.grpc.MethodDescriptor<visage.face.v1.GetFaceVecRequest, visage.face.v1.GetFaceVecResponse> getGetFaceVecMethod;
    if ((getGetFaceVecMethod = FaceServiceGrpc.getGetFaceVecMethod) == null) {
      synchronized (FaceServiceGrpc.class) {
        if ((getGetFaceVecMethod = FaceServiceGrpc.getGetFaceVecMethod) == null) {
          FaceServiceGrpc.getGetFaceVecMethod = getGetFaceVecMethod =
              io.grpc.MethodDescriptor.<visage.face.v1.GetFaceVecRequest, visage.face.v1.GetFaceVecResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetFaceVec"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  visage.face.v1.GetFaceVecRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  visage.face.v1.GetFaceVecResponse.getDefaultInstance()))
              .setSchemaDescriptor(new FaceServiceMethodDescriptorSupplier("GetFaceVec"))
              .build();
        }
      }
    }
    return getGetFaceVecMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static FaceServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<FaceServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<FaceServiceStub>() {
        @java.lang.Override
        public FaceServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new FaceServiceStub(channel, callOptions);
        }
      };
    return FaceServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static FaceServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<FaceServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<FaceServiceBlockingV2Stub>() {
        @java.lang.Override
        public FaceServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new FaceServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return FaceServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static FaceServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<FaceServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<FaceServiceBlockingStub>() {
        @java.lang.Override
        public FaceServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new FaceServiceBlockingStub(channel, callOptions);
        }
      };
    return FaceServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static FaceServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<FaceServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<FaceServiceFutureStub>() {
        @java.lang.Override
        public FaceServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new FaceServiceFutureStub(channel, callOptions);
        }
      };
    return FaceServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * The four image operations.
   * Images are JPEG or PNG, detected from their bytes, and have at most 10 MiB and 40 megapixels; the operator or the
   * user's plan may set other limits and formats. The EXIF orientation is applied first: all coordinates are in pixels of
   * the upright image. About 1024 pixels are enough; larger images take longer. Images are not stored.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * Compares the faces in two images. Returns the Euclidean distance between their vectors and a verdict: below 0.5
     * is the same person. The order of the images does not matter.
     * If an image has several faces, the most prominent one is used unless a box selects another. Fails with NO_FACE if
     * an image has no face.
     * </pre>
     */
    default void matchFaces(visage.face.v1.MatchFacesRequest request,
        io.grpc.stub.StreamObserver<visage.face.v1.MatchFacesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getMatchFacesMethod(), responseObserver);
    }

    /**
     * <pre>
     * Compares the faces in two images. Returns a confidence from 0 to 1: above 0.6 is the same person. Deprecated: use
     * MatchFaces, which gives the same verdict.
     * </pre>
     */
    @java.lang.Deprecated
    default void compareFaces(visage.face.v1.CompareFacesRequest request,
        io.grpc.stub.StreamObserver<visage.face.v1.CompareFacesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCompareFacesMethod(), responseObserver);
    }

    /**
     * <pre>
     * Returns the rectangle, 68 landmarks, age range and gender of every face in an image. For an image without a face
     * it succeeds and returns only the image size.
     * At most 256 faces are returned, the most prominent ones. If there are more, the header (gRPC: trailer)
     * `x-visage-faces-found` has their number.
     * </pre>
     */
    default void getImageAttr(visage.face.v1.GetImageAttrRequest request,
        io.grpc.stub.StreamObserver<visage.face.v1.GetImageAttrResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetImageAttrMethod(), responseObserver);
    }

    /**
     * <pre>
     * Converts the face in an image into a vector of 128 numbers, a template for recognition. Two faces are the same
     * person if the Euclidean distance between their vectors is below 0.5.
     * If the image has several faces, the most prominent one is used unless a box selects another. Fails with NO_FACE if
     * there is none. Only vectors of the same model can be compared; the header (gRPC: trailer) `x-visage-model` names it.
     * </pre>
     */
    default void getFaceVec(visage.face.v1.GetFaceVecRequest request,
        io.grpc.stub.StreamObserver<visage.face.v1.GetFaceVecResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetFaceVecMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service FaceService.
   * <pre>
   * The four image operations.
   * Images are JPEG or PNG, detected from their bytes, and have at most 10 MiB and 40 megapixels; the operator or the
   * user's plan may set other limits and formats. The EXIF orientation is applied first: all coordinates are in pixels of
   * the upright image. About 1024 pixels are enough; larger images take longer. Images are not stored.
   * </pre>
   */
  public static abstract class FaceServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return FaceServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service FaceService.
   * <pre>
   * The four image operations.
   * Images are JPEG or PNG, detected from their bytes, and have at most 10 MiB and 40 megapixels; the operator or the
   * user's plan may set other limits and formats. The EXIF orientation is applied first: all coordinates are in pixels of
   * the upright image. About 1024 pixels are enough; larger images take longer. Images are not stored.
   * </pre>
   */
  public static final class FaceServiceStub
      extends io.grpc.stub.AbstractAsyncStub<FaceServiceStub> {
    private FaceServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected FaceServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new FaceServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * Compares the faces in two images. Returns the Euclidean distance between their vectors and a verdict: below 0.5
     * is the same person. The order of the images does not matter.
     * If an image has several faces, the most prominent one is used unless a box selects another. Fails with NO_FACE if
     * an image has no face.
     * </pre>
     */
    public void matchFaces(visage.face.v1.MatchFacesRequest request,
        io.grpc.stub.StreamObserver<visage.face.v1.MatchFacesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getMatchFacesMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Compares the faces in two images. Returns a confidence from 0 to 1: above 0.6 is the same person. Deprecated: use
     * MatchFaces, which gives the same verdict.
     * </pre>
     */
    @java.lang.Deprecated
    public void compareFaces(visage.face.v1.CompareFacesRequest request,
        io.grpc.stub.StreamObserver<visage.face.v1.CompareFacesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCompareFacesMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Returns the rectangle, 68 landmarks, age range and gender of every face in an image. For an image without a face
     * it succeeds and returns only the image size.
     * At most 256 faces are returned, the most prominent ones. If there are more, the header (gRPC: trailer)
     * `x-visage-faces-found` has their number.
     * </pre>
     */
    public void getImageAttr(visage.face.v1.GetImageAttrRequest request,
        io.grpc.stub.StreamObserver<visage.face.v1.GetImageAttrResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetImageAttrMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Converts the face in an image into a vector of 128 numbers, a template for recognition. Two faces are the same
     * person if the Euclidean distance between their vectors is below 0.5.
     * If the image has several faces, the most prominent one is used unless a box selects another. Fails with NO_FACE if
     * there is none. Only vectors of the same model can be compared; the header (gRPC: trailer) `x-visage-model` names it.
     * </pre>
     */
    public void getFaceVec(visage.face.v1.GetFaceVecRequest request,
        io.grpc.stub.StreamObserver<visage.face.v1.GetFaceVecResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetFaceVecMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service FaceService.
   * <pre>
   * The four image operations.
   * Images are JPEG or PNG, detected from their bytes, and have at most 10 MiB and 40 megapixels; the operator or the
   * user's plan may set other limits and formats. The EXIF orientation is applied first: all coordinates are in pixels of
   * the upright image. About 1024 pixels are enough; larger images take longer. Images are not stored.
   * </pre>
   */
  public static final class FaceServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<FaceServiceBlockingV2Stub> {
    private FaceServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected FaceServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new FaceServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * Compares the faces in two images. Returns the Euclidean distance between their vectors and a verdict: below 0.5
     * is the same person. The order of the images does not matter.
     * If an image has several faces, the most prominent one is used unless a box selects another. Fails with NO_FACE if
     * an image has no face.
     * </pre>
     */
    public visage.face.v1.MatchFacesResponse matchFaces(visage.face.v1.MatchFacesRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getMatchFacesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Compares the faces in two images. Returns a confidence from 0 to 1: above 0.6 is the same person. Deprecated: use
     * MatchFaces, which gives the same verdict.
     * </pre>
     */
    @java.lang.Deprecated
    public visage.face.v1.CompareFacesResponse compareFaces(visage.face.v1.CompareFacesRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCompareFacesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Returns the rectangle, 68 landmarks, age range and gender of every face in an image. For an image without a face
     * it succeeds and returns only the image size.
     * At most 256 faces are returned, the most prominent ones. If there are more, the header (gRPC: trailer)
     * `x-visage-faces-found` has their number.
     * </pre>
     */
    public visage.face.v1.GetImageAttrResponse getImageAttr(visage.face.v1.GetImageAttrRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetImageAttrMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Converts the face in an image into a vector of 128 numbers, a template for recognition. Two faces are the same
     * person if the Euclidean distance between their vectors is below 0.5.
     * If the image has several faces, the most prominent one is used unless a box selects another. Fails with NO_FACE if
     * there is none. Only vectors of the same model can be compared; the header (gRPC: trailer) `x-visage-model` names it.
     * </pre>
     */
    public visage.face.v1.GetFaceVecResponse getFaceVec(visage.face.v1.GetFaceVecRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetFaceVecMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service FaceService.
   * <pre>
   * The four image operations.
   * Images are JPEG or PNG, detected from their bytes, and have at most 10 MiB and 40 megapixels; the operator or the
   * user's plan may set other limits and formats. The EXIF orientation is applied first: all coordinates are in pixels of
   * the upright image. About 1024 pixels are enough; larger images take longer. Images are not stored.
   * </pre>
   */
  public static final class FaceServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<FaceServiceBlockingStub> {
    private FaceServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected FaceServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new FaceServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * Compares the faces in two images. Returns the Euclidean distance between their vectors and a verdict: below 0.5
     * is the same person. The order of the images does not matter.
     * If an image has several faces, the most prominent one is used unless a box selects another. Fails with NO_FACE if
     * an image has no face.
     * </pre>
     */
    public visage.face.v1.MatchFacesResponse matchFaces(visage.face.v1.MatchFacesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getMatchFacesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Compares the faces in two images. Returns a confidence from 0 to 1: above 0.6 is the same person. Deprecated: use
     * MatchFaces, which gives the same verdict.
     * </pre>
     */
    @java.lang.Deprecated
    public visage.face.v1.CompareFacesResponse compareFaces(visage.face.v1.CompareFacesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCompareFacesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Returns the rectangle, 68 landmarks, age range and gender of every face in an image. For an image without a face
     * it succeeds and returns only the image size.
     * At most 256 faces are returned, the most prominent ones. If there are more, the header (gRPC: trailer)
     * `x-visage-faces-found` has their number.
     * </pre>
     */
    public visage.face.v1.GetImageAttrResponse getImageAttr(visage.face.v1.GetImageAttrRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetImageAttrMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Converts the face in an image into a vector of 128 numbers, a template for recognition. Two faces are the same
     * person if the Euclidean distance between their vectors is below 0.5.
     * If the image has several faces, the most prominent one is used unless a box selects another. Fails with NO_FACE if
     * there is none. Only vectors of the same model can be compared; the header (gRPC: trailer) `x-visage-model` names it.
     * </pre>
     */
    public visage.face.v1.GetFaceVecResponse getFaceVec(visage.face.v1.GetFaceVecRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetFaceVecMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service FaceService.
   * <pre>
   * The four image operations.
   * Images are JPEG or PNG, detected from their bytes, and have at most 10 MiB and 40 megapixels; the operator or the
   * user's plan may set other limits and formats. The EXIF orientation is applied first: all coordinates are in pixels of
   * the upright image. About 1024 pixels are enough; larger images take longer. Images are not stored.
   * </pre>
   */
  public static final class FaceServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<FaceServiceFutureStub> {
    private FaceServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected FaceServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new FaceServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * Compares the faces in two images. Returns the Euclidean distance between their vectors and a verdict: below 0.5
     * is the same person. The order of the images does not matter.
     * If an image has several faces, the most prominent one is used unless a box selects another. Fails with NO_FACE if
     * an image has no face.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<visage.face.v1.MatchFacesResponse> matchFaces(
        visage.face.v1.MatchFacesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getMatchFacesMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Compares the faces in two images. Returns a confidence from 0 to 1: above 0.6 is the same person. Deprecated: use
     * MatchFaces, which gives the same verdict.
     * </pre>
     */
    @java.lang.Deprecated
    public com.google.common.util.concurrent.ListenableFuture<visage.face.v1.CompareFacesResponse> compareFaces(
        visage.face.v1.CompareFacesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCompareFacesMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Returns the rectangle, 68 landmarks, age range and gender of every face in an image. For an image without a face
     * it succeeds and returns only the image size.
     * At most 256 faces are returned, the most prominent ones. If there are more, the header (gRPC: trailer)
     * `x-visage-faces-found` has their number.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<visage.face.v1.GetImageAttrResponse> getImageAttr(
        visage.face.v1.GetImageAttrRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetImageAttrMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Converts the face in an image into a vector of 128 numbers, a template for recognition. Two faces are the same
     * person if the Euclidean distance between their vectors is below 0.5.
     * If the image has several faces, the most prominent one is used unless a box selects another. Fails with NO_FACE if
     * there is none. Only vectors of the same model can be compared; the header (gRPC: trailer) `x-visage-model` names it.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<visage.face.v1.GetFaceVecResponse> getFaceVec(
        visage.face.v1.GetFaceVecRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetFaceVecMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_MATCH_FACES = 0;
  private static final int METHODID_COMPARE_FACES = 1;
  private static final int METHODID_GET_IMAGE_ATTR = 2;
  private static final int METHODID_GET_FACE_VEC = 3;

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
        case METHODID_MATCH_FACES:
          serviceImpl.matchFaces((visage.face.v1.MatchFacesRequest) request,
              (io.grpc.stub.StreamObserver<visage.face.v1.MatchFacesResponse>) responseObserver);
          break;
        case METHODID_COMPARE_FACES:
          serviceImpl.compareFaces((visage.face.v1.CompareFacesRequest) request,
              (io.grpc.stub.StreamObserver<visage.face.v1.CompareFacesResponse>) responseObserver);
          break;
        case METHODID_GET_IMAGE_ATTR:
          serviceImpl.getImageAttr((visage.face.v1.GetImageAttrRequest) request,
              (io.grpc.stub.StreamObserver<visage.face.v1.GetImageAttrResponse>) responseObserver);
          break;
        case METHODID_GET_FACE_VEC:
          serviceImpl.getFaceVec((visage.face.v1.GetFaceVecRequest) request,
              (io.grpc.stub.StreamObserver<visage.face.v1.GetFaceVecResponse>) responseObserver);
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
        default:
          throw new AssertionError();
      }
    }
  }

  public static final io.grpc.ServerServiceDefinition bindService(AsyncService service) {
    return io.grpc.ServerServiceDefinition.builder(getServiceDescriptor())
        .addMethod(
          getMatchFacesMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              visage.face.v1.MatchFacesRequest,
              visage.face.v1.MatchFacesResponse>(
                service, METHODID_MATCH_FACES)))
        .addMethod(
          getCompareFacesMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              visage.face.v1.CompareFacesRequest,
              visage.face.v1.CompareFacesResponse>(
                service, METHODID_COMPARE_FACES)))
        .addMethod(
          getGetImageAttrMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              visage.face.v1.GetImageAttrRequest,
              visage.face.v1.GetImageAttrResponse>(
                service, METHODID_GET_IMAGE_ATTR)))
        .addMethod(
          getGetFaceVecMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              visage.face.v1.GetFaceVecRequest,
              visage.face.v1.GetFaceVecResponse>(
                service, METHODID_GET_FACE_VEC)))
        .build();
  }

  private static abstract class FaceServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    FaceServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return visage.face.v1.FaceOuterClass.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("FaceService");
    }
  }

  private static final class FaceServiceFileDescriptorSupplier
      extends FaceServiceBaseDescriptorSupplier {
    FaceServiceFileDescriptorSupplier() {}
  }

  private static final class FaceServiceMethodDescriptorSupplier
      extends FaceServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    FaceServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (FaceServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new FaceServiceFileDescriptorSupplier())
              .addMethod(getMatchFacesMethod())
              .addMethod(getCompareFacesMethod())
              .addMethod(getGetImageAttrMethod())
              .addMethod(getGetFaceVecMethod())
              .build();
        }
      }
    }
    return result;
  }
}
