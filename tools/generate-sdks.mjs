// Regenerates the code in sdks/python, sdks/go and sdks/java. Installs missing generators.
import { generateSdks, installSdkTools } from "./sdk-tools.mjs";

installSdkTools();
generateSdks("sdks");
