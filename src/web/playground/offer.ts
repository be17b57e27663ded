import type { Permission } from "../../permissions.ts";
import type { Off } from "../site/service-info.ts";
import { OPERATIONS, type OperationName } from "./operations.ts";

/** What the playground offers: what the service has not switched off. */
export interface Offer {
  /** In the order of the form. */
  readonly operations: readonly OperationName[];
  has(permission: Permission): boolean;
}

/** Returns what the playground offers. */
export function createOffer({ permissions, operations }: Off): Offer {
  return {
    operations: Object.values(OPERATIONS).flatMap(({ name, id }) => (operations.includes(id) ? [] : [name])),
    has: (permission) => !permissions.includes(permission),
  };
}

/** Whether all faces of a photo can be marked before one is selected. */
export function canFindFaces({ operations }: Offer): boolean {
  return operations.includes("get_image_attr");
}
