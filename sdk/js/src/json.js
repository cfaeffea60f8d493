// Strict JSON and its canonical form (RFC 8785).
//
// JSON.parse takes the last of two members with one name and hides how a number was spelled. Whoever checks a signature
// over JSON must not: two readers would see two documents. So this reads the text itself.

import { utf8 } from "./bytes.js";
import { readOptions } from "./options.js";
import { REASONS } from "./reasons.js";

/** Why a text was refused: `code` is stable, `at` counts UTF-16 units. */
export class JsonError extends Error {
  constructor(code, at) {
    super(`${REASONS[code]} (at ${at})`);
    this.name = "JsonError";
    this.code = code;
    this.at = at;
  }
}

/** A number as it was spelled. */
export class Literal {
  constructor(raw) {
    this.raw = raw;
  }
  valueOf() {
    return Number(this.raw);
  }
}

/**
 * How much a text may hold, as in the Rust reader of the same repository: nesting, members of one object, and bytes of
 * source in UTF-8, of a string between its quotes and of the whole.
 */
const DEFAULTS = { depth: 32, members: 10_000, string: 64 << 10, size: 1 << 20 };
const COUNT = [(value) => Number.isSafeInteger(value) && value >= 0, "a whole number, 0 or more"];
const LIMITS = { depth: COUNT, members: COUNT, string: COUNT, size: COUNT };

/** Whether a text has more bytes than that. Three is the most that one UTF-16 unit takes. */
const isLonger = (text, limit) => text.length > limit || (text.length * 3 > limit && utf8(text).length > limit);

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const PLAIN = /[^"\\\u0000-\u001f]+/y;
const ESCAPES = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

class Reader {
  constructor(text, limits) {
    this.text = text;
    this.limits = limits;
    this.at = 0;
  }

  fail(code) {
    throw new JsonError(code, this.at);
  }

  space() {
    while (" \t\n\r".includes(this.text[this.at] ?? "x")) this.at += 1;
  }

  take(char) {
    this.space();
    if (this.text[this.at] !== char) return false;
    this.at += 1;
    return true;
  }

  match(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found) this.at = pattern.lastIndex;
    return found?.[0];
  }

  value(depth) {
    this.space();
    const first = this.text[this.at];
    if (first === "{") return this.object(depth);
    if (first === "[") return this.array(depth);
    if (first === '"') return this.string();
    for (const [word, value] of [["true", true], ["false", false], ["null", null]]) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return value;
      }
    }
    return this.number();
  }

  object(depth) {
    if (depth >= this.limits.depth) this.fail("json_depth");
    this.at += 1;
    // Without a prototype, so that a member called __proto__ is a member.
    const out = Object.create(null);
    if (this.take("}")) return out;
    let [count, twice] = [0, false];
    do {
      this.space();
      if (this.text[this.at] !== '"') this.fail("json_syntax");
      const name = this.string();
      twice ||= name in out;
      if (!this.take(":")) this.fail("json_syntax");
      if ((count += 1) > this.limits.members) this.fail("json_members");
      out[name] = this.value(depth + 1);
    } while (this.take(","));
    if (!this.take("}")) this.fail("json_syntax");
    // Told when the object ends, as the other readers do: what breaks a limit or the syntax before is met first.
    if (twice) this.fail("json_duplicate");
    return out;
  }

  array(depth) {
    if (depth >= this.limits.depth) this.fail("json_depth");
    this.at += 1;
    const out = [];
    if (this.take("]")) return out;
    do out.push(this.value(depth + 1));
    while (this.take(","));
    if (!this.take("]")) this.fail("json_syntax");
    return out;
  }

  string() {
    const from = this.at;
    this.at += 1;
    let out = "";
    for (;;) {
      out += this.match(PLAIN) ?? "";
      const char = this.text[this.at];
      if (char === '"') break;
      if (char !== "\\") this.fail("json_syntax");
      this.at += 1;
      out += this.escape();
    }
    if (!out.isWellFormed()) this.fail("json_surrogate");
    if (isLonger(this.text.slice(from + 1, this.at), this.limits.string)) this.fail("json_string");
    this.at += 1;
    return out;
  }

  escape() {
    const char = this.text[this.at];
    const hex = this.text.slice(this.at + 1, this.at + 5);
    if (char === "u" && /^[0-9a-fA-F]{4}$/.test(hex)) {
      this.at += 5;
      return String.fromCharCode(parseInt(hex, 16));
    }
    const plain = Object.hasOwn(ESCAPES, char ?? "") ? ESCAPES[char] : this.fail("json_syntax");
    this.at += 1;
    return plain;
  }

  number() {
    const raw = this.match(NUMBER) ?? this.fail("json_syntax");
    const value = Number(raw);
    if (!Number.isFinite(value)) this.fail("json_overflow");
    // However it is spelled: beyond 2^53 one integer cannot be told from its neighbour.
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) this.fail("json_unsafe_integer");
    return new Literal(raw);
  }
}

function decode(input, { size }) {
  if (typeof input === "string") {
    if (isLonger(input, size)) throw new JsonError("json_size", 0);
    if (!input.isWellFormed()) throw new JsonError("json_utf8", 0);
    return input;
  }
  if (input.length > size) throw new JsonError("json_size", 0);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(input);
  } catch {
    throw new JsonError("json_utf8", 0);
  }
}

/** Reads with numbers as Literal, for callers that judge spelling. */
export function read(input, limits = {}) {
  const all = { ...DEFAULTS, ...Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined)) };
  const reader = new Reader(decode(input, all), all);
  if (reader.text.startsWith("\ufeff")) reader.fail("json_bom");
  const value = reader.value(0);
  reader.space();
  if (reader.at < reader.text.length) reader.fail("json_trailing");
  return value;
}

function plain(value) {
  if (value instanceof Literal) return Number(value.raw);
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  const out = Object.create(null);
  for (const name of Object.keys(value)) out[name] = plain(value[name]);
  return out;
}

/** Reads strict JSON: duplicate names, half surrogates, a byte order mark and unsafe integers throw a JsonError. */
export const parseJson = (input, limits = {}) => plain(read(input, readOptions(LIMITS, limits, "the limits of parseJson")));

/** The RFC 8785 text of a value: members in the order of their UTF-16 units, numbers as ECMAScript prints them. */
export function canonicalize(value) {
  if (value instanceof Literal) return canonicalize(Number(value.raw));
  if (Array.isArray(value)) return `[${value.map(canonicalize).join(",")}]`;
  if (value !== null && typeof value === "object") {
    const names = Object.keys(value).sort();
    return `{${names.map((name) => `${canonicalize(name)}:${canonicalize(value[name])}`).join(",")}}`;
  }
  const bad = (typeof value === "number" && !Number.isFinite(value)) || (typeof value === "string" && !value.isWellFormed());
  const text = bad ? undefined : JSON.stringify(value);
  if (text === undefined) throw new TypeError("the value has no canonical form");
  return text;
}
