import { RequestError } from "../site/request-error.ts";
import { type Enrolment, getPerson } from "./gallery-api.ts";

/** Why a face may be of somebody else. */
export interface PersonDoubt {
  /** In words. */
  readonly question: string;
  /** In numbers. */
  readonly distances: string;
}

/** Codes of faces that are far from their person, or nearer to somebody else. */
const [UNLIKE_PERSON, OF_ANOTHER_PERSON] = ["6011", "6012"] as const;

interface Metadata {
  readonly person_distance?: string;
  readonly other_person_id?: string;
  readonly other_distance?: string;
}

/** Returns what the service doubts about a face; undefined if the error is another one. */
export async function doubtFrom(error: unknown, enrolment: Enrolment): Promise<PersonDoubt | undefined> {
  if (!(error instanceof RequestError)) return undefined;
  const { code, body } = error.facts;
  if (code !== UNLIKE_PERSON && code !== OF_ANOTHER_PERSON) return undefined;
  const { person_distance, other_person_id, other_distance } = metadataFrom(body);
  const name = enrolment.displayName || enrolment.personId;
  const other = other_person_id && (await nameOf(enrolment.galleryId, other_person_id));
  const distances = [
    ...(person_distance ? [`To ${name}: ${person_distance}.`] : []),
    ...(other ? [`To ${other}: ${other_distance}.`] : []),
    "Photos of one person are below 0.50.",
  ];
  return {
    question:
      code === OF_ANOTHER_PERSON
        ? `This face looks like ${other === name ? `another person named ${other}` : other}.`
        : `This face does not look like the other faces of ${name}.`,
    distances: distances.join(" "),
  };
}

function metadataFrom(body: unknown): Metadata {
  const { details } = body as { readonly details?: readonly { readonly metadata?: Metadata }[] };
  return details?.find(({ metadata }) => metadata)?.metadata ?? {};
}

/** The name of a person, or the id if it has none or the key may not read it. */
async function nameOf(galleryId: string, personId: string): Promise<string> {
  try {
    return (await getPerson(galleryId, personId)).displayName || personId;
  } catch {
    return personId;
  }
}
