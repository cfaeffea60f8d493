// Judges every case of a file in headless Chromium: a loopback server gives the page its modules and takes its verdict.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { casesFile, mlDsa44, report } from "./support.mjs";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const PAGE = `<!doctype html><script type="importmap">{"imports": {
  "@noble/hashes/": "/sdk/js/node_modules/@noble/hashes/", "@noble/curves/": "/sdk/js/node_modules/@noble/curves/",
  "@noble/post-quantum/": "/sdk/js/node_modules/@noble/post-quantum/"}}</script><script type="module">
const tell = (verdict) => fetch("/verdict", {method: "POST", body: JSON.stringify(verdict)});
try {
  const {judgeAll} = await import("/sdk/js/browser/judge.mjs");
  const receipts = await (await fetch("/cases.json")).json();
  const wrong = await judgeAll(receipts, undefined);
  if (location.search === "?pq") {
    const {ml_dsa44} = await import("@noble/post-quantum/ml-dsa.js");
    wrong.push(...await judgeAll(receipts, (ask) => ml_dsa44.verify(ask.signature, ask.message, ask.publicKey)));
  }
  await tell({cases: receipts.cases.length, wrong});
} catch (error) { await tell({cases: 0, wrong: [String(error?.stack ?? error)]}); }
</script>`;

const browser = ["chromium", "chromium-browser", "google-chrome"].find((name) => spawnSync(name, ["--version"]).status === 0);
if (!browser) {
  console.log("skipped: no Chromium here, so receipts are not judged in a browser");
  process.exit(4);
}

const type = (path) => (/\.m?js$/.test(path) ? "text/javascript" : "application/json");

function answer(request, response, told) {
  const { pathname } = new URL(request.url, "http://localhost");
  if (request.method === "POST") {
    let body = "";
    request.on("data", (part) => (body += part));
    request.on("end", () => (response.end(), told(JSON.parse(body))));
    return;
  }
  if (pathname === "/") return response.writeHead(200, { "content-type": "text/html" }).end(PAGE);
  try {
    const bytes = readFileSync(pathname === "/cases.json" ? casesFile() : join(ROOT, normalize(pathname)));
    response.writeHead(200, { "content-type": type(pathname) }).end(bytes);
  } catch {
    response.writeHead(404).end();
  }
}

const profile = mkdtempSync(join(tmpdir(), "countersign-browser-"));
const pq = (await mlDsa44()) !== undefined;
const verdict = await new Promise((resolve) => {
  const server = createServer((request, response) => answer(request, response, finish)).listen(0, "127.0.0.1", () => {
    const url = `http://127.0.0.1:${server.address().port}/${pq ? "?pq" : ""}`;
    child = spawn(browser, [...FLAGS, `--user-data-dir=${profile}`, "--remote-debugging-port=0", url], { stdio: "ignore" });
  });
  let child;
  const late = setTimeout(() => finish({ cases: 0, wrong: ["the browser did not answer in two minutes"] }), 120_000);
  function finish(said) {
    clearTimeout(late);
    child.once("exit", () => resolve(said));
    child.kill();
    server.closeAllConnections();
    server.close();
  }
});
try {
  rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
} catch {
  // A child of the browser still writes there; a temporary folder that stays is no verdict on a receipt.
}
process.exit(report("Chromium", verdict, pq));
