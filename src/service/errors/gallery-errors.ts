import { Code } from "@connectrpc/connect";
import { GALLERY_OPERATIONS, row } from "./error-row.ts";

/** Errors of galleries: codes 6000 to 6999. */
export const GALLERY_ERRORS = {
  galleryNotFound: row("6001", Code.NotFound, 404, {
    text: "The gallery does not exist.",
    operations: GALLERY_OPERATIONS,
    cause: "No gallery of this user has the id. You cannot see the galleries of other users.",
    remedy: "Create the gallery, or check its id and your key.",
    galleries: { text: "It may have been deleted. Reload the page." },
  }),
  personNotFound: row("6002", Code.NotFound, 404, {
    text: "The person does not exist.",
    operations: ["getPerson", "updatePerson", "deletePerson", "exportPerson"],
    cause: "The gallery has no person with the id.",
    remedy: "Enrol a face of the person first.",
    galleries: { text: "The person may have been deleted. Reload the page." },
  }),
  faceNotFound: row("6003", Code.NotFound, 404, {
    text: "The face does not exist.",
    operations: ["deleteFace"],
    cause: "The person has no face with the id.",
    remedy: "GetPerson lists the ids.",
    galleries: { text: "The face may have been deleted. Reload the page." },
  }),
  galleryExists: row("6004", Code.AlreadyExists, 409, {
    text: "The gallery exists already.",
    operations: ["createGallery", "updateGallery"],
    cause: "The user has a gallery with this id or alias already.",
    remedy: "Use it, or choose another id or alias.",
    galleries: { text: "Choose another id." },
  }),
  tooManyGalleries: row("6005", Code.ResourceExhausted, 422, {
    text: "The plan allows no more galleries.",
    quota: "galleries",
    operations: ["createGallery"],
    cause: "The user has as many galleries as the plan allows. Those of an earlier model do not count.",
    remedy: "Delete a gallery, or ask the operator for a larger plan.",
    galleries: { text: "Delete a gallery, or ask the operator for a larger plan." },
  }),
  tooManyFaces: row("6006", Code.ResourceExhausted, 422, {
    text: "The plan allows no more faces in the gallery.",
    quota: "faces in a gallery",
    operations: ["enrolFace", "importFaces"],
    cause: "The gallery has as many faces as the plan allows.",
    remedy: "Delete faces or people, use another gallery, or ask the operator for a larger plan.",
    galleries: { text: "Delete people, or ask the operator for a larger plan." },
  }),
  tooManyFacesOfPerson: row("6007", Code.ResourceExhausted, 422, {
    text: "The person has too many faces.",
    quota: "faces of a person",
    operations: ["enrolFace", "importFaces"],
    cause: "A person has at most 20 faces.",
    remedy: "Delete a face of the person first.",
    galleries: { text: "Delete a face of this person first." },
  }),
  galleryTooLarge: row("6008", Code.ResourceExhausted, 422, {
    text: "The gallery does not fit into the memory for galleries.",
    operations: ["enrolFace", "identifyFaces"],
    cause: "The index of the gallery does not fit into the memory that the operator gave to galleries.",
    remedy: "Split the gallery, or ask the operator to raise VISAGE_GALLERY_MEMORY_BYTES.",
    galleries: { text: "Ask the operator for more memory for galleries." },
  }),
  galleryLoading: row("6009", Code.Unavailable, 503, {
    text: "The gallery is being read and can be searched shortly.",
    retryable: true,
    operations: ["enrolFace", "identifyFaces"],
    cause:
      "The service has not read all faces of the gallery yet, as after a restart, and would not have in time for this request.",
    remedy: "Repeat the request after the time in `Retry-After`, which is estimated from the progress.",
    galleries: { text: "Wait a moment, then try again." },
  }),
  galleryChanged: row("6010", Code.Aborted, 409, {
    text: "The gallery has changed.",
    operations: ["replaceGallery"],
    cause: "The gallery to replace has another revision than the request.",
    remedy: "Read its people again, delete from the successor those who are gone, and repeat the request.",
    galleries: { text: "Reload the page." },
  }),
  faceUnlikePerson: row("6011", Code.FailedPrecondition, 422, {
    text: "The face does not look like the other faces of the person.",
    operations: ["enrolFace"],
    cause:
      "The request has `check_person` and all other faces of the person are at a distance of 0.5 or more, or beyond the gallery's own threshold if that is larger. `person_distance` in the metadata is the distance to the nearest one; of a key without the scope `wide-distance` it is missing. `other_person_id` and `other_distance` name another person who matches.",
    remedy: "Let somebody look at the photo. To enrol it anyway, repeat the request without `check_person`.",
    galleries: { text: "Look at the photo before you enrol it." },
  }),
  faceOfAnotherPerson: row("6012", Code.FailedPrecondition, 422, {
    text: "The face looks like another person of the gallery.",
    operations: ["enrolFace"],
    cause:
      "The request has `check_person` and another person matches and is nearer than the person of the request. The metadata has the id of this person as `other_person_id` and both distances as `other_distance` and `person_distance`.",
    remedy:
      "Enrol the face under `other_person_id` if that is right. To enrol it anyway, repeat the request without `check_person`.",
    galleries: { text: "Look at the photo before you enrol it." },
  }),
};
