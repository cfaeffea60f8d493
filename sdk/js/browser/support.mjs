// The cases that every verifier of this repository judges, and ML-DSA-44 when it is installed.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const file = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));

export const receipts = file("../../../crates/engine/tests/data/receipts.json");
export const documents = file("../../../crates/core/tests/data/countersign.json");

export async function mlDsa44() {
  try {
    const { ml_dsa44 } = await import("@noble/post-quantum/ml-dsa.js");
    return ({ publicKey, message, signature }) => ml_dsa44.verify(signature, message, publicKey);
  } catch (error) {
    if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
    return undefined;
  }
}

/** The file of cases that the command line names, or else the shared ones. */
export const casesFile = () => process.argv[2] ?? fileURLToPath(new URL("../../../crates/engine/tests/data/receipts.json", import.meta.url));

/** Says what was judged, the sum in the last line, and gives the exit code. */
export function report(judge, { cases, wrong }, pq) {
  for (const line of wrong) console.log(`  ${line}`);
  console.log(`${judge} judged ${cases} receipts, ${pq ? "also with ML-DSA" : "not with ML-DSA"}; ${wrong.length} wrong`);
  return wrong.length === 0 ? 0 : 1;
}
