// Receipts (countersign/receipt/v1): what one proves to a reader with this trust policy, and what it leaves open.
//
// The Rust verifier of the same repository judges the same cases and gives the same results and codes.

import { concat, equal, fromBase64, hash32FromHex, hmacSha256, toHex, utf8 } from "./bytes.js";
import { loadKeys, openDocument } from "./document.js";
import { Fault, fail, invalid, malformed, refused, stale, untrusted } from "./fault.js";
import { JsonError, Literal, canonicalize, read } from "./json.js";
import { KEY_TYPE, openKeyStatement } from "./key.js";
import { KINDS } from "./kinds.js";
import { ML_DSA_44, decimal, isCovered, isOrigin, parseCheckpoint, parseNote, verifyNote } from "./note.js";
import { readDemands } from "./options.js";
import { parsePolicy, signedTime, witnessKeys, witnessed } from "./policy.js";
import { AHEAD_MS, LAST_MS, isSecond } from "./time.js";
import { MAX_PROOF, inclusionFault, leafHash } from "./tree.js";

const SCHEMA = "countersign/receipt/v1";
const MEMBERS = ["schema", "log_origin", "index", "leaf_hash", "inclusion_path", "checkpoint", "reveal"];
const REVEAL = ["type", "ts", "commitment", "salt", "document"];
const LIMITS = { depth: 4, members: 16, string: 2 << 20, size: 3 << 20 };

/**
 * Verifies a receipt offline. See index.d.ts for shapes. Never throws for what stands in the receipt; throws
 * PolicyError for a trust policy that does not read, and TypeError for options or keys that are none.
 */
export async function verifyReceipt(receipt, trust, given = {}) {
  if (typeof trust !== "string") throw new TypeError("verifyReceipt: the second argument must be the text of a trust policy (C2SP tlog-policy)");
  const options = readDemands(given);
  await loadKeys(options.keys);
  const policy = await parsePolicy(trust);
  try {
    return await judge(parseReceipt(receipt), policy, options);
  } catch (error) {
    if (error instanceof JsonError) return { result: "malformed", code: error.code, reason: error.message };
    if (error instanceof Fault) return { result: error.result, code: error.code, reason: error.message };
    throw error;
  }
}

async function judge(receipt, policy, options) {
  const leaf = receipt.reveal && (await openReveal(receipt));
  const key = leaf?.type === KEY_TYPE ? await openKeyStatement(receipt.reveal.document) : null;
  const note = parseNote(receipt.checkpoint);
  const checkpoint = parseCheckpoint(note.text);
  if (checkpoint.origin !== receipt.logOrigin) throw invalid("origin_mismatch");
  const signed = await accept(note, checkpoint, policy, options);
  const fault = await inclusionFault(receipt.leafHash, receipt.index, checkpoint.size, receipt.path, checkpoint.root);
  if (fault) throw invalid(fault);
  const { signedAt } = signed;
  judgeAge(signedAt, options);
  const document = await judgeDocument(receipt, key, options);
  return {
    ...verdict(document),
    logOrigin: checkpoint.origin, index: receipt.index, size: checkpoint.size, root: toHex(checkpoint.root),
    signedAt: spelled(signedAt),
    pq: signed.pq, logKeys: labels(signed.log), witnesses: labels(signed.witnesses),
    leaf, document, key, notProved: notProved(leaf, document, key, options, signed, spelled(signedAt)),
  };
}

/** A log takes the documents of whoever may write to it, so without a word on its signer nobody's decision is proved. */
function verdict(document) {
  if (document?.signature !== "not_checked") return { result: "valid", code: null, reason: null };
  const reason = `the document inside is signed by key ${document.keyId}, which is not among \`keys\``;
  return { result: "not_evaluated", code: "unknown_key", reason };
}

const labels = (list) => list.map((one) => one.key.label);

function parseReceipt(input) {
  const text = typeof input === "string" || input instanceof Uint8Array ? input : JSON.stringify(input);
  const root = read(text ?? "", LIMITS);
  const member = (right, name) => right || fail(malformed("receipt_member", `${name} is missing or not what it should be`));
  member(root !== null && typeof root === "object" && !Array.isArray(root) && !(root instanceof Literal), "schema");
  member(root.schema === SCHEMA, "schema");
  if (Object.keys(root).some((name) => !MEMBERS.includes(name))) throw malformed("receipt_unknown_member");
  member(typeof root.log_origin === "string" && isOrigin(root.log_origin), "log_origin");
  const index = root.index instanceof Literal ? decimal(root.index.raw) : null;
  member(index !== null, "index");
  const leaf = typeof root.leaf_hash === "string" ? hash32FromHex(root.leaf_hash) : null;
  member(leaf, "leaf_hash");
  member(Array.isArray(root.inclusion_path) && root.inclusion_path.length <= MAX_PROOF, "inclusion_path");
  const path = root.inclusion_path.map(fromBase64);
  member(path.every((hash) => hash?.length === 32), "inclusion_path");
  member(typeof root.checkpoint === "string", "checkpoint");
  parseNote(root.checkpoint);
  const reveal = "reveal" in root ? parseReveal(root.reveal) : null;
  return { logOrigin: root.log_origin, index, leafHash: leaf, path, checkpoint: root.checkpoint, reveal };
}

function parseReveal(value) {
  const wrong = (name) => malformed("reveal_member", `reveal.${name} is missing or not what it should be`);
  const member = (right, name) => right || fail(wrong(name));
  const isObject = value !== null && typeof value === "object" && !Array.isArray(value) && !(value instanceof Literal);
  if (isObject && Object.keys(value).some((name) => !REVEAL.includes(name))) throw malformed("reveal_unknown_member");
  const text = (name) => (isObject && typeof value[name] === "string" ? value[name] : fail(wrong(name)));
  member(/^countersign\.[a-z0-9._-]{1,116}$/.test(text("type")), "type");
  member(isSecond(text("ts")) && text("ts").endsWith(":00Z"), "ts");
  const [commitment, salt] = [hash32FromHex(text("commitment")), hash32FromHex(text("salt"))];
  member(commitment, "commitment");
  member(salt, "salt");
  return { type: value.type, ts: value.ts, commitment, salt, document: text("document") };
}

/** Checks that salt and document give the commitment, and the commitment the leaf. */
async function openReveal({ reveal, leafHash: claimed }) {
  const { type, ts, commitment, salt, document } = reveal;
  const computed = await hmacSha256(salt, concat(utf8(type), [0], utf8(document)));
  if (!equal(computed, commitment)) throw invalid("commitment_mismatch");
  const leaf = utf8(canonicalize({ commitment: toHex(commitment), ts, type }));
  if (!equal(await leafHash(leaf), claimed)) throw invalid("leaf_hash_mismatch");
  return { type, ts, known: KINDS.includes(type) };
}

async function accept(note, checkpoint, policy, { requirePq, mlDsa44 }) {
  const ours = policy.logs.filter((key) => key.name === checkpoint.origin);
  if (ours.length === 0) throw untrusted("log_unknown");
  const cosigners = witnessKeys(policy);
  const { verified, unchecked } = await verifyNote(note, checkpoint, [...policy.logs, ...cosigners], mlDsa44);
  const isLog = (one) => ours.includes(one.key);
  const isWitness = (one) => !isLog(one) && cosigners.includes(one.key);
  const [log, witnesses, open] = [verified.filter(isLog), verified.filter(isWitness), unchecked.filter(isWitness)];
  if (log.length === 0 && !unchecked.some(isLog)) throw untrusted("log_not_signed");
  if (!isCovered(checkpoint, log)) throw untrusted("extensions_not_signed");
  if (log.length === 0) throw untrusted("pq_not_checked");
  const pq = postQuantum(note, ours, log, mlDsa44);
  if (requirePq && pq !== "valid") throw untrusted(pq === "not_checked" ? "pq_not_checked" : "pq_missing");
  if (!witnessed(policy, witnesses)) throw untrusted(witnessed(policy, [...witnesses, ...open]) ? "quorum_not_checked" : "quorum_missing");
  // A time of the log that nobody checked decides nothing, and witnesses do not stand in for it.
  const time = pq === "not_checked" ? null : signedTime(policy, log, witnesses);
  return { log, witnesses, open, pq, signedAt: time === null ? null : Number(time) * 1000 };
}

function postQuantum(note, ours, log, mlDsa44) {
  const keys = ours.filter((key) => key.type === ML_DSA_44);
  if (keys.length === 0) return "no_key";
  const carried = keys.some((key) => note.signatures.some((line) => line.name === key.name && line.id === key.id));
  if (!carried) return "missing";
  if (!mlDsa44) return "not_checked";
  return log.some((one) => one.key.type === ML_DSA_44) ? "valid" : "missing";
}

/** RFC 3339; null for a time after the year 9999, which it cannot spell. */
const spelled = (ms) => (ms === null || ms > LAST_MS ? null : new Date(ms).toISOString());

function judgeAge(signedAt, { now, maxAgeSeconds }) {
  if (maxAgeSeconds === undefined) return;
  if (signedAt === null) throw stale("checkpoint_time_unknown");
  const age = now - signedAt;
  if (age < -AHEAD_MS) throw stale("checkpoint_in_future");
  if (!(age <= maxAgeSeconds * 1000)) throw stale("checkpoint_too_old");
}

/**
 * The document inside: a signature that does not hold, a signer that none of the named keys is, or a date to come refuses
 * it. What a key says of itself is signed by that key, and its dates are about that key.
 */
async function judgeDocument({ reveal }, key, { keys, now }) {
  if (!reveal) return keys.length === 0 ? null : fail(untrusted("no_document"));
  const opened = await openInside(reveal.document, keys);
  if (opened.signature === "invalid") throw invalid(opened.code);
  const unknown = opened.signature === "not_checked";
  if (unknown && keys.length > 0) throw invalid("unknown_key", `the document inside is signed by key ${opened.keyId}, which \`keys\` does not name`);
  if (!key && opened.issuedAt - now > AHEAD_MS) throw refused("not_yet_valid", "the document is dated to come");
  return { text: reveal.document, signature: unknown && key ? "valid" : opened.signature, keyId: opened.keyId };
}

async function openInside(text, keys) {
  try {
    return await openDocument(text, keys);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw invalid(error.code, `the document inside: ${error.message}`);
  }
}

function notProved(leaf, document, key, { keys }, { witnesses, open, pq }, signedAt) {
  const cosigned = open.length > 0 ? "no `mlDsa44` was given to check the cosignature that is there" : "no witness of the trust policy has cosigned";
  const rows = [
    [!leaf, "what was logged", "the receipt does not carry its reveal"],
    [document?.signature === "not_checked", "who signed the document", "its key was not named in `keys`"],
    [key && keys.length === 0, "whose key it is", "a key says of itself when it signs; compare it with what its owner publishes"],
    [witnesses.length === 0, "that everybody is shown the same log", cosigned],
    [pq === "missing", "that the log's post-quantum key signed", "the checkpoint does not carry that signature"],
    [pq === "not_checked", "that the log's post-quantum key signed", "no `mlDsa44` was given to check it"],
    [pq === "no_key", "anything against a quantum computer", "the trust policy has no post-quantum key of this log"],
    [signedAt === null, "when the checkpoint was signed", "neither the log nor a quorum of two witnesses states a time that was checked"],
    [true, "that the document is right", "a log shows that something was said, when, and not changed since"],
  ];
  return rows.filter(([open]) => open).map(([, what, why]) => ({ what, why }));
}
