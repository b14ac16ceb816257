// The grammar on PTX: every mnemonic has its scope, and each kind of word that of its kind.

import assert from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadWASM, OnigScanner, OnigString } from "vscode-oniguruma";
import { IGrammar, INITIAL, parseRawGrammar, Registry } from "vscode-textmate";

const ROOT = join(__dirname, "..", "..");
const REPOSITORY = join(ROOT, "..", "..");

async function grammar(scope: string): Promise<IGrammar> {
    const wasm = readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
    await loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength)).catch(() => undefined);
    const files: Record<string, string> = { "source.ptx": "ptx", "inline.ptx.asm": "asm.injection" };
    const registry = new Registry({
        onigLib: Promise.resolve({
            createOnigScanner: (sources) => new OnigScanner(sources),
            createOnigString: (text) => new OnigString(text),
        }),
        loadGrammar: async (name) => {
            const file = files[name] && join(ROOT, "syntaxes", `${files[name]}.tmLanguage.json`);
            return file ? parseRawGrammar(readFileSync(file, "utf8"), file) : null;
        },
    });
    const loaded = await registry.loadGrammar(scope);
    assert.ok(loaded !== null);
    return loaded;
}

/** The innermost scope of each word of a text. */
function scopes(grammar: IGrammar, text: string): Map<string, string> {
    const found = new Map<string, string>();
    let state = INITIAL;
    for (const line of text.split("\n")) {
        const { tokens, ruleStack } = grammar.tokenizeLine(line, state);
        state = ruleStack;
        for (const token of tokens) {
            const word = line.slice(token.startIndex, token.endIndex).trim();
            if (word && !found.has(word)) {
                found.set(word, token.scopes[token.scopes.length - 1]);
            }
        }
    }
    return found;
}

function mnemonics(): string[] {
    const rows = readFileSync(join(REPOSITORY, "crates/vop-lsp/src/reference.tsv"), "utf8").split("\n");
    const names = rows.map((row) => row.split("\t")).filter(([kind, name]) => kind === "instruction" && !name.includes("."));
    return names.map(([, name]) => name);
}

test("every mnemonic has a scope", async () => {
    const ptx = await grammar("source.ptx");
    const all = mnemonics();
    assert.ok(all.length > 100);
    for (const name of all) {
        assert.strictEqual(scopes(ptx, `    ${name}.x.u32 %r1, %r2;`).get(name), "keyword.mnemonic.ptx", name);
        assert.strictEqual(scopes(ptx, `@%p ${name};`).get(name), "keyword.mnemonic.ptx", name);
    }
    assert.strictEqual(scopes(ptx, "vadd4.u32.u32.u32 %r1, %r2.b0123, %r3, %r4;").get("vadd4"), "keyword.mnemonic.video.ptx");
    assert.notStrictEqual(scopes(ptx, "mov.u32 adder, sub1;").get("adder"), "keyword.mnemonic.ptx");
});

test("words of every kind", async () => {
    const ptx = await grammar("source.ptx");
    const text = [
        ".version 8.0 // first",
        ".visible .entry k(.param .u64 p)",
        "{",
        ".reg .b32 %r<4>;",
        "L: @!%p ld.global.L1::evict_last.v4.f32 {%r1}, [p+4];",
        "mov.u32 %r2, %tid.x; /* two",
        "lines */ mov.f32 f, 0f3f800000; bra 0x1F;",
        '.file 1 "a.cu"',
    ].join("\n");
    const found = scopes(ptx, text);
    const wanted: Record<string, string> = {
        ".version": "keyword.control.directive.ptx",
        ".entry": "storage.type.function.ptx",
        ".param": "storage.type.space.ptx",
        ".u64": "storage.type.ptx",
        L: "entity.name.label.ptx",
        "%p": "variable.other.predicate.ptx",
        "::evict_last": "support.type.modifier.ptx",
        ".v4": "storage.type.vector.ptx",
        "%r1": "variable.other.register.ptx",
        "%tid": "variable.language.special.ptx",
        "lines": "comment.block.ptx",
        "0f3f800000": "constant.numeric.float.ptx",
        "0x1F": "constant.numeric.integer.ptx",
    };
    for (const [word, scope] of Object.entries(wanted)) {
        assert.strictEqual(found.get(word), scope, `${word}: ${JSON.stringify([...found])}`);
    }
});

test("instructions of an example are coloured", async () => {
    const ptx = await grammar("source.ptx");
    const text = readFileSync(join(REPOSITORY, "examples/motion/motion.ptx"), "utf8");
    let opcodes = 0;
    let state = INITIAL;
    for (const line of text.split("\n")) {
        const { tokens, ruleStack } = ptx.tokenizeLine(line, state);
        state = ruleStack;
        // An instruction, with its guard: a word with a dot, or one of those that have none.
        const match = /^\s*(?:@!?\S+\s+)?([a-z][a-z0-9]*)(?=\.|;)/.exec(line);
        if (match === null || line.trim().startsWith("//")) {
            continue;
        }
        const start = line.indexOf(match[1], match[0].length - match[1].length);
        const token = tokens.find((one) => one.startIndex <= start && start < one.endIndex);
        assert.match(token?.scopes.at(-1) ?? "", /^keyword\.mnemonic\./, line);
        opcodes += 1;
    }
    assert.ok(opcodes > 20, `${opcodes}`);
});

test("opcodes in strings", async () => {
    const inline = await grammar("inline.ptx.asm");
    const found = scopes(inline, "vadd4.u32.u32.u32 %0, %1; add the water, or.b32 x; prmt.b32 %0");
    assert.strictEqual(found.get("vadd4"), "keyword.mnemonic.video.ptx");
    assert.strictEqual(found.get("prmt"), "keyword.mnemonic.ptx");
    assert.strictEqual(found.get("or"), "keyword.mnemonic.ptx");
    assert.strictEqual(found.get("add"), undefined);
});
