/** The compiled program in the folder of a module, also when the module runs from source, as in tests. */
export function compiledProgram(name: string, moduleUrl: string): URL {
  const isSource = moduleUrl.endsWith(".ts");
  // The last "src" of the path, which is that of the project.
  return new URL(`${name}.js`, isSource ? moduleUrl.replace(/^(.*)\/src\//, "$1/dist/src/") : moduleUrl);
}
