// What a caller demands. A demand that is misspelt or of a wrong type must not read as none, so it throws a TypeError.

/** A table `{name: [right, "what it is"]}` for `given`, whose members may be left out. */
export function readOptions(table, given, where) {
  if (given === null || typeof given !== "object" || Array.isArray(given)) throw new TypeError(`${where}: an object is needed`);
  for (const name in given) {
    if (!Object.hasOwn(table, name)) throw new TypeError(`${where}: there is no \`${name}\`; there are ${Object.keys(table).join(", ")}`);
    const [right, what] = table[name];
    if (given[name] !== undefined && !right(given[name])) throw new TypeError(`${where}: \`${name}\` must be ${what}`);
  }
  return given;
}

/** Whether it is a list of texts, such as the keys of signers are given in. */
export const isTexts = (value) => Array.isArray(value) && value.every((one) => typeof one === "string");

/** Those of verifyReceipt, with their defaults. */
export function readDemands(given) {
  const options = readOptions(DEMANDS, given, "the options of verifyReceipt");
  const { mlDsa44, requirePq = false, maxAgeSeconds, keys = [], now = Date.now() } = options;
  return { mlDsa44, requirePq, maxAgeSeconds, keys, now: Number(now) };
}

const DEMANDS = {
  mlDsa44: [(value) => typeof value === "function", "a function"],
  requirePq: [(value) => typeof value === "boolean", "true or false"],
  maxAgeSeconds: [(value) => Number.isFinite(value) && value >= 0, "a number of seconds, 0 or more"],
  now: [(value) => Number.isFinite(value instanceof Date ? value.getTime() : value), "a date, or its milliseconds"],
  keys: [isTexts, "a list of base64 public keys"],
};
