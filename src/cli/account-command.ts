import { type Client, createClient } from "@connectrpc/connect";
import type { Key, Plan } from "../../gen/ts/visage/v1/account_pb.ts";
import { AdminService, type GetUserResponse, type User } from "../../gen/ts/visage/v1/admin_pb.ts";
import { AccountError, type AccountStore } from "../accounts/account-store.ts";
import { createSqlStore } from "../accounts/sql-store.ts";
import { findUserByKeyOrName } from "../accounts/users.ts";
import type { AuditTrail } from "../audit/audit-trail.ts";
import { createAuditTrail } from "../audit/create-audit-trail.ts";
import { VisageError } from "../client/visage-client.ts";
import { type Config, readConfig } from "../config.ts";
import { MissingDatabaseError } from "../database/database-error.ts";
import { type DatabaseLocation, nameDatabase } from "../database/database-location.ts";
import { openDatabase } from "../database/open-database.ts";
import type { OpenOptions, SqlDatabase } from "../database/sql-database.ts";
import { createAdminService } from "../service/admin-service.ts";
import { auditRequests } from "../service/audit-requests.ts";
import { createDirectTransport } from "../service/direct-transport.ts";
import { type Caller, contextValuesWith, RequestRecord } from "../service/request-record.ts";
import { ServiceError } from "../service/service-error.ts";
import { type CommandContext, UsageError } from "./command.ts";
import { findServer, SERVER_OPTIONS, type ServerValues } from "./server-options.ts";
import { withClient } from "./service-client.ts";

/** Help text on the options and settings of every command of the operator. */
export const ADMIN_HELP = `  --server URL   use the accounts of this running service instead of a database
  --ca FILE      PEM file of the authorities to trust, for https

  VISAGE_DATA_DIR       data folder with the accounts; default: ./data
  VISAGE_DATABASE_URL   PostgreSQL database with the accounts, instead of the folder
  VISAGE_URL            the default of --server, unless one of these two is set
  VISAGE_ADMIN_KEY      admin key of the service
  VISAGE_AUDIT          file of the audit trail, for changes in a database; default: stderr
`;

/** The options of every command of the operator. The admin key has none: `users add --key` is the key of a user. */
export const ADMIN_OPTIONS = { server: SERVER_OPTIONS.server, ca: SERVER_OPTIONS.ca } as const;

/** The values of these options. */
export type AdminValues = Pick<ServerValues, "server" | "ca">;

/** What the commands of the operator use: the calls of AdminService, and the database if no service runs them. */
export interface Administration {
  readonly admin: Client<typeof AdminService>;
  readonly store: AccountStore | undefined;
}

/** A user and what its commands use. */
export interface UserAdministration extends Administration {
  readonly user: User;
  /** The keys that are valid, the oldest first. */
  readonly keys: readonly Key[];
}

/** Options of work on a database. */
interface AdministrationOptions extends OpenOptions {
  /** The key of a user that is created, instead of a generated one. */
  readonly userKey?: string | undefined;
}

/** The source of audit lines. */
export const COMMAND_LINE = "command line";

/** The operator, in calls on the database. */
const OPERATOR: Caller = { userId: "", fingerprint: "admin", plan: {}, rights: {}, keyHashes: [] };

/**
 * Runs work with the service that the options or settings name, else with the configured database. Prints its name to
 * stderr. By default the database must exist: a command in the wrong folder would otherwise create an empty one there.
 */
export async function administrate<T>(
  context: CommandContext,
  { server, ca }: AdminValues,
  work: (administration: Administration) => Promise<T>,
  { userKey, ...options }: AdministrationOptions = { mustExist: true },
): Promise<T> {
  const { env, stderr } = context;
  const config = readConfig(env);
  // VISAGE_URL may be set for other commands; a database is only set for these.
  const url = config.databaseUrl || env.VISAGE_DATA_DIR ? undefined : config.url;
  const service = findServer({ server, ca }, { url, key: config.adminKey });
  if (service) {
    if (service.key === undefined) throw new UsageError("VISAGE_ADMIN_KEY is required");
    stderr.write(`Service: ${service.address}\n`);
    const values = { server: service.address, key: service.key, ca };
    return withClient(context, values, {}, ({ admin }) => work({ admin, store: undefined }));
  }
  const store = createSqlStore(await openConfiguredDatabase(context, config, options));
  const auditTrail = createLocalAuditTrail(config, context);
  try {
    return await work({ admin: createLocalAdmin(store, auditTrail, userKey), store });
  } catch (error) {
    // The cause says why the database is unavailable.
    throw error instanceof ServiceError ? (error.cause ?? error) : error;
  } finally {
    await store.close();
    await auditTrail.close();
  }
}

/** Opens the configured database. Prints its name to stderr. Says what to do if it does not exist. */
export async function openConfiguredDatabase(
  { stderr }: CommandContext,
  config: DatabaseLocation,
  options: OpenOptions,
): Promise<SqlDatabase> {
  const name = nameDatabase(config);
  stderr.write(`Account database: ${name}\n`);
  return openDatabase(config, options).catch((error: unknown) => {
    throw error instanceof MissingDatabaseError ? new AccountError(missingDatabaseMessage(name)) : error;
  });
}

/** Runs work with the user that has a name or fingerprint or, in a database, a key. */
export function withUser<T>(
  context: CommandContext,
  values: AdminValues,
  text: string,
  work: (administration: UserAdministration) => Promise<T>,
  options?: OpenOptions,
): Promise<T> {
  const findAndWork = async (administration: Administration) => {
    const { user, keys } = await getUser(administration, text);
    return work({ ...administration, user: user!, keys });
  };
  return administrate(context, values, findAndWork, options);
}

/** Returns the database. Throws UsageError for an option that a service cannot serve. */
export function requireStore({ store }: Administration, option: string): AccountStore {
  if (!store) throw new UsageError(`Option '--${option}' needs the database, not a service`);
  return store;
}

/** Returns the plan of a name. */
export async function getPlan({ admin }: Administration, name: string): Promise<Plan> {
  const { plans } = await admin.listPlans({});
  return plans.find(({ plan }) => plan!.name === name)!.plan!;
}

async function getUser({ admin, store }: Administration, text: string): Promise<GetUserResponse> {
  if (store) return admin.getUser({ user: (await findUserByKeyOrName(store, text)).id });
  return admin.getUser({ user: text }).catch((error: unknown) => {
    if (!(error instanceof VisageError && error.reason === "USER_NOT_FOUND")) throw error;
    // The message does not repeat the text, because it may be a key.
    throw new Error("No user, or more than one, has this name or fingerprint; a service finds none by a key");
  });
}

/** Creates the audit trail of work on a database. Standard output is for results. */
export function createLocalAuditTrail(
  { audit, auditFailure: policy }: Config,
  { stderr }: CommandContext,
): AuditTrail {
  const onLoss = (lines: number) => stderr.write(`visage: ${lines} lines of the audit trail are lost\n`);
  return createAuditTrail(audit, { policy, onLoss }, stderr);
}

/** Creates a client of AdminService that runs on a database in this process. */
function createLocalAdmin(
  store: AccountStore,
  auditTrail: AuditTrail,
  userKey: string | undefined,
): Client<typeof AdminService> {
  const service = createAdminService({ store, userKey });
  const direct = createDirectTransport(AdminService, service, [auditRequests(auditTrail, COMMAND_LINE)]);
  const { signal } = new AbortController();
  return createClient(AdminService, {
    ...direct,
    unary: (method, _signal, timeoutMs, header, input) => {
      const record = Object.assign(new RequestRecord(), { caller: OPERATOR });
      return direct.unary(method, signal, timeoutMs, header, input, contextValuesWith(record));
    },
  });
}

function missingDatabaseMessage(database: string): string {
  return `There is no account database at ${database}; use another folder or VISAGE_DATA_DIR or VISAGE_DATABASE_URL, or create it by "visage users add --init" or "visage serve"`;
}
