package dev.visage.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * Manages users and plans.
 * A user is identified by its id, its fingerprint or its name. Changes take effect within five seconds.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class AdminServiceGrpc {

  private AdminServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "visage.v1.AdminService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.ListUsersRequest,
      dev.visage.v1.ListUsersResponse> getListUsersMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListUsers",
      requestType = dev.visage.v1.ListUsersRequest.class,
      responseType = dev.visage.v1.ListUsersResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.visage.v1.ListUsersRequest,
      dev.visage.v1.ListUsersResponse> getListUsersMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.ListUsersRequest, dev.visage.v1.ListUsersResponse> getListUsersMethod;
    if ((getListUsersMethod = AdminServiceGrpc.getListUsersMethod) == null) {
      synchronized (AdminServiceGrpc.class) {
        if ((getListUsersMethod = AdminServiceGrpc.getListUsersMethod) == null) {
          AdminServiceGrpc.getListUsersMethod = getListUsersMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.ListUsersRequest, dev.visage.v1.ListUsersResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListUsers"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.ListUsersRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.ListUsersResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AdminServiceMethodDescriptorSupplier("ListUsers"))
              .build();
        }
      }
    }
    return getListUsersMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.GetUserRequest,
      dev.visage.v1.GetUserResponse> getGetUserMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetUser",
      requestType = dev.visage.v1.GetUserRequest.class,
      responseType = dev.visage.v1.GetUserResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.visage.v1.GetUserRequest,
      dev.visage.v1.GetUserResponse> getGetUserMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.GetUserRequest, dev.visage.v1.GetUserResponse> getGetUserMethod;
    if ((getGetUserMethod = AdminServiceGrpc.getGetUserMethod) == null) {
      synchronized (AdminServiceGrpc.class) {
        if ((getGetUserMethod = AdminServiceGrpc.getGetUserMethod) == null) {
          AdminServiceGrpc.getGetUserMethod = getGetUserMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.GetUserRequest, dev.visage.v1.GetUserResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetUser"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.GetUserRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.GetUserResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AdminServiceMethodDescriptorSupplier("GetUser"))
              .build();
        }
      }
    }
    return getGetUserMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.CreateUserRequest,
      dev.visage.v1.CreateUserResponse> getCreateUserMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CreateUser",
      requestType = dev.visage.v1.CreateUserRequest.class,
      responseType = dev.visage.v1.CreateUserResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.visage.v1.CreateUserRequest,
      dev.visage.v1.CreateUserResponse> getCreateUserMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.CreateUserRequest, dev.visage.v1.CreateUserResponse> getCreateUserMethod;
    if ((getCreateUserMethod = AdminServiceGrpc.getCreateUserMethod) == null) {
      synchronized (AdminServiceGrpc.class) {
        if ((getCreateUserMethod = AdminServiceGrpc.getCreateUserMethod) == null) {
          AdminServiceGrpc.getCreateUserMethod = getCreateUserMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.CreateUserRequest, dev.visage.v1.CreateUserResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CreateUser"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.CreateUserRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.CreateUserResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AdminServiceMethodDescriptorSupplier("CreateUser"))
              .build();
        }
      }
    }
    return getCreateUserMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.UpdateUserRequest,
      dev.visage.v1.UpdateUserResponse> getUpdateUserMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "UpdateUser",
      requestType = dev.visage.v1.UpdateUserRequest.class,
      responseType = dev.visage.v1.UpdateUserResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.visage.v1.UpdateUserRequest,
      dev.visage.v1.UpdateUserResponse> getUpdateUserMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.UpdateUserRequest, dev.visage.v1.UpdateUserResponse> getUpdateUserMethod;
    if ((getUpdateUserMethod = AdminServiceGrpc.getUpdateUserMethod) == null) {
      synchronized (AdminServiceGrpc.class) {
        if ((getUpdateUserMethod = AdminServiceGrpc.getUpdateUserMethod) == null) {
          AdminServiceGrpc.getUpdateUserMethod = getUpdateUserMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.UpdateUserRequest, dev.visage.v1.UpdateUserResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "UpdateUser"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.UpdateUserRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.UpdateUserResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AdminServiceMethodDescriptorSupplier("UpdateUser"))
              .build();
        }
      }
    }
    return getUpdateUserMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.DeleteUserRequest,
      dev.visage.v1.DeleteUserResponse> getDeleteUserMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "DeleteUser",
      requestType = dev.visage.v1.DeleteUserRequest.class,
      responseType = dev.visage.v1.DeleteUserResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.visage.v1.DeleteUserRequest,
      dev.visage.v1.DeleteUserResponse> getDeleteUserMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.DeleteUserRequest, dev.visage.v1.DeleteUserResponse> getDeleteUserMethod;
    if ((getDeleteUserMethod = AdminServiceGrpc.getDeleteUserMethod) == null) {
      synchronized (AdminServiceGrpc.class) {
        if ((getDeleteUserMethod = AdminServiceGrpc.getDeleteUserMethod) == null) {
          AdminServiceGrpc.getDeleteUserMethod = getDeleteUserMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.DeleteUserRequest, dev.visage.v1.DeleteUserResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "DeleteUser"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.DeleteUserRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.DeleteUserResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AdminServiceMethodDescriptorSupplier("DeleteUser"))
              .build();
        }
      }
    }
    return getDeleteUserMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.CreateUserKeyRequest,
      dev.visage.v1.CreateUserKeyResponse> getCreateUserKeyMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CreateUserKey",
      requestType = dev.visage.v1.CreateUserKeyRequest.class,
      responseType = dev.visage.v1.CreateUserKeyResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.visage.v1.CreateUserKeyRequest,
      dev.visage.v1.CreateUserKeyResponse> getCreateUserKeyMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.CreateUserKeyRequest, dev.visage.v1.CreateUserKeyResponse> getCreateUserKeyMethod;
    if ((getCreateUserKeyMethod = AdminServiceGrpc.getCreateUserKeyMethod) == null) {
      synchronized (AdminServiceGrpc.class) {
        if ((getCreateUserKeyMethod = AdminServiceGrpc.getCreateUserKeyMethod) == null) {
          AdminServiceGrpc.getCreateUserKeyMethod = getCreateUserKeyMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.CreateUserKeyRequest, dev.visage.v1.CreateUserKeyResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CreateUserKey"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.CreateUserKeyRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.CreateUserKeyResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AdminServiceMethodDescriptorSupplier("CreateUserKey"))
              .build();
        }
      }
    }
    return getCreateUserKeyMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.DeleteUserKeyRequest,
      dev.visage.v1.DeleteUserKeyResponse> getDeleteUserKeyMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "DeleteUserKey",
      requestType = dev.visage.v1.DeleteUserKeyRequest.class,
      responseType = dev.visage.v1.DeleteUserKeyResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.visage.v1.DeleteUserKeyRequest,
      dev.visage.v1.DeleteUserKeyResponse> getDeleteUserKeyMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.DeleteUserKeyRequest, dev.visage.v1.DeleteUserKeyResponse> getDeleteUserKeyMethod;
    if ((getDeleteUserKeyMethod = AdminServiceGrpc.getDeleteUserKeyMethod) == null) {
      synchronized (AdminServiceGrpc.class) {
        if ((getDeleteUserKeyMethod = AdminServiceGrpc.getDeleteUserKeyMethod) == null) {
          AdminServiceGrpc.getDeleteUserKeyMethod = getDeleteUserKeyMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.DeleteUserKeyRequest, dev.visage.v1.DeleteUserKeyResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "DeleteUserKey"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.DeleteUserKeyRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.DeleteUserKeyResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AdminServiceMethodDescriptorSupplier("DeleteUserKey"))
              .build();
        }
      }
    }
    return getDeleteUserKeyMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.ListPlansRequest,
      dev.visage.v1.ListPlansResponse> getListPlansMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListPlans",
      requestType = dev.visage.v1.ListPlansRequest.class,
      responseType = dev.visage.v1.ListPlansResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.visage.v1.ListPlansRequest,
      dev.visage.v1.ListPlansResponse> getListPlansMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.ListPlansRequest, dev.visage.v1.ListPlansResponse> getListPlansMethod;
    if ((getListPlansMethod = AdminServiceGrpc.getListPlansMethod) == null) {
      synchronized (AdminServiceGrpc.class) {
        if ((getListPlansMethod = AdminServiceGrpc.getListPlansMethod) == null) {
          AdminServiceGrpc.getListPlansMethod = getListPlansMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.ListPlansRequest, dev.visage.v1.ListPlansResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListPlans"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.ListPlansRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.ListPlansResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AdminServiceMethodDescriptorSupplier("ListPlans"))
              .build();
        }
      }
    }
    return getListPlansMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.CreatePlanRequest,
      dev.visage.v1.CreatePlanResponse> getCreatePlanMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CreatePlan",
      requestType = dev.visage.v1.CreatePlanRequest.class,
      responseType = dev.visage.v1.CreatePlanResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.visage.v1.CreatePlanRequest,
      dev.visage.v1.CreatePlanResponse> getCreatePlanMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.CreatePlanRequest, dev.visage.v1.CreatePlanResponse> getCreatePlanMethod;
    if ((getCreatePlanMethod = AdminServiceGrpc.getCreatePlanMethod) == null) {
      synchronized (AdminServiceGrpc.class) {
        if ((getCreatePlanMethod = AdminServiceGrpc.getCreatePlanMethod) == null) {
          AdminServiceGrpc.getCreatePlanMethod = getCreatePlanMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.CreatePlanRequest, dev.visage.v1.CreatePlanResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CreatePlan"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.CreatePlanRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.CreatePlanResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AdminServiceMethodDescriptorSupplier("CreatePlan"))
              .build();
        }
      }
    }
    return getCreatePlanMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.UpdatePlanRequest,
      dev.visage.v1.UpdatePlanResponse> getUpdatePlanMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "UpdatePlan",
      requestType = dev.visage.v1.UpdatePlanRequest.class,
      responseType = dev.visage.v1.UpdatePlanResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.visage.v1.UpdatePlanRequest,
      dev.visage.v1.UpdatePlanResponse> getUpdatePlanMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.UpdatePlanRequest, dev.visage.v1.UpdatePlanResponse> getUpdatePlanMethod;
    if ((getUpdatePlanMethod = AdminServiceGrpc.getUpdatePlanMethod) == null) {
      synchronized (AdminServiceGrpc.class) {
        if ((getUpdatePlanMethod = AdminServiceGrpc.getUpdatePlanMethod) == null) {
          AdminServiceGrpc.getUpdatePlanMethod = getUpdatePlanMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.UpdatePlanRequest, dev.visage.v1.UpdatePlanResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "UpdatePlan"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.UpdatePlanRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.UpdatePlanResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AdminServiceMethodDescriptorSupplier("UpdatePlan"))
              .build();
        }
      }
    }
    return getUpdatePlanMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.DeletePlanRequest,
      dev.visage.v1.DeletePlanResponse> getDeletePlanMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "DeletePlan",
      requestType = dev.visage.v1.DeletePlanRequest.class,
      responseType = dev.visage.v1.DeletePlanResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.visage.v1.DeletePlanRequest,
      dev.visage.v1.DeletePlanResponse> getDeletePlanMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.DeletePlanRequest, dev.visage.v1.DeletePlanResponse> getDeletePlanMethod;
    if ((getDeletePlanMethod = AdminServiceGrpc.getDeletePlanMethod) == null) {
      synchronized (AdminServiceGrpc.class) {
        if ((getDeletePlanMethod = AdminServiceGrpc.getDeletePlanMethod) == null) {
          AdminServiceGrpc.getDeletePlanMethod = getDeletePlanMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.DeletePlanRequest, dev.visage.v1.DeletePlanResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "DeletePlan"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.DeletePlanRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.DeletePlanResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AdminServiceMethodDescriptorSupplier("DeletePlan"))
              .build();
        }
      }
    }
    return getDeletePlanMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.SumUsageRequest,
      dev.visage.v1.SumUsageResponse> getSumUsageMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "SumUsage",
      requestType = dev.visage.v1.SumUsageRequest.class,
      responseType = dev.visage.v1.SumUsageResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.visage.v1.SumUsageRequest,
      dev.visage.v1.SumUsageResponse> getSumUsageMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.SumUsageRequest, dev.visage.v1.SumUsageResponse> getSumUsageMethod;
    if ((getSumUsageMethod = AdminServiceGrpc.getSumUsageMethod) == null) {
      synchronized (AdminServiceGrpc.class) {
        if ((getSumUsageMethod = AdminServiceGrpc.getSumUsageMethod) == null) {
          AdminServiceGrpc.getSumUsageMethod = getSumUsageMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.SumUsageRequest, dev.visage.v1.SumUsageResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "SumUsage"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.SumUsageRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.SumUsageResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AdminServiceMethodDescriptorSupplier("SumUsage"))
              .build();
        }
      }
    }
    return getSumUsageMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static AdminServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<AdminServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<AdminServiceStub>() {
        @java.lang.Override
        public AdminServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new AdminServiceStub(channel, callOptions);
        }
      };
    return AdminServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static AdminServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<AdminServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<AdminServiceBlockingV2Stub>() {
        @java.lang.Override
        public AdminServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new AdminServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return AdminServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static AdminServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<AdminServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<AdminServiceBlockingStub>() {
        @java.lang.Override
        public AdminServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new AdminServiceBlockingStub(channel, callOptions);
        }
      };
    return AdminServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static AdminServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<AdminServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<AdminServiceFutureStub>() {
        @java.lang.Override
        public AdminServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new AdminServiceFutureStub(channel, callOptions);
        }
      };
    return AdminServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * Manages users and plans.
   * A user is identified by its id, its fingerprint or its name. Changes take effect within five seconds.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * Lists users by name.
     * </pre>
     */
    default void listUsers(dev.visage.v1.ListUsersRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.ListUsersResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListUsersMethod(), responseObserver);
    }

    /**
     * <pre>
     * Returns a user with its keys.
     * </pre>
     */
    default void getUser(dev.visage.v1.GetUserRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.GetUserResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetUserMethod(), responseObserver);
    }

    /**
     * <pre>
     * Creates a user with its first key and returns the key once.
     * </pre>
     */
    default void createUser(dev.visage.v1.CreateUserRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.CreateUserResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCreateUserMethod(), responseObserver);
    }

    /**
     * <pre>
     * Changes the plan, the subscription or the certificate subject of a user, or disables or enables it.
     * </pre>
     */
    default void updateUser(dev.visage.v1.UpdateUserRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.UpdateUserResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getUpdateUserMethod(), responseObserver);
    }

    /**
     * <pre>
     * Deletes a user with its keys, usage and galleries. The templates are then erased from the database.
     * </pre>
     */
    default void deleteUser(dev.visage.v1.DeleteUserRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.DeleteUserResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getDeleteUserMethod(), responseObserver);
    }

    /**
     * <pre>
     * Creates a key of a user and returns it once. The user's other keys expire after a grace period.
     * </pre>
     */
    default void createUserKey(dev.visage.v1.CreateUserKeyRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.CreateUserKeyResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCreateUserKeyMethod(), responseObserver);
    }

    /**
     * <pre>
     * Deletes a key of a user, also its last one.
     * </pre>
     */
    default void deleteUserKey(dev.visage.v1.DeleteUserKeyRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.DeleteUserKeyResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getDeleteUserKeyMethod(), responseObserver);
    }

    /**
     * <pre>
     * Lists all plans by name.
     * </pre>
     */
    default void listPlans(dev.visage.v1.ListPlansRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.ListPlansResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListPlansMethod(), responseObserver);
    }

    /**
     * <pre>
     * Creates a plan. It has only the given limits.
     * </pre>
     */
    default void createPlan(dev.visage.v1.CreatePlanRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.CreatePlanResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCreatePlanMethod(), responseObserver);
    }

    /**
     * <pre>
     * Changes limits of a plan for all its users.
     * </pre>
     */
    default void updatePlan(dev.visage.v1.UpdatePlanRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.UpdatePlanResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getUpdatePlanMethod(), responseObserver);
    }

    /**
     * <pre>
     * Deletes a plan. Fails with PLAN_IN_USE while it has users.
     * </pre>
     */
    default void deletePlan(dev.visage.v1.DeletePlanRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.DeletePlanResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getDeletePlanMethod(), responseObserver);
    }

    /**
     * <pre>
     * Returns how many requests one user or all users made, by month, operation and outcome.
     * </pre>
     */
    default void sumUsage(dev.visage.v1.SumUsageRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.SumUsageResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getSumUsageMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service AdminService.
   * <pre>
   * Manages users and plans.
   * A user is identified by its id, its fingerprint or its name. Changes take effect within five seconds.
   * </pre>
   */
  public static abstract class AdminServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return AdminServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service AdminService.
   * <pre>
   * Manages users and plans.
   * A user is identified by its id, its fingerprint or its name. Changes take effect within five seconds.
   * </pre>
   */
  public static final class AdminServiceStub
      extends io.grpc.stub.AbstractAsyncStub<AdminServiceStub> {
    private AdminServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected AdminServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new AdminServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * Lists users by name.
     * </pre>
     */
    public void listUsers(dev.visage.v1.ListUsersRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.ListUsersResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListUsersMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Returns a user with its keys.
     * </pre>
     */
    public void getUser(dev.visage.v1.GetUserRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.GetUserResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetUserMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Creates a user with its first key and returns the key once.
     * </pre>
     */
    public void createUser(dev.visage.v1.CreateUserRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.CreateUserResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCreateUserMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Changes the plan, the subscription or the certificate subject of a user, or disables or enables it.
     * </pre>
     */
    public void updateUser(dev.visage.v1.UpdateUserRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.UpdateUserResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getUpdateUserMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Deletes a user with its keys, usage and galleries. The templates are then erased from the database.
     * </pre>
     */
    public void deleteUser(dev.visage.v1.DeleteUserRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.DeleteUserResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getDeleteUserMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Creates a key of a user and returns it once. The user's other keys expire after a grace period.
     * </pre>
     */
    public void createUserKey(dev.visage.v1.CreateUserKeyRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.CreateUserKeyResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCreateUserKeyMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Deletes a key of a user, also its last one.
     * </pre>
     */
    public void deleteUserKey(dev.visage.v1.DeleteUserKeyRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.DeleteUserKeyResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getDeleteUserKeyMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Lists all plans by name.
     * </pre>
     */
    public void listPlans(dev.visage.v1.ListPlansRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.ListPlansResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListPlansMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Creates a plan. It has only the given limits.
     * </pre>
     */
    public void createPlan(dev.visage.v1.CreatePlanRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.CreatePlanResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCreatePlanMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Changes limits of a plan for all its users.
     * </pre>
     */
    public void updatePlan(dev.visage.v1.UpdatePlanRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.UpdatePlanResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getUpdatePlanMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Deletes a plan. Fails with PLAN_IN_USE while it has users.
     * </pre>
     */
    public void deletePlan(dev.visage.v1.DeletePlanRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.DeletePlanResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getDeletePlanMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Returns how many requests one user or all users made, by month, operation and outcome.
     * </pre>
     */
    public void sumUsage(dev.visage.v1.SumUsageRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.SumUsageResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getSumUsageMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service AdminService.
   * <pre>
   * Manages users and plans.
   * A user is identified by its id, its fingerprint or its name. Changes take effect within five seconds.
   * </pre>
   */
  public static final class AdminServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<AdminServiceBlockingV2Stub> {
    private AdminServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected AdminServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new AdminServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * Lists users by name.
     * </pre>
     */
    public dev.visage.v1.ListUsersResponse listUsers(dev.visage.v1.ListUsersRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListUsersMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Returns a user with its keys.
     * </pre>
     */
    public dev.visage.v1.GetUserResponse getUser(dev.visage.v1.GetUserRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetUserMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Creates a user with its first key and returns the key once.
     * </pre>
     */
    public dev.visage.v1.CreateUserResponse createUser(dev.visage.v1.CreateUserRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCreateUserMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Changes the plan, the subscription or the certificate subject of a user, or disables or enables it.
     * </pre>
     */
    public dev.visage.v1.UpdateUserResponse updateUser(dev.visage.v1.UpdateUserRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getUpdateUserMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Deletes a user with its keys, usage and galleries. The templates are then erased from the database.
     * </pre>
     */
    public dev.visage.v1.DeleteUserResponse deleteUser(dev.visage.v1.DeleteUserRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getDeleteUserMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Creates a key of a user and returns it once. The user's other keys expire after a grace period.
     * </pre>
     */
    public dev.visage.v1.CreateUserKeyResponse createUserKey(dev.visage.v1.CreateUserKeyRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCreateUserKeyMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Deletes a key of a user, also its last one.
     * </pre>
     */
    public dev.visage.v1.DeleteUserKeyResponse deleteUserKey(dev.visage.v1.DeleteUserKeyRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getDeleteUserKeyMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists all plans by name.
     * </pre>
     */
    public dev.visage.v1.ListPlansResponse listPlans(dev.visage.v1.ListPlansRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListPlansMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Creates a plan. It has only the given limits.
     * </pre>
     */
    public dev.visage.v1.CreatePlanResponse createPlan(dev.visage.v1.CreatePlanRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCreatePlanMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Changes limits of a plan for all its users.
     * </pre>
     */
    public dev.visage.v1.UpdatePlanResponse updatePlan(dev.visage.v1.UpdatePlanRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getUpdatePlanMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Deletes a plan. Fails with PLAN_IN_USE while it has users.
     * </pre>
     */
    public dev.visage.v1.DeletePlanResponse deletePlan(dev.visage.v1.DeletePlanRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getDeletePlanMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Returns how many requests one user or all users made, by month, operation and outcome.
     * </pre>
     */
    public dev.visage.v1.SumUsageResponse sumUsage(dev.visage.v1.SumUsageRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getSumUsageMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service AdminService.
   * <pre>
   * Manages users and plans.
   * A user is identified by its id, its fingerprint or its name. Changes take effect within five seconds.
   * </pre>
   */
  public static final class AdminServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<AdminServiceBlockingStub> {
    private AdminServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected AdminServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new AdminServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * Lists users by name.
     * </pre>
     */
    public dev.visage.v1.ListUsersResponse listUsers(dev.visage.v1.ListUsersRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListUsersMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Returns a user with its keys.
     * </pre>
     */
    public dev.visage.v1.GetUserResponse getUser(dev.visage.v1.GetUserRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetUserMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Creates a user with its first key and returns the key once.
     * </pre>
     */
    public dev.visage.v1.CreateUserResponse createUser(dev.visage.v1.CreateUserRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCreateUserMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Changes the plan, the subscription or the certificate subject of a user, or disables or enables it.
     * </pre>
     */
    public dev.visage.v1.UpdateUserResponse updateUser(dev.visage.v1.UpdateUserRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getUpdateUserMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Deletes a user with its keys, usage and galleries. The templates are then erased from the database.
     * </pre>
     */
    public dev.visage.v1.DeleteUserResponse deleteUser(dev.visage.v1.DeleteUserRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getDeleteUserMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Creates a key of a user and returns it once. The user's other keys expire after a grace period.
     * </pre>
     */
    public dev.visage.v1.CreateUserKeyResponse createUserKey(dev.visage.v1.CreateUserKeyRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCreateUserKeyMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Deletes a key of a user, also its last one.
     * </pre>
     */
    public dev.visage.v1.DeleteUserKeyResponse deleteUserKey(dev.visage.v1.DeleteUserKeyRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getDeleteUserKeyMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists all plans by name.
     * </pre>
     */
    public dev.visage.v1.ListPlansResponse listPlans(dev.visage.v1.ListPlansRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListPlansMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Creates a plan. It has only the given limits.
     * </pre>
     */
    public dev.visage.v1.CreatePlanResponse createPlan(dev.visage.v1.CreatePlanRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCreatePlanMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Changes limits of a plan for all its users.
     * </pre>
     */
    public dev.visage.v1.UpdatePlanResponse updatePlan(dev.visage.v1.UpdatePlanRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getUpdatePlanMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Deletes a plan. Fails with PLAN_IN_USE while it has users.
     * </pre>
     */
    public dev.visage.v1.DeletePlanResponse deletePlan(dev.visage.v1.DeletePlanRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getDeletePlanMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Returns how many requests one user or all users made, by month, operation and outcome.
     * </pre>
     */
    public dev.visage.v1.SumUsageResponse sumUsage(dev.visage.v1.SumUsageRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getSumUsageMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service AdminService.
   * <pre>
   * Manages users and plans.
   * A user is identified by its id, its fingerprint or its name. Changes take effect within five seconds.
   * </pre>
   */
  public static final class AdminServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<AdminServiceFutureStub> {
    private AdminServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected AdminServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new AdminServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * Lists users by name.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.visage.v1.ListUsersResponse> listUsers(
        dev.visage.v1.ListUsersRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListUsersMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Returns a user with its keys.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.visage.v1.GetUserResponse> getUser(
        dev.visage.v1.GetUserRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetUserMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Creates a user with its first key and returns the key once.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.visage.v1.CreateUserResponse> createUser(
        dev.visage.v1.CreateUserRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCreateUserMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Changes the plan, the subscription or the certificate subject of a user, or disables or enables it.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.visage.v1.UpdateUserResponse> updateUser(
        dev.visage.v1.UpdateUserRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getUpdateUserMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Deletes a user with its keys, usage and galleries. The templates are then erased from the database.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.visage.v1.DeleteUserResponse> deleteUser(
        dev.visage.v1.DeleteUserRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getDeleteUserMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Creates a key of a user and returns it once. The user's other keys expire after a grace period.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.visage.v1.CreateUserKeyResponse> createUserKey(
        dev.visage.v1.CreateUserKeyRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCreateUserKeyMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Deletes a key of a user, also its last one.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.visage.v1.DeleteUserKeyResponse> deleteUserKey(
        dev.visage.v1.DeleteUserKeyRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getDeleteUserKeyMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Lists all plans by name.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.visage.v1.ListPlansResponse> listPlans(
        dev.visage.v1.ListPlansRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListPlansMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Creates a plan. It has only the given limits.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.visage.v1.CreatePlanResponse> createPlan(
        dev.visage.v1.CreatePlanRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCreatePlanMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Changes limits of a plan for all its users.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.visage.v1.UpdatePlanResponse> updatePlan(
        dev.visage.v1.UpdatePlanRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getUpdatePlanMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Deletes a plan. Fails with PLAN_IN_USE while it has users.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.visage.v1.DeletePlanResponse> deletePlan(
        dev.visage.v1.DeletePlanRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getDeletePlanMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Returns how many requests one user or all users made, by month, operation and outcome.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.visage.v1.SumUsageResponse> sumUsage(
        dev.visage.v1.SumUsageRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getSumUsageMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_LIST_USERS = 0;
  private static final int METHODID_GET_USER = 1;
  private static final int METHODID_CREATE_USER = 2;
  private static final int METHODID_UPDATE_USER = 3;
  private static final int METHODID_DELETE_USER = 4;
  private static final int METHODID_CREATE_USER_KEY = 5;
  private static final int METHODID_DELETE_USER_KEY = 6;
  private static final int METHODID_LIST_PLANS = 7;
  private static final int METHODID_CREATE_PLAN = 8;
  private static final int METHODID_UPDATE_PLAN = 9;
  private static final int METHODID_DELETE_PLAN = 10;
  private static final int METHODID_SUM_USAGE = 11;

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
        case METHODID_LIST_USERS:
          serviceImpl.listUsers((dev.visage.v1.ListUsersRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.ListUsersResponse>) responseObserver);
          break;
        case METHODID_GET_USER:
          serviceImpl.getUser((dev.visage.v1.GetUserRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.GetUserResponse>) responseObserver);
          break;
        case METHODID_CREATE_USER:
          serviceImpl.createUser((dev.visage.v1.CreateUserRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.CreateUserResponse>) responseObserver);
          break;
        case METHODID_UPDATE_USER:
          serviceImpl.updateUser((dev.visage.v1.UpdateUserRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.UpdateUserResponse>) responseObserver);
          break;
        case METHODID_DELETE_USER:
          serviceImpl.deleteUser((dev.visage.v1.DeleteUserRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.DeleteUserResponse>) responseObserver);
          break;
        case METHODID_CREATE_USER_KEY:
          serviceImpl.createUserKey((dev.visage.v1.CreateUserKeyRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.CreateUserKeyResponse>) responseObserver);
          break;
        case METHODID_DELETE_USER_KEY:
          serviceImpl.deleteUserKey((dev.visage.v1.DeleteUserKeyRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.DeleteUserKeyResponse>) responseObserver);
          break;
        case METHODID_LIST_PLANS:
          serviceImpl.listPlans((dev.visage.v1.ListPlansRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.ListPlansResponse>) responseObserver);
          break;
        case METHODID_CREATE_PLAN:
          serviceImpl.createPlan((dev.visage.v1.CreatePlanRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.CreatePlanResponse>) responseObserver);
          break;
        case METHODID_UPDATE_PLAN:
          serviceImpl.updatePlan((dev.visage.v1.UpdatePlanRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.UpdatePlanResponse>) responseObserver);
          break;
        case METHODID_DELETE_PLAN:
          serviceImpl.deletePlan((dev.visage.v1.DeletePlanRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.DeletePlanResponse>) responseObserver);
          break;
        case METHODID_SUM_USAGE:
          serviceImpl.sumUsage((dev.visage.v1.SumUsageRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.SumUsageResponse>) responseObserver);
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
          getListUsersMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.visage.v1.ListUsersRequest,
              dev.visage.v1.ListUsersResponse>(
                service, METHODID_LIST_USERS)))
        .addMethod(
          getGetUserMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.visage.v1.GetUserRequest,
              dev.visage.v1.GetUserResponse>(
                service, METHODID_GET_USER)))
        .addMethod(
          getCreateUserMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.visage.v1.CreateUserRequest,
              dev.visage.v1.CreateUserResponse>(
                service, METHODID_CREATE_USER)))
        .addMethod(
          getUpdateUserMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.visage.v1.UpdateUserRequest,
              dev.visage.v1.UpdateUserResponse>(
                service, METHODID_UPDATE_USER)))
        .addMethod(
          getDeleteUserMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.visage.v1.DeleteUserRequest,
              dev.visage.v1.DeleteUserResponse>(
                service, METHODID_DELETE_USER)))
        .addMethod(
          getCreateUserKeyMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.visage.v1.CreateUserKeyRequest,
              dev.visage.v1.CreateUserKeyResponse>(
                service, METHODID_CREATE_USER_KEY)))
        .addMethod(
          getDeleteUserKeyMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.visage.v1.DeleteUserKeyRequest,
              dev.visage.v1.DeleteUserKeyResponse>(
                service, METHODID_DELETE_USER_KEY)))
        .addMethod(
          getListPlansMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.visage.v1.ListPlansRequest,
              dev.visage.v1.ListPlansResponse>(
                service, METHODID_LIST_PLANS)))
        .addMethod(
          getCreatePlanMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.visage.v1.CreatePlanRequest,
              dev.visage.v1.CreatePlanResponse>(
                service, METHODID_CREATE_PLAN)))
        .addMethod(
          getUpdatePlanMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.visage.v1.UpdatePlanRequest,
              dev.visage.v1.UpdatePlanResponse>(
                service, METHODID_UPDATE_PLAN)))
        .addMethod(
          getDeletePlanMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.visage.v1.DeletePlanRequest,
              dev.visage.v1.DeletePlanResponse>(
                service, METHODID_DELETE_PLAN)))
        .addMethod(
          getSumUsageMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.visage.v1.SumUsageRequest,
              dev.visage.v1.SumUsageResponse>(
                service, METHODID_SUM_USAGE)))
        .build();
  }

  private static abstract class AdminServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    AdminServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return dev.visage.v1.Admin.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("AdminService");
    }
  }

  private static final class AdminServiceFileDescriptorSupplier
      extends AdminServiceBaseDescriptorSupplier {
    AdminServiceFileDescriptorSupplier() {}
  }

  private static final class AdminServiceMethodDescriptorSupplier
      extends AdminServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    AdminServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (AdminServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new AdminServiceFileDescriptorSupplier())
              .addMethod(getListUsersMethod())
              .addMethod(getGetUserMethod())
              .addMethod(getCreateUserMethod())
              .addMethod(getUpdateUserMethod())
              .addMethod(getDeleteUserMethod())
              .addMethod(getCreateUserKeyMethod())
              .addMethod(getDeleteUserKeyMethod())
              .addMethod(getListPlansMethod())
              .addMethod(getCreatePlanMethod())
              .addMethod(getUpdatePlanMethod())
              .addMethod(getDeletePlanMethod())
              .addMethod(getSumUsageMethod())
              .build();
        }
      }
    }
    return result;
  }
}
