// Everything this package offers. No dependencies: WebCrypto does Ed25519, SHA-256 and HMAC.
export { JsonError, canonicalize, parseJson } from "./json.js";
export { openDocument } from "./document.js";
export { PolicyError } from "./policy.js";
export { verifyReceipt } from "./receipt.js";
