// The tree of RFC 6962 and the iterative verifier of RFC 9162 section 2.1.3.2.

import { concat, equal, sha256 } from "./bytes.js";

export const MAX_PROOF = 63;

export const leafHash = (entry) => sha256(concat([0], entry));

const nodeHash = (left, right) => sha256(concat([1], left, right));

/** Null when the leaf stands at `index`, else the code of what is wrong. Index and size are BigInt. */
export async function inclusionFault(leaf, index, size, path, root) {
  if (index >= size) return "index_outside";
  let [node, last, computed] = [index, size - 1n, leaf];
  for (const sibling of path) {
    if (last === 0n) return "wrong_length";
    if (node % 2n === 1n || node === last) {
      computed = await nodeHash(sibling, computed);
      while (node % 2n === 0n && node !== 0n) [node, last] = [node >> 1n, last >> 1n];
    } else {
      computed = await nodeHash(computed, sibling);
    }
    [node, last] = [node >> 1n, last >> 1n];
  }
  if (last !== 0n) return "wrong_length";
  return equal(computed, root) ? null : "wrong_root";
}
