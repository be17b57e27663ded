/** Attributes by name; `false` and `undefined` leave one out, `true` sets it empty. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

type Child = Node | string;

/** Makes an HTML element. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  return filled(document.createElement(tag), attributes, children);
}

/** Makes an SVG element. */
export function makeSvg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[Tag] {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** The element of the page with an id; throws where it is missing or of another kind. */
export function byId<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`The page has no ${kind.name} #${id}.`);
  return element;
}

/** The element inside another that carries `data-part` with a name; throws where it is missing. */
export function partOf<Kind extends Element>(root: ParentNode, name: string, kind: new () => Kind): Kind {
  const element = root.querySelector(`[data-part="${name}"]`);
  if (!(element instanceof kind)) throw new Error(`The page has no ${kind.name} for "${name}".`);
  return element;
}

/** Text that only screen readers tell. */
export function spoken(text: string): HTMLElement {
  return make("span", { class: "spoken" }, text);
}

function filled<Made extends Element>(
  element: Made,
  attributes: Attributes,
  children: readonly Child[],
): Made {
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== false)
      element.setAttribute(name, value === true ? "" : String(value));
  element.append(...children);
  return element;
}
