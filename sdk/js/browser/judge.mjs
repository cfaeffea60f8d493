// Judges every case; shared by the tests in Node and in Chromium.
import { verifyReceipt } from "../src/index.js";
import { PolicyError, parsePolicy } from "../src/policy.js";

/** Not evaluated is who signed the document; that it is in the log is proved all the same. */
const isProved = (result) => result === "valid" || result === "not_evaluated";

/** A long case stands in its file with a mark for what repeats; # in it counts from 0. */
const MARK = "\u25a0";
function whole({ receipt, fill }) {
  if (!fill) return receipt;
  return receipt.replace(MARK, () => Array.from({ length: fill.times }, (_, turn) => fill.with.replaceAll("#", String(turn))).join(""));
}

const wanted = (one) => (one.expect === "proved" ? "valid" : one.expect);

/** Lists every case that is judged otherwise than its maker says. Without mlDsa44, what must then be not checked. */
export async function judgeAll({ trust, cases, document_key, policies = [] }, mlDsa44) {
  const wrong = await judgePolicies(policies);
  for (const one of cases) {
    const options = { now: one.now * 1000, keys: one.keys ?? [document_key], maxAgeSeconds: one.max_age_s ?? undefined, requirePq: one.require_pq, mlDsa44 };
    const answer = await verifyReceipt(whole(one), trust[one.trust], options);
    if (!isRight(one, answer, mlDsa44) || !isTold(answer)) wrong.push(`${one.name}: ${answer.result} ${answer.code ?? answer.pq}: ${answer.reason}`);
  }
  return wrong;
}

/** Lists every trust policy that is read and should not be, or the other way round. */
async function judgePolicies(policies) {
  const reads = ({ policy }) => parsePolicy(policy).then(() => true, (error) => (error instanceof PolicyError ? false : Promise.reject(error)));
  const judged = await Promise.all(policies.map(async (one) => [one, await reads(one)]));
  return judged.filter(([one, read]) => read !== one.reads).map(([one, read]) => `${one.name}: ${read ? "read" : "not read"}`);
}

/** A person gets a sentence: not nothing, and not the code in other signs. */
const isTold = ({ code, reason }) => (code === null ? reason === null : typeof reason === "string" && / .* /.test(reason) && reason !== code.replaceAll("_", " "));

/** Some cases are wrong before any signature is looked at; in some all rests on one that is not checked. */
function isRight(one, answer, mlDsa44) {
  if (mlDsa44 || !carriesPq(one)) return asMade(one, answer);
  if (one.without_pq) return answer.result === "trust_policy_not_met" && answer.code === one.without_pq;
  return withoutPq(one, answer) || (["invalid", "refused", "trust_policy_not_met"].includes(one.expect) && asMade(one, answer));
}

/** The cases whose outcome rests on checking an ML-DSA-44 signature. */
const carriesPq = (one) => one.trust.startsWith("log+pq") && one.pq !== "missing" && one.code !== "pq_missing" && one.expect !== "malformed";

function asMade(one, answer) {
  const same = answer.result === wanted(one) && answer.code === one.code;
  const dated = one.signed_at === undefined || answer.signedAt === iso(one.signed_at);
  return same && (!isProved(wanted(one)) || (isThere(one, answer) && dated && answer.pq === one.pq));
}

/** The same entry of the same log. */
function isThere(one, answer) {
  const rooted = one.root === undefined || (answer.root === one.root && answer.logOrigin === one.log_origin);
  return answer.index === BigInt(one.index) && answer.size === BigInt(one.size) && rooted;
}

const iso = (seconds) => (seconds === null ? null : new Date(seconds * 1000).toISOString());

/** Nothing may be called post-quantum proved, no age may rest on it, and a demand for it fails. */
function withoutPq(one, answer) {
  if (one.require_pq) return answer.code === "pq_not_checked";
  if (one.max_age_s !== null) return answer.code === "checkpoint_time_unknown";
  return isProved(answer.result) && answer.pq === "not_checked" && (!isProved(wanted(one)) || isThere(one, answer));
}
