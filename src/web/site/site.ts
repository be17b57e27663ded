import { confirmAction } from "./dialog.ts";
import { mountFooter } from "./footer.ts";
import { mountKeyControl } from "./key-control.ts";
import { mountReloadNotice } from "./reload-notice.ts";
import { hideSwitchedOff } from "./service-info.ts";
import { readKey, storeKey, takeKeyFromAddress } from "./session.ts";

/**
 * Starts what all pages share. The script of a page awaits it first, before it reads the session.
 * Returns whether the address had an API key that is used now.
 */
export async function mountSite(): Promise<{ readonly hasNewKey: boolean }> {
  mountReloadNotice();
  const linkedKey = takeKeyFromAddress();
  // A link with another key, opened in this tab, changes only the fragment.
  addEventListener("hashchange", () => {
    if (new URLSearchParams(location.hash.slice(1)).has("user_id")) location.reload();
  });
  mountFooter();
  mountKeyControl();
  const hasNewKey = linkedKey !== "" && (linkedKey === readKey() || (await askToUseLink()));
  // A key that comes with a link is never remembered by itself.
  if (hasNewKey && linkedKey !== readKey()) storeKey(linkedKey, false);
  hideSwitchedOff();
  return { hasNewKey };
}

/** Asks before a link chooses the account, because a stranger's link would collect faces in the stranger's account. */
function askToUseLink(): Promise<boolean> {
  const replaced = readKey() ? " It replaces the key of this tab." : "";
  return confirmAction({
    title: "Use the API key of this link?",
    text: `The link that you opened has an API key. Faces that you enrol are then stored in its account, and others who know the key can see them.${replaced} Agree only if you trust the source of the link.`,
    action: "Use it",
  });
}
