// The columns in which Milvus takes and returns rows.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { DataType, type FieldData, type FieldDataSchema } from "../../../gen/ts/milvus/milvus_pb.ts";

/** The values of a field in all rows. */
export type Column = MessageInitShape<typeof FieldDataSchema>;

export function texts(fieldName: string, data: string[]): Column {
  const scalars = { data: { case: "stringData", value: { data } } } as const;
  return { type: DataType.VAR_CHAR, fieldName, field: { case: "scalars", value: scalars } };
}

export function integers(fieldName: string, data: bigint[]): Column {
  const scalars = { data: { case: "longData", value: { data } } } as const;
  return { type: DataType.INT64, fieldName, field: { case: "scalars", value: scalars } };
}

export function vectors(fieldName: string, data: number[], dim: number): Column {
  const value = { dim: BigInt(dim), floatVector: { data } };
  return { type: DataType.FLOAT_VECTOR, fieldName, field: { case: "vectors", value } };
}

/** Returns the texts of a column. */
export function stringsOf(column: FieldData | undefined): readonly string[] {
  const { field } = column ?? {};
  return field?.case === "scalars" && field.value.data.case === "stringData"
    ? field.value.data.value.data
    : [];
}

/** Returns the integers of a column. */
export function integersOf(column: FieldData | undefined): readonly bigint[] {
  const { field } = column ?? {};
  return field?.case === "scalars" && field.value.data.case === "longData" ? field.value.data.value.data : [];
}

/** Returns the numbers of a column of vectors. */
export function numbersOf(column: FieldData | undefined): readonly number[] {
  const { field } = column ?? {};
  return field?.case === "vectors" ? (field.value.floatVector?.data ?? []) : [];
}
