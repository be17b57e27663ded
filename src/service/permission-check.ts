import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { Permission } from "../permissions.ts";
import { needsOfMethod, needsOfRequest } from "./method-permissions.ts";
import type { Caller } from "./request-record.ts";
import { ServiceError } from "./service-error.ts";

/** The parts of a caller that decide what it may do. */
type Permitted = Pick<Caller, "plan" | "rights">;

/** Decides what callers may do: what the service, their plan and their key all permit. */
export class PermissionCheck {
  readonly #off: readonly Permission[];

  /** `off` is switched off for the whole service. */
  constructor(off: readonly Permission[]) {
    this.#off = off;
  }

  /** Whether a caller has a permission. */
  has(caller: Permitted, permission: Permission): boolean {
    return this.#refusal(caller, permission) === undefined;
  }

  /** Throws ServiceError `purposeDisabled` or `scopeMissing` unless a caller has a permission. */
  require(caller: Permitted, permission: Permission): void {
    const refusal = this.#refusal(caller, permission);
    if (refusal) throw refusal;
  }

  /** Throws ServiceError unless a caller may call a method at all. */
  requireMethod(method: DescMethod, caller: Permitted): void {
    for (const permission of needsOfMethod(method)) this.require(caller, permission);
  }

  /** Throws ServiceError unless a caller may send this request. */
  requireRequest(method: DescMethod, request: Message, caller: Permitted): void {
    this.requireMethod(method, caller);
    for (const permission of needsOfRequest(method, request)) this.require(caller, permission);
  }

  #refusal({ plan, rights }: Permitted, permission: Permission): ServiceError | undefined {
    if (this.#off.includes(permission))
      return disabledError(permission, "service", "Only the operator of this service can switch it on.");
    if (plan.off?.includes(permission))
      return disabledError(permission, "plan", "Ask the operator of this service for another plan.");
    if (!rights.scopes || rights.scopes.includes(permission)) return undefined;
    const text = `The key of the request has no scope ${permission}. Whoever has the scope account can create a key that has it.`;
    return new ServiceError("scopeMissing", text, { metadata: { permission } });
  }
}

function disabledError(permission: Permission, by: "service" | "plan", remedy: string): ServiceError {
  const text = `The purpose ${permission} is switched off by the ${by}. ${remedy}`;
  return new ServiceError("purposeDisabled", text, { metadata: { permission, by } });
}
