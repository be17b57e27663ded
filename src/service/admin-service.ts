import type { ServiceImpl } from "@connectrpc/connect";
import type { AdminService } from "../../gen/ts/visage/v1/admin_pb.ts";
import type { AccountStore, User } from "../accounts/account-store.ts";
import { currentMonth } from "../accounts/month-clock.ts";
import { createPlan } from "../accounts/plan.ts";
import { createUserKey, findUserKey } from "../accounts/user-keys.ts";
import { createUser, findUser } from "../accounts/users.ts";
import {
  keyRequestFrom,
  messageFromPlan,
  messageFromUsage,
  messagesFromKeys,
  orAccountsUnavailable,
  usageSelectionFrom,
} from "./account-messages.ts";
import type { AccountServiceOptions } from "./account-service.ts";
import {
  messageFromUser,
  newUserFrom,
  pageFrom,
  planChangesFrom,
  planRulesFrom,
  requireNameField,
  userChangesFrom,
  userPageFrom,
} from "./admin-messages.ts";
import { addToAudit, startAudited } from "./audit.ts";
import { missingError, requireValid } from "./request-checks.ts";

/** The operator may create every key. */
const OPERATOR = { rights: {}, keyHashes: [] };

/** Creates the operations of the operator on users, plans and usage. */
export function createAdminService({
  store,
  userKey,
}: AccountServiceOptions): ServiceImpl<typeof AdminService> {
  return {
    async listUsers(request) {
      const { size, ...search } = userPageFrom(request);
      const { users, total } = await orAccountsUnavailable(() =>
        store.searchUsers({ ...search, size: size + 1, month: currentMonth() }),
      );
      const { page, nextPageToken } = pageFrom(users, size);
      return { users: page.map(messageFromUser), nextPageToken, totalSize: total };
    },

    async getUser(request) {
      return orAccountsUnavailable(async () => {
        const user = await requireUser(store, request.user);
        const keys = await store.listKeys(user.id);
        return { user: await messageWithUsage(store, user), keys: messagesFromKeys(keys, []) };
      });
    },

    async createUser(request, context) {
      const newUser = newUserFrom(request);
      await startAudited(context.values, {});
      const { user, key } = await orAccountsUnavailable(() =>
        createUser(store, { ...newUser, key: userKey }),
      );
      addToAudit(context.values, { target_user: user.fingerprint, plan: user.plan });
      return { user: messageFromUser({ user, usedThisMonth: 0 }), key };
    },

    async updateUser(request, context) {
      const changed = await orAccountsUnavailable(async () => {
        const { id, fingerprint } = await requireUser(store, request.user);
        await startAudited(context.values, { target_user: fingerprint });
        return store.updateUser(id, (user) => userChangesFrom(request, user));
      });
      if (request.plan !== undefined) addToAudit(context.values, { plan: changed.plan });
      return { user: await orAccountsUnavailable(() => messageWithUsage(store, changed)) };
    },

    async deleteUser(request, context) {
      await orAccountsUnavailable(async () => {
        const { id, fingerprint } = await requireUser(store, request.user);
        await startAudited(context.values, { target_user: fingerprint });
        await store.removeUser(id);
      });
      await store.waitForErasure();
      return {};
    },

    async createUserKey(request, context) {
      const newKey = keyRequestFrom(request);
      const created = await orAccountsUnavailable(async () => {
        const { id, fingerprint } = await requireUser(store, request.user);
        await startAudited(context.values, { target_user: fingerprint });
        return createUserKey(store, id, newKey, OPERATOR);
      });
      addToAudit(context.values, { target_key: created.fingerprint });
      return { key: created.key, keys: messagesFromKeys(created.keys, []) };
    },

    async deleteUserKey({ user: text, fingerprint }, context) {
      if (fingerprint === "") throw missingError("fingerprint");
      await orAccountsUnavailable(async () => {
        const user = await requireUser(store, text);
        addToAudit(context.values, { target_user: user.fingerprint });
        const { hash } = await findUserKey(store, user.id, fingerprint);
        await startAudited(context.values, { target_key: fingerprint });
        await store.removeKey(hash);
      });
      return {};
    },

    async listPlans() {
      return orAccountsUnavailable(async () => {
        const userCounts = await store.countUsersByPlan();
        const plans = await store.listPlans();
        return {
          plans: plans.map((plan) => ({
            plan: messageFromPlan(plan),
            userCount: userCounts.get(plan.name) ?? 0,
          })),
        };
      });
    },

    async createPlan(request, context) {
      requireNameField("name", request.name);
      const plan = createPlan(request.name, planRulesFrom(request));
      await startAudited(context.values, { plan: plan.name });
      await orAccountsUnavailable(() => store.addPlan(plan));
      return { plan: messageFromPlan(plan) };
    },

    async updatePlan(request, context) {
      requireNameField("name", request.name);
      const changes = planChangesFrom(request);
      const plan = await orAccountsUnavailable(async () => {
        await startAudited(context.values, { plan: await findPlanName(store, request.name) });
        return store.updatePlan(request.name, changes);
      });
      return { plan: messageFromPlan(plan) };
    },

    async deletePlan({ name }, context) {
      requireNameField("name", name);
      await orAccountsUnavailable(async () => {
        await startAudited(context.values, { plan: await findPlanName(store, name) });
        await store.removePlan(name);
      });
      return {};
    },

    async sumUsage(request) {
      const selection = usageSelectionFrom(request);
      requireValid("by_key", !request.byKey || request.user !== "", "needs a user");
      const sums = await orAccountsUnavailable(async () => {
        const user = request.user === "" ? undefined : await requireUser(store, request.user);
        return store.sumUsage({ ...selection, userId: user?.id });
      });
      return { counts: sums.map(messageFromUsage) };
    },
  };
}

async function requireUser(store: AccountStore, text: string): Promise<User> {
  requireNameField("user", text);
  return findUser(store, text);
}

/** The name of a plan for the audit trail; undefined if there is none of this name, which may be any text. */
async function findPlanName(store: AccountStore, name: string): Promise<string | undefined> {
  return (await store.listPlans()).find((plan) => plan.name === name)?.name;
}

async function messageWithUsage(store: AccountStore, user: User) {
  const account = await store.findAccount({ userId: user.id }, currentMonth());
  return messageFromUser({ user, usedThisMonth: account?.usedThisMonth ?? 0 });
}
