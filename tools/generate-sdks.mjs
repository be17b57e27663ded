// Makes sdks/python, sdks/go and sdks/java anew, with generators that are installed where they are missing.
import { generateSdks, installSdkTools } from "./sdk-tools.mjs";

installSdkTools();
generateSdks("sdks");
