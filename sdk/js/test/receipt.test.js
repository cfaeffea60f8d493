import assert from "node:assert/strict";
import test from "node:test";
import { judgeAll } from "../browser/judge.mjs";
import { mlDsa44, receipts } from "../browser/support.mjs";
import { readdirSync, readFileSync } from "node:fs";
import { PolicyError, openDocument, parseJson, verifyReceipt } from "../src/index.js";
import { REASONS } from "../src/reasons.js";

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
    await assert.rejects(verifyReceipt(receipt, trust), PolicyError, JSON.stringify(trust));
  }
});

test("a demand that is misspelt, of a wrong type or missing is a TypeError, and never a demand less", async () => {
  const { receipt, now } = find("leaf 3 of 7");
  const trust = receipts.trust.log;
  const good = { keys: [receipts.document_key], now: now * 1000 };
  const judge = (options) => verifyReceipt(receipt, trust, options);
  for (const name of ["requirePQ", "require_pq", "maxAge", "key", "toString"]) {
    await assert.rejects(judge({ ...good, [name]: 1 }), { name: "TypeError", message: /there is no `/ }, name);
  }
  await assert.rejects(judge(Object.create({ requirePQ: true })), TypeError, "inherited");
  const wrong = {
    requirePq: ["true", 1, null], maxAgeSeconds: ["60", NaN, -1, Infinity, null, 60n], now: [NaN, "2026-09-01", null, new Date(NaN), Infinity],
    keys: [receipts.document_key, [1], null, {}, new Set(good.keys)], mlDsa44: [true, null, {}],
  };
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) {
      await assert.rejects(judge({ ...good, [name]: value }), { name: "TypeError", message: new RegExp(`\`${name}\` must be`) }, `${name}: ${String(value)}`);
    }
    assert.equal((await judge({ ...good, [name]: good[name] })).result, "valid", `${name}: the control`);
  }
  for (const options of [null, [], "keys", true]) await assert.rejects(judge(options), TypeError, String(options));
  for (const policy of [undefined, null, new TextEncoder().encode(trust), { logs: [] }]) {
    await assert.rejects(verifyReceipt(receipt, policy, good), { name: "TypeError", message: /trust policy/ });
  }
  assert.equal((await judge({ ...good, now: new Date(now * 1000), maxAgeSeconds: undefined })).result, "valid", "the control");
});

test("a key that is none is refused whether or not there is something to be signed by it", async () => {
  for (const name of ["leaf 3 of 7", "without its reveal", "nothing"]) {
    await assert.rejects(verifyReceipt(find(name).receipt, receipts.trust.log, { keys: ["AAAA"] }), TypeError, name);
  }
  await assert.rejects(openDocument("{}"), { name: "TypeError", message: /`keys`/ });
});

test("a limit that does not exist is no limit, and said", () => {
  assert.throws(() => parseJson("[[1]]", { maxDepth: 1 }), TypeError);
  assert.throws(() => parseJson("[[1]]", { depth: "1" }), TypeError);
  assert.throws(() => parseJson("[[1]]", { depth: 1 }), { code: "json_depth", message: "it is nested too deep (at 1)" });
  assert.deepEqual(parseJson("[[1]]", { depth: undefined }), [[1]], "the control");
});

test("every code has a sentence", () => {
  const folder = new URL("../src/", import.meta.url);
  const source = readdirSync(folder).map((file) => readFileSync(new URL(file, folder), "utf8")).join("\n");
  const thrown = [...source.matchAll(/(?:malformed|invalid|refused|untrusted|stale|fail)\((?:[^"()]*\? )?"([a-z0-9_]+)"(?: : "([a-z0-9_]+)")?\)/g)];
  const codes = new Set([...thrown.flatMap(([, one, other]) => [one, other ?? one]), "index_outside", "wrong_length", "wrong_root"]);
  assert.ok(codes.size > 35, `found ${codes.size}`);
  assert.deepEqual([...codes].filter((code) => !Object.hasOwn(REASONS, code)), []);
  assert.deepEqual(Object.values(REASONS).filter((reason) => !/^.{10,}[^.]$/.test(reason)), []);
});

test("a cosignature that nothing checks proves nothing, and is not told as missing", async () => {
  const { receipt, now } = find("the other key of a witness where both are asked for");
  const trust = receipts.trust["log+pq, both keys of one witness"].replace("quorum both", "quorum none");
  const judge = (mlDsa44) => verifyReceipt(receipt, trust, { keys: [receipts.document_key], now: now * 1000, mlDsa44 });
  const why = (answer) => answer.notProved.find((row) => row.what.includes("everybody"))?.why;
  const open = await judge();
  assert.deepEqual([open.result, open.witnesses, why(open)], ["valid", [], "no `mlDsa44` was given to check the cosignature that is there"]);
  if (pq) assert.deepEqual([(await judge(pq)).witnesses.length, why(await judge(pq))], [1, undefined]);
});
