import { mountFooter } from "./footer.ts";
import { hideSwitchedOff } from "./service-info.ts";
import { readUserId, storeUserId, takeUserIdFromAddress } from "./session.ts";

/**
 * Starts what all pages share. The script of a page awaits it first, before it reads the session.
 * Returns whether the address had a user id that is used now.
 */
export async function mountSite(): Promise<{ readonly hasNewUserId: boolean }> {
  const linkedUserId = takeUserIdFromAddress();
  // A link with another user id, opened in this tab, changes only the fragment.
  addEventListener("hashchange", () => {
    if (new URLSearchParams(location.hash.slice(1)).has("user_id")) location.reload();
  });
  mountFooter();
  hideSwitchedOff().catch(reportError);
  const hasNewUserId = linkedUserId !== "" && (linkedUserId === readUserId() || (await askToUseLink()));
  if (hasNewUserId) storeUserId(linkedUserId);
  return { hasNewUserId };
}

/** Asks before a link chooses the account, because a stranger's link would collect faces in the stranger's account. */
async function askToUseLink(): Promise<boolean> {
  const { confirmAction } = await import("./dialog.ts");
  const replaced = readUserId() ? " It replaces the user id of this tab." : "";
  return confirmAction({
    title: "Use the user id of this link?",
    text: `The link that you opened has a user id. Faces that you enrol are then stored in its account, and others who know the user id can see them.${replaced} Agree only if you trust the source of the link.`,
    action: "Use it",
  });
}
