import type { Message } from "@bufbuild/protobuf";

/** A message as plain data: without the members that only the library of Protobuf uses. */
export type Plain<T> = T extends Message
  ? { readonly [Name in keyof T as Exclude<Name, keyof Message>]: Plain<T[Name]> }
  : T extends readonly (infer Item)[]
    ? readonly Plain<Item>[]
    : T;

/** Converts a message to plain data. */
export function plain<T>(value: T): Plain<T> {
  if (Array.isArray(value)) return value.map((item) => plain(item)) as Plain<T>;
  if (typeof value !== "object" || value === null) return value as Plain<T>;
  const fields: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) if (!name.startsWith("$")) fields[name] = plain(field);
  return fields as Plain<T>;
}

/** The names of the values of an enum, in lower case. */
export type EnumName<Enum> = Lowercase<Exclude<keyof Enum & string, "UNSPECIFIED">>;

/** The name of a value of an enum; `unknown` if it is newer than this client. */
export function enumName<Enum extends Readonly<Record<number, string>>>(names: Enum, value: number) {
  return (names[value] ?? "unknown").toLowerCase() as EnumName<Enum>;
}
