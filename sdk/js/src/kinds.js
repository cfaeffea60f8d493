// The kinds of leaves with a meaning; any other `countersign.*` reads "included, meaning unknown".

const WORDS = "decision verdict attestation level manifest approval verification key model " +
  "intent settlement call audit review merchant credential policy erase";

export const KINDS = WORDS.split(" ").map((word) => `countersign.${word}.v1`);
