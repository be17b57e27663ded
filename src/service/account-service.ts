import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { AccountService } from "../../gen/ts/visage/v1/account_pb.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import { currentMonth, nextMonthStart } from "../accounts/month-clock.ts";
import { createUserKey, deleteUserKey, findUserKey } from "../accounts/user-keys.ts";
import {
  keyRequestFrom,
  messageFromPlan,
  messageFromSubscription,
  messageFromUsage,
  messagesFromKeys,
  orAccountsUnavailable,
  usageSelectionFrom,
} from "./account-messages.ts";
import { addToAudit, startAudited } from "./audit.ts";
import { missingError } from "./request-checks.ts";
import { callerFrom } from "./request-record.ts";
import { ServiceError } from "./service-error.ts";

/** What the operations on accounts need. */
export interface AccountServiceOptions {
  readonly store: AccountStore;
  /** The key of a user that the operator creates, instead of a generated one. */
  readonly userKey?: string | undefined;
}

/** Creates the operations of users on their own accounts. */
export function createAccountService({ store }: AccountServiceOptions): ServiceImpl<typeof AccountService> {
  return {
    async getAccount(_, { values }) {
      const { userId, keyHashes } = callerFrom(values);
      const month = currentMonth();
      const { account, keys } = await orAccountsUnavailable(async () => ({
        account: await store.findAccount({ userId }, month),
        keys: await store.listKeys(userId),
      }));
      // The user was removed after it was admitted.
      if (!account) throw new ServiceError("unknownUser");
      const { user, plan, usedThisMonth: used } = account;
      const limit = plan.requestsPerMonth;
      return {
        name: user.name,
        fingerprint: user.fingerprint,
        plan: messageFromPlan(plan),
        subscription: messageFromSubscription(user),
        quota: {
          month,
          used: BigInt(used),
          ...(limit !== undefined && { remaining: BigInt(Math.max(0, limit - used)) }),
          resetTime: timestampFromDate(nextMonthStart()),
        },
        keys: messagesFromKeys(keys, keyHashes),
      };
    },

    async getUsage(request, { values }) {
      const { userId } = callerFrom(values);
      const selection = usageSelectionFrom(request);
      const sums = await orAccountsUnavailable(() => store.sumUsage({ ...selection, userId }));
      return { counts: sums.map(messageFromUsage) };
    },

    async createKey(request, context) {
      const newKey = keyRequestFrom(request);
      const caller = callerFrom(context.values);
      await startAudited(context.values, { target_user: caller.fingerprint });
      const { key, fingerprint, keys } = await orAccountsUnavailable(() =>
        createUserKey(store, caller.userId, newKey, caller),
      );
      addToAudit(context.values, { target_key: fingerprint });
      return { key, keys: messagesFromKeys(keys, caller.keyHashes) };
    },

    async deleteKey({ fingerprint }, context) {
      if (fingerprint === "") throw missingError("fingerprint");
      const caller = callerFrom(context.values);
      addToAudit(context.values, { target_user: caller.fingerprint });
      await orAccountsUnavailable(async () => {
        const key = await findUserKey(store, caller.userId, fingerprint);
        if (caller.keyHashes.includes(key.hash)) throw new ServiceError("keyInUse");
        await startAudited(context.values, { target_key: fingerprint });
        await deleteUserKey(store, key, caller);
      });
      return {};
    },
  };
}
