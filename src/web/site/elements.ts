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
