/** The part of picomatch that find-photos.ts uses. The package has no types. */
declare module "picomatch" {
  interface Scan {
    /** The part of the pattern before the first special character, up to a slash. */
    readonly base: string;
    /** The rest of the pattern. */
    readonly glob: string;
    readonly isGlob: boolean;
  }

  function picomatch(pattern: string, options?: { readonly nocase?: boolean }): (path: string) => boolean;
  namespace picomatch {
    function scan(pattern: string): Scan;
  }
  export = picomatch;
}
