// The server through the protocol's own client library, as an editor talks to it: the real `vop lsp`, without a window.

import assert from "node:assert";
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
    CodeAction,
    CodeActionRequest,
    CompletionList,
    CompletionRequest,
    createProtocolConnection,
    DefinitionRequest,
    DidChangeTextDocumentNotification,
    DidOpenTextDocumentNotification,
    DocumentSymbolRequest,
    ExitNotification,
    FoldingRangeRequest,
    Hover,
    HoverRequest,
    InitializedNotification,
    InitializeRequest,
    InlayHintRequest,
    Location,
    MarkupContent,
    Position,
    ProtocolConnection,
    PublishDiagnosticsNotification,
    PublishDiagnosticsParams,
    ReferencesRequest,
    RenameRequest,
    SemanticTokensRequest,
    ShutdownRequest,
    SignatureHelpRequest,
    WorkspaceEdit,
} from "vscode-languageserver-protocol/node";

const REPOSITORY = join(__dirname, "..", "..", "..", "..");
const builds = ["debug", "release"].map((profile) => join(REPOSITORY, "target", profile, "vop"));
const VOP = process.env.VOP ?? builds.find((path) => existsSync(path)) ?? "vop";

const URI = "file:///work/kernel.ptx";
const TEXT = `.version 8.0
.target sm_90
.visible .entry k(.param .u64 p)
{
    .reg .b32 %r<4>;
    // ä 𝄞
    /* 𝄞 */ vadd4.u32.u32.u32 %r1, %r2.b0, %r3, %r1;
L:
    vmin.u32.u32.u32 %r1, %r2, %r3;
    bra L;
}
`;

let connection: ProtocolConnection;
let ended: Promise<number | null>;
const published: PublishDiagnosticsParams[] = [];
let wake: (() => void) | undefined;

function position(needle: string, within = 0): Position {
    const offset = TEXT.indexOf(needle) + within;
    assert.ok(TEXT.includes(needle), needle);
    const lines = TEXT.slice(0, offset).split("\n");
    return { line: lines.length - 1, character: lines[lines.length - 1].length };
}

function at(needle: string, within = 0) {
    return { textDocument: { uri: URI }, position: position(needle, within) };
}

async function diagnostics(version: number): Promise<PublishDiagnosticsParams> {
    for (;;) {
        const found = published.find((one) => one.version === version);
        if (found !== undefined) {
            return found;
        }
        await new Promise<void>((resolve) => (wake = resolve));
    }
}

before(async () => {
    assert.strictEqual(spawnSync(VOP, ["--version"]).status, 0, `${VOP} must be there: build it, or set VOP`);
    const server = spawn(VOP, ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
    ended = new Promise((resolve) => server.on("exit", resolve));
    connection = createProtocolConnection(server.stdout, server.stdin);
    connection.onNotification(PublishDiagnosticsNotification.type, (params) => {
        published.push(params);
        wake?.();
    });
    connection.listen();
    const { capabilities } = await connection.sendRequest(InitializeRequest.type, {
        processId: process.pid,
        rootUri: null,
        capabilities: { workspace: { workspaceEdit: { documentChanges: true, resourceOperations: ["create"] } } },
        initializationOptions: { target: "sm_90", portTo: ["rust"] },
    });
    assert.strictEqual(capabilities.positionEncoding, "utf-16");
    await connection.sendNotification(InitializedNotification.type, {});
    await connection.sendNotification(DidOpenTextDocumentNotification.type, {
        textDocument: { uri: URI, languageId: "ptx", version: 1, text: TEXT },
    });
});

after(async () => {
    await connection.sendRequest(ShutdownRequest.type);
    await connection.sendNotification(ExitNotification.type);
    assert.strictEqual(await ended, 0);
    connection.dispose();
});

test("diagnostics stand at UTF-16 positions and have a version", async () => {
    const { diagnostics: found } = await diagnostics(1);
    assert.strictEqual(found.length, 1);
    assert.deepStrictEqual(found[0].range.start, position(".b0"));
    assert.strictEqual(found[0].source, "vop");
});

test("hover", async () => {
    const video = (await connection.sendRequest(HoverRequest.type, at("vmin"))) as Hover;
    assert.match((video.contents as MarkupContent).value, /machine instructions? on sm_90/);
    const base = (await connection.sendRequest(HoverRequest.type, at("bra"))) as Hover;
    assert.match((base.contents as MarkupContent).value, /9\.7\.12 Control Flow/);
});

test("completion and signature help", async () => {
    const list = (await connection.sendRequest(CompletionRequest.type, at("vmin.u32.", 9))) as CompletionList;
    assert.deepStrictEqual(list.items.map((item) => item.label), [".u32", ".s32"]);
    const help = await connection.sendRequest(SignatureHelpRequest.type, at("%r2, %r3;\n    bra", 2));
    assert.strictEqual(help?.activeParameter, 6);
});

test("names", async () => {
    const definition = (await connection.sendRequest(DefinitionRequest.type, at("L;"))) as Location;
    assert.deepStrictEqual(definition.range.start, position("L:"));
    const references = await connection.sendRequest(ReferencesRequest.type, {
        ...at("L:"),
        context: { includeDeclaration: true },
    });
    assert.strictEqual(references?.length, 2);
    const edit = (await connection.sendRequest(RenameRequest.type, { ...at("L:"), newName: "again" })) as WorkspaceEdit;
    assert.strictEqual(edit.documentChanges?.length, 1);
    await assert.rejects(connection.sendRequest(RenameRequest.type, { ...at("%r1,"), newName: "%x" }), /one of the registers/);
});

test("code actions", async () => {
    const ask = async (needle: string) => {
        const range = { start: position(needle), end: position(needle) };
        const context = { diagnostics: [] };
        return (await connection.sendRequest(CodeActionRequest.type, {
            textDocument: { uri: URI },
            range,
            context,
        })) as CodeAction[];
    };
    const [fix] = await ask(".b0");
    assert.ok(fix.isPreferred && fix.kind === "quickfix" && fix.title.startsWith("Write"));
    const kinds = (await ask("vmin")).map((action) => action.kind);
    assert.deepStrictEqual(kinds, ["refactor.rewrite.lower", "refactor.extract.port"]);
});

test("the whole document", async () => {
    const textDocument = { uri: URI };
    const symbols = await connection.sendRequest(DocumentSymbolRequest.type, { textDocument });
    assert.ok(symbols?.some((symbol) => symbol.name === "k"));
    const folds = await connection.sendRequest(FoldingRangeRequest.type, { textDocument });
    assert.deepStrictEqual(folds?.map((fold) => [fold.startLine, fold.endLine]), [[2, 9]]);
    const tokens = await connection.sendRequest(SemanticTokensRequest.type, { textDocument });
    assert.ok(tokens && tokens.data.length % 5 === 0 && tokens.data.length > 100);
    const range = { start: { line: 0, character: 0 }, end: { line: 99, character: 0 } };
    const hints = await connection.sendRequest(InlayHintRequest.type, { textDocument, range });
    assert.strictEqual(hints?.length, 1);
});

test("a change is judged again", async () => {
    const start = position(".b0");
    await connection.sendNotification(DidChangeTextDocumentNotification.type, {
        textDocument: { uri: URI, version: 2 },
        contentChanges: [{ range: { start, end: { line: start.line, character: start.character + 3 } }, text: "" }],
    });
    assert.deepStrictEqual((await diagnostics(2)).diagnostics, []);
});
