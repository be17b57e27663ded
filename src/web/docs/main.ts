import { fetchOff } from "../site/service-info.ts";
import { mountSite } from "../site/site.ts";
import { mountContents } from "./contents.ts";
import { mountMissingSection } from "./missing-section.ts";
import { mountSamples } from "./sample-tabs.ts";
import { removeSwitchedOff } from "./switched-off.ts";
import { mountTryForms } from "./try-view.ts";

await mountSite();
const off = await fetchOff();
removeSwitchedOff(off);
mountTryForms(off);
mountContents();
mountMissingSection();
mountSamples();
