import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runOne } from "../../src/database/delete-in-batches.ts";
import type { SqlDatabase } from "../../src/database/sql-database.ts";
import { openSqliteDatabase } from "../../src/database/sqlite-database.ts";

describe("while another process keeps the write lock", () => {
  let folder: string;
  let database: SqlDatabase;
  let other: Database.Database;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "visage-locks-"));
    database = await openSqliteDatabase(join(folder, "test.db"));
    await database.runTransaction(runOne("create table entries (name text)", []));
    await insert("before");
    other = new Database(join(folder, "test.db"));
    other.exec("begin immediate");
  });
  afterEach(async () => {
    other.close();
    await database.close();
    await rm(folder, { recursive: true });
  });

  const insert = (name: string) =>
    database.runTransaction(runOne("insert into entries (name) values ($1) returning name", [name]));
  const listNames = async () =>
    (await database.query({ sql: "select name from entries order by rowid desc limit 3" })).map(
      ({ name }) => name,
    );

  test("transactions wait in order, and the event loop and reads go on", async () => {
    const ended: string[] = [];
    const waiting = ["a", "b", "c"].map(async (name) => {
      await insert(name);
      ended.push(name);
    });
    const all = Promise.all(waiting);
    expect((await listNames())[0]).toBe("before");
    expect(ended).toEqual([]);
    other.exec("rollback");
    await all;
    expect(await listNames()).toEqual(["c", "b", "a"]);
  });

  test("hundreds of transactions fail together after five seconds, and later ones succeed", async () => {
    const waiting = Promise.allSettled(Array.from({ length: 500 }, (_, i) => insert(`late ${i}`)));
    const outcomes = new Set(
      (await waiting).map((result) => result.status === "rejected" && result.reason.code),
    );
    expect(outcomes).toEqual(new Set(["SQLITE_BUSY"]));
    other.exec("rollback");
    await insert("after");
    expect((await listNames()).slice(0, 2)).toEqual(["after", "before"]);
  });

  test("a database is closed once its transactions have ended", async () => {
    const waiting = insert("last");
    const closed = database.close();
    other.exec("rollback");
    await Promise.all([waiting, closed]);
    expect(other.prepare("select count(*) as count from entries where name = ?").all(["last"])).toEqual([
      { count: 1 },
    ]);
    database = await openSqliteDatabase(join(folder, "test.db"));
  });
});
