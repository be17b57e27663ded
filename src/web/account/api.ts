import type { Account, CreatedKey, KeyRequest, UsageCount } from "../accounts/messages.ts";
import { callService } from "../site/request.ts";

const PATH = "v1/account";

/** An account, and what the headers of its response say. */
export interface ReadAccount {
  readonly account: Account;
  /** What is left of the monthly quota now. The account counts requests a moment later. */
  readonly remaining: number | undefined;
}

/** Reads the account of the session's key. Throws RequestError, as all functions here. */
export async function readAccount(): Promise<ReadAccount> {
  const { body, header } = await callService<Account>({ path: PATH });
  const remaining = header("ratelimit-remaining") ?? body.quota.remaining;
  return { account: body, remaining: remaining === undefined ? undefined : Number(remaining) };
}

/** Reads the usage of a month (YYYY-MM) by day and key. */
export async function readUsage(month: string): Promise<readonly UsageCount[]> {
  const path = `${PATH}/usage?firstMonth=${month}&lastMonth=${month}&byDay=true&byKey=true`;
  return (await callService<{ counts: readonly UsageCount[] }>({ path })).body.counts;
}

/** Creates a key. */
export async function createKey(request: KeyRequest): Promise<CreatedKey> {
  return (await callService<CreatedKey>({ path: `${PATH}/keys`, json: request })).body;
}

/** Deletes a key other than that of the session. */
export async function deleteKey(fingerprint: string): Promise<void> {
  await callService({ method: "DELETE", path: `${PATH}/keys/${fingerprint}` });
}
