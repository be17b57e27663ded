package dev.visage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/** Tests accounts against a running service, as ServiceTest does. VISAGE_ADMIN_KEY is the key of its operator. */
@EnabledIfEnvironmentVariable(named = "VISAGE_ADMIN_KEY", matches = ".+")
class AccountServiceTest {
  private static VisageClient connect(String key) {
    return VisageClient.builder(System.getenv("VISAGE_ADDRESS")).apiKey(key).build();
  }

  @Test
  void managesAUserAndItsAccount() {
    String name = "java-" + UUID.randomUUID();
    try (var operator = connect(System.getenv("VISAGE_ADMIN_KEY"))) {
      var admin = operator.admin();
      var created = admin.createUser(request -> request.setName(name).setPlan("pro"));
      try (var client = connect(created.getKey())) {
        var account = client.account();
        assertEquals(name, account.getAccount().getName());
        assertEquals(0, account.getUsage(request -> {}).getCountsCount());
        for (var key : account.createKey(request -> request.setName("new")).getKeysList()) {
          if (!key.getCurrent()) account.deleteKey(request -> request.setFingerprint(key.getFingerprint()));
        }
        assertEquals(1, account.getAccount().getKeysCount());
      }
      assertEquals(1, admin.listUsers(request -> request.setQuery(name)).getTotalSize());
      admin.deleteUser(request -> request.setUser(name));
      var error = assertThrows(VisageException.class, () -> admin.getUser(request -> request.setUser(name)));
      assertEquals("USER_NOT_FOUND", error.reason());
    }
  }
}
