// Starts `vop lsp` and hands it the settings. All else is the server's.

import * as vscode from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

const LANGUAGES = ["ptx", "cuda-cpp", "cuda", "cpp", "c", "opencl", "python", "rust", "llvm", "mlir", "julia", "go", "d", "zig", "nim"];

let client: LanguageClient | undefined;

function settings(): Record<string, unknown> {
    const all = vscode.workspace.getConfiguration("vop");
    const names = ["target", "semantics", "level", "allow", "inlayHints", "portTo"];
    return Object.fromEntries(names.map((name) => [name, all.get(name)]));
}

async function start(): Promise<void> {
    const command = vscode.workspace.getConfiguration("vop").get<string>("path") || "vop";
    const server: ServerOptions = { command, args: ["lsp"] };
    const options: LanguageClientOptions = {
        documentSelector: LANGUAGES.flatMap((language) => [
            { scheme: "file", language },
            { scheme: "untitled", language },
        ]),
        initializationOptions: settings(),
        outputChannelName: "vop",
    };
    client = new LanguageClient("vop", "vop", server, options);
    try {
        await client.start();
    } catch (error) {
        client = undefined;
        const why = error instanceof Error ? error.message : String(error);
        const chosen = await vscode.window.showErrorMessage(`vop: \`${command} lsp\` does not start: ${why}`, "Set the path");
        if (chosen !== undefined) {
            await vscode.commands.executeCommand("workbench.action.openSettings", "vop.path");
        }
    }
}

async function stop(): Promise<void> {
    const running = client;
    client = undefined;
    await running?.stop();
}

/** Asks for an instruction and a language, and shows the function. */
async function port(): Promise<void> {
    if (client === undefined) {
        return;
    }
    const editor = vscode.window.activeTextEditor;
    const selected = editor?.document.getText(editor.selection) ?? "";
    const instruction = await vscode.window.showInputBox({
        prompt: "The instruction, with or without operands",
        value: selected || "vadd4.u32.u32.u32",
    });
    if (instruction === undefined) {
        return;
    }
    const languages: string[] =
        vscode.extensions.getExtension("vop.vop-ptx")?.packageJSON.contributes.configuration.properties["vop.portTo"].items.enum ?? [];
    const language = await vscode.window.showQuickPick(languages, { placeHolder: "The language" });
    if (language === undefined) {
        return;
    }
    try {
        const answer = await client.sendRequest<{ name: string; text: string }>("workspace/executeCommand", {
            command: "vop.port",
            arguments: [instruction, language],
        });
        const document = await vscode.workspace.openTextDocument({ content: answer.text });
        await vscode.window.showTextDocument(document);
    } catch (error) {
        await vscode.window.showErrorMessage(`vop: ${error instanceof Error ? error.message : String(error)}`);
    }
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
    context.subscriptions.push(
        vscode.commands.registerCommand("vop.restart", async () => {
            await stop();
            await start();
        }),
        vscode.commands.registerCommand("vop.portInstruction", port),
        vscode.workspace.onDidChangeConfiguration(async (event) => {
            if (event.affectsConfiguration("vop.path")) {
                await stop();
                await start();
            } else if (event.affectsConfiguration("vop")) {
                await client?.sendNotification("workspace/didChangeConfiguration", { settings: { vop: settings() } });
            }
        }),
    );
    await start();
}

export async function deactivate(): Promise<void> {
    await stop();
}
