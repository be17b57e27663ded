import { byId, make } from "../site/elements.ts";
import { plural } from "../site/words.ts";
import type { Person } from "./gallery-api.ts";
import { isId, randomPersonId } from "./names.ts";

/** A person to enrol. */
export interface NamedPerson {
  readonly personId: string;
  readonly displayName: string;
}

/** The fields that name the person to enrol, who may be new or enrolled already. */
export class PersonField {
  readonly #name = byId("person-name", HTMLInputElement);
  readonly #id = byId("person-id", HTMLInputElement);
  readonly #hint = byId("person-hint", HTMLParagraphElement);
  readonly #problem = byId("person-problem", HTMLParagraphElement);
  readonly #names = byId("people-names", HTMLDataListElement);
  #people: readonly Person[] = [];
  /** The new people of this form by name, so that a second drop adds to the same one. */
  readonly #newIds = new Map<string, string>();

  constructor() {
    for (const input of [this.#name, this.#id])
      input.addEventListener("input", () => {
        this.#problem.textContent = "";
        this.#drawHint();
      });
    this.#name.addEventListener("input", () => {
      this.#id.value = "";
    });
  }

  clear(): void {
    this.#name.value = "";
    this.#id.value = "";
    this.#problem.textContent = "";
    this.#newIds.clear();
    this.setPeople([]);
  }

  /** Empties the fields if they still name this person: what is added next may be of somebody else. */
  forget({ personId, displayName }: NamedPerson): void {
    const typedId = this.#id.value.trim();
    if (typedId ? typedId !== personId : this.#name.value.trim() !== displayName) return;
    this.#name.value = "";
    this.#id.value = "";
    this.#drawHint();
  }

  /** Whom the fields name; undefined if that is not clear. */
  get named(): NamedPerson | undefined {
    const displayName = this.#name.value.trim();
    const typedId = this.#id.value.trim();
    if (this.#problemOf(displayName, typedId)) return undefined;
    return { personId: typedId || this.#idOf(displayName), displayName };
  }

  setPeople(people: readonly Person[]): void {
    this.#people = people;
    const names = new Set(people.map(({ displayName }) => displayName).filter(Boolean));
    this.#names.replaceChildren(...[...names].map((name) => make("option", { value: name })));
    this.#drawHint();
  }

  /** Fills the fields with a person who is enrolled. */
  choose({ personId, displayName }: Person): void {
    this.#name.value = displayName;
    this.#id.value = personId;
    this.#problem.textContent = "";
    this.#drawHint();
  }

  /** Returns the person; undefined if the user has to change something, which the page then says. */
  read(): NamedPerson | undefined {
    const displayName = this.#name.value.trim();
    const typedId = this.#id.value.trim();
    this.#problem.textContent = this.#problemOf(displayName, typedId);
    if (this.#problem.textContent) {
      (typedId ? this.#id : this.#name).focus();
      return undefined;
    }
    return this.named;
  }

  #problemOf(displayName: string, typedId: string): string {
    if (typedId !== "" && !isId(typedId)) return "An id has 1 to 128 letters, digits and . _ ~ -";
    if (displayName === "" && typedId === "") return "Enter a name, then press “Enrol”.";
    const hasNamesakes = typedId === "" && this.#withName(displayName).length > 1;
    return hasNamesakes
      ? `Several people are named ${displayName}. Press “Add photos” beside one of them.`
      : "";
  }

  #idOf(displayName: string): string {
    const known = this.#withName(displayName)[0]?.personId ?? this.#newIds.get(displayName);
    const personId = known ?? randomPersonId();
    this.#newIds.set(displayName, personId);
    return personId;
  }

  #withName(displayName: string): readonly Person[] {
    return this.#people.filter((person) => person.displayName === displayName);
  }

  #drawHint(): void {
    const displayName = this.#name.value.trim();
    const id = this.#id.value.trim();
    const known = id
      ? this.#people.find(({ personId }) => personId === id)
      : displayName && this.#withName(displayName)[0];
    const added = known ? `Adds to ${known.displayName || known.personId}` : "";
    this.#hint.textContent = known
      ? `${added}, who has ${plural(known.faces.length, "face")}.`
      : "A new person. Several photos of each person give better results.";
  }
}
