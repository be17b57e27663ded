import { openControls } from "./controls.ts";
import { openIntake } from "./intake.ts";
import { fetchLimits } from "./photos.ts";
import { openResultView } from "./result-view.ts";
import { findFaces, run } from "./run.ts";
import { openSlotView } from "./slot-view.ts";
import { createStore } from "./store.ts";
import { openUserId, storedUserId } from "./user-id.ts";
import { openWireView } from "./wire-view.ts";

const store = createStore({
  userId: storedUserId(),
  isRevealed: false,
  operation: "get_image_attr",
  slots: [{}, {}],
  detect: true,
  quality: false,
  isWorking: false,
});
const intake = openIntake(store, fetchLimits());
const runNow = () => void run(store);

openUserId(store);
openControls(store, runNow);
for (const slot of store.state.slots.keys())
  openSlotView(store, slot, { intake, findFaces: (index) => void findFaces(store, index) });
openResultView(store, runNow);
openWireView(store);
