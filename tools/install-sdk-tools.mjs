// Installs the pinned generators of the languages that are named, or of all.
import { installSdkTools, LANGUAGES } from "./sdk-tools.mjs";

const named = process.argv.slice(2);
installSdkTools(named.length > 0 ? named : LANGUAGES);
