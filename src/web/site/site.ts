import { mountFooter } from "./footer.ts";
import { adoptUserIdFromAddress } from "./session.ts";

/**
 * Starts what all pages share. The script of a page calls it first, before it reads the session.
 * Returns whether the address had a user id.
 */
export function mountSite(): { readonly hasNewUserId: boolean } {
  const hasNewUserId = adoptUserIdFromAddress();
  // A link with another user id, opened in this tab, changes only the fragment.
  addEventListener("hashchange", () => {
    if (new URLSearchParams(location.hash.slice(1)).has("user_id")) location.reload();
  });
  mountFooter();
  return { hasNewUserId };
}
