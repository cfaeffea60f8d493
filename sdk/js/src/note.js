// Signed notes and checkpoints (C2SP signed-note, tlog-checkpoint, tlog-cosignature).

import { concat, equal, fromBase64, sha256, toHex, u64, utf8 } from "./bytes.js";
import { isStrongKey, verifyEd25519 } from "./ed25519.js";
import { fail, invalid, malformed, untrusted } from "./fault.js";

const MAX_NOTE = 128 * 1024;
const MAX_SIGNATURES = 64;
const MAX_EXTENSIONS = 16;
const MAX_SIZE = 2n ** 63n - 1n;
const MAX_TIME = 2n ** 63n - 1n;
const MARK = "\u2014 ";

export const ED25519 = 0x01;
export const COSIGNATURE = 0x04;
export const ML_DSA_44 = 0x06;
const LENGTHS = { [ED25519]: 32, [COSIGNATURE]: 32, [ML_DSA_44]: 1312 };
const SIGNATURES = { [ED25519]: 64, [COSIGNATURE]: 64, [ML_DSA_44]: 2420 };

const isName = (text) => text.length > 0 && utf8(text).length <= 255 && !/[\p{White_Space}+\u0000-\u001f\u007f]/u.test(text);
export const isOrigin = (text) => text.length > 0 && utf8(text).length <= 255 && !/[\u0000-\u001f\u007f]/.test(text);

/** ASCII digits without a leading zero, as BigInt; null otherwise. */
export const decimal = (text) => (/^(0|[1-9][0-9]{0,19})$/.test(text) ? BigInt(text) : null);

/** Reads `name+id+base64(type || key)`; null when it is no key that this package can use. */
export async function parseKey(vkey) {
  const [name, id, ...rest] = vkey.split("+");
  const bytes = fromBase64(rest.join("+"));
  if (id === undefined || rest.length === 0 || !isName(name) || !bytes) return null;
  const [type, publicKey] = [bytes[0], bytes.slice(1)];
  if (publicKey.length !== LENGTHS[type]) return null;
  if (type !== ML_DSA_44 && !isStrongKey(publicKey)) return null;
  const hash = await sha256(concat(utf8(name), [0x0a, type], publicKey));
  return toHex(hash.slice(0, 4)) === id ? { name, id, type, publicKey, label: `${name}+${id}` } : null;
}

/** Splits a note at its last blank line. */
export function parseNote(all) {
  if (utf8(all).length > MAX_NOTE) throw malformed("note_too_large");
  if (/[\u0000-\u0009\u000b-\u001f]/.test(all)) throw malformed("note_not_text");
  const cut = all.lastIndexOf("\n\n");
  if (cut < 0 || !all.endsWith("\n") || cut + 2 >= all.length) throw malformed("note_no_signatures");
  const lines = all.slice(cut + 2, -1).split("\n");
  if (lines.length > MAX_SIGNATURES) throw malformed("note_too_many_signatures");
  return { text: all.slice(0, cut + 1), signatures: lines.map(parseLine) };
}

function parseLine(line) {
  const [name, encoded, ...more] = line.startsWith(MARK) ? line.slice(MARK.length).split(" ") : [];
  const bytes = more.length === 0 ? fromBase64(encoded) : null;
  if (!bytes || bytes.length < 5 || !isName(name)) throw malformed("note_signature_line");
  return { name, id: toHex(bytes.slice(0, 4)), blob: bytes.slice(4) };
}

/** Origin, size and root of a note's text, and whether it has extension lines. */
export function parseCheckpoint(text) {
  const lines = text.slice(0, -1).split("\n");
  if (lines.length < 3) throw malformed("checkpoint_lines");
  const [origin, size, root, ...extensions] = lines;
  if (!isOrigin(origin)) throw malformed("checkpoint_origin");
  const count = decimal(size);
  if (count === null || count > MAX_SIZE) throw malformed("checkpoint_size");
  const hash = fromBase64(root);
  if (hash?.length !== 32) throw malformed("checkpoint_root");
  if (extensions.length > MAX_EXTENSIONS || extensions.includes("")) throw malformed("checkpoint_extension");
  return { origin, size: count, root: hash, extended: extensions.length > 0 };
}

/** The message a type 0x06 key signs. It does not cover extension lines: see isCovered. */
function subtreeMessage(key, stamp, checkpoint) {
  const counted = (text) => concat([utf8(text).length], utf8(text));
  const { origin, size, root } = checkpoint;
  return concat(utf8("subtree/v1\n\0"), counted(key.name), stamp, counted(origin), u64(0), u64(size), root);
}

/** Whether signatures of the log that hold cover all of the checkpoint: type 0x06 leaves extension lines out. */
export const isCovered = (checkpoint, log) => !checkpoint.extended || log.some((one) => one.key.type !== ML_DSA_44);

/** Time, its eight bytes, and the raw signature; null when the blob has not the form of its type. */
function split(type, blob) {
  const cut = type === ED25519 ? 0 : 8;
  const [stamp, signature] = [blob.slice(0, cut), blob.slice(cut)];
  if (signature.length !== SIGNATURES[type]) return null;
  const time = cut === 0 ? 0n : new DataView(stamp.buffer).getBigUint64(0);
  return time <= MAX_TIME ? { time, stamp, signature } : null;
}

async function holds(key, note, checkpoint, { time, stamp, signature }, mlDsa44) {
  if (key.type === ED25519) return verifyEd25519(key.publicKey, utf8(note.text), signature);
  if (key.type === COSIGNATURE) {
    const message = utf8(`cosignature/v1\ntime ${time}\n${note.text}`);
    return verifyEd25519(key.publicKey, message, signature);
  }
  return (await mlDsa44({ publicKey: key.publicKey, message: subtreeMessage(key, stamp, checkpoint), signature })) === true;
}

/**
 * Every signature by a known key that holds, and those of ML-DSA-44 that nothing here can check. One that is malformed or
 * does not hold refuses the note; keys that nobody knows say nothing.
 */
export async function verifyNote(note, checkpoint, keys, mlDsa44) {
  const [verified, unchecked] = [[], []];
  for (const line of note.signatures) {
    const named = keys.filter((key) => key.name === line.name && key.id === line.id);
    if (named.some((key) => !equal(key.publicKey, named[0].publicKey))) throw untrusted("note_ambiguous_key");
    const key = named[0];
    if (!key) continue;
    const parts = split(key.type, line.blob) ?? fail(malformed("note_signature_malformed"));
    const isUnchecked = key.type === ML_DSA_44 && !mlDsa44;
    if (!isUnchecked && !(await holds(key, note, checkpoint, parts, mlDsa44))) throw invalid("note_bad_signature");
    (isUnchecked ? unchecked : verified).push({ key, time: parts.time === 0n ? null : parts.time });
  }
  if (verified.length + unchecked.length === 0) throw untrusted("note_no_known_key");
  return { verified, unchecked };
}
