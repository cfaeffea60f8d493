// The cases that every verifier of this repository judges, and ML-DSA-44 when it is installed.
import { readFileSync } from "node:fs";

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
