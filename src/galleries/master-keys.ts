import { createHmac, createSecretKey, type KeyObject } from "node:crypto";

/** A key that encrypts the data keys of users. */
export interface MasterKey {
  /** Identifies the key in the database and in messages, and tells nothing else of it. */
  readonly fingerprint: string;
  readonly key: KeyObject;
}

/** The configured master keys. */
export interface MasterKeys {
  /** Encrypts new data keys. If it is undefined, new templates are not encrypted. */
  readonly first: MasterKey | undefined;
  /** By fingerprint. */
  readonly all: ReadonlyMap<string, MasterKey>;
}

/** The default: no encryption. */
export const NO_MASTER_KEYS: MasterKeys = { first: undefined, all: new Map() };

const KEY_BYTES = 32;
const FINGERPRINT_LENGTH = 16;
/** Before the keys, if they are only to decrypt. */
const PLAIN = "plain";

/**
 * Parses the setting VISAGE_TEMPLATE_KEY, which may be undefined. Throws an Error whose message completes the sentence
 * "VISAGE_TEMPLATE_KEY ..." and has no part of the keys.
 */
export function parseMasterKeys(text: string | undefined): MasterKeys {
  if (text === undefined) return NO_MASTER_KEYS;
  const words = text.split(/\s+/);
  const isPlain = words[0] === PLAIN;
  const keys = (isPlain ? words.slice(1) : words).map(parseKey);
  if (keys.length === 0) throw new Error(`must have a key after "${PLAIN}"`);
  return {
    first: isPlain ? undefined : keys[0],
    all: new Map(keys.map((key) => [key.fingerprint, key])),
  };
}

function parseKey(word: string, index: number): MasterKey {
  const encoding = /^[0-9a-f]{64}$/i.test(word) ? "hex" : "base64";
  const bytes = Buffer.from(word, encoding);
  // The decoder of Base64 accepts almost anything.
  const isExact = encoding === "hex" || bytes.toString("base64") === word;
  if (bytes.length !== KEY_BYTES || !isExact)
    throw new Error(
      `must be keys of ${KEY_BYTES} bytes in Base64 or hexadecimal, separated by white space, and key ${index + 1} is none`,
    );
  return { fingerprint: fingerprintOf(bytes), key: createSecretKey(bytes) };
}

function fingerprintOf(key: Uint8Array): string {
  return createHmac("sha256", key).update("visage master key").digest("hex").slice(0, FINGERPRINT_LENGTH);
}
