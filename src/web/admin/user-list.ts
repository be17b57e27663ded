import { failureText } from "../accounts/failure.ts";
import { describeSubscription, formatCount } from "../accounts/format.ts";
import type { User } from "../accounts/messages.ts";
import { drawTable } from "../accounts/table.ts";
import { actionRow, byId, make, makeButton } from "../site/elements.ts";
import { listUsers, type UserPage } from "./api.ts";

const PAGE_SIZE = 50;

/** Binds the list of users with its search and pages. `manage` opens one of them. */
export function mountUserList(manage: (user: User) => void) {
  const query = byId("query", HTMLInputElement);
  const problem = byId("users-problem", HTMLParagraphElement);
  const previous = byId("previous", HTMLButtonElement);
  const next = byId("next", HTMLButtonElement);
  /** The tokens of the pages up to the shown one. */
  let tokens = [""];
  let search = "";
  let newest = 0;

  async function show(shownTokens: readonly string[], shownSearch: string): Promise<void> {
    const turn = ++newest;
    const page = await listUsers(shownSearch, PAGE_SIZE, shownTokens.at(-1)!);
    // Another page may have been asked for meanwhile.
    if (turn !== newest) return;
    tokens = [...shownTokens];
    search = shownSearch;
    draw(page);
  }

  function draw({ users, nextPageToken, totalSize }: UserPage): void {
    const first = (tokens.length - 1) * PAGE_SIZE;
    byId("users", HTMLDivElement).replaceChildren(drawUsers(users, manage));
    byId("range", HTMLParagraphElement).textContent =
      users.length === 0
        ? "No users found."
        : `${formatCount(first + 1)} to ${formatCount(first + users.length)} of ${formatCount(totalSize)}`;
    previous.disabled = tokens.length === 1;
    next.disabled = nextPageToken === "" || first + users.length >= totalSize;
    next.dataset.token = nextPageToken;
  }

  const showNow = (shownTokens: readonly string[], shownSearch: string) => {
    problem.textContent = "";
    show(shownTokens, shownSearch).catch((error: unknown) => {
      problem.textContent = failureText(error);
    });
  };
  byId("search", HTMLFormElement).addEventListener("submit", (event) => {
    event.preventDefault();
    showNow([""], query.value.trim());
  });
  previous.addEventListener("click", () => showNow(tokens.slice(0, -1), search));
  next.addEventListener("click", () => showNow([...tokens, next.dataset.token!], search));
  /** Reads the shown page again. Throws RequestError. */
  return { reload: () => show(tokens, search) };
}

function drawUsers(users: readonly User[], manage: (user: User) => void): HTMLElement {
  return drawTable<User>(
    "Users",
    [
      { title: "Name", cell: ({ name }) => make("strong", {}, name) },
      { title: "Plan", cell: ({ plan }) => plan },
      { title: "Subscription", cell: ({ subscription }) => describeSubscription(subscription) },
      { title: "Used this month", isNumber: true, cell: ({ usedThisMonth }) => formatCount(usedThisMonth) },
      { title: "", cell: (user) => manageButton(user, manage) },
    ],
    users,
  );
}

function manageButton(user: User, manage: (user: User) => void): HTMLElement {
  return actionRow(makeButton("Manage", () => manage(user), { subject: ` ${user.name}` }));
}
