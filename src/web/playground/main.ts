import type { Box } from "../photos/geometry.ts";
import { make, reporting } from "../site/elements.ts";
import { fetchOff, fetchServiceInfo } from "../site/service-info.ts";
import { onKeyChange, readKey } from "../site/session.ts";
import { mountSite } from "../site/site.ts";
import { keepInAddress, readFromAddress, samplesFromAddress, thresholdFromAddress } from "./address.ts";
import { createBatchOpener } from "./batch/open-batch.ts";
import { mountCodeView } from "./code-view.ts";
import { mountControls, mountProgressView } from "./controls.ts";
import { mountDownloads } from "./downloads.ts";
import { createOffer, type Offer } from "./offer.ts";
import type { OperationName } from "./operations.ts";
import { createPhotoLoader } from "./photo-loader.ts";
import { mountResponseView } from "./response-view.ts";
import { mountResultView } from "./result-view.ts";
import { cancelByUser, cancelRun, findFaces, run, runIfComplete, showStored } from "./run.ts";
import { mountSampleView, showSamplesOfOperation } from "./sample-view.ts";
import { showSamples } from "./samples.ts";
import { mountSlotView } from "./slot-view.ts";
import { createStore, type Store, selectFaces, toggleFace } from "./store.ts";
import { mountUrlField } from "./url-field.ts";

const { hasNewKey } = await mountSite();
const offer = createOffer(await fetchOff());
const [first] = offer.operations;
const named = offer.operations.find((name) => name === readFromAddress("operation"));
if (first) start(offer, named ?? first);
else
  document
    .querySelector("main")!
    .replaceChildren(
      make("h1", { class: "visually-hidden" }, "Playground"),
      make("p", { id: "result", class: "notice" }, "All that the playground can do is switched off."),
    );

function start(offer: Offer, operation: OperationName): void {
  const store = createStore({
    apiKey: readKey(),
    offer,
    operation,
    slots: [{}, {}],
    mayScale: true,
    threshold: thresholdFromAddress(),
    hasLandmarks: true,
    isBusy: false,
    isUpdating: false,
  });
  const runNow = reporting(() => run(store));
  const runIfCompleteNow = reporting(() => runIfComplete(store));
  const changeOperation = reporting(async () => {
    cancelRun();
    await showSamplesOfOperation(store);
    await runIfComplete(store);
  });
  const selectFace = (slot: number, box: Box) => {
    toggleFace(store, slot, box);
    // The other operations return every face already.
    if (store.state.operation === "match") runIfCompleteNow();
  };
  const photoLoader = createPhotoLoader(store, fetchServiceInfo(), {
    onAdded: runIfCompleteNow,
    onBatch: createBatchOpener(
      store,
      reporting((file) => photoLoader.add([file], 0)),
    ),
  });
  const findFacesNow = reporting((slot: number) => findFaces(store, slot));

  mountControls(store, { onRun: runNow, onOperation: changeOperation });
  for (const slot of store.state.slots.keys())
    mountSlotView(store, slot, { photoLoader, findFaces: findFacesNow, selectFace });
  const selectPair = (boxes: readonly [Box, Box]) => {
    selectFaces(store, boxes);
    runIfCompleteNow();
  };
  mountResultView(store, { onRetry: runNow, selectFace, selectPair, findFaces: findFacesNow });
  mountCodeView(store);
  mountResponseView(store);
  mountDownloads(store);
  mountProgressView(store, cancelByUser);
  if (offer.has("urls")) mountUrlField(reporting((url) => photoLoader.addUrl(url)));
  mountSampleView(store, runIfCompleteNow);
  onKeyChange(reporting(() => useNewKey(store)));

  // The first result, before the user has done anything. It is the service's own only for a user who has just come with
  // a link: a reload must not use up the quota.
  const FIRST = { mayScroll: false };
  showSamples(store, samplesFromAddress(store.state))
    .then(() => {
      keepInAddress(store);
      return hasNewKey ? runIfComplete(store, FIRST) : showStored(store, FIRST);
    })
    .catch(reportError);
}

/** Takes the API key that the user has entered, and sends what had to wait for it. */
async function useNewKey(store: Store): Promise<void> {
  const { outcome } = store.state;
  const lackedKey = outcome?.isSuccess === false && ["4001", "4002"].includes(outcome.code ?? "");
  store.update({ apiKey: readKey(), outcome: outcome?.isSuccess ? outcome : undefined });
  // The page is reloaded if the key changes what is switched off.
  await fetchOff();
  if (lackedKey) await runIfComplete(store);
}
