/** A database that cannot be used, or a change that conflicts with its rows. The message is for the administrator. */
export class DatabaseError extends Error {
  override readonly name: string = "DatabaseError";
}

/** There is no database, and it was not to be created. */
export class MissingDatabaseError extends DatabaseError {
  constructor() {
    super("There is no account database");
  }
}
