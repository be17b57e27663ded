// Regenerates the code in sdks/python and sdks/go. Installs missing generators.
import { generateSdks, installSdkTools } from "./sdk-tools.mjs";

installSdkTools();
generateSdks("sdks");
