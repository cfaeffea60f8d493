// Signed documents: an object with schema, issuedAt, keyId and signature, base64 Ed25519 over the RFC 8785 bytes of the
// object without its signature.

import { fromBase64, sha256, toHex, utf8 } from "./bytes.js";
import { isStrongKey, verifyEd25519 } from "./ed25519.js";
import { canonicalize, parseJson } from "./json.js";
import { isTexts } from "./options.js";
import { instant } from "./time.js";

/**
 * Opens a signed document with trusted public keys (base64).
 *
 * Gives `{signature: "valid" | "not_checked" | "invalid", code, keyId, issuedAt, document}`: "not_checked" means that
 * none of the keys is the one it names; `code` says why it is invalid, `issuedAt` is in milliseconds. Throws JsonError for
 * text that is no strict JSON, TypeError for an unusable key.
 */
export async function openDocument(input, keys) {
  const trusted = await loadKeys(keys);
  const document = parseJson(input);
  const { signature, keyId, schema, issuedAt } = document ?? {};
  const [date, blob] = [instant(issuedAt), fromBase64(signature)];
  const answer = (signature, code = null) => ({ signature, code, keyId, issuedAt: date, document });
  const whole = typeof schema === "string" && date !== null && typeof keyId === "string" && blob;
  if (!whole) return { ...answer("invalid", "member_missing"), keyId: null };
  const key = trusted.find((key) => key.id === keyId);
  // The text of a stranger: only what a key id is made of is passed on.
  if (!key) return { ...answer("not_checked"), keyId: keyId.replace(/[^0-9a-fA-F]/g, "").slice(0, 16) };
  const rest = Object.fromEntries(Object.entries(document).filter(([name]) => name !== "signature"));
  const valid = await verifyEd25519(key.bytes, utf8(canonicalize(rest)), blob);
  return valid ? answer("valid") : answer("invalid", "signature_invalid");
}

/** Reads base64 public keys; throws TypeError for what is none. */
export function loadKeys(keys) {
  if (!isTexts(keys)) throw new TypeError("`keys` must be a list of base64 public keys");
  return Promise.all(keys.map(load));
}

async function load(text) {
  const bytes = fromBase64(text);
  if (!bytes || !isStrongKey(bytes)) throw new TypeError(`not an Ed25519 public key in base64: ${text}`);
  return { bytes, id: toHex((await sha256(bytes)).slice(0, 8)) };
}
