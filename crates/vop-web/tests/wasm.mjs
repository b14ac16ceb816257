// Asks the playground's module what requests.jsonl asks, and compares its answers with answers.jsonl, byte by byte.
//
//   node crates/vop-web/tests/wasm.mjs target/site/vop-wasm.js

import { readFileSync } from "node:fs";
import { runInThisContext } from "node:vm";

const lines = (name) => readFileSync(new URL(name, import.meta.url), "utf8").trimEnd().split("\n");

const script = process.argv[2];
if (script === undefined) {
  console.error("usage: node wasm.mjs vop-wasm.js");
  process.exit(2);
}
const started = performance.now();
runInThisContext(readFileSync(script, "utf8"), { filename: script });
await globalThis.vop.ready;
console.log(`ready after ${(performance.now() - started).toFixed(0)} ms`);

const requests = lines("requests.jsonl");
const answers = lines("answers.jsonl");
let failed = requests.length === answers.length ? 0 : 1;
const slowest = { time: 0, request: "" };
for (const [index, request] of requests.entries()) {
  const before = performance.now();
  const answer = globalThis.vop.exchange(request);
  const time = performance.now() - before;
  if (time > slowest.time) Object.assign(slowest, { time, request });
  if (answer !== answers[index]) {
    failed += 1;
    const expected = answers[index] ?? "";
    let at = 0;
    while (at < answer.length && answer[at] === expected[at]) at += 1;
    const around = (text) => text.slice(Math.max(0, at - 60), at + 60);
    console.error(`request ${index + 1}, ${request.slice(0, 60)}…: at character ${at}`);
    console.error(`  expected …${around(expected)}…\n  found    …${around(answer)}…`);
  }
}
console.log(`the slowest of ${requests.length} took ${slowest.time.toFixed(1)} ms: ${slowest.request.slice(0, 80)}`);
process.exit(failed > 0 ? 1 : 0);
