/** Attributes by name. `false` and `undefined` omit the attribute; `true` sets it to the empty string. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

type Child = Node | string;

/** Creates an HTML element. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  return fill(document.createElement(tag), attributes, children);
}

/** Creates an SVG element. */
export function makeSvg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[Tag] {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** Creates a button. Screen readers read the subject after the label, such as "Delete" with " Ann". */
export function makeButton(
  label: string,
  onClick: () => unknown,
  { subject, ...attributes }: Attributes & { readonly subject?: string } = {},
): HTMLButtonElement {
  const hidden = subject === undefined ? [] : [visuallyHidden(subject)];
  const button = make("button", { type: "button", ...attributes }, label, ...hidden);
  button.addEventListener("click", reporting(onClick));
  return button;
}

/** Creates a row of buttons, and what stands among them. */
export function actionRow(...children: readonly Child[]): HTMLElement {
  return make("div", { class: "actions" }, ...children);
}

/** Returns a function that starts work and reports its failure as a defect. */
export function reporting<Args extends readonly unknown[]>(
  work: (...args: Args) => unknown,
): (...args: Args) => void {
  return (...args) => {
    Promise.resolve(work(...args)).catch(reportError);
  };
}

/** Returns the element with an id. Throws if it is missing or of another type. */
export function byId<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`The page has no ${kind.name} #${id}.`);
  return element;
}

/** Returns the descendant with `data-part` set to a name. Throws if it is missing or of another type. */
export function partOf<Kind extends Element>(root: ParentNode, name: string, kind: new () => Kind): Kind {
  const element = root.querySelector(`[data-part="${name}"]`);
  if (!(element instanceof kind)) throw new Error(`The page has no ${kind.name} for "${name}".`);
  return element;
}

/** Creates text for screen readers only. */
export function visuallyHidden(text: string): HTMLElement {
  return make("span", { class: "visually-hidden" }, text);
}

function fill<Made extends Element>(element: Made, attributes: Attributes, children: readonly Child[]): Made {
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== false)
      element.setAttribute(name, value === true ? "" : String(value));
  element.append(...children);
  return element;
}
