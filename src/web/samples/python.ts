import type { SampleDestination, SampleRequest } from "./sample-request.ts";
import {
  type Call,
  faceMembers,
  isBox,
  isOfGalleries,
  type OptionValue,
  optionsOf,
  positionalArguments,
  present,
  quote,
  type Statements,
} from "./sdk-call.ts";
import { indent } from "./shell.ts";

const PHOTO = { file: (path: string) => `Path(${path})`, url: (url: string) => `Url(${url})` };

const STATEMENTS: Statements = {
  matchFaces: (call) => [`match = ${call("match_faces")}`, "print(match.matched, match.distance)"],
  getImageAttr: (call) => [
    `attributes = ${call("get_image_attr")}`,
    "for face in attributes.faces:",
    "    print(face.box, face.age, face.gender)",
  ],
  getFaceVec: (call) => [
    `template = ${call("get_face_vec")}`,
    "print(template.model, len(template.embedding))",
  ],
  v1AnalyzeImage: (call, request) => [
    `analysis = ${call("analyze_image")}`,
    "for face in analysis.faces:",
    `    print(${faceMembers(request)
      .map((name) => `face.${name}`)
      .join(", ")})`,
  ],
  v1AnalyzeImages: (call, request) => [
    `photos = [${positionalArguments(request, [], PHOTO).join(", ")}]`,
    `results = ${call("analyze_images", "((photo.name, photo) for photo in photos)")}`,
    "for result in results:",
    "    print(result.key, result.error or len(result.response.faces))",
  ],
  v1CompareFaces: (call) => [
    `comparison = ${call("compare_faces")}`,
    "for match in comparison.matches:",
    "    print(match.matched, match.distance)",
  ],
  v1CreateGallery: (call) => [`gallery = ${call("create")}`, "print(gallery.gallery_id, gallery.model)"],
  v1ListGalleries: (call) => [
    `for gallery in ${call("list")}:`,
    "    print(gallery.gallery_id, gallery.people_count)",
  ],
  v1GetGallery: (call) => [`gallery = ${call("get")}`, "print(gallery.display_name, gallery.people_count)"],
  v1UpdateGallery: (call) => [`gallery = ${call("update")}`, "print(gallery.display_name)"],
  v1DeleteGallery: (call) => [call("delete")],
  v1EnrolFace: (call) => [`enrolled = ${call("enrol_face")}`, "print(enrolled.face_id, enrolled.box)"],
  v1ListPeople: (call) => [
    `for person in ${call("list_people")}:`,
    "    print(person.person_id, person.display_name)",
  ],
  v1GetPerson: (call) => [
    `person = ${call("get_person")}`,
    "print(person.display_name, [face.face_id for face in person.faces])",
  ],
  v1UpdatePerson: (call) => [`person = ${call("update_person")}`, "print(person.display_name)"],
  v1DeletePerson: (call) => [call("delete_person")],
  v1ExportPerson: (call) => [
    `for person in ${call("export_person")}:`,
    "    print(person.gallery_id, person.person_id, len(person.faces))",
  ],
  v1DeleteFace: (call) => [call("delete_face")],
  v1IdentifyFaces: (call) => [
    `result = ${call("identify")}`,
    "for face in result.faces:",
    "    print(face.box, [(match.person_id, match.distance) for match in face.matches])",
  ],
  v1ExportGallery: (call) => [
    `with ${call("export")} as faces:`,
    "    for face in faces:",
    "        print(face.person_id, face.face_id)",
  ],
  v1ImportFaces: (call) => [
    `with ${call("export")} as faces:`,
    `    result = ${call("import_faces", "faces")}`,
    "print(result.face_count)",
  ],
};

function callOf(request: SampleRequest): Call {
  const client = isOfGalleries(request) ? "client.galleries" : "client";
  const options = optionsOf(request).map(({ name, value }) => {
    const snakeCase = name.replaceAll(/[A-Z\d]/g, (letter) => `_${letter.toLowerCase()}`);
    return `${snakeCase}=${literal(value)}`;
  });
  return (method, ...args) =>
    `${client}.${method}(${[...positionalArguments(request, args, PHOTO), ...options].join(", ")})`;
}

function literal(value: OptionValue): string {
  if (isBox(value)) return `Box(${value.join(", ")})`;
  if (typeof value === "object") return `[${value.map(literal).join(", ")}]`;
  if (typeof value === "boolean") return value ? "True" : "False";
  return JSON.stringify(value);
}

/** Writes a request as a Python program that uses `visage-client`. Undefined if the client lacks the operation. */
export function pythonSample(
  request: SampleRequest,
  { address, key }: SampleDestination,
): string | undefined {
  const statements = STATEMENTS[request.operation]?.(callOf(request), request).join("\n");
  if (statements === undefined) return undefined;
  const standard = present([
    key === undefined && "import os",
    statements.includes("Path(") && "from pathlib import Path",
  ]);
  const names = present([
    statements.includes("Box(") && "Box",
    statements.includes("Url(") && "Url",
    "VisageClient",
  ]);
  const apiKey = key === undefined ? 'os.environ["VISAGE_KEY"]' : quote(key);
  return [
    ...standard,
    ...(standard.length > 0 ? [""] : []),
    `from visage import ${names.join(", ")}`,
    "",
    `with VisageClient(${quote(address)}, ${apiKey}) as client:`,
    indent(statements, 4),
    "",
  ].join("\n");
}
