// What a key says of itself (countersign/key/v1), the document behind a `key` leaf: when it signs, signed by itself.

import { fromBase64, sha256, toHex } from "./bytes.js";
import { openDocument } from "./document.js";
import { isStrongKey } from "./ed25519.js";
import { invalid } from "./fault.js";
import { JsonError, parseJson } from "./json.js";
import { isSecond } from "./time.js";

const MEMBERS = ["schema", "issuedAt", "keyId", "publicKey", "purpose", "from", "until", "signature"];
const PURPOSES = ["verdict", "decision", "approval", "evidence", "credential", "log"];

export const KEY_TYPE = "countersign.key.v1";

/** Gives `{keyId, publicKey, purpose, from, until}`; throws a Fault for anything but a statement that its key signed. */
export async function openKeyStatement(text) {
  const document = read(text);
  const { publicKey, purpose, from, until, issuedAt, keyId, signature } = document;
  const key = fromBase64(publicKey);
  const right = document.schema === "countersign/key/v1" && PURPOSES.includes(purpose) && key !== null && isStrongKey(key) &&
    keyId === toHex((await sha256(key)).slice(0, 8)) && fromBase64(signature)?.length === 64 &&
    isSecond(from) && (until === null || (isSecond(until) && Date.parse(from) <= Date.parse(until))) && issuedAt === (until ?? from);
  if (!right) throw invalid("key_statement_member", "not a statement of a key");
  const opened = await openDocument(text, [publicKey]);
  if (opened.signature !== "valid") throw invalid("signature_invalid", "the key did not sign what is said of it");
  return { keyId, publicKey, purpose, from, until };
}

function read(text) {
  try {
    const document = parseJson(text);
    const isObject = document !== null && typeof document === "object" && !Array.isArray(document);
    const known = isObject && Object.keys(document).length === MEMBERS.length && MEMBERS.every((name) => name in document);
    if (known) return document;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw invalid(error.code, `the document inside: ${error.message}`);
  }
  throw invalid("key_statement_member", "not a statement of a key");
}
