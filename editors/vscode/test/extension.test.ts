// The extension with a stand-in for the editor's API: it starts the real server and registers what the server offers.

import assert from "node:assert";
import { existsSync } from "node:fs";
import Module from "node:module";
import { join } from "node:path";
import { test } from "node:test";

const REPOSITORY = join(__dirname, "..", "..", "..", "..");
const builds = ["debug", "release"].map((profile) => join(REPOSITORY, "target", profile, "vop"));
const VOP = process.env.VOP ?? builds.find((path) => existsSync(path)) ?? "vop";

const registered: string[] = [];
const errors: string[] = [];

class EventEmitter {
    event = () => new Disposable();
    fire() {}
    dispose() {}
}

class Disposable {
    dispose() {}
}

/** An object of which every unknown member is a function that gives something to dispose of. */
function lenient(known: Record<string, unknown>, note?: string[]): unknown {
    return new Proxy(known, {
        get: (target, name) =>
            name in target
                ? target[name as string]
                : () => {
                      note?.push(String(name));
                      return new Disposable();
                  },
    });
}

/** Something that can be called, constructed and asked for members, and means nothing. */
function anything(): unknown {
    return new Proxy(function () {}, {
        get: (target, name) => {
            if (name === "prototype") {
                return target.prototype;
            }
            return typeof name === "symbol" || name === "then" ? undefined : anything();
        },
        apply: () => anything(),
        construct: () => ({}),
    });
}

const known: Record<string, unknown> = {
    EventEmitter,
    Disposable,
    version: "1.91.0",
    env: { language: "en", appName: "stand-in" },
    workspace: lenient({
        getConfiguration: () => ({ get: (name: string) => (name === "path" ? VOP : undefined) }),
        workspaceFolders: undefined,
        textDocuments: [],
        notebookDocuments: [],
    }),
    window: lenient({
        visibleTextEditors: [],
        createOutputChannel: () => lenient({ appendLine: (line: string) => errors.push(line) }),
        showErrorMessage: async (why: string) => void errors.push(why),
    }),
    languages: lenient({ createDiagnosticCollection: () => lenient({}), match: () => 0 }, registered),
    commands: {
        registerCommand: (name: string) => {
            registered.push(name);
            return new Disposable();
        },
    },
};

test("it starts the server and registers what that offers", async () => {
    const loader = Module as unknown as { _load: (name: string, ...rest: unknown[]) => unknown };
    const load = loader._load;
    const editor = new Proxy(known, { get: (target, name) => (name in target ? target[name as string] : anything()) });
    loader._load = (name, ...rest) => (name === "vscode" ? Object.create(editor) : load.call(loader, name, ...rest));
    const extension = await import("../src/extension.js");
    await extension.activate({ subscriptions: [] } as never);
    await extension.deactivate();
    loader._load = load;
    assert.deepStrictEqual(errors, []);
    for (const name of ["vop.restart", "vop.portInstruction", "registerHoverProvider", "registerCompletionItemProvider",
        "registerRenameProvider", "registerInlayHintsProvider", "registerDocumentSemanticTokensProvider"]) {
        assert.ok(registered.includes(name), `${name}: ${registered.join(" ")}`);
    }
});
