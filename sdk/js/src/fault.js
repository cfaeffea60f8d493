// Every way a receipt can fail, as one exception: `result` says what to make of it, `code` is stable.

import { REASONS } from "./reasons.js";

export class Fault extends Error {
  constructor(result, code, reason) {
    super(reason ?? REASONS[code]);
    this.result = result;
    this.code = code;
  }
}

/** `throw` where an expression is wanted. */
export function fail(error) {
  throw error;
}

export const malformed = (code, reason) => new Fault("malformed", code, reason);
export const invalid = (code, reason) => new Fault("invalid", code, reason);
export const refused = (code, reason) => new Fault("refused", code, reason);
export const untrusted = (code, reason) => new Fault("trust_policy_not_met", code, reason);
export const stale = (code, reason) => new Fault("stale", code, reason);
