import { fetchServiceInfo } from "../site/service-info.ts";
import { readUserId } from "../site/session.ts";
import { mountSite } from "../site/site.ts";
import { mountControls } from "./controls.ts";
import { createPhotoLoader } from "./photo-loader.ts";
import { mountRawView } from "./raw-view.ts";
import { mountResultView } from "./result-view.ts";
import { findFaces, run } from "./run.ts";
import { mountSlotView } from "./slot-view.ts";
import { createStore } from "./store.ts";
import { mountUserIdField } from "./user-id.ts";

mountSite();
const store = createStore({
  userId: readUserId(),
  isUserIdVisible: false,
  operation: "get_image_attr",
  slots: [{}, {}],
  detect: true,
  quality: false,
  isBusy: false,
});
const photoLoader = createPhotoLoader(store, fetchServiceInfo());
const runNow = () => {
  run(store).catch(reportError);
};
const findFacesNow = (slot: number) => {
  findFaces(store, slot).catch(reportError);
};

mountUserIdField(store);
mountControls(store, runNow);
for (const slot of store.state.slots.keys())
  mountSlotView(store, slot, { photoLoader, findFaces: findFacesNow });
mountResultView(store, runNow);
mountRawView(store);
