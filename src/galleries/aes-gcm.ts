// Authenticated encryption: AES-256-GCM with a random nonce, as the nonce, the ciphertext and the tag in one piece. A
// key may encrypt 2^32 pieces before a repeated nonce is likelier than 1 in 2^32 (NIST SP 800-38D).
import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from "node:crypto";

const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** How much longer a piece is than what it has. */
export const OVERHEAD_BYTES = NONCE_BYTES + TAG_BYTES;

/** Encrypts bytes. They can be decrypted only with the same associated data, which is not stored. */
export function encrypt(key: KeyObject, plain: Uint8Array, associatedData: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(associatedData);
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts bytes. Throws an Error if they, the key or the associated data are not those of the encryption. */
export function decrypt(key: KeyObject, piece: Uint8Array, associatedData: Uint8Array): Buffer {
  const end = piece.length - TAG_BYTES;
  if (end < NONCE_BYTES) throw new Error("The encrypted bytes are truncated.");
  const decipher = createDecipheriv(ALGORITHM, key, piece.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(associatedData);
  decipher.setAuthTag(piece.subarray(end));
  const plain = decipher.update(piece.subarray(NONCE_BYTES, end));
  // Returns nothing more, and throws if the tag is wrong.
  decipher.final();
  return plain;
}
