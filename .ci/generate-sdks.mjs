// Makes gen/python, gen/go and gen/java anew, with generators that are installed where they are missing.
import { generateSdks, installSdkTools } from "./sdk-tools.mjs";

installSdkTools();
generateSdks("gen");
