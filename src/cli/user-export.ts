import { pipeline } from "node:stream/promises";
import type { User } from "../../gen/ts/visage/v1/admin_pb.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import { formatAuditLine } from "../audit/audit-line.ts";
import { type Config, readConfig } from "../config.ts";
import { openDatabase } from "../database/open-database.ts";
import { requireMasterKeys } from "../galleries/data-keys.ts";
import {
  type Gallery,
  type GalleryStore,
  MAX_FACES_PER_PERSON,
  type Person,
} from "../galleries/gallery-store.ts";
import { parseMasterKeys } from "../galleries/master-keys.ts";
import { createSqlGalleryStore } from "../galleries/sql-gallery-store.ts";
import { COMMAND_LINE, createLocalAuditTrail } from "./account-command.ts";
import type { CommandContext } from "./command.ts";
import { embeddingJson } from "./gallery-lines.ts";
import { checkOutput, writePrivateFile } from "./private-file.ts";
import { createUserReport } from "./user-report.ts";

/** What the export is, for its readers. */
const ABOUT =
  "Everything that the database of Visage stores about a user, with the people of all galleries and their templates, which are biometric data. Left out on purpose: the hashes of the keys; the revisions of galleries and the marks of what was removed; galleries that are deleted and being erased. The log of the service is not in the database.";

const GALLERIES_PAGE = 100;
const PEOPLE_PAGE = 100;

/** Where the data of a user is. */
interface UserData {
  readonly accounts: AccountStore;
  readonly galleries: GalleryStore;
}

/** Writes everything that is stored about a user to stdout or a file. */
export async function writeUserExport(
  user: User,
  accounts: AccountStore,
  { output, force }: { readonly output?: string | undefined; readonly force: boolean },
  context: CommandContext,
): Promise<void> {
  if (output !== undefined) await checkOutput(output, force);
  const config = readConfig(context.env);
  const keys = parseMasterKeys(config.templateKey);
  const database = await openDatabase(config, { mustExist: true });
  try {
    // Without a master key, the export would end in the middle.
    await requireMasterKeys(database, keys);
    await auditUserExport(user, config, context);
    // No time is over, so that nothing is removed: what is still stored is exported.
    const galleries = createSqlGalleryStore(database, { keys, now: () => new Date(0) });
    const parts = exportUser(user, { accounts, galleries });
    if (output === undefined) return await pipeline(parts, context.stdout, { end: false });
    await writePrivateFile(output, parts);
    context.stderr.write(`Wrote ${output}\n`);
  } finally {
    await database.close();
  }
}

/** Writes the line of the export. Throws if it must be written and cannot be. */
async function auditUserExport(user: User, config: Config, context: CommandContext): Promise<void> {
  const trail = createLocalAuditTrail(config, context);
  const line = {
    phase: "start",
    operation: "ExportUser",
    source: COMMAND_LINE,
    user: "admin",
    target_user: user.fingerprint,
  } as const;
  await trail.write(formatAuditLine(line)).finally(() => trail.close());
}

/** Yields the parts of a JSON text with everything that is stored about a user. It is never in memory as a whole. */
async function* exportUser(user: User, { accounts, galleries }: UserData): AsyncGenerator<string> {
  const { userId } = user;
  const keys = (await accounts.listKeys(userId)).map((key) => ({
    fingerprint: key.fingerprint,
    name: key.name,
    scopes: key.scopes ?? null,
    galleries: key.galleryIds ?? null,
    created_at: key.createdAt,
    expires_at: key.expiresAt ?? null,
    last_used_at: key.lastUsedAt ?? null,
  }));
  const usage = (await accounts.listUsage({ userId })).map(({ userId: _, ...count }) => count);
  const head = { about: ABOUT, exported_at: new Date(), user: { ...createUserReport(user), id: userId } };
  const start = JSON.stringify({ ...head, keys, usage }, undefined, 2);
  yield `${start.slice(0, start.lastIndexOf("\n}"))},\n  "galleries": [`;
  let separator = "";
  for await (const gallery of galleriesOf(userId, galleries)) {
    yield separator;
    yield* exportGallery(userId, gallery, galleries);
    separator = ",";
  }
  yield "]\n}\n";
}

async function* galleriesOf(userId: string, store: GalleryStore): AsyncGenerator<Gallery> {
  for (let after: string | undefined; ; ) {
    const page = await store.listGalleries(userId, { after, size: GALLERIES_PAGE });
    yield* page;
    if (page.length < GALLERIES_PAGE) return;
    after = page.at(-1)!.id;
  }
}

async function* exportGallery(userId: string, gallery: Gallery, store: GalleryStore): AsyncGenerator<string> {
  const { id, alias, displayName, model, maxDistance, createdAt, expiresAt, lastSearchedAt } = gallery;
  const report = {
    id,
    alias: alias ?? null,
    display_name: displayName,
    model,
    max_distance: maxDistance ?? null,
    created_at: createdAt,
    expires_at: expiresAt ?? null,
    last_searched_at: lastSearchedAt ?? null,
  };
  yield `\n${JSON.stringify(report).slice(0, -1)},"people":[`;
  let separator = "";
  for (let after: string | undefined; ; ) {
    const { people, isLast } = await store.listPeople(userId, id, { after, size: PEOPLE_PAGE });
    for (const person of people) {
      yield `${separator}\n${JSON.stringify(await personReport(gallery, person, store))}`;
      separator = ",";
    }
    if (isLast) break;
    after = people.at(-1)!.id;
  }
  yield "]}";
}

async function personReport({ key, model }: Gallery, person: Person, store: GalleryStore) {
  const { id, displayName, createdAt, expiresAt } = person;
  const page = { after: { personId: id, faceId: "" }, size: MAX_FACES_PER_PERSON };
  const faces = (await store.readFaces(key, page)).filter(({ personId }) => personId === id);
  return {
    id,
    display_name: displayName,
    created_at: createdAt,
    expires_at: expiresAt ?? null,
    faces: faces.map(({ faceId, embedding, createdAt }) => ({
      id: faceId,
      created_at: createdAt,
      embedding: embeddingJson({ embedding, model }),
    })),
  };
}
