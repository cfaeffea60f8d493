// Times in documents: RFC 3339 in UTC.

/** 9999-12-30T22:00:00Z: after it the Rust verifier spells none either. */
export const LAST_MS = 253402207200 * 1000;

/** How far a date or a signed time may run ahead of the reader's clock. */
export const AHEAD_MS = 5 * 60 * 1000;

/**
 * Milliseconds of `YYYY-MM-DDTHH:MM:SS[.fraction]Z`; null for any other spelling and for what is no instant. A leap second
 * is read as the second before it.
 */
export function instant(text) {
  const match = typeof text === "string" && /^(\d{4}-\d\d-\d\dT\d\d:\d\d:)(\d\d)(?:\.(\d{1,9}))?Z$/.exec(text);
  if (!match) return null;
  const [, minute, second, fraction = ""] = match;
  const spelled = `${minute}${second === "60" ? "59" : second}.${fraction.padEnd(3, "0").slice(0, 3)}Z`;
  // Date.parse reads 30 February as 2 March.
  const time = Date.parse(spelled);
  return Number.isFinite(time) && time < LAST_MS + 1000 && new Date(time).toISOString() === spelled ? time : null;
}

/** Whether it is the one spelling YYYY-MM-DDTHH:MM:SSZ of a second that exists. */
export const isSecond = (text) => {
  const time = instant(text);
  return time !== null && new Date(time).toISOString() === text.replace("Z", ".000Z");
};
