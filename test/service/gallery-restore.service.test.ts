import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { describeRestoreContract } from "../support/restore-contract.ts";

describeRestoreContract("SQLite", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "visage-restore-"));
  const backup = join(dataDir, "backup.db");
  const open = () => {
    const file = new Database(join(dataDir, "accounts.db"));
    file.exec("pragma busy_timeout = 5000");
    return file;
  };
  let backups = 0;
  return {
    env: { VISAGE_DATA_DIR: dataDir },
    backUp: async () => {
      const file = open();
      file.exec(`vacuum into '${backup}.${++backups}'`);
      file.close();
    },
    // What the backup API of SQLite does to a file that is in use: all content is replaced in one transaction.
    restore: async () => {
      const file = open();
      file.exec("pragma foreign_keys = off");
      file.exec(`attach '${backup}.${backups}' as backup`);
      const tables = file
        .prepare("select name from sqlite_master where type = 'table' and name not like 'sqlite_%'")
        .all([]) as { name: string }[];
      file.exec("begin immediate");
      for (const { name } of tables) {
        file.exec(`delete from main.${name}`);
        file.exec(`insert into main.${name} select * from backup.${name}`);
      }
      file.exec("commit");
      file.close();
    },
  };
});
