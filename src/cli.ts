#!/usr/bin/env node
import { prepareModels } from "../models/prepare.ts";

await prepareModels({ onProgress: (l) => console.log(l) });
