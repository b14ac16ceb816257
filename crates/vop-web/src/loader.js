// The playground's module of WebAssembly, for pages and workers. It is a classic script: pages that are opened from files may neither
// fetch nor load modules. `cargo xtask site` puts the module in place of VOP_WASM, compressed and in base64.
//
//   await vop.ready;
//   const answer = vop.answer({ ask: "file", name: "a.cu", text: "…" });
(() => {
  "use strict";
  const packed = "VOP_WASM";
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();

  let module = null;
  let exports = null;

  // The bytes of the module.
  async function unpacked() {
    const text = atob(packed);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).arrayBuffer();
  }

  const ready = (async () => {
    module = await WebAssembly.compile(await unpacked());
    exports = (await WebAssembly.instantiate(module, {})).exports;
  })();
  // Who awaits it hears of an error; nobody need.
  ready.catch(() => {});

  function text(start, length) {
    return decoder.decode(new Uint8Array(exports.memory.buffer, start >>> 0, length >>> 0));
  }

  // JSON has no halves of surrogate pairs. What stands for them is as long.
  function whole(_key, value) {
    return typeof value === "string" ? value.replace(/\p{Surrogate}/gu, "\ufffd") : value;
  }

  // After a trap nothing in the instance is sure: there is another for the next request.
  function failed(error) {
    let message = String(error && error.message || error);
    try {
      message = text(exports.vop_web_panic_start(), exports.vop_web_panic_length()) || message;
    } catch {
      // There is no message but the error's.
    }
    try {
      exports = new WebAssembly.Instance(module, {}).exports;
    } catch (refused) {
      // A browser may refuse large modules here, on the page's own thread.
      exports = null;
      WebAssembly.instantiate(module, {}).then((instance) => { exports = instance.exports; });
    }
    return { error: `this is a bug in vop: ${message}`, bug: true };
  }

  // The answer to a request, both as text.
  function exchange(request) {
    if (exports === null) return JSON.stringify({ error: "vop is not ready" });
    try {
      const bytes = encoder.encode(request);
      const start = exports.vop_web_allocate(bytes.length) >>> 0;
      new Uint8Array(exports.memory.buffer, start, bytes.length).set(bytes);
      exports.vop_web_answer();
      const answer = text(exports.vop_web_answer_start(), exports.vop_web_answer_length());
      exports.vop_web_release();
      return answer;
    } catch (error) {
      return JSON.stringify(failed(error));
    }
  }

  const answer = (request) => JSON.parse(exchange(JSON.stringify(request, whole)));

  globalThis.vop = { ready, answer, exchange };
})();
