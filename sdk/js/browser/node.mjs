// Judges every case of a file in Node, as run.mjs does in headless Chromium.
import { readFileSync } from "node:fs";
import { judgeAll } from "./judge.mjs";
import { casesFile, mlDsa44, report } from "./support.mjs";

const receipts = JSON.parse(readFileSync(casesFile(), "utf8"));
const pq = await mlDsa44();
const wrong = await judgeAll(receipts, undefined);
if (pq) wrong.push(...(await judgeAll(receipts, pq)));
process.exit(report("Node", { cases: receipts.cases.length, wrong }, pq));
