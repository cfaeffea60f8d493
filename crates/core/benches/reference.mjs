// The reference JavaScript client on the bytes of the bench `offer`, in one run with it.
//
//   node crates/core/benches/reference.mjs          speed: its decode and schema check beside our reading and grading
//   node crates/core/benches/reference.mjs buyer    what it does with each edit of an honest challenge
//
// Installs @x402/core and @x402/evm from npm into a temporary folder, never into the repository.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const VERSION = "2.27.0";
const PACKAGES = [`@x402/core@${VERSION}`, `@x402/evm@${VERSION}`, "viem@2"];
const here = dirname(fileURLToPath(import.meta.url));
const folder = join(tmpdir(), `countersign-reference-${VERSION}`);
const challenge = JSON.parse(readFileSync(join(here, "data/challenge.json"), "utf8"));
const encode = value => Buffer.from(JSON.stringify(value)).toString("base64");

function install() {
  if (existsSync(join(folder, "node_modules/@x402/evm"))) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"private":true,"type":"module"}');
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", ...PACKAGES], { cwd: folder, stdio: "ignore" });
}

async function load(name) {
  const require = createRequire(join(folder, "package.json"));
  return import(pathToFileURL(require.resolve(name)).href);
}

// Nanoseconds of one call: fastest, median and mean of 200 samples of 100 calls after a warm-up.
function measure(call) {
  for (let n = 0; n < 20_000; n++) call();
  const samples = Array.from({ length: 200 }, () => {
    const began = process.hrtime.bigint();
    for (let n = 0; n < 100; n++) call();
    return Number(process.hrtime.bigint() - began) / 100;
  });
  const mean = samples.reduce((sum, sample) => sum + sample, 0) / samples.length;
  samples.sort((a, b) => a - b);
  return { fastest: samples[0], median: samples[100], mean };
}

// The same of one row that divan printed.
function ours(table, name) {
  const columns = table.split("\n").find(line => line.includes(` ${name} `)).split(` ${name} `)[1].split("│");
  const nanoseconds = text => {
    const [value, unit] = text.trim().split(" ");
    return Number(value) * { ns: 1, "µs": 1e3, ms: 1e6 }[unit];
  };
  return { fastest: nanoseconds(columns[0]), median: nanoseconds(columns[2]), mean: nanoseconds(columns[3]) };
}

async function speed() {
  const { decodePaymentRequiredHeader } = await load("@x402/core/http");
  const { PaymentRequiredSchema } = await load("@x402/core/schemas");
  const tiers = Array.from({ length: 49 }, (_, nth) => ({ ...challenge.accepts[0], amount: String(10_000 + nth) }));
  const table = execFileSync("cargo", ["bench", "-q", "-p", "countersign-core", "--bench", "offer", "--", "--sample-size", "100"], { cwd: here, encoding: "utf8" });
  console.log(table);
  for (const [name, value] of [["one_challenge", challenge], ["sixteen_kib", { ...challenge, accepts: tiers }]]) {
    const header = encode(value);
    const theirs = measure(() => {
      if (!PaymentRequiredSchema.safeParse(decodePaymentRequiredHeader(header)).success) throw new Error("not its schema");
    });
    const mine = ours(table, name);
    for (const of of ["fastest", "median", "mean"]) {
      const [their, our] = [theirs[of], mine[of]].map(ns => `${(ns / 1e3).toFixed(1)} µs`);
      console.log(`${name} (${header.length} B), ${of}: reference ${their}, ours ${our}: ${(theirs[of] / mine[of]).toFixed(1)} times`);
    }
  }
}

// Edits of the only entry (or, after a slash, of the envelope), and what the client with default settings does.
const PAYEE = challenge.accepts[0].payTo;
const EDITS = {
  amount: ["1000000", "1000001", "0", "010000", "-5", "1e4", " 10000", "0.01", "$0.01", 10000, 10000.5],
  payTo: [PAYEE.toLowerCase(), `0x${"0".repeat(40)}`, challenge.accepts[0].asset, "walletaddress", PAYEE.replace("0x", "0X"), [PAYEE]],
  asset: ["USDC", "0x036CbD53842c5426634e7929541eC2318f3dCF7e", "0x1234567890123456789012345678901234567890"],
  maxTimeoutSeconds: ["60", "abc", 60.5, 0, -5, 3601, 315360000, null, undefined],
  network: ["base", "eip155:84532"],
  scheme: ["foo", "upto"],
  extra: [undefined, {}, { name: "US Dollar", version: "2" }, { name: "USD Coin", version: 2 }, { assetTransferMethod: "permit2" },
    { name: "USD Coin", version: "2", paymentFlow: "weekly" }, { name: "USD Coin", version: "2", paymentFlow: "upfront" }],
  "/resource": ["https://api.seller.example/paid", null, undefined],
  "/x402Version": ["2", 3, undefined],
  "/accepts": [[]],
};

async function buyer() {
  const { x402Client, x402HTTPClient } = await load("@x402/core/client");
  const { ExactEvmScheme } = await load("@x402/evm/exact/client");
  const { PaymentRequiredSchema } = await load("@x402/core/schemas");
  const { privateKeyToAccount } = await load("viem/accounts");
  const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
  for (const [edit, values] of Object.entries(EDITS)) for (const value of values) {
    const edited = structuredClone({ ...challenge, accepts: [challenge.accepts[0]] });
    const [object, member] = edit.startsWith("/") ? [edited, edit.slice(1)] : [edited.accepts[0], edit];
    object[member] = value;
    const client = new x402HTTPClient(new x402Client().register("eip155:*", new ExactEvmScheme(account)));
    const schema = PaymentRequiredSchema.safeParse(JSON.parse(JSON.stringify(edited))).success ? "ok  " : "fail";
    const outcome = await sign(client, encode(edited));
    console.log(`${schema} ${edit} ${JSON.stringify(value) ?? "absent"}: ${outcome}`);
  }
}

async function sign(client, header) {
  try {
    const required = client.getPaymentRequiredResponse(name => (name.toUpperCase() === "PAYMENT-REQUIRED" ? header : undefined), {});
    const { payload } = await client.createPaymentPayload(required);
    return `signs until ${payload.authorization?.validBefore ?? payload.permit2Authorization?.deadline}`;
  } catch (error) {
    return `refuses: ${String(error.message).split("\n")[0].slice(0, 100)}`;
  }
}

install();
await (process.argv[2] === "buyer" ? buyer() : speed());
