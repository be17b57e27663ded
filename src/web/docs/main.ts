import { mountSite } from "../site/site.ts";
import { mountContents } from "./contents.ts";
import { mountMissingSection } from "./missing-section.ts";
import { mountSamples } from "./sample-tabs.ts";
import { mountTryForms } from "./try-view.ts";

await mountSite();
mountTryForms();
mountContents();
mountMissingSection();
mountSamples();
