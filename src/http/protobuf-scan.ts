import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { fieldError } from "../rest/field-value.ts";
import { MAX_LIST_VALUES, MAX_PROTOBUF_FIELDS } from "../rest/parse-limits.ts";
import { RestError } from "../rest/rest-error.ts";

/**
 * Checks a Protobuf message against the limits of parse-limits.ts before it is parsed: the number of known and unknown
 * fields at any depth, and the values of each repeated field. Also rejects groups, and known fields of the wrong wire
 * type, which protobuf-es would misread. Messages in map values are treated as bytes: no request has any.
 *
 * Stops at the first excess, so that the cost does not grow with the size of the message. Throws RestError
 * `badRequest`, or the more specific error of a field with too many values.
 */
export function checkProtobuf(bytes: Uint8Array, schema: DescMessage): void {
  try {
    new ProtobufScan(bytes).scanMessage(bytes.length, schema);
  } catch (cause) {
    if (cause instanceof RestError) throw cause;
    throw new RestError("badRequest", "The message is not valid Protobuf.", { cause });
  }
}

/** A pass over the wire format of a message. */
class ProtobufScan {
  private readonly reader: BinaryReader;
  private fields = 0;

  constructor(bytes: Uint8Array) {
    this.reader = new BinaryReader(bytes);
  }

  /** Scans the fields up to `end`; without a schema all are unknown. */
  scanMessage(end: number, schema: DescMessage | undefined): void {
    const counts = new Map<DescField, number>();
    while (this.reader.pos < end) {
      const [number, wireType] = this.reader.tag();
      const field = schema?.fields.find((one) => one.number === number);
      if (field) checkWireType(field, wireType);
      const values = this.scanValue(field, wireType);
      if (field?.fieldKind === "list") {
        const count = (counts.get(field) ?? 0) + values;
        if (count > MAX_LIST_VALUES) throw fieldError(field, `has more than ${MAX_LIST_VALUES} values`);
        counts.set(field, count);
      }
      if (this.reader.pos > end) throw new RangeError("a field reaches beyond its message");
    }
  }

  /** Scans the value of a field. Returns the number of values: more than one if they are packed. */
  private scanValue(field: DescField | undefined, wireType: WireType): number {
    this.countField();
    const { reader } = this;
    switch (wireType) {
      case WireType.Varint:
        // Not `skip`, which reads a varint of any length.
        reader.uint64();
        return 1;
      case WireType.LengthDelimited: {
        const length = reader.uint32();
        const end = reader.pos + length;
        if (field?.fieldKind === "map") this.scanMessage(end, undefined);
        else if (field?.message) this.scanMessage(end, field.message);
        else if (field && isPackable(field)) return this.scanPacked(field, end);
        reader.pos = end;
        return 1;
      }
      case WireType.StartGroup:
        throw new RangeError("groups are not supported");
      default:
        reader.skip(wireType);
        return 1;
    }
  }

  private scanPacked(field: DescField, end: number): number {
    const { reader } = this;
    const wireType = wireTypeOf(field);
    const start = this.fields;
    while (reader.pos < end) {
      this.countField();
      if (wireType === WireType.Varint) reader.uint64();
      else reader.skip(wireType);
    }
    return this.fields - start;
  }

  private countField(): void {
    if (++this.fields > MAX_PROTOBUF_FIELDS)
      throw new RestError("badRequest", `The message has more than ${MAX_PROTOBUF_FIELDS} fields.`);
  }
}

function checkWireType(field: DescField, wireType: WireType): void {
  if (wireType === wireTypeOf(field)) return;
  if (wireType === WireType.LengthDelimited && isPackable(field)) return;
  throw new RestError("badRequest", `The field ${field.name} has the wrong wire type.`, {
    field: field.name,
  });
}

/** Whether the values of a field may come packed. Parsers accept that whatever the schema says. */
function isPackable(field: DescField): boolean {
  return field.fieldKind === "list" && wireTypeOf(field) !== WireType.LengthDelimited;
}

/** The wire type of one value of a field. No message of the service has groups. */
function wireTypeOf(field: DescField): WireType {
  if (field.message || field.fieldKind === "map") return WireType.LengthDelimited;
  switch (field.scalar) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return WireType.LengthDelimited;
    case ScalarType.DOUBLE:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return WireType.Bit64;
    case ScalarType.FLOAT:
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
      return WireType.Bit32;
    default:
      return WireType.Varint;
  }
}
