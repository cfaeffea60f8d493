// Ed25519 keys as narrow as the rest of this product wants them: one spelling, and no point of small order, for which
// anybody could make signatures. WebCrypto verifies; it does not judge keys.

const P = 2n ** 255n - 19n;
const mod = (value) => ((value % P) + P) % P;
const D = mod(-121665n * power(121666n, P - 2n));

function power(base, exponent) {
  let result = 1n;
  for (let square = mod(base), rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = mod(result * square);
    square = mod(square * square);
  }
  return result;
}

/** The y of an encoded point, with the sign bit taken off. */
function yOf(bytes) {
  const number = [...bytes].reverse().reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  return number & (2n ** 255n - 1n);
}

/** Whether a point with this y has an order that divides 8. */
function hasSmallOrder(y) {
  const square = mod(y * y);
  // Order 1, 2 and 4; then order 8: doubling such a point gives y = 0, which is this equation of the curve.
  return mod(y) === 0n || square === 1n || mod(D * square * square + 2n * square - 1n) === 0n;
}

/** Whether 32 bytes are the one spelling of a point (RFC 8032 5.1.3) whose order does not divide 8. */
export function isStrongKey(bytes) {
  if (bytes.length !== 32) return false;
  const y = yOf(bytes);
  if (y >= P || hasSmallOrder(y)) return false;
  // x^2 = (y^2 - 1) / (d y^2 + 1) must be a square, by Euler's criterion.
  const square = mod(y * y);
  const xx = mod((square - 1n) * power(D * square + 1n, P - 2n));
  return power(xx, (P - 1n) / 2n) === 1n;
}

/**
 * Whether a signature of 64 bytes holds. One whose R is a point of small order is none, although the equation holds: only
 * the owner of the key can make it, and verifiers differ on it.
 */
export async function verifyEd25519(publicKey, message, signature) {
  if (signature.length !== 64 || hasSmallOrder(yOf(signature.slice(0, 32)))) return false;
  const key = await crypto.subtle.importKey("raw", publicKey, { name: "Ed25519" }, false, ["verify"]);
  return crypto.subtle.verify({ name: "Ed25519" }, key, signature, message);
}
