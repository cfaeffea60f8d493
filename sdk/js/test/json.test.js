import assert from "node:assert/strict";
import test from "node:test";
import { documents } from "../browser/support.mjs";
import { isStrongKey } from "../src/ed25519.js";
import { canonicalize, openDocument, parseJson } from "../src/index.js";

test("the canonical form is that of the outside vectors, and their signatures hold", async () => {
  for (const { document, payload } of documents.verdicts) {
    const { signature, ...rest } = document;
    assert.equal(canonicalize(rest), payload);
    assert.equal((await openDocument(JSON.stringify(document), [documents.key.public_key_base64])).signature, "valid");
    const changed = { ...document, outcome: "other" };
    assert.equal((await openDocument(JSON.stringify(changed), [documents.key.public_key_base64])).signature, "invalid");
    assert.equal(signature.length, 88);
  }
});

test("the examples of RFC 8785", () => {
  const text = '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"literals":[null,true,false]}';
  assert.equal(canonicalize(JSON.parse(text)), '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27]}');
  const names = { "\u20ac": 1, "\r": 2, "\ufb33": 3, 1: 4, "\u{1f600}": 5, "\u0080": 6, "\u00f6": 7 };
  assert.equal(canonicalize(names), '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\u{1f600}":5,"\ufb33":3}');
});

test("what two readers could take differently is refused", () => {
  const refused = {
    json_duplicate: ['{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '{"__proto__":1,"__proto__":2}'],
    json_surrogate: ['"\\ud800"', '{"\\udc00":1}'],
    json_unsafe_integer: ["9007199254740992", "1e20", "1e21", "-9007199254740993"],
    json_overflow: ["1e400"],
    json_bom: ["\ufeff1"],
    json_trailing: ["1 1", "{} x", "01", "1."],
    json_depth: ["[".repeat(40) + "]".repeat(40)],
    json_syntax: ["", "+1", ".5", "[1,]", "{,}", '{"a":1,}', "'a'", '"\t"', '"\\x"', "nul", "[1", "\u00a01", "NaN"],
  };
  for (const [code, texts] of Object.entries(refused)) {
    for (const text of texts) assert.throws(() => parseJson(text), { code }, JSON.stringify(text));
  }
  assert.throws(() => parseJson(Uint8Array.of(0x22, 0xff, 0x22)), { code: "json_utf8" });
  assert.equal(parseJson('{"__proto__":1}')["__proto__"], 1);
  assert.equal(parseJson('"\\ud83d\\ude00 \\n\\/"'), "\u{1f600} \n/");
});

test("weak and ill-spelled keys are none", () => {
  const bytes = (hex) => Uint8Array.from(hex.match(/../g), (pair) => parseInt(pair, 16));
  // RFC 8032 section 7.1, test 1.
  assert.equal(isStrongKey(bytes("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")), true);
  const weak = ["01" + "00".repeat(31), "ec" + "ff".repeat(30) + "7f", "00".repeat(32), "00".repeat(31) + "80",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa"];
  const spelled = ["ed" + "ff".repeat(30) + "7f", "ff".repeat(32), "02" + "00".repeat(31)];
  for (const hex of [...weak, ...spelled]) assert.equal(isStrongKey(bytes(hex)), false, hex);
});
