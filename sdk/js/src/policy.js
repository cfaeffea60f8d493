// Trust policies (C2SP tlog-policy): which logs a reader accepts and which witnesses must have cosigned.
//
// Names are defined before they are used and are members of one group at most, so one pass in order decides everything.

import { equal, utf8 } from "./bytes.js";
import { COSIGNATURE, ED25519, decimal, parseKey } from "./note.js";

const MAX_POLICY = 256 * 1024;
const MAX_DEFINITIONS = 64;

/** The trust policy does not read: the caller's own configuration is wrong, whatever the receipt says. */
export class PolicyError extends Error {
  constructor(line, reason) {
    super(`trust policy, line ${line}: ${reason}`);
    this.name = "PolicyError";
    this.line = line;
  }
}

/** Reads a policy: `{logs, witnesses: Map name→key, groups, quorum}`. Throws PolicyError. */
export async function parsePolicy(text) {
  if (utf8(text).length > MAX_POLICY) throw new PolicyError(0, "too large");
  const policy = { logs: [], nodes: new Map(), quorum: undefined, taken: new Set() };
  const lines = text.split("\n");
  for (const [at, line] of lines.entries()) {
    const refuse = (reason) => {
      throw new PolicyError(at + 1, reason);
    };
    if (at === lines.length - 1) {
      if (line !== "") refuse("the line does not end");
      break;
    }
    if (/[\u0000-\u0008\u000b-\u001f\u007f]/.test(line)) refuse("a control character");
    await definition(policy, line.split(/[ \t]+/).filter(Boolean), refuse);
  }
  if (policy.quorum === undefined) throw new PolicyError(lines.length, "no quorum line");
  return policy;
}

async function definition(policy, words, refuse) {
  const [keyword, ...rest] = words;
  if (keyword === undefined || keyword.startsWith("#")) return;
  const counts = { log: [1, 2], witness: [2, 3], group: [3, Infinity], quorum: [1, 1] };
  const range = Object.hasOwn(counts, keyword) ? counts[keyword] : refuse("no log, witness, group or quorum");
  if (rest.length < range[0] || rest.length > range[1]) refuse("the wrong number of words");
  await { log, witness, group, quorum }[keyword](policy, rest, refuse);
}

async function usableKey(vkey, never, others, refuse) {
  const key = (await parseKey(vkey)) ?? refuse("not a usable verifier key");
  if (key.type === never) refuse("a key of this type cannot have this role");
  if (others.some((other) => equal(other.publicKey, key.publicKey))) refuse("the public key is listed twice");
  return key;
}

async function log(policy, [vkey], refuse) {
  policy.logs.push(await usableKey(vkey, COSIGNATURE, policy.logs, refuse));
  if (policy.logs.length > MAX_DEFINITIONS) refuse("too many logs");
}

async function witness(policy, [name, vkey], refuse) {
  const key = await usableKey(vkey, ED25519, witnessKeys(policy), refuse);
  define(policy, name, { key }, refuse);
}

async function group(policy, [name, threshold, ...members], refuse) {
  const number = threshold === "any" ? 1n : threshold === "all" ? BigInt(members.length) : decimal(threshold);
  if (number === null || number < 1n || number > BigInt(members.length)) refuse("the threshold is out of range");
  for (const member of members) {
    if (!policy.nodes.has(member)) refuse("the name is not defined above this line");
    if (policy.taken.has(member)) refuse("the name is already a member of a group");
    policy.taken.add(member);
  }
  define(policy, name, { threshold: number, members }, refuse);
}

async function quorum(policy, [name], refuse) {
  if (policy.quorum !== undefined) refuse("a second quorum line");
  if (name !== "none" && !policy.nodes.has(name)) refuse("the name is not defined above this line");
  policy.quorum = name === "none" ? null : name;
}

function define(policy, name, node, refuse) {
  if (name === "none" || policy.nodes.has(name)) refuse("the name is already taken");
  policy.nodes.set(name, node);
  const kind = [...policy.nodes.values()].filter((other) => Boolean(other.key) === Boolean(node.key));
  if (kind.length > MAX_DEFINITIONS) refuse("too many lines of this kind");
}

/** The keys of all witnesses. */
export const witnessKeys = (policy) => [...policy.nodes.values()].flatMap((node) => node.key ?? []);

/** Whether the cosignatures make the quorum. */
export function witnessed(policy, witnesses) {
  if (policy.quorum === null) return true;
  const decided = new Map();
  for (const [name, node] of policy.nodes) {
    const yes = node.key
      ? witnesses.some((one) => one.key === node.key)
      : BigInt(node.members.filter((member) => decided.get(member)).length) >= node.threshold;
    decided.set(name, yes);
  }
  return decided.get(policy.quorum);
}

/**
 * When a checkpoint was signed, in seconds as BigInt: the newest time that the log's own signatures state, or else the
 * newest at which, or after which, witnesses signed who make the quorum and have two different names. Null when unknown.
 */
export function signedTime(policy, log, witnesses) {
  const newestFirst = (list) => list.flatMap((one) => one.time ?? []).sort((one, other) => (one < other ? 1 : -1));
  const enough = (since) => new Set(since.map((one) => one.key.name)).size >= 2 && witnessed(policy, since);
  const cosigned = (time) => enough(witnesses.filter((one) => one.time !== null && one.time >= time));
  return newestFirst(log)[0] ?? newestFirst(witnesses).find(cosigned) ?? null;
}
