import { make } from "./elements.ts";

/** What a list of tabs consists of. */
interface TabsOptions {
  readonly label: string;
  readonly tabs: readonly { readonly name: string; readonly label: string }[];
  /** The element with an id that shows what belongs to the chosen tab. */
  readonly panel: HTMLElement;
  /** A tab was pressed, or reached by an arrow key. */
  onChoose(name: string, tab: HTMLElement): void;
}

/** A list of tabs. */
interface Tabs {
  readonly list: HTMLElement;
  /** Marks a tab as the chosen one. */
  mark(name: string): void;
}

/** Creates a list of tabs and makes the panel theirs. The caller fills the panel. */
export function createTabs({ label, tabs, panel, onChoose }: TabsOptions): Tabs {
  panel.setAttribute("role", "tabpanel");
  const buttons = tabs.map(({ name, label }) => {
    const id = `${panel.id}-${name}`;
    const button = make("button", { type: "button", role: "tab", id, "aria-controls": panel.id }, label);
    button.addEventListener("click", () => onChoose(name, button));
    return button;
  });
  const list = make("div", { role: "tablist", "aria-label": label }, ...buttons);
  list.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const index = buttons.indexOf(document.activeElement as HTMLButtonElement);
    if (step === undefined || index < 0) return;
    event.preventDefault();
    const next = buttons.at((index + step) % buttons.length)!;
    next.focus();
    next.click();
  });
  return {
    list,
    mark(name) {
      const chosenId = `${panel.id}-${name}`;
      panel.setAttribute("aria-labelledby", chosenId);
      for (const button of buttons) {
        button.setAttribute("aria-selected", String(button.id === chosenId));
        button.tabIndex = button.id === chosenId ? 0 : -1;
      }
    },
  };
}
