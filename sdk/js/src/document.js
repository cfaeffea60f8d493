// Signed documents: an object with schema, issuedAt, keyId and signature, base64 Ed25519 over the RFC 8785 bytes of the
// object without its signature.

import { fromBase64, sha256, toHex, utf8 } from "./bytes.js";
import { isStrongKey, verifyEd25519 } from "./ed25519.js";
import { canonicalize, parseJson } from "./json.js";

/**
 * Opens a signed document with trusted public keys (base64).
 *
 * Gives `{signature: "valid" | "not_checked" | "invalid", keyId, document}`; "not_checked" means that none of the keys
 * is the one it names. Throws JsonError for text that is no strict JSON, TypeError for an unusable key.
 */
export async function openDocument(input, keys) {
  const document = parseJson(input);
  const { signature, keyId } = document ?? {};
  const blob = fromBase64(signature);
  const signed = ["schema", "issuedAt", "keyId"].every((name) => typeof document?.[name] === "string") && blob;
  if (!signed) return { signature: "invalid", keyId: null, document };
  const key = (await Promise.all(keys.map(load))).find((key) => key.id === keyId);
  if (!key) return { signature: "not_checked", keyId, document };
  const rest = Object.fromEntries(Object.entries(document).filter(([name]) => name !== "signature"));
  const valid = await verifyEd25519(key.bytes, utf8(canonicalize(rest)), blob);
  return { signature: valid ? "valid" : "invalid", keyId, document };
}

async function load(text) {
  const bytes = fromBase64(text);
  if (!bytes || !isStrongKey(bytes)) throw new TypeError(`not an Ed25519 public key in base64: ${text}`);
  return { bytes, id: toHex((await sha256(bytes)).slice(0, 8)) };
}
