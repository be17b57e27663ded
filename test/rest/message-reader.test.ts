import { create, type DescMessage, toJson } from "@bufbuild/protobuf";
import { EnumSchema, FieldSchema, UninterpretedOptionSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { CustomHttpPatternSchema, HttpRuleSchema } from "../../gen/ts/google/api/http_pb.ts";
import { parseForm } from "../../src/rest/form.ts";
import { createMessageReader } from "../../src/rest/message-reader.ts";
import { RestError } from "../../src/rest/rest-error.ts";
import type { TextParsers } from "../../src/rest/text-parser.ts";

// Uses message types that come with Protobuf: the reader works for any type.

async function read(schema: DescMessage, query: string, parsers: TextParsers = {}) {
  return toJson(schema, await createMessageReader(schema, parsers)(parseForm(query), []));
}

describe("a message reader", () => {
  test.each<[string, DescMessage, string, object]>([
    ["a string", FieldSchema, "name=a+b", { name: "a b" }],
    ["a string by its JSON name", FieldSchema, "typeUrl=u&json_name=j", { typeUrl: "u", jsonName: "j" }],
    ["a whole number", FieldSchema, "number=+5", { number: 5 }],
    ["an enum by name", FieldSchema, "kind=TYPE_BOOL", { kind: "TYPE_BOOL" }],
    ["an enum by number", FieldSchema, "kind=8", { kind: "TYPE_BOOL" }],
    ["a bool", FieldSchema, "packed=TRUE", { packed: true }],
    ["a blank number, as absent", FieldSchema, "number=", {}],
    [
      "a large number",
      UninterpretedOptionSchema,
      "negativeIntValue=-9007199254740993",
      { negativeIntValue: "-9007199254740993" },
    ],
    ["a decimal number", UninterpretedOptionSchema, "double_value=1e-3", { doubleValue: 0.001 }],
    ["bytes as Base64 with a plus", UninterpretedOptionSchema, "stringValue=++++", { stringValue: "++++" }],
    ["strings", EnumSchema, "name=E&edition=1", { name: "E", edition: "1" }],
  ])("reads %s", async (_, schema, query, json) => {
    expect(await read(schema, query)).toEqual(json);
  });

  test("uses text parsers, also for repeated fields and in a oneof", async () => {
    const parsers = {
      "google.api.CustomHttpPattern": {
        fromText: (kind: string) => create(CustomHttpPatternSchema, { kind }),
      },
      "google.api.HttpRule": { fromText: (selector: string) => create(HttpRuleSchema, { selector }) },
    };
    expect(
      await read(HttpRuleSchema, "custom=HEAD&additional_bindings=a&additional_bindings=b", parsers),
    ).toEqual({
      custom: { kind: "HEAD" },
      additionalBindings: [{ selector: "a" }, { selector: "b" }],
    });
  });

  test("reads a file as bytes, or as the text of a number", async () => {
    const reader = createMessageReader(UninterpretedOptionSchema, {});
    const message = await reader(
      [],
      [
        { name: "string_value", value: Buffer.from([0, 255]) },
        { name: "double_value", value: Buffer.from("2.5\n") },
      ],
    );
    expect(message).toMatchObject({ stringValue: Buffer.from([0, 255]), doubleValue: 2.5 });
  });

  test("reads JSON for messages without a text parser", async () => {
    const reader = createMessageReader(EnumSchema, {});
    const message = await reader(
      [],
      [
        { name: "sourceContext", value: { fileName: "f" } },
        { name: "enumvalue", value: [{ name: "A" }, { name: "B", number: 1 }] },
      ],
    );
    expect(message).toMatchObject({
      sourceContext: { fileName: "f" },
      enumvalue: [{ name: "A" }, { name: "B" }],
    });
  });

  test.each(["number=5.5", "number=x", "number=5&number=6", "kind=NOPE", "packed=2", "options=x"])(
    "rejects %s and names the field",
    async (query) => {
      const field = query.split("=")[0]!;
      const fault = await read(FieldSchema, query).catch((error: unknown) => error);
      expect(fault).toBeInstanceOf(RestError);
      expect(fault).toMatchObject({ kind: "badRequest", field, message: expect.stringContaining(field) });
    },
  );
});
