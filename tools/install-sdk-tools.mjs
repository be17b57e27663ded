// Installs the pinned generators of the given languages, or of all languages.
import { installSdkTools, LANGUAGES } from "./sdk-tools.mjs";

const languages = process.argv.slice(2);
installSdkTools(languages.length > 0 ? languages : LANGUAGES);
