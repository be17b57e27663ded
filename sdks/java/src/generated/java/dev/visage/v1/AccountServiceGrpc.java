package dev.visage.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * Shows and manages the account to which the key of the request belongs.
 * At most 5 requests per second and user are served, and 20 at once.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class AccountServiceGrpc {

  private AccountServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "visage.v1.AccountService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.GetAccountRequest,
      dev.visage.v1.GetAccountResponse> getGetAccountMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetAccount",
      requestType = dev.visage.v1.GetAccountRequest.class,
      responseType = dev.visage.v1.GetAccountResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.visage.v1.GetAccountRequest,
      dev.visage.v1.GetAccountResponse> getGetAccountMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.GetAccountRequest, dev.visage.v1.GetAccountResponse> getGetAccountMethod;
    if ((getGetAccountMethod = AccountServiceGrpc.getGetAccountMethod) == null) {
      synchronized (AccountServiceGrpc.class) {
        if ((getGetAccountMethod = AccountServiceGrpc.getGetAccountMethod) == null) {
          AccountServiceGrpc.getGetAccountMethod = getGetAccountMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.GetAccountRequest, dev.visage.v1.GetAccountResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetAccount"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.GetAccountRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.GetAccountResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AccountServiceMethodDescriptorSupplier("GetAccount"))
              .build();
        }
      }
    }
    return getGetAccountMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.GetUsageRequest,
      dev.visage.v1.GetUsageResponse> getGetUsageMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetUsage",
      requestType = dev.visage.v1.GetUsageRequest.class,
      responseType = dev.visage.v1.GetUsageResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.visage.v1.GetUsageRequest,
      dev.visage.v1.GetUsageResponse> getGetUsageMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.GetUsageRequest, dev.visage.v1.GetUsageResponse> getGetUsageMethod;
    if ((getGetUsageMethod = AccountServiceGrpc.getGetUsageMethod) == null) {
      synchronized (AccountServiceGrpc.class) {
        if ((getGetUsageMethod = AccountServiceGrpc.getGetUsageMethod) == null) {
          AccountServiceGrpc.getGetUsageMethod = getGetUsageMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.GetUsageRequest, dev.visage.v1.GetUsageResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetUsage"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.GetUsageRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.GetUsageResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AccountServiceMethodDescriptorSupplier("GetUsage"))
              .build();
        }
      }
    }
    return getGetUsageMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.CreateKeyRequest,
      dev.visage.v1.CreateKeyResponse> getCreateKeyMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CreateKey",
      requestType = dev.visage.v1.CreateKeyRequest.class,
      responseType = dev.visage.v1.CreateKeyResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.visage.v1.CreateKeyRequest,
      dev.visage.v1.CreateKeyResponse> getCreateKeyMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.CreateKeyRequest, dev.visage.v1.CreateKeyResponse> getCreateKeyMethod;
    if ((getCreateKeyMethod = AccountServiceGrpc.getCreateKeyMethod) == null) {
      synchronized (AccountServiceGrpc.class) {
        if ((getCreateKeyMethod = AccountServiceGrpc.getCreateKeyMethod) == null) {
          AccountServiceGrpc.getCreateKeyMethod = getCreateKeyMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.CreateKeyRequest, dev.visage.v1.CreateKeyResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CreateKey"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.CreateKeyRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.CreateKeyResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AccountServiceMethodDescriptorSupplier("CreateKey"))
              .build();
        }
      }
    }
    return getCreateKeyMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.DeleteKeyRequest,
      dev.visage.v1.DeleteKeyResponse> getDeleteKeyMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "DeleteKey",
      requestType = dev.visage.v1.DeleteKeyRequest.class,
      responseType = dev.visage.v1.DeleteKeyResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.visage.v1.DeleteKeyRequest,
      dev.visage.v1.DeleteKeyResponse> getDeleteKeyMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.DeleteKeyRequest, dev.visage.v1.DeleteKeyResponse> getDeleteKeyMethod;
    if ((getDeleteKeyMethod = AccountServiceGrpc.getDeleteKeyMethod) == null) {
      synchronized (AccountServiceGrpc.class) {
        if ((getDeleteKeyMethod = AccountServiceGrpc.getDeleteKeyMethod) == null) {
          AccountServiceGrpc.getDeleteKeyMethod = getDeleteKeyMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.DeleteKeyRequest, dev.visage.v1.DeleteKeyResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "DeleteKey"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.DeleteKeyRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.DeleteKeyResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AccountServiceMethodDescriptorSupplier("DeleteKey"))
              .build();
        }
      }
    }
    return getDeleteKeyMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static AccountServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<AccountServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<AccountServiceStub>() {
        @java.lang.Override
        public AccountServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new AccountServiceStub(channel, callOptions);
        }
      };
    return AccountServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static AccountServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<AccountServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<AccountServiceBlockingV2Stub>() {
        @java.lang.Override
        public AccountServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new AccountServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return AccountServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static AccountServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<AccountServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<AccountServiceBlockingStub>() {
        @java.lang.Override
        public AccountServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new AccountServiceBlockingStub(channel, callOptions);
        }
      };
    return AccountServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static AccountServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<AccountServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<AccountServiceFutureStub>() {
        @java.lang.Override
        public AccountServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new AccountServiceFutureStub(channel, callOptions);
        }
      };
    return AccountServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * Shows and manages the account to which the key of the request belongs.
   * At most 5 requests per second and user are served, and 20 at once.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * Returns the plan, the subscription, the quota and the keys of the caller.
     * </pre>
     */
    default void getAccount(dev.visage.v1.GetAccountRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.GetAccountResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetAccountMethod(), responseObserver);
    }

    /**
     * <pre>
     * Returns how many requests the caller made, by month, operation and outcome. The latest second may be missing.
     * </pre>
     */
    default void getUsage(dev.visage.v1.GetUsageRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.GetUsageResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetUsageMethod(), responseObserver);
    }

    /**
     * <pre>
     * Creates a key and returns it once. The other keys expire after a grace period, so that programs can be changed
     * without interruption. Fails with TOO_MANY_KEYS if two keys would stay valid besides the new one.
     * </pre>
     */
    default void createKey(dev.visage.v1.CreateKeyRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.CreateKeyResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCreateKeyMethod(), responseObserver);
    }

    /**
     * <pre>
     * Deletes a key. The service rejects it within five seconds. Fails with KEY_IN_USE for a key that the request itself
     * carries, so that nobody loses access by mistake: to replace the only key, create another one first and use it to
     * delete the old one.
     * </pre>
     */
    default void deleteKey(dev.visage.v1.DeleteKeyRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.DeleteKeyResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getDeleteKeyMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service AccountService.
   * <pre>
   * Shows and manages the account to which the key of the request belongs.
   * At most 5 requests per second and user are served, and 20 at once.
   * </pre>
   */
  public static abstract class AccountServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return AccountServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service AccountService.
   * <pre>
   * Shows and manages the account to which the key of the request belongs.
   * At most 5 requests per second and user are served, and 20 at once.
   * </pre>
   */
  public static final class AccountServiceStub
      extends io.grpc.stub.AbstractAsyncStub<AccountServiceStub> {
    private AccountServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected AccountServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new AccountServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * Returns the plan, the subscription, the quota and the keys of the caller.
     * </pre>
     */
    public void getAccount(dev.visage.v1.GetAccountRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.GetAccountResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetAccountMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Returns how many requests the caller made, by month, operation and outcome. The latest second may be missing.
     * </pre>
     */
    public void getUsage(dev.visage.v1.GetUsageRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.GetUsageResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetUsageMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Creates a key and returns it once. The other keys expire after a grace period, so that programs can be changed
     * without interruption. Fails with TOO_MANY_KEYS if two keys would stay valid besides the new one.
     * </pre>
     */
    public void createKey(dev.visage.v1.CreateKeyRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.CreateKeyResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCreateKeyMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Deletes a key. The service rejects it within five seconds. Fails with KEY_IN_USE for a key that the request itself
     * carries, so that nobody loses access by mistake: to replace the only key, create another one first and use it to
     * delete the old one.
     * </pre>
     */
    public void deleteKey(dev.visage.v1.DeleteKeyRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.DeleteKeyResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getDeleteKeyMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service AccountService.
   * <pre>
   * Shows and manages the account to which the key of the request belongs.
   * At most 5 requests per second and user are served, and 20 at once.
   * </pre>
   */
  public static final class AccountServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<AccountServiceBlockingV2Stub> {
    private AccountServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected AccountServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new AccountServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * Returns the plan, the subscription, the quota and the keys of the caller.
     * </pre>
     */
    public dev.visage.v1.GetAccountResponse getAccount(dev.visage.v1.GetAccountRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetAccountMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Returns how many requests the caller made, by month, operation and outcome. The latest second may be missing.
     * </pre>
     */
    public dev.visage.v1.GetUsageResponse getUsage(dev.visage.v1.GetUsageRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetUsageMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Creates a key and returns it once. The other keys expire after a grace period, so that programs can be changed
     * without interruption. Fails with TOO_MANY_KEYS if two keys would stay valid besides the new one.
     * </pre>
     */
    public dev.visage.v1.CreateKeyResponse createKey(dev.visage.v1.CreateKeyRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCreateKeyMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Deletes a key. The service rejects it within five seconds. Fails with KEY_IN_USE for a key that the request itself
     * carries, so that nobody loses access by mistake: to replace the only key, create another one first and use it to
     * delete the old one.
     * </pre>
     */
    public dev.visage.v1.DeleteKeyResponse deleteKey(dev.visage.v1.DeleteKeyRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getDeleteKeyMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service AccountService.
   * <pre>
   * Shows and manages the account to which the key of the request belongs.
   * At most 5 requests per second and user are served, and 20 at once.
   * </pre>
   */
  public static final class AccountServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<AccountServiceBlockingStub> {
    private AccountServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected AccountServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new AccountServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * Returns the plan, the subscription, the quota and the keys of the caller.
     * </pre>
     */
    public dev.visage.v1.GetAccountResponse getAccount(dev.visage.v1.GetAccountRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetAccountMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Returns how many requests the caller made, by month, operation and outcome. The latest second may be missing.
     * </pre>
     */
    public dev.visage.v1.GetUsageResponse getUsage(dev.visage.v1.GetUsageRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetUsageMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Creates a key and returns it once. The other keys expire after a grace period, so that programs can be changed
     * without interruption. Fails with TOO_MANY_KEYS if two keys would stay valid besides the new one.
     * </pre>
     */
    public dev.visage.v1.CreateKeyResponse createKey(dev.visage.v1.CreateKeyRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCreateKeyMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Deletes a key. The service rejects it within five seconds. Fails with KEY_IN_USE for a key that the request itself
     * carries, so that nobody loses access by mistake: to replace the only key, create another one first and use it to
     * delete the old one.
     * </pre>
     */
    public dev.visage.v1.DeleteKeyResponse deleteKey(dev.visage.v1.DeleteKeyRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getDeleteKeyMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service AccountService.
   * <pre>
   * Shows and manages the account to which the key of the request belongs.
   * At most 5 requests per second and user are served, and 20 at once.
   * </pre>
   */
  public static final class AccountServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<AccountServiceFutureStub> {
    private AccountServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected AccountServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new AccountServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * Returns the plan, the subscription, the quota and the keys of the caller.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.visage.v1.GetAccountResponse> getAccount(
        dev.visage.v1.GetAccountRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetAccountMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Returns how many requests the caller made, by month, operation and outcome. The latest second may be missing.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.visage.v1.GetUsageResponse> getUsage(
        dev.visage.v1.GetUsageRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetUsageMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Creates a key and returns it once. The other keys expire after a grace period, so that programs can be changed
     * without interruption. Fails with TOO_MANY_KEYS if two keys would stay valid besides the new one.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.visage.v1.CreateKeyResponse> createKey(
        dev.visage.v1.CreateKeyRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCreateKeyMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Deletes a key. The service rejects it within five seconds. Fails with KEY_IN_USE for a key that the request itself
     * carries, so that nobody loses access by mistake: to replace the only key, create another one first and use it to
     * delete the old one.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.visage.v1.DeleteKeyResponse> deleteKey(
        dev.visage.v1.DeleteKeyRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getDeleteKeyMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_GET_ACCOUNT = 0;
  private static final int METHODID_GET_USAGE = 1;
  private static final int METHODID_CREATE_KEY = 2;
  private static final int METHODID_DELETE_KEY = 3;

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
        case METHODID_GET_ACCOUNT:
          serviceImpl.getAccount((dev.visage.v1.GetAccountRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.GetAccountResponse>) responseObserver);
          break;
        case METHODID_GET_USAGE:
          serviceImpl.getUsage((dev.visage.v1.GetUsageRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.GetUsageResponse>) responseObserver);
          break;
        case METHODID_CREATE_KEY:
          serviceImpl.createKey((dev.visage.v1.CreateKeyRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.CreateKeyResponse>) responseObserver);
          break;
        case METHODID_DELETE_KEY:
          serviceImpl.deleteKey((dev.visage.v1.DeleteKeyRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.DeleteKeyResponse>) responseObserver);
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
          getGetAccountMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.visage.v1.GetAccountRequest,
              dev.visage.v1.GetAccountResponse>(
                service, METHODID_GET_ACCOUNT)))
        .addMethod(
          getGetUsageMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.visage.v1.GetUsageRequest,
              dev.visage.v1.GetUsageResponse>(
                service, METHODID_GET_USAGE)))
        .addMethod(
          getCreateKeyMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.visage.v1.CreateKeyRequest,
              dev.visage.v1.CreateKeyResponse>(
                service, METHODID_CREATE_KEY)))
        .addMethod(
          getDeleteKeyMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.visage.v1.DeleteKeyRequest,
              dev.visage.v1.DeleteKeyResponse>(
                service, METHODID_DELETE_KEY)))
        .build();
  }

  private static abstract class AccountServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    AccountServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return dev.visage.v1.Account.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("AccountService");
    }
  }

  private static final class AccountServiceFileDescriptorSupplier
      extends AccountServiceBaseDescriptorSupplier {
    AccountServiceFileDescriptorSupplier() {}
  }

  private static final class AccountServiceMethodDescriptorSupplier
      extends AccountServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    AccountServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (AccountServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new AccountServiceFileDescriptorSupplier())
              .addMethod(getGetAccountMethod())
              .addMethod(getGetUsageMethod())
              .addMethod(getCreateKeyMethod())
              .addMethod(getDeleteKeyMethod())
              .build();
        }
      }
    }
    return result;
  }
}
