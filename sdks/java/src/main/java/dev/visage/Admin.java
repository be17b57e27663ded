package dev.visage;

import dev.visage.v1.AdminServiceGrpc;
import dev.visage.v1.CreatePlanRequest;
import dev.visage.v1.CreatePlanResponse;
import dev.visage.v1.CreateUserKeyRequest;
import dev.visage.v1.CreateUserKeyResponse;
import dev.visage.v1.CreateUserRequest;
import dev.visage.v1.CreateUserResponse;
import dev.visage.v1.DeletePlanRequest;
import dev.visage.v1.DeleteUserKeyRequest;
import dev.visage.v1.DeleteUserRequest;
import dev.visage.v1.GetUserRequest;
import dev.visage.v1.GetUserResponse;
import dev.visage.v1.ListPlansRequest;
import dev.visage.v1.ListPlansResponse;
import dev.visage.v1.ListUsersRequest;
import dev.visage.v1.ListUsersResponse;
import dev.visage.v1.SumUsageRequest;
import dev.visage.v1.SumUsageResponse;
import dev.visage.v1.UpdatePlanRequest;
import dev.visage.v1.UpdatePlanResponse;
import dev.visage.v1.UpdateUserRequest;
import dev.visage.v1.UpdateUserResponse;
import java.util.function.Consumer;

/**
 * The users and plans of the service, for its operator: the API key of the client is the admin key. The parameter of a
 * method sets the fields of its request. A user is given by its id, its fingerprint or its name.
 *
 * <p>Calls follow the rules of the {@link VisageClient}. What creates something, and {@link #updateUser}, is only retried
 * if the service has rejected it because of load.
 */
public final class Admin {
  private final Calls calls;

  Admin(Calls calls) {
    this.calls = calls;
  }

  /** Returns a page of users by name. */
  public ListUsersResponse listUsers(Consumer<ListUsersRequest.Builder> request) {
    var built = Calls.with(ListUsersRequest.newBuilder(), request).build();
    return calls.run(AdminServiceGrpc.getListUsersMethod(), () -> built);
  }

  /** Returns a user with its keys. */
  public GetUserResponse getUser(Consumer<GetUserRequest.Builder> request) {
    var built = Calls.with(GetUserRequest.newBuilder(), request).build();
    return calls.run(AdminServiceGrpc.getGetUserMethod(), () -> built);
  }

  /** Creates a user with its first key, which is returned once. */
  public CreateUserResponse createUser(Consumer<CreateUserRequest.Builder> request) {
    var built = Calls.with(CreateUserRequest.newBuilder(), request).build();
    return calls.run(AdminServiceGrpc.getCreateUserMethod(), () -> built);
  }

  /** Changes the plan, the subscription or the certificate subject of a user, or disables or enables it. */
  public UpdateUserResponse updateUser(Consumer<UpdateUserRequest.Builder> request) {
    var built = Calls.with(UpdateUserRequest.newBuilder(), request).build();
    return calls.run(AdminServiceGrpc.getUpdateUserMethod(), () -> built);
  }

  /** Deletes a user with its keys, usage and galleries. */
  public void deleteUser(Consumer<DeleteUserRequest.Builder> request) {
    var built = Calls.with(DeleteUserRequest.newBuilder(), request).build();
    calls.run(AdminServiceGrpc.getDeleteUserMethod(), () -> built);
  }

  /** Creates a key of a user, which is returned once. Its other keys expire after a grace period. */
  public CreateUserKeyResponse createUserKey(Consumer<CreateUserKeyRequest.Builder> request) {
    var built = Calls.with(CreateUserKeyRequest.newBuilder(), request).build();
    return calls.run(AdminServiceGrpc.getCreateUserKeyMethod(), () -> built);
  }

  /** Deletes a key of a user, also its last one. */
  public void deleteUserKey(Consumer<DeleteUserKeyRequest.Builder> request) {
    var built = Calls.with(DeleteUserKeyRequest.newBuilder(), request).build();
    calls.run(AdminServiceGrpc.getDeleteUserKeyMethod(), () -> built);
  }

  /** Returns all plans by name. */
  public ListPlansResponse listPlans() {
    return calls.run(AdminServiceGrpc.getListPlansMethod(), ListPlansRequest::getDefaultInstance);
  }

  /** Creates a plan, which has only the given limits. */
  public CreatePlanResponse createPlan(Consumer<CreatePlanRequest.Builder> request) {
    var built = Calls.with(CreatePlanRequest.newBuilder(), request).build();
    return calls.run(AdminServiceGrpc.getCreatePlanMethod(), () -> built);
  }

  /** Changes limits of a plan for all its users. */
  public UpdatePlanResponse updatePlan(Consumer<UpdatePlanRequest.Builder> request) {
    var built = Calls.with(UpdatePlanRequest.newBuilder(), request).build();
    return calls.run(AdminServiceGrpc.getUpdatePlanMethod(), () -> built);
  }

  /** Deletes a plan that has no users. */
  public void deletePlan(Consumer<DeletePlanRequest.Builder> request) {
    var built = Calls.with(DeletePlanRequest.newBuilder(), request).build();
    calls.run(AdminServiceGrpc.getDeletePlanMethod(), () -> built);
  }

  /** Returns how many requests one user or all users made, by month, operation and outcome. */
  public SumUsageResponse sumUsage(Consumer<SumUsageRequest.Builder> request) {
    var built = Calls.with(SumUsageRequest.newBuilder(), request).build();
    return calls.run(AdminServiceGrpc.getSumUsageMethod(), () -> built);
  }
}
