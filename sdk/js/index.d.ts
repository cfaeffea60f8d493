/** Why strict JSON refused a text. */
export class JsonError extends Error {
  /** Stable: json_syntax, json_duplicate, json_surrogate, json_unsafe_integer, json_overflow, json_depth, … */
  code: string;
  /** Offset in UTF-16 units. */
  at: number;
}

/**
 * Strict JSON. Duplicate names, half surrogates, a byte order mark and unsafe integers throw a JsonError, and so does what
 * exceeds a limit: 32 levels, 10,000 members of one object, 64 KiB of a string and 1 MiB in all, as UTF-8 source.
 */
export function parseJson(
  input: string | Uint8Array,
  limits?: { depth?: number; members?: number; string?: number; size?: number },
): unknown;

/** The RFC 8785 text of a value. */
export function canonicalize(value: unknown): string;

/** A signed document, opened with trusted base64 public keys. Text beyond the limits of parseJson throws a JsonError. */
export function openDocument(
  input: string | Uint8Array,
  keys: string[],
): Promise<{
  signature: "valid" | "not_checked" | "invalid";
  /** Why it is invalid: member_missing or signature_invalid. */
  code: string | null;
  keyId: string | null;
  /** Milliseconds. */
  issuedAt: number | null;
  document: unknown;
}>;

/** Verifies one ML-DSA-44 signature (FIPS 204, pure, empty context) of 2420 bytes by a key of 1312. */
export type MlDsa44 = (question: {
  publicKey: Uint8Array;
  message: Uint8Array;
  signature: Uint8Array;
}) => boolean | Promise<boolean>;

/** Why a trust policy does not read. */
export class PolicyError extends Error {
  /** Counted from 1; 0 when it is about the whole text. */
  line: number;
}

export interface Options {
  /** Without it post-quantum signatures are not checked, and `requirePq` fails, and so does a quorum that takes them. */
  mlDsa44?: MlDsa44;
  /** Refuse a checkpoint without the log's valid ML-DSA-44 signature. */
  requirePq?: boolean;
  /** Refuse a checkpoint that was signed longer ago (`signedAt`), or whose time is unknown. */
  maxAgeSeconds?: number;
  /** The present, as a date or in milliseconds; Date.now() by default. */
  now?: number | Date;
  /**
   * Base64 public keys trusted to sign documents. When given, any other signer is refused, and so is a receipt without its
   * reveal, which holds no document. Without them nothing says who signed a document, and `result` is "not_evaluated".
   */
  keys?: string[];
}

export interface Refused {
  /** "refused": the document is dated more than five minutes after `now`. */
  result: "malformed" | "invalid" | "refused" | "stale" | "trust_policy_not_met";
  /**
   * Stable, the same as in the Rust verifier. Two more, when no `mlDsa44` was given and it takes a signature that is there:
   * pq_not_checked (the log's) and quorum_not_checked (a witness's).
   */
  code: string;
  /** A sentence for people, which may change. */
  reason: string;
}

export interface Proved {
  /** "not_evaluated": everything below is proved, and not who signed the document, since no `keys` were named. */
  result: "valid" | "not_evaluated";
  /** "unknown_key" when not evaluated. */
  code: "unknown_key" | null;
  reason: string | null;
  logOrigin: string;
  index: bigint;
  size: bigint;
  /** Hexadecimal. */
  root: string;
  /**
   * When the checkpoint was signed, RFC 3339: the log's own newest time, or else that of a quorum of two witnesses. Null
   * when neither states one that was checked, or after the year 9999.
   */
  signedAt: string | null;
  pq: "valid" | "missing" | "no_key" | "not_checked";
  logKeys: string[];
  witnesses: string[];
  /** Null when the receipt does not carry its reveal. */
  leaf: { type: string; ts: string; known: boolean } | null;
  /** The logged document, byte for byte. */
  document: { text: string; signature: "valid" | "not_checked"; keyId: string } | null;
  /** What a key said of itself, when the receipt is one of a key; `until` is null while it signs. */
  key: { keyId: string; publicKey: string; purpose: string; from: string; until: string | null } | null;
  /** What a reader might take for proved and is not. */
  notProved: { what: string; why: string }[];
}

/**
 * Verifies a `countersign/receipt/v1` offline against a C2SP tlog-policy.
 *
 * Give the receipt as text or bytes: an object that was already parsed hides duplicate names. Never throws for what
 * stands in the receipt. Rejects with a PolicyError for a trust policy that does not read, and with a TypeError for keys
 * that do not, for an option that does not exist or has a value of a wrong type, and where there is no trust policy.
 */
export function verifyReceipt(
  receipt: string | Uint8Array | object,
  trust: string,
  options?: Options,
): Promise<Proved | Refused>;
