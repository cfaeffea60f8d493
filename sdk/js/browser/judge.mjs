// Judges every case; shared by the tests in Node and in Chromium.
import { verifyReceipt } from "../src/index.js";

const wanted = (one) => (one.expect === "proved" ? "valid" : one.expect);

/** Lists every case that is judged otherwise than its maker says. Without mlDsa44, what must then be not checked. */
export async function judgeAll({ trust, cases }, mlDsa44) {
  const wrong = [];
  for (const one of cases) {
    const options = { now: one.now * 1000, maxAgeSeconds: one.max_age_s ?? undefined, requirePq: one.require_pq, mlDsa44 };
    const answer = await verifyReceipt(one.receipt, trust[one.trust], options);
    const right = mlDsa44 || !carriesPq(one) ? asMade(one, answer) : withoutPq(one, answer);
    if (!right) wrong.push(`${one.name}: ${answer.result} ${answer.code ?? answer.pq}`);
  }
  return wrong;
}

/** The cases whose outcome rests on checking an ML-DSA-44 signature. */
const carriesPq = (one) => one.trust.startsWith("log+pq") && one.receipt.includes("\\n7\\n") && one.pq !== "missing" && one.code !== "pq_missing" && one.expect !== "malformed";

function asMade(one, answer) {
  const same = answer.result === wanted(one) && answer.code === one.code;
  const proved = one.expect !== "proved" || (answer.index === BigInt(one.index) && answer.size === BigInt(one.size) && answer.pq === one.pq);
  const dated = one.expect !== "proved" || one.signed_at === undefined || answer.signedAt === iso(one.signed_at);
  return same && proved && dated;
}

const iso = (seconds) => (seconds === null ? null : new Date(seconds * 1000).toISOString());

/** Nothing may be called post-quantum proved, no age may rest on it, and a demand for it fails. */
function withoutPq(one, answer) {
  if (one.require_pq) return answer.code === "pq_not_checked";
  if (one.max_age_s !== null) return answer.code === "checkpoint_time_unknown";
  return answer.pq === "not_checked" || answer.code === "note_no_known_key" || answer.code === "log_not_signed";
}
