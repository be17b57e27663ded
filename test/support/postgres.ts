export * from "../../tools/support/postgres.ts";
