package dev.visage.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * Enrols people in galleries and identifies faces.
 * Ids of galleries, people and faces are chosen by the caller: 1 to 128 letters, digits and `.`, `_`, `~`, `-`. An
 * id that does not exist, or belongs to another user, fails with NOT_FOUND.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class GalleryServiceGrpc {

  private GalleryServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "visage.v1.GalleryService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.CreateGalleryRequest,
      dev.visage.v1.CreateGalleryResponse> getCreateGalleryMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CreateGallery",
      requestType = dev.visage.v1.CreateGalleryRequest.class,
      responseType = dev.visage.v1.CreateGalleryResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.visage.v1.CreateGalleryRequest,
      dev.visage.v1.CreateGalleryResponse> getCreateGalleryMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.CreateGalleryRequest, dev.visage.v1.CreateGalleryResponse> getCreateGalleryMethod;
    if ((getCreateGalleryMethod = GalleryServiceGrpc.getCreateGalleryMethod) == null) {
      synchronized (GalleryServiceGrpc.class) {
        if ((getCreateGalleryMethod = GalleryServiceGrpc.getCreateGalleryMethod) == null) {
          GalleryServiceGrpc.getCreateGalleryMethod = getCreateGalleryMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.CreateGalleryRequest, dev.visage.v1.CreateGalleryResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CreateGallery"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.CreateGalleryRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.CreateGalleryResponse.getDefaultInstance()))
              .setSchemaDescriptor(new GalleryServiceMethodDescriptorSupplier("CreateGallery"))
              .build();
        }
      }
    }
    return getCreateGalleryMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.GetGalleryRequest,
      dev.visage.v1.GetGalleryResponse> getGetGalleryMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetGallery",
      requestType = dev.visage.v1.GetGalleryRequest.class,
      responseType = dev.visage.v1.GetGalleryResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.visage.v1.GetGalleryRequest,
      dev.visage.v1.GetGalleryResponse> getGetGalleryMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.GetGalleryRequest, dev.visage.v1.GetGalleryResponse> getGetGalleryMethod;
    if ((getGetGalleryMethod = GalleryServiceGrpc.getGetGalleryMethod) == null) {
      synchronized (GalleryServiceGrpc.class) {
        if ((getGetGalleryMethod = GalleryServiceGrpc.getGetGalleryMethod) == null) {
          GalleryServiceGrpc.getGetGalleryMethod = getGetGalleryMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.GetGalleryRequest, dev.visage.v1.GetGalleryResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetGallery"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.GetGalleryRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.GetGalleryResponse.getDefaultInstance()))
              .setSchemaDescriptor(new GalleryServiceMethodDescriptorSupplier("GetGallery"))
              .build();
        }
      }
    }
    return getGetGalleryMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.ListGalleriesRequest,
      dev.visage.v1.ListGalleriesResponse> getListGalleriesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListGalleries",
      requestType = dev.visage.v1.ListGalleriesRequest.class,
      responseType = dev.visage.v1.ListGalleriesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.visage.v1.ListGalleriesRequest,
      dev.visage.v1.ListGalleriesResponse> getListGalleriesMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.ListGalleriesRequest, dev.visage.v1.ListGalleriesResponse> getListGalleriesMethod;
    if ((getListGalleriesMethod = GalleryServiceGrpc.getListGalleriesMethod) == null) {
      synchronized (GalleryServiceGrpc.class) {
        if ((getListGalleriesMethod = GalleryServiceGrpc.getListGalleriesMethod) == null) {
          GalleryServiceGrpc.getListGalleriesMethod = getListGalleriesMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.ListGalleriesRequest, dev.visage.v1.ListGalleriesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListGalleries"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.ListGalleriesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.ListGalleriesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new GalleryServiceMethodDescriptorSupplier("ListGalleries"))
              .build();
        }
      }
    }
    return getListGalleriesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.UpdateGalleryRequest,
      dev.visage.v1.UpdateGalleryResponse> getUpdateGalleryMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "UpdateGallery",
      requestType = dev.visage.v1.UpdateGalleryRequest.class,
      responseType = dev.visage.v1.UpdateGalleryResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.visage.v1.UpdateGalleryRequest,
      dev.visage.v1.UpdateGalleryResponse> getUpdateGalleryMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.UpdateGalleryRequest, dev.visage.v1.UpdateGalleryResponse> getUpdateGalleryMethod;
    if ((getUpdateGalleryMethod = GalleryServiceGrpc.getUpdateGalleryMethod) == null) {
      synchronized (GalleryServiceGrpc.class) {
        if ((getUpdateGalleryMethod = GalleryServiceGrpc.getUpdateGalleryMethod) == null) {
          GalleryServiceGrpc.getUpdateGalleryMethod = getUpdateGalleryMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.UpdateGalleryRequest, dev.visage.v1.UpdateGalleryResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "UpdateGallery"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.UpdateGalleryRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.UpdateGalleryResponse.getDefaultInstance()))
              .setSchemaDescriptor(new GalleryServiceMethodDescriptorSupplier("UpdateGallery"))
              .build();
        }
      }
    }
    return getUpdateGalleryMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.DeleteGalleryRequest,
      dev.visage.v1.DeleteGalleryResponse> getDeleteGalleryMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "DeleteGallery",
      requestType = dev.visage.v1.DeleteGalleryRequest.class,
      responseType = dev.visage.v1.DeleteGalleryResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.visage.v1.DeleteGalleryRequest,
      dev.visage.v1.DeleteGalleryResponse> getDeleteGalleryMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.DeleteGalleryRequest, dev.visage.v1.DeleteGalleryResponse> getDeleteGalleryMethod;
    if ((getDeleteGalleryMethod = GalleryServiceGrpc.getDeleteGalleryMethod) == null) {
      synchronized (GalleryServiceGrpc.class) {
        if ((getDeleteGalleryMethod = GalleryServiceGrpc.getDeleteGalleryMethod) == null) {
          GalleryServiceGrpc.getDeleteGalleryMethod = getDeleteGalleryMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.DeleteGalleryRequest, dev.visage.v1.DeleteGalleryResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "DeleteGallery"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.DeleteGalleryRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.DeleteGalleryResponse.getDefaultInstance()))
              .setSchemaDescriptor(new GalleryServiceMethodDescriptorSupplier("DeleteGallery"))
              .build();
        }
      }
    }
    return getDeleteGalleryMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.EnrolFaceRequest,
      dev.visage.v1.EnrolFaceResponse> getEnrolFaceMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "EnrolFace",
      requestType = dev.visage.v1.EnrolFaceRequest.class,
      responseType = dev.visage.v1.EnrolFaceResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.visage.v1.EnrolFaceRequest,
      dev.visage.v1.EnrolFaceResponse> getEnrolFaceMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.EnrolFaceRequest, dev.visage.v1.EnrolFaceResponse> getEnrolFaceMethod;
    if ((getEnrolFaceMethod = GalleryServiceGrpc.getEnrolFaceMethod) == null) {
      synchronized (GalleryServiceGrpc.class) {
        if ((getEnrolFaceMethod = GalleryServiceGrpc.getEnrolFaceMethod) == null) {
          GalleryServiceGrpc.getEnrolFaceMethod = getEnrolFaceMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.EnrolFaceRequest, dev.visage.v1.EnrolFaceResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "EnrolFace"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.EnrolFaceRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.EnrolFaceResponse.getDefaultInstance()))
              .setSchemaDescriptor(new GalleryServiceMethodDescriptorSupplier("EnrolFace"))
              .build();
        }
      }
    }
    return getEnrolFaceMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.GetPersonRequest,
      dev.visage.v1.GetPersonResponse> getGetPersonMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetPerson",
      requestType = dev.visage.v1.GetPersonRequest.class,
      responseType = dev.visage.v1.GetPersonResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.visage.v1.GetPersonRequest,
      dev.visage.v1.GetPersonResponse> getGetPersonMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.GetPersonRequest, dev.visage.v1.GetPersonResponse> getGetPersonMethod;
    if ((getGetPersonMethod = GalleryServiceGrpc.getGetPersonMethod) == null) {
      synchronized (GalleryServiceGrpc.class) {
        if ((getGetPersonMethod = GalleryServiceGrpc.getGetPersonMethod) == null) {
          GalleryServiceGrpc.getGetPersonMethod = getGetPersonMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.GetPersonRequest, dev.visage.v1.GetPersonResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetPerson"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.GetPersonRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.GetPersonResponse.getDefaultInstance()))
              .setSchemaDescriptor(new GalleryServiceMethodDescriptorSupplier("GetPerson"))
              .build();
        }
      }
    }
    return getGetPersonMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.ListPeopleRequest,
      dev.visage.v1.ListPeopleResponse> getListPeopleMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListPeople",
      requestType = dev.visage.v1.ListPeopleRequest.class,
      responseType = dev.visage.v1.ListPeopleResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.visage.v1.ListPeopleRequest,
      dev.visage.v1.ListPeopleResponse> getListPeopleMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.ListPeopleRequest, dev.visage.v1.ListPeopleResponse> getListPeopleMethod;
    if ((getListPeopleMethod = GalleryServiceGrpc.getListPeopleMethod) == null) {
      synchronized (GalleryServiceGrpc.class) {
        if ((getListPeopleMethod = GalleryServiceGrpc.getListPeopleMethod) == null) {
          GalleryServiceGrpc.getListPeopleMethod = getListPeopleMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.ListPeopleRequest, dev.visage.v1.ListPeopleResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListPeople"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.ListPeopleRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.ListPeopleResponse.getDefaultInstance()))
              .setSchemaDescriptor(new GalleryServiceMethodDescriptorSupplier("ListPeople"))
              .build();
        }
      }
    }
    return getListPeopleMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.UpdatePersonRequest,
      dev.visage.v1.UpdatePersonResponse> getUpdatePersonMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "UpdatePerson",
      requestType = dev.visage.v1.UpdatePersonRequest.class,
      responseType = dev.visage.v1.UpdatePersonResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.visage.v1.UpdatePersonRequest,
      dev.visage.v1.UpdatePersonResponse> getUpdatePersonMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.UpdatePersonRequest, dev.visage.v1.UpdatePersonResponse> getUpdatePersonMethod;
    if ((getUpdatePersonMethod = GalleryServiceGrpc.getUpdatePersonMethod) == null) {
      synchronized (GalleryServiceGrpc.class) {
        if ((getUpdatePersonMethod = GalleryServiceGrpc.getUpdatePersonMethod) == null) {
          GalleryServiceGrpc.getUpdatePersonMethod = getUpdatePersonMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.UpdatePersonRequest, dev.visage.v1.UpdatePersonResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "UpdatePerson"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.UpdatePersonRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.UpdatePersonResponse.getDefaultInstance()))
              .setSchemaDescriptor(new GalleryServiceMethodDescriptorSupplier("UpdatePerson"))
              .build();
        }
      }
    }
    return getUpdatePersonMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.DeletePersonRequest,
      dev.visage.v1.DeletePersonResponse> getDeletePersonMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "DeletePerson",
      requestType = dev.visage.v1.DeletePersonRequest.class,
      responseType = dev.visage.v1.DeletePersonResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.visage.v1.DeletePersonRequest,
      dev.visage.v1.DeletePersonResponse> getDeletePersonMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.DeletePersonRequest, dev.visage.v1.DeletePersonResponse> getDeletePersonMethod;
    if ((getDeletePersonMethod = GalleryServiceGrpc.getDeletePersonMethod) == null) {
      synchronized (GalleryServiceGrpc.class) {
        if ((getDeletePersonMethod = GalleryServiceGrpc.getDeletePersonMethod) == null) {
          GalleryServiceGrpc.getDeletePersonMethod = getDeletePersonMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.DeletePersonRequest, dev.visage.v1.DeletePersonResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "DeletePerson"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.DeletePersonRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.DeletePersonResponse.getDefaultInstance()))
              .setSchemaDescriptor(new GalleryServiceMethodDescriptorSupplier("DeletePerson"))
              .build();
        }
      }
    }
    return getDeletePersonMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.DeleteFaceRequest,
      dev.visage.v1.DeleteFaceResponse> getDeleteFaceMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "DeleteFace",
      requestType = dev.visage.v1.DeleteFaceRequest.class,
      responseType = dev.visage.v1.DeleteFaceResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.visage.v1.DeleteFaceRequest,
      dev.visage.v1.DeleteFaceResponse> getDeleteFaceMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.DeleteFaceRequest, dev.visage.v1.DeleteFaceResponse> getDeleteFaceMethod;
    if ((getDeleteFaceMethod = GalleryServiceGrpc.getDeleteFaceMethod) == null) {
      synchronized (GalleryServiceGrpc.class) {
        if ((getDeleteFaceMethod = GalleryServiceGrpc.getDeleteFaceMethod) == null) {
          GalleryServiceGrpc.getDeleteFaceMethod = getDeleteFaceMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.DeleteFaceRequest, dev.visage.v1.DeleteFaceResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "DeleteFace"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.DeleteFaceRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.DeleteFaceResponse.getDefaultInstance()))
              .setSchemaDescriptor(new GalleryServiceMethodDescriptorSupplier("DeleteFace"))
              .build();
        }
      }
    }
    return getDeleteFaceMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.IdentifyFacesRequest,
      dev.visage.v1.IdentifyFacesResponse> getIdentifyFacesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "IdentifyFaces",
      requestType = dev.visage.v1.IdentifyFacesRequest.class,
      responseType = dev.visage.v1.IdentifyFacesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.visage.v1.IdentifyFacesRequest,
      dev.visage.v1.IdentifyFacesResponse> getIdentifyFacesMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.IdentifyFacesRequest, dev.visage.v1.IdentifyFacesResponse> getIdentifyFacesMethod;
    if ((getIdentifyFacesMethod = GalleryServiceGrpc.getIdentifyFacesMethod) == null) {
      synchronized (GalleryServiceGrpc.class) {
        if ((getIdentifyFacesMethod = GalleryServiceGrpc.getIdentifyFacesMethod) == null) {
          GalleryServiceGrpc.getIdentifyFacesMethod = getIdentifyFacesMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.IdentifyFacesRequest, dev.visage.v1.IdentifyFacesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "IdentifyFaces"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.IdentifyFacesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.IdentifyFacesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new GalleryServiceMethodDescriptorSupplier("IdentifyFaces"))
              .build();
        }
      }
    }
    return getIdentifyFacesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.ExportGalleryRequest,
      dev.visage.v1.ExportGalleryResponse> getExportGalleryMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ExportGallery",
      requestType = dev.visage.v1.ExportGalleryRequest.class,
      responseType = dev.visage.v1.ExportGalleryResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
  public static io.grpc.MethodDescriptor<dev.visage.v1.ExportGalleryRequest,
      dev.visage.v1.ExportGalleryResponse> getExportGalleryMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.ExportGalleryRequest, dev.visage.v1.ExportGalleryResponse> getExportGalleryMethod;
    if ((getExportGalleryMethod = GalleryServiceGrpc.getExportGalleryMethod) == null) {
      synchronized (GalleryServiceGrpc.class) {
        if ((getExportGalleryMethod = GalleryServiceGrpc.getExportGalleryMethod) == null) {
          GalleryServiceGrpc.getExportGalleryMethod = getExportGalleryMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.ExportGalleryRequest, dev.visage.v1.ExportGalleryResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ExportGallery"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.ExportGalleryRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.ExportGalleryResponse.getDefaultInstance()))
              .setSchemaDescriptor(new GalleryServiceMethodDescriptorSupplier("ExportGallery"))
              .build();
        }
      }
    }
    return getExportGalleryMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.visage.v1.ImportFacesRequest,
      dev.visage.v1.ImportFacesResponse> getImportFacesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ImportFaces",
      requestType = dev.visage.v1.ImportFacesRequest.class,
      responseType = dev.visage.v1.ImportFacesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.CLIENT_STREAMING)
  public static io.grpc.MethodDescriptor<dev.visage.v1.ImportFacesRequest,
      dev.visage.v1.ImportFacesResponse> getImportFacesMethod() {
    io.grpc.MethodDescriptor<dev.visage.v1.ImportFacesRequest, dev.visage.v1.ImportFacesResponse> getImportFacesMethod;
    if ((getImportFacesMethod = GalleryServiceGrpc.getImportFacesMethod) == null) {
      synchronized (GalleryServiceGrpc.class) {
        if ((getImportFacesMethod = GalleryServiceGrpc.getImportFacesMethod) == null) {
          GalleryServiceGrpc.getImportFacesMethod = getImportFacesMethod =
              io.grpc.MethodDescriptor.<dev.visage.v1.ImportFacesRequest, dev.visage.v1.ImportFacesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.CLIENT_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ImportFaces"))
              .setIdempotent(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.ImportFacesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.visage.v1.ImportFacesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new GalleryServiceMethodDescriptorSupplier("ImportFaces"))
              .build();
        }
      }
    }
    return getImportFacesMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static GalleryServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<GalleryServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<GalleryServiceStub>() {
        @java.lang.Override
        public GalleryServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new GalleryServiceStub(channel, callOptions);
        }
      };
    return GalleryServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static GalleryServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<GalleryServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<GalleryServiceBlockingV2Stub>() {
        @java.lang.Override
        public GalleryServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new GalleryServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return GalleryServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static GalleryServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<GalleryServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<GalleryServiceBlockingStub>() {
        @java.lang.Override
        public GalleryServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new GalleryServiceBlockingStub(channel, callOptions);
        }
      };
    return GalleryServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static GalleryServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<GalleryServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<GalleryServiceFutureStub>() {
        @java.lang.Override
        public GalleryServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new GalleryServiceFutureStub(channel, callOptions);
        }
      };
    return GalleryServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * Enrols people in galleries and identifies faces.
   * Ids of galleries, people and faces are chosen by the caller: 1 to 128 letters, digits and `.`, `_`, `~`, `-`. An
   * id that does not exist, or belongs to another user, fails with NOT_FOUND.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * Creates a gallery for templates of the service's model. Fails with ALREADY_EXISTS if the id is taken.
     * </pre>
     */
    default void createGallery(dev.visage.v1.CreateGalleryRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.CreateGalleryResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCreateGalleryMethod(), responseObserver);
    }

    /**
     * <pre>
     * Returns a gallery.
     * </pre>
     */
    default void getGallery(dev.visage.v1.GetGalleryRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.GetGalleryResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetGalleryMethod(), responseObserver);
    }

    /**
     * <pre>
     * Lists the galleries of the user by id.
     * </pre>
     */
    default void listGalleries(dev.visage.v1.ListGalleriesRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.ListGalleriesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListGalleriesMethod(), responseObserver);
    }

    /**
     * <pre>
     * Changes the name or the threshold of a gallery.
     * </pre>
     */
    default void updateGallery(dev.visage.v1.UpdateGalleryRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.UpdateGalleryResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getUpdateGalleryMethod(), responseObserver);
    }

    /**
     * <pre>
     * Deletes a gallery with all its people. No search and no read finds it from then on, and its templates are erased
     * from the database.
     * </pre>
     */
    default void deleteGallery(dev.visage.v1.DeleteGalleryRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.DeleteGalleryResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getDeleteGalleryMethod(), responseObserver);
    }

    /**
     * <pre>
     * Adds a face of a person to a gallery, and the person if it is new. A face with the same id replaces the earlier one,
     * so the request can be repeated. Fails with FACE_TOO_SMALL, LOW_ILLUMINATION or INCORRECT_POSE if the face is
     * unsuited for recognition.
     * </pre>
     */
    default void enrolFace(dev.visage.v1.EnrolFaceRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.EnrolFaceResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getEnrolFaceMethod(), responseObserver);
    }

    /**
     * <pre>
     * Returns a person with the ids of its faces.
     * </pre>
     */
    default void getPerson(dev.visage.v1.GetPersonRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.GetPersonResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetPersonMethod(), responseObserver);
    }

    /**
     * <pre>
     * Lists the people of a gallery by id.
     * </pre>
     */
    default void listPeople(dev.visage.v1.ListPeopleRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.ListPeopleResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListPeopleMethod(), responseObserver);
    }

    /**
     * <pre>
     * Renames a person.
     * </pre>
     */
    default void updatePerson(dev.visage.v1.UpdatePersonRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.UpdatePersonResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getUpdatePersonMethod(), responseObserver);
    }

    /**
     * <pre>
     * Deletes a person with all faces. No search and no read finds the person from then on, and the templates are erased
     * from the database.
     * </pre>
     */
    default void deletePerson(dev.visage.v1.DeletePersonRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.DeletePersonResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getDeletePersonMethod(), responseObserver);
    }

    /**
     * <pre>
     * Deletes a face of a person. No search finds it from then on, and its template is erased from the database.
     * </pre>
     */
    default void deleteFace(dev.visage.v1.DeleteFaceRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.DeleteFaceResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getDeleteFaceMethod(), responseObserver);
    }

    /**
     * <pre>
     * Identifies the faces of an image: finds the nearest people of a gallery for each. A stranger has no matches, and an
     * image without a face gives no faces; neither is an error. The search is exact.
     * </pre>
     */
    default void identifyFaces(dev.visage.v1.IdentifyFacesRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.IdentifyFacesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getIdentifyFacesMethod(), responseObserver);
    }

    /**
     * <pre>
     * Returns all faces of a gallery, for a backup or another system. Over plain HTTP, each face is a line of JSON
     * (`application/x-ndjson`). Counts as one request of the user, also if only a part is read.
     * </pre>
     */
    default void exportGallery(dev.visage.v1.ExportGalleryRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.ExportGalleryResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getExportGalleryMethod(), responseObserver);
    }

    /**
     * <pre>
     * Enrols exported faces. Faces with the same ids are replaced, so an import that failed can be repeated.
     * An error names the message at fault and says how many faces are stored. Over plain HTTP, each face is a line of
     * JSON, and an error names the line. Counts as one request of the user, also if it fails after it has stored faces.
     * </pre>
     */
    default io.grpc.stub.StreamObserver<dev.visage.v1.ImportFacesRequest> importFaces(
        io.grpc.stub.StreamObserver<dev.visage.v1.ImportFacesResponse> responseObserver) {
      return io.grpc.stub.ServerCalls.asyncUnimplementedStreamingCall(getImportFacesMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service GalleryService.
   * <pre>
   * Enrols people in galleries and identifies faces.
   * Ids of galleries, people and faces are chosen by the caller: 1 to 128 letters, digits and `.`, `_`, `~`, `-`. An
   * id that does not exist, or belongs to another user, fails with NOT_FOUND.
   * </pre>
   */
  public static abstract class GalleryServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return GalleryServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service GalleryService.
   * <pre>
   * Enrols people in galleries and identifies faces.
   * Ids of galleries, people and faces are chosen by the caller: 1 to 128 letters, digits and `.`, `_`, `~`, `-`. An
   * id that does not exist, or belongs to another user, fails with NOT_FOUND.
   * </pre>
   */
  public static final class GalleryServiceStub
      extends io.grpc.stub.AbstractAsyncStub<GalleryServiceStub> {
    private GalleryServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected GalleryServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new GalleryServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * Creates a gallery for templates of the service's model. Fails with ALREADY_EXISTS if the id is taken.
     * </pre>
     */
    public void createGallery(dev.visage.v1.CreateGalleryRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.CreateGalleryResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCreateGalleryMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Returns a gallery.
     * </pre>
     */
    public void getGallery(dev.visage.v1.GetGalleryRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.GetGalleryResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetGalleryMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Lists the galleries of the user by id.
     * </pre>
     */
    public void listGalleries(dev.visage.v1.ListGalleriesRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.ListGalleriesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListGalleriesMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Changes the name or the threshold of a gallery.
     * </pre>
     */
    public void updateGallery(dev.visage.v1.UpdateGalleryRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.UpdateGalleryResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getUpdateGalleryMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Deletes a gallery with all its people. No search and no read finds it from then on, and its templates are erased
     * from the database.
     * </pre>
     */
    public void deleteGallery(dev.visage.v1.DeleteGalleryRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.DeleteGalleryResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getDeleteGalleryMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Adds a face of a person to a gallery, and the person if it is new. A face with the same id replaces the earlier one,
     * so the request can be repeated. Fails with FACE_TOO_SMALL, LOW_ILLUMINATION or INCORRECT_POSE if the face is
     * unsuited for recognition.
     * </pre>
     */
    public void enrolFace(dev.visage.v1.EnrolFaceRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.EnrolFaceResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getEnrolFaceMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Returns a person with the ids of its faces.
     * </pre>
     */
    public void getPerson(dev.visage.v1.GetPersonRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.GetPersonResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetPersonMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Lists the people of a gallery by id.
     * </pre>
     */
    public void listPeople(dev.visage.v1.ListPeopleRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.ListPeopleResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListPeopleMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Renames a person.
     * </pre>
     */
    public void updatePerson(dev.visage.v1.UpdatePersonRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.UpdatePersonResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getUpdatePersonMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Deletes a person with all faces. No search and no read finds the person from then on, and the templates are erased
     * from the database.
     * </pre>
     */
    public void deletePerson(dev.visage.v1.DeletePersonRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.DeletePersonResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getDeletePersonMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Deletes a face of a person. No search finds it from then on, and its template is erased from the database.
     * </pre>
     */
    public void deleteFace(dev.visage.v1.DeleteFaceRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.DeleteFaceResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getDeleteFaceMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Identifies the faces of an image: finds the nearest people of a gallery for each. A stranger has no matches, and an
     * image without a face gives no faces; neither is an error. The search is exact.
     * </pre>
     */
    public void identifyFaces(dev.visage.v1.IdentifyFacesRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.IdentifyFacesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getIdentifyFacesMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Returns all faces of a gallery, for a backup or another system. Over plain HTTP, each face is a line of JSON
     * (`application/x-ndjson`). Counts as one request of the user, also if only a part is read.
     * </pre>
     */
    public void exportGallery(dev.visage.v1.ExportGalleryRequest request,
        io.grpc.stub.StreamObserver<dev.visage.v1.ExportGalleryResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncServerStreamingCall(
          getChannel().newCall(getExportGalleryMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Enrols exported faces. Faces with the same ids are replaced, so an import that failed can be repeated.
     * An error names the message at fault and says how many faces are stored. Over plain HTTP, each face is a line of
     * JSON, and an error names the line. Counts as one request of the user, also if it fails after it has stored faces.
     * </pre>
     */
    public io.grpc.stub.StreamObserver<dev.visage.v1.ImportFacesRequest> importFaces(
        io.grpc.stub.StreamObserver<dev.visage.v1.ImportFacesResponse> responseObserver) {
      return io.grpc.stub.ClientCalls.asyncClientStreamingCall(
          getChannel().newCall(getImportFacesMethod(), getCallOptions()), responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service GalleryService.
   * <pre>
   * Enrols people in galleries and identifies faces.
   * Ids of galleries, people and faces are chosen by the caller: 1 to 128 letters, digits and `.`, `_`, `~`, `-`. An
   * id that does not exist, or belongs to another user, fails with NOT_FOUND.
   * </pre>
   */
  public static final class GalleryServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<GalleryServiceBlockingV2Stub> {
    private GalleryServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected GalleryServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new GalleryServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * Creates a gallery for templates of the service's model. Fails with ALREADY_EXISTS if the id is taken.
     * </pre>
     */
    public dev.visage.v1.CreateGalleryResponse createGallery(dev.visage.v1.CreateGalleryRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCreateGalleryMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Returns a gallery.
     * </pre>
     */
    public dev.visage.v1.GetGalleryResponse getGallery(dev.visage.v1.GetGalleryRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetGalleryMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists the galleries of the user by id.
     * </pre>
     */
    public dev.visage.v1.ListGalleriesResponse listGalleries(dev.visage.v1.ListGalleriesRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListGalleriesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Changes the name or the threshold of a gallery.
     * </pre>
     */
    public dev.visage.v1.UpdateGalleryResponse updateGallery(dev.visage.v1.UpdateGalleryRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getUpdateGalleryMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Deletes a gallery with all its people. No search and no read finds it from then on, and its templates are erased
     * from the database.
     * </pre>
     */
    public dev.visage.v1.DeleteGalleryResponse deleteGallery(dev.visage.v1.DeleteGalleryRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getDeleteGalleryMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Adds a face of a person to a gallery, and the person if it is new. A face with the same id replaces the earlier one,
     * so the request can be repeated. Fails with FACE_TOO_SMALL, LOW_ILLUMINATION or INCORRECT_POSE if the face is
     * unsuited for recognition.
     * </pre>
     */
    public dev.visage.v1.EnrolFaceResponse enrolFace(dev.visage.v1.EnrolFaceRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getEnrolFaceMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Returns a person with the ids of its faces.
     * </pre>
     */
    public dev.visage.v1.GetPersonResponse getPerson(dev.visage.v1.GetPersonRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetPersonMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists the people of a gallery by id.
     * </pre>
     */
    public dev.visage.v1.ListPeopleResponse listPeople(dev.visage.v1.ListPeopleRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListPeopleMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Renames a person.
     * </pre>
     */
    public dev.visage.v1.UpdatePersonResponse updatePerson(dev.visage.v1.UpdatePersonRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getUpdatePersonMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Deletes a person with all faces. No search and no read finds the person from then on, and the templates are erased
     * from the database.
     * </pre>
     */
    public dev.visage.v1.DeletePersonResponse deletePerson(dev.visage.v1.DeletePersonRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getDeletePersonMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Deletes a face of a person. No search finds it from then on, and its template is erased from the database.
     * </pre>
     */
    public dev.visage.v1.DeleteFaceResponse deleteFace(dev.visage.v1.DeleteFaceRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getDeleteFaceMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Identifies the faces of an image: finds the nearest people of a gallery for each. A stranger has no matches, and an
     * image without a face gives no faces; neither is an error. The search is exact.
     * </pre>
     */
    public dev.visage.v1.IdentifyFacesResponse identifyFaces(dev.visage.v1.IdentifyFacesRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getIdentifyFacesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Returns all faces of a gallery, for a backup or another system. Over plain HTTP, each face is a line of JSON
     * (`application/x-ndjson`). Counts as one request of the user, also if only a part is read.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<?, dev.visage.v1.ExportGalleryResponse>
        exportGallery(dev.visage.v1.ExportGalleryRequest request) {
      return io.grpc.stub.ClientCalls.blockingV2ServerStreamingCall(
          getChannel(), getExportGalleryMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Enrols exported faces. Faces with the same ids are replaced, so an import that failed can be repeated.
     * An error names the message at fault and says how many faces are stored. Over plain HTTP, each face is a line of
     * JSON, and an error names the line. Counts as one request of the user, also if it fails after it has stored faces.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<dev.visage.v1.ImportFacesRequest, dev.visage.v1.ImportFacesResponse>
        importFaces() {
      return io.grpc.stub.ClientCalls.blockingClientStreamingCall(
          getChannel(), getImportFacesMethod(), getCallOptions());
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service GalleryService.
   * <pre>
   * Enrols people in galleries and identifies faces.
   * Ids of galleries, people and faces are chosen by the caller: 1 to 128 letters, digits and `.`, `_`, `~`, `-`. An
   * id that does not exist, or belongs to another user, fails with NOT_FOUND.
   * </pre>
   */
  public static final class GalleryServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<GalleryServiceBlockingStub> {
    private GalleryServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected GalleryServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new GalleryServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * Creates a gallery for templates of the service's model. Fails with ALREADY_EXISTS if the id is taken.
     * </pre>
     */
    public dev.visage.v1.CreateGalleryResponse createGallery(dev.visage.v1.CreateGalleryRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCreateGalleryMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Returns a gallery.
     * </pre>
     */
    public dev.visage.v1.GetGalleryResponse getGallery(dev.visage.v1.GetGalleryRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetGalleryMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists the galleries of the user by id.
     * </pre>
     */
    public dev.visage.v1.ListGalleriesResponse listGalleries(dev.visage.v1.ListGalleriesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListGalleriesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Changes the name or the threshold of a gallery.
     * </pre>
     */
    public dev.visage.v1.UpdateGalleryResponse updateGallery(dev.visage.v1.UpdateGalleryRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getUpdateGalleryMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Deletes a gallery with all its people. No search and no read finds it from then on, and its templates are erased
     * from the database.
     * </pre>
     */
    public dev.visage.v1.DeleteGalleryResponse deleteGallery(dev.visage.v1.DeleteGalleryRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getDeleteGalleryMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Adds a face of a person to a gallery, and the person if it is new. A face with the same id replaces the earlier one,
     * so the request can be repeated. Fails with FACE_TOO_SMALL, LOW_ILLUMINATION or INCORRECT_POSE if the face is
     * unsuited for recognition.
     * </pre>
     */
    public dev.visage.v1.EnrolFaceResponse enrolFace(dev.visage.v1.EnrolFaceRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getEnrolFaceMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Returns a person with the ids of its faces.
     * </pre>
     */
    public dev.visage.v1.GetPersonResponse getPerson(dev.visage.v1.GetPersonRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetPersonMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists the people of a gallery by id.
     * </pre>
     */
    public dev.visage.v1.ListPeopleResponse listPeople(dev.visage.v1.ListPeopleRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListPeopleMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Renames a person.
     * </pre>
     */
    public dev.visage.v1.UpdatePersonResponse updatePerson(dev.visage.v1.UpdatePersonRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getUpdatePersonMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Deletes a person with all faces. No search and no read finds the person from then on, and the templates are erased
     * from the database.
     * </pre>
     */
    public dev.visage.v1.DeletePersonResponse deletePerson(dev.visage.v1.DeletePersonRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getDeletePersonMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Deletes a face of a person. No search finds it from then on, and its template is erased from the database.
     * </pre>
     */
    public dev.visage.v1.DeleteFaceResponse deleteFace(dev.visage.v1.DeleteFaceRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getDeleteFaceMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Identifies the faces of an image: finds the nearest people of a gallery for each. A stranger has no matches, and an
     * image without a face gives no faces; neither is an error. The search is exact.
     * </pre>
     */
    public dev.visage.v1.IdentifyFacesResponse identifyFaces(dev.visage.v1.IdentifyFacesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getIdentifyFacesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Returns all faces of a gallery, for a backup or another system. Over plain HTTP, each face is a line of JSON
     * (`application/x-ndjson`). Counts as one request of the user, also if only a part is read.
     * </pre>
     */
    public java.util.Iterator<dev.visage.v1.ExportGalleryResponse> exportGallery(
        dev.visage.v1.ExportGalleryRequest request) {
      return io.grpc.stub.ClientCalls.blockingServerStreamingCall(
          getChannel(), getExportGalleryMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service GalleryService.
   * <pre>
   * Enrols people in galleries and identifies faces.
   * Ids of galleries, people and faces are chosen by the caller: 1 to 128 letters, digits and `.`, `_`, `~`, `-`. An
   * id that does not exist, or belongs to another user, fails with NOT_FOUND.
   * </pre>
   */
  public static final class GalleryServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<GalleryServiceFutureStub> {
    private GalleryServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected GalleryServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new GalleryServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * Creates a gallery for templates of the service's model. Fails with ALREADY_EXISTS if the id is taken.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.visage.v1.CreateGalleryResponse> createGallery(
        dev.visage.v1.CreateGalleryRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCreateGalleryMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Returns a gallery.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.visage.v1.GetGalleryResponse> getGallery(
        dev.visage.v1.GetGalleryRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetGalleryMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Lists the galleries of the user by id.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.visage.v1.ListGalleriesResponse> listGalleries(
        dev.visage.v1.ListGalleriesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListGalleriesMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Changes the name or the threshold of a gallery.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.visage.v1.UpdateGalleryResponse> updateGallery(
        dev.visage.v1.UpdateGalleryRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getUpdateGalleryMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Deletes a gallery with all its people. No search and no read finds it from then on, and its templates are erased
     * from the database.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.visage.v1.DeleteGalleryResponse> deleteGallery(
        dev.visage.v1.DeleteGalleryRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getDeleteGalleryMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Adds a face of a person to a gallery, and the person if it is new. A face with the same id replaces the earlier one,
     * so the request can be repeated. Fails with FACE_TOO_SMALL, LOW_ILLUMINATION or INCORRECT_POSE if the face is
     * unsuited for recognition.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.visage.v1.EnrolFaceResponse> enrolFace(
        dev.visage.v1.EnrolFaceRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getEnrolFaceMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Returns a person with the ids of its faces.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.visage.v1.GetPersonResponse> getPerson(
        dev.visage.v1.GetPersonRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetPersonMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Lists the people of a gallery by id.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.visage.v1.ListPeopleResponse> listPeople(
        dev.visage.v1.ListPeopleRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListPeopleMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Renames a person.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.visage.v1.UpdatePersonResponse> updatePerson(
        dev.visage.v1.UpdatePersonRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getUpdatePersonMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Deletes a person with all faces. No search and no read finds the person from then on, and the templates are erased
     * from the database.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.visage.v1.DeletePersonResponse> deletePerson(
        dev.visage.v1.DeletePersonRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getDeletePersonMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Deletes a face of a person. No search finds it from then on, and its template is erased from the database.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.visage.v1.DeleteFaceResponse> deleteFace(
        dev.visage.v1.DeleteFaceRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getDeleteFaceMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Identifies the faces of an image: finds the nearest people of a gallery for each. A stranger has no matches, and an
     * image without a face gives no faces; neither is an error. The search is exact.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.visage.v1.IdentifyFacesResponse> identifyFaces(
        dev.visage.v1.IdentifyFacesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getIdentifyFacesMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_CREATE_GALLERY = 0;
  private static final int METHODID_GET_GALLERY = 1;
  private static final int METHODID_LIST_GALLERIES = 2;
  private static final int METHODID_UPDATE_GALLERY = 3;
  private static final int METHODID_DELETE_GALLERY = 4;
  private static final int METHODID_ENROL_FACE = 5;
  private static final int METHODID_GET_PERSON = 6;
  private static final int METHODID_LIST_PEOPLE = 7;
  private static final int METHODID_UPDATE_PERSON = 8;
  private static final int METHODID_DELETE_PERSON = 9;
  private static final int METHODID_DELETE_FACE = 10;
  private static final int METHODID_IDENTIFY_FACES = 11;
  private static final int METHODID_EXPORT_GALLERY = 12;
  private static final int METHODID_IMPORT_FACES = 13;

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
        case METHODID_CREATE_GALLERY:
          serviceImpl.createGallery((dev.visage.v1.CreateGalleryRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.CreateGalleryResponse>) responseObserver);
          break;
        case METHODID_GET_GALLERY:
          serviceImpl.getGallery((dev.visage.v1.GetGalleryRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.GetGalleryResponse>) responseObserver);
          break;
        case METHODID_LIST_GALLERIES:
          serviceImpl.listGalleries((dev.visage.v1.ListGalleriesRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.ListGalleriesResponse>) responseObserver);
          break;
        case METHODID_UPDATE_GALLERY:
          serviceImpl.updateGallery((dev.visage.v1.UpdateGalleryRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.UpdateGalleryResponse>) responseObserver);
          break;
        case METHODID_DELETE_GALLERY:
          serviceImpl.deleteGallery((dev.visage.v1.DeleteGalleryRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.DeleteGalleryResponse>) responseObserver);
          break;
        case METHODID_ENROL_FACE:
          serviceImpl.enrolFace((dev.visage.v1.EnrolFaceRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.EnrolFaceResponse>) responseObserver);
          break;
        case METHODID_GET_PERSON:
          serviceImpl.getPerson((dev.visage.v1.GetPersonRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.GetPersonResponse>) responseObserver);
          break;
        case METHODID_LIST_PEOPLE:
          serviceImpl.listPeople((dev.visage.v1.ListPeopleRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.ListPeopleResponse>) responseObserver);
          break;
        case METHODID_UPDATE_PERSON:
          serviceImpl.updatePerson((dev.visage.v1.UpdatePersonRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.UpdatePersonResponse>) responseObserver);
          break;
        case METHODID_DELETE_PERSON:
          serviceImpl.deletePerson((dev.visage.v1.DeletePersonRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.DeletePersonResponse>) responseObserver);
          break;
        case METHODID_DELETE_FACE:
          serviceImpl.deleteFace((dev.visage.v1.DeleteFaceRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.DeleteFaceResponse>) responseObserver);
          break;
        case METHODID_IDENTIFY_FACES:
          serviceImpl.identifyFaces((dev.visage.v1.IdentifyFacesRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.IdentifyFacesResponse>) responseObserver);
          break;
        case METHODID_EXPORT_GALLERY:
          serviceImpl.exportGallery((dev.visage.v1.ExportGalleryRequest) request,
              (io.grpc.stub.StreamObserver<dev.visage.v1.ExportGalleryResponse>) responseObserver);
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
        case METHODID_IMPORT_FACES:
          return (io.grpc.stub.StreamObserver<Req>) serviceImpl.importFaces(
              (io.grpc.stub.StreamObserver<dev.visage.v1.ImportFacesResponse>) responseObserver);
        default:
          throw new AssertionError();
      }
    }
  }

  public static final io.grpc.ServerServiceDefinition bindService(AsyncService service) {
    return io.grpc.ServerServiceDefinition.builder(getServiceDescriptor())
        .addMethod(
          getCreateGalleryMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.visage.v1.CreateGalleryRequest,
              dev.visage.v1.CreateGalleryResponse>(
                service, METHODID_CREATE_GALLERY)))
        .addMethod(
          getGetGalleryMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.visage.v1.GetGalleryRequest,
              dev.visage.v1.GetGalleryResponse>(
                service, METHODID_GET_GALLERY)))
        .addMethod(
          getListGalleriesMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.visage.v1.ListGalleriesRequest,
              dev.visage.v1.ListGalleriesResponse>(
                service, METHODID_LIST_GALLERIES)))
        .addMethod(
          getUpdateGalleryMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.visage.v1.UpdateGalleryRequest,
              dev.visage.v1.UpdateGalleryResponse>(
                service, METHODID_UPDATE_GALLERY)))
        .addMethod(
          getDeleteGalleryMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.visage.v1.DeleteGalleryRequest,
              dev.visage.v1.DeleteGalleryResponse>(
                service, METHODID_DELETE_GALLERY)))
        .addMethod(
          getEnrolFaceMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.visage.v1.EnrolFaceRequest,
              dev.visage.v1.EnrolFaceResponse>(
                service, METHODID_ENROL_FACE)))
        .addMethod(
          getGetPersonMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.visage.v1.GetPersonRequest,
              dev.visage.v1.GetPersonResponse>(
                service, METHODID_GET_PERSON)))
        .addMethod(
          getListPeopleMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.visage.v1.ListPeopleRequest,
              dev.visage.v1.ListPeopleResponse>(
                service, METHODID_LIST_PEOPLE)))
        .addMethod(
          getUpdatePersonMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.visage.v1.UpdatePersonRequest,
              dev.visage.v1.UpdatePersonResponse>(
                service, METHODID_UPDATE_PERSON)))
        .addMethod(
          getDeletePersonMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.visage.v1.DeletePersonRequest,
              dev.visage.v1.DeletePersonResponse>(
                service, METHODID_DELETE_PERSON)))
        .addMethod(
          getDeleteFaceMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.visage.v1.DeleteFaceRequest,
              dev.visage.v1.DeleteFaceResponse>(
                service, METHODID_DELETE_FACE)))
        .addMethod(
          getIdentifyFacesMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.visage.v1.IdentifyFacesRequest,
              dev.visage.v1.IdentifyFacesResponse>(
                service, METHODID_IDENTIFY_FACES)))
        .addMethod(
          getExportGalleryMethod(),
          io.grpc.stub.ServerCalls.asyncServerStreamingCall(
            new MethodHandlers<
              dev.visage.v1.ExportGalleryRequest,
              dev.visage.v1.ExportGalleryResponse>(
                service, METHODID_EXPORT_GALLERY)))
        .addMethod(
          getImportFacesMethod(),
          io.grpc.stub.ServerCalls.asyncClientStreamingCall(
            new MethodHandlers<
              dev.visage.v1.ImportFacesRequest,
              dev.visage.v1.ImportFacesResponse>(
                service, METHODID_IMPORT_FACES)))
        .build();
  }

  private static abstract class GalleryServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    GalleryServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return dev.visage.v1.GalleryOuterClass.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("GalleryService");
    }
  }

  private static final class GalleryServiceFileDescriptorSupplier
      extends GalleryServiceBaseDescriptorSupplier {
    GalleryServiceFileDescriptorSupplier() {}
  }

  private static final class GalleryServiceMethodDescriptorSupplier
      extends GalleryServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    GalleryServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (GalleryServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new GalleryServiceFileDescriptorSupplier())
              .addMethod(getCreateGalleryMethod())
              .addMethod(getGetGalleryMethod())
              .addMethod(getListGalleriesMethod())
              .addMethod(getUpdateGalleryMethod())
              .addMethod(getDeleteGalleryMethod())
              .addMethod(getEnrolFaceMethod())
              .addMethod(getGetPersonMethod())
              .addMethod(getListPeopleMethod())
              .addMethod(getUpdatePersonMethod())
              .addMethod(getDeletePersonMethod())
              .addMethod(getDeleteFaceMethod())
              .addMethod(getIdentifyFacesMethod())
              .addMethod(getExportGalleryMethod())
              .addMethod(getImportFacesMethod())
              .build();
        }
      }
    }
    return result;
  }
}
