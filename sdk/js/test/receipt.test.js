import assert from "node:assert/strict";
import test from "node:test";
import { judgeAll } from "../browser/judge.mjs";
import { mlDsa44, receipts } from "../browser/support.mjs";
import { verifyReceipt } from "../src/index.js";

const pq = await mlDsa44();
const find = (name) => receipts.cases.find((one) => one.name === name);

test("every case without ML-DSA code", async () => {
  assert.deepEqual(await judgeAll(receipts, undefined), []);
});

test("every case with ML-DSA code", { skip: pq ? false : "@noble/post-quantum is not installed" }, async () => {
  assert.deepEqual(await judgeAll(receipts, pq), []);
});

test("the document's signer is judged when keys are named, and is not known otherwise", async () => {
  const { receipt, now } = find("leaf 3 of 7");
  const judge = (keys) => verifyReceipt(receipt, receipts.trust.log, { keys, now: now * 1000 });
  const answer = await judge([receipts.document_key]);
  assert.deepEqual([answer.result, answer.document.signature], ["valid", "valid"]);
  const other = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";
  assert.equal((await judge([other])).code, "unknown_key");
  for (const nobody of [undefined, []]) {
    const open = await judge(nobody);
    assert.deepEqual([open.result, open.code, open.document.signature], ["not_evaluated", "unknown_key", "not_checked"]);
    assert.deepEqual([open.index, open.root, open.notProved[0].what], [3n, answer.root, "who signed the document"]);
  }
});

test("a key's own word names nobody", async () => {
  const { receipt, now } = find("a key that signs");
  const answer = await verifyReceipt(receipt, receipts.trust.log, { now: now * 1000 });
  assert.deepEqual([answer.result, answer.document.signature, answer.notProved[0].what], ["valid", "valid", "whose key it is"]);
});

test("no single changed byte changes what is proved", async () => {
  const { receipt, trust, now } = find("leaf 3 of 7");
  const options = { keys: [receipts.document_key], now: now * 1000 };
  const meaning = (answer) => JSON.stringify([answer.result, String(answer.index), String(answer.size), answer.root, answer.leaf, answer.document]);
  const meant = meaning(await verifyReceipt(receipt, receipts.trust[trust], options));
  assert.match(meant, /^\["valid"/);
  const good = new TextEncoder().encode(receipt);
  let refused = 0;
  for (let at = 0; at < good.length; at += 1) {
    const bytes = good.slice();
    bytes[at] ^= 1;
    const answer = await verifyReceipt(bytes, receipts.trust[trust], options);
    if (answer.result === "valid") assert.equal(meaning(answer), meant, `byte ${at}`);
    else refused += 1;
  }
  assert.ok(refused > good.length * 0.9, `${refused} of ${good.length}`);
});

test("a trust policy that does not read is the caller's fault, and said", async () => {
  const { receipt } = find("leaf 3 of 7");
  const weak = `log x+00000000+${btoa("\x01" + "\x00".repeat(32))}\nquorum none\n`;
  for (const trust of ["", "quorum none", "log x\nquorum none\n", "quorum none\nquorum none\n", "watch x\n", weak]) {
    await assert.rejects(verifyReceipt(receipt, trust), { name: "PolicyError" }, JSON.stringify(trust));
  }
});
