import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace";

/** The settings that decide which requests are traced. */
export interface SamplerSettings {
  /** OTEL_TRACES_SAMPLER. */
  readonly sampler: string;
  /** OTEL_TRACES_SAMPLER_ARG. */
  readonly argument: string | undefined;
}

const PARENT_BASED = "parentbased_";

/**
 * Creates a sampler. As OpenTelemetry requires, a setting that is not known is ignored; `onFault` gets the reason. The
 * default is to follow the caller's decision, and to sample requests whose caller has made none.
 */
export function createSampler(
  { sampler: name, argument }: SamplerSettings,
  onFault: (fault: string) => void,
): Sampler {
  const isParentBased = name.startsWith(PARENT_BASED);
  const root = rootSampler(isParentBased ? name.slice(PARENT_BASED.length) : name, argument, onFault);
  if (root) return isParentBased ? new ParentBasedSampler({ root }) : root;
  onFault(`OTEL_TRACES_SAMPLER "${name}" is not supported`);
  return new ParentBasedSampler({ root: new AlwaysOnSampler() });
}

function rootSampler(
  name: string,
  argument: string | undefined,
  onFault: (fault: string) => void,
): Sampler | undefined {
  switch (name) {
    case "always_on":
      return new AlwaysOnSampler();
    case "always_off":
      return new AlwaysOffSampler();
    case "traceidratio":
      return new TraceIdRatioBasedSampler(ratioFrom(argument, onFault));
    default:
      return undefined;
  }
}

function ratioFrom(argument: string | undefined, onFault: (fault: string) => void): number {
  if (argument === undefined) return 1;
  const ratio = Number(argument);
  if (ratio >= 0 && ratio <= 1) return ratio;
  onFault(`OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not "${argument}"`);
  return 1;
}
