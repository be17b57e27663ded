package dev.visage;

import dev.visage.v1.AccountServiceGrpc;
import dev.visage.v1.CreateKeyRequest;
import dev.visage.v1.CreateKeyResponse;
import dev.visage.v1.DeleteKeyRequest;
import dev.visage.v1.GetAccountRequest;
import dev.visage.v1.GetAccountResponse;
import dev.visage.v1.GetUsageRequest;
import dev.visage.v1.GetUsageResponse;
import java.util.function.Consumer;

/**
 * The account to which the API key belongs. The parameter of a method sets the fields of its request.
 *
 * <p>Calls follow the rules of the {@link VisageClient}. What creates something is only retried if the service has
 * rejected it because of load.
 */
public final class Account {
  private final Calls calls;

  Account(Calls calls) {
    this.calls = calls;
  }

  /** Returns the plan, the subscription, the quota and the keys. */
  public GetAccountResponse getAccount() {
    return calls.run(AccountServiceGrpc.getGetAccountMethod(), GetAccountRequest::getDefaultInstance);
  }

  /** Returns how many requests the user made, by month, operation and outcome. */
  public GetUsageResponse getUsage(Consumer<GetUsageRequest.Builder> request) {
    var built = Calls.with(GetUsageRequest.newBuilder(), request).build();
    return calls.run(AccountServiceGrpc.getGetUsageMethod(), () -> built);
  }

  /** Creates a key, which is returned once. The other keys expire after a grace period. */
  public CreateKeyResponse createKey(Consumer<CreateKeyRequest.Builder> request) {
    var built = Calls.with(CreateKeyRequest.newBuilder(), request).build();
    return calls.run(AccountServiceGrpc.getCreateKeyMethod(), () -> built);
  }

  /** Deletes a key that is not that of the client. */
  public void deleteKey(Consumer<DeleteKeyRequest.Builder> request) {
    var built = Calls.with(DeleteKeyRequest.newBuilder(), request).build();
    calls.run(AccountServiceGrpc.getDeleteKeyMethod(), () -> built);
  }
}
