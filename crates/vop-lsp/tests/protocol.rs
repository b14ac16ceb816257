//! The server, asked by a client over a connection in memory.

use std::path::Path;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::unbounded;
use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};
use vop_lsp::settings::FileSettings;

struct Client {
    connection: Connection,
    server: JoinHandle<bool>,
    last: i32,
    /// What the server has told without being asked.
    told: Vec<Notification>,
    /// Answers that nobody has taken.
    answers: Vec<Response>,
}

/// What vop.toml would say: a folder of its own is left out, another one is broken.
fn configuration(path: &Path) -> Result<FileSettings, String> {
    let path = path.display().to_string();
    if path.contains("broken") {
        return Err("vop.toml:1:1: wrong".into());
    }
    Ok(FileSettings { excluded: path.contains("left_out"), ..FileSettings::default() })
}

impl Client {
    fn start() -> Client {
        // As over standard input and output: what is sent waits.
        let ((sender, receiver), (answers, answered)) = (unbounded(), unbounded());
        let server = Connection { sender: answers, receiver };
        let connection = Connection { sender, receiver: answered };
        let server = std::thread::spawn(move || vop_lsp::serve(&server, &configuration));
        Client { connection, server, last: 0, told: Vec::new(), answers: Vec::new() }
    }

    /// Started and initialized.
    fn new(capabilities: Value, options: Value) -> Client {
        let mut client = Client::start();
        client
            .ask("initialize", json!({ "capabilities": capabilities, "initializationOptions": options }))
            .expect("an answer");
        client.tell("initialized", json!({}));
        client
    }

    fn tell(&self, method: &str, params: Value) {
        self.connection.sender.send(Notification::new(method.into(), params).into()).expect("the server is there");
    }

    fn send(&mut self, method: &str, params: Value) -> RequestId {
        self.last += 1;
        let id = RequestId::from(self.last);
        self.connection
            .sender
            .send(Request::new(id.clone(), method.into(), params).into())
            .expect("the server is there");
        id
    }

    fn answer(&mut self, id: &RequestId) -> Result<Value, (i32, String)> {
        loop {
            if let Some(place) = self.answers.iter().position(|answer| answer.id == *id) {
                let answered = self.answers.remove(place).response_result;
                return answered.map_err(|error| (error.code, error.message));
            }
            self.receive();
        }
    }

    fn receive(&mut self) {
        match self.connection.receiver.recv_timeout(Duration::from_secs(60)).expect("a message") {
            Message::Response(response) => self.answers.push(response),
            Message::Notification(notification) => self.told.push(notification),
            // That hints be asked for again.
            Message::Request(request) => assert_eq!(request.method, "workspace/inlayHint/refresh"),
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Result<Value, (i32, String)> {
        let id = self.send(method, params);
        self.answer(&id)
    }

    fn open(&self, uri: &str, language: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn change(&self, uri: &str, version: i32, changes: Value) {
        let document = json!({ "uri": uri, "version": version });
        self.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
    }

    /// The next diagnostics, and the version that they are of.
    fn diagnostics(&mut self, uri: &str) -> (i64, Vec<Value>) {
        loop {
            let is_it =
                |one: &Notification| one.method == "textDocument/publishDiagnostics" && one.params["uri"] == uri;
            if let Some(place) = self.told.iter().position(is_it) {
                let params = self.told.remove(place).params;
                return (
                    params["version"].as_i64().unwrap_or(-1),
                    params["diagnostics"].as_array().cloned().unwrap_or_default(),
                );
            }
            self.receive();
        }
    }

    fn end(mut self) {
        self.ask("shutdown", Value::Null).expect("an answer");
        let after = self.ask("textDocument/hover", json!({})).expect_err("nothing follows `shutdown`");
        assert_eq!(after.0, -32600);
        self.tell("exit", Value::Null);
        assert!(self.server.join().expect("no panic"));
    }
}

fn position(line: u32, character: u32) -> Value {
    json!({ "line": line, "character": character })
}

const URI: &str = "file:///work/a.cu";

#[test]
fn life() {
    let mut client = Client::start();
    assert_eq!(client.ask("textDocument/hover", json!({})).expect_err("too early").0, -32002);
    client.tell("textDocument/didOpen", json!({ "ignored": true }));
    let answer = client.ask("initialize", json!({ "capabilities": {} })).expect("an answer");
    assert_eq!(answer["capabilities"]["positionEncoding"], "utf-16");
    assert_eq!(answer["capabilities"]["textDocumentSync"]["change"], 2);
    assert_eq!(client.ask("initialize", json!({ "capabilities": {} })).expect_err("twice").0, -32600);
    assert_eq!(client.ask("vop/unknown", json!({})).expect_err("unknown").0, -32601);
    assert_eq!(client.ask("textDocument/hover", json!({ "textDocument": 5 })).expect_err("no document").0, -32602);
    client.tell("$/unknown", json!({}));
    client.tell("textDocument/didChange", json!({ "textDocument": [] }));
    // A document that is not open, or of another language.
    let place = json!({ "textDocument": { "uri": URI }, "position": position(0, 0) });
    assert_eq!(client.ask("textDocument/hover", place.clone()), Ok(Value::Null));
    client.open("file:///work/notes.txt", "plaintext", "vadd4.u32");
    assert_eq!(client.ask("textDocument/hover", place), Ok(Value::Null));
    assert!(client.told.iter().any(|told| told.method == "window/logMessage"), "{:?}", client.told);
    client.end();
}

#[test]
fn exit_without_shutdown() {
    let client = Client::new(json!({}), Value::Null);
    client.tell("exit", Value::Null);
    assert!(!client.server.join().expect("no panic"));
    // A client that is gone.
    let Client { connection, server, .. } = Client::new(json!({}), Value::Null);
    drop(connection);
    assert!(!server.join().expect("no panic"));
}

/// Positions before and behind characters of several units, in both encodings, and changes in place.
#[test]
fn positions_and_changes() {
    let text = "/* ä𝄞 */ asm(\"vadd4.u32.u32.u32 %0, %1.b0, %2, %3;\" : \"=r\"(d) : \"r\"(a), \"r\"(b), \"r\"(c));";
    let byte = text.find(".b0").unwrap() as u32;
    for (encodings, unit) in [(json!(null), byte - 3), (json!(["utf-16", "utf-8"]), byte)] {
        let capabilities =
            if encodings.is_null() { json!({}) } else { json!({ "general": { "positionEncodings": encodings } }) };
        let mut client = Client::new(capabilities, Value::Null);
        client.open(URI, "cuda-cpp", text);
        let (version, found) = client.diagnostics(URI);
        assert_eq!((version, found.len()), (1, 1), "{found:?}");
        assert_eq!(found[0]["range"], json!({ "start": position(0, unit), "end": position(0, unit + 3) }));
        assert_eq!((found[0]["code"].as_str(), found[0]["severity"].as_u64()), (Some("V0304"), Some(1)));
        // The range is used as it was given; a second change sees what the first one left.
        client.change(
            URI,
            2,
            json!([
                { "range": { "start": position(0, unit + 3), "end": position(0, unit + 3) }, "text": "000" },
                { "range": { "start": position(0, 0), "end": position(0, 0) }, "text": "\n" },
            ]),
        );
        assert_eq!(client.diagnostics(URI), (2, Vec::new()));
        let hover = json!({ "textDocument": { "uri": URI }, "position": position(1, unit) });
        let hover = client.ask("textDocument/hover", hover).expect("an answer");
        assert!(hover["contents"]["value"].as_str().unwrap().contains("vadd4.u32.u32.u32 d, a.b0000, b, c"), "{hover}");
        client.tell("textDocument/didClose", json!({ "textDocument": { "uri": URI } }));
        assert_eq!(client.diagnostics(URI), (-1, Vec::new()));
        client.end();
    }
}

/// A request that is cancelled while it waits, and one whose document is changed behind it, are not computed.
#[test]
fn outdated_requests() {
    let mut client = Client::new(json!({}), Value::Null);
    // Long enough that what follows waits.
    let line = "asm(\"vadd4.u32.u32.u32 %0, %1, %2, %3;\" : \"=r\"(d) : \"r\"(a), \"r\"(b), \"r\"(c));\n";
    client.open(URI, "cuda-cpp", &line.repeat(2000));
    let whole = json!({ "start": position(0, 0), "end": position(3000, 0) });
    let hints = json!({ "textDocument": { "uri": URI }, "range": whole });
    let first = client.send("textDocument/inlayHint", hints.clone());
    let cancelled = client.send("textDocument/inlayHint", hints.clone());
    client.tell("$/cancelRequest", json!({ "id": cancelled }));
    let outdated = client.send("textDocument/inlayHint", hints.clone());
    client.change(URI, 2, json!([{ "text": line }]));
    let current = client.send("textDocument/inlayHint", hints);
    let answers: Vec<_> = [first, cancelled, outdated, current].iter().map(|id| client.answer(id)).collect();
    // The first one may have been begun before the others were there.
    match &answers[0] {
        Ok(hints) => assert_eq!(hints.as_array().unwrap().len(), 2000),
        Err((code, _)) => assert_eq!(*code, -32801),
    }
    // Unless it was computed already, when the server was faster than this test.
    assert!(matches!(&answers[1], Err((-32800 | -32801, _)) | Ok(_)), "{:?}", answers[1]);
    assert!(matches!(&answers[2], Err((-32801, _)) | Ok(_)), "{:?}", answers[2]);
    assert_eq!(answers[3].as_ref().unwrap().as_array().unwrap().len(), 1);
    let (version, _) = client.diagnostics(URI);
    assert!(version == 1 || version == 2);
    client.end();
}

#[test]
fn settings_and_configuration() {
    let mut client =
        Client::new(json!({ "workspace": { "inlayHint": { "refreshSupport": true } } }), json!({ "target": "sm_75" }));
    let text = "asm(\"vabsdiff4.u32.u32.u32.sat %0, %1, %2, %3;\" : \"=r\"(d) : \"r\"(a), \"r\"(b), \"r\"(c));";
    client.open(URI, "cuda-cpp", text);
    assert_eq!(client.diagnostics(URI).1[0]["code"], "V0702");
    let range = json!({ "start": position(0, 0), "end": position(9, 0) });
    let hints = json!({ "textDocument": { "uri": URI }, "range": range });
    let label = |answer: Value| answer[0]["label"].as_str().map(str::to_owned);
    assert!(label(client.ask("textDocument/inlayHint", hints.clone()).unwrap()).unwrap().ends_with("on sm_75"));
    client.tell(
        "workspace/didChangeConfiguration",
        json!({ "settings": { "vop": { "allow": ["V0702"], "target": "sm_12" } } }),
    );
    assert_eq!(client.diagnostics(URI).1, Vec::<Value>::new());
    assert!(
        client.told.iter().any(|told| told.method == "window/showMessage" && told.params.to_string().contains("sm_12"))
    );
    client.tell("workspace/didChangeConfiguration", json!({ "settings": { "vop": { "inlayHints": false } } }));
    assert_eq!(label(client.ask("textDocument/inlayHint", hints).unwrap()), None);
    client.open("file:///left_out/a.cu", "cuda-cpp", text);
    assert_eq!(client.diagnostics("file:///left_out/a.cu").1, Vec::<Value>::new());
    client.open("file:///broken/a.cu", "cuda-cpp", text);
    assert_eq!(client.diagnostics("file:///broken/a.cu").1.len(), 1);
    assert!(client.told.iter().any(|told| told.params.to_string().contains("vop.toml:1:1: wrong")));
    client.end();
}

#[test]
fn edits_as_the_client_wants_them() {
    let text = ".version 8.0\n.target sm_90\n.entry k()\n{\n.reg .b32 a, b, c, d;\nvadd4.u32.u32.u32 d, a.b0, b, c;\nvmin.u32.u32.u32 d, a, b;\nL: bra L;\n}\n";
    let uri = "file:///work/k.ptx";
    let at = |line, character| json!({ "textDocument": { "uri": uri }, "position": position(line, character) });
    let range = |line| json!({ "start": position(line, 1), "end": position(line, 1) });
    let actions = |only: Value, line| json!({ "textDocument": { "uri": uri }, "range": range(line), "context": { "diagnostics": [], "only": only } });
    // A client that can do little.
    let mut client = Client::new(json!({}), Value::Null);
    client.open(uri, "ptx", text);
    let kinds = |client: &mut Client, only: Value, line| -> Vec<String> {
        let answer = client.ask("textDocument/codeAction", actions(only, line)).expect("an answer");
        answer.as_array().unwrap().iter().map(|one| one["kind"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds(&mut client, Value::Null, 6), ["refactor.rewrite.lower"]);
    assert_eq!(kinds(&mut client, json!(["quickfix"]), 6), Vec::<String>::new());
    assert_eq!(kinds(&mut client, json!(["source.fixAll"]), 0), ["source.fixAll.vop"]);
    assert_eq!(kinds(&mut client, json!(["refactor"]), 6), ["refactor.rewrite.lower"]);
    let mut rename = at(7, 0);
    rename["newName"] = json!("again");
    let edit = client.ask("textDocument/rename", rename.clone()).expect("an answer");
    assert_eq!(edit["changes"][uri].as_array().map(Vec::len), Some(2), "{edit}");
    rename["newName"] = json!("no name");
    let (code, why) = client.ask("textDocument/rename", rename).expect_err("it is none");
    assert!(code == -32803 && why.contains("is no name"), "{code} {why}");
    let symbols = client.ask("textDocument/documentSymbol", at(0, 0)).expect("an answer");
    assert_eq!(symbols[1]["containerName"], "k");
    client.end();
    // One that can do everything.
    let workspace = json!({ "workspaceEdit": { "documentChanges": true, "resourceOperations": ["create"] } });
    let document = json!({
        "codeAction": { "disabledSupport": true }, "hover": { "contentFormat": ["plaintext"] },
        "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
    });
    let mut client =
        Client::new(json!({ "workspace": workspace, "textDocument": document }), json!({ "target": "sm_75" }));
    client.open(uri, "ptx", text);
    let answer = client.ask("textDocument/codeAction", actions(Value::Null, 6)).expect("an answer");
    // The module is for sm_90.
    assert!(answer[0]["disabled"]["reason"].as_str().unwrap().contains("does not run on sm_75"), "{answer}");
    assert_eq!(answer[1]["edit"]["documentChanges"][0]["kind"], "create");
    assert!(answer[1]["edit"]["documentChanges"][0]["uri"].as_str().unwrap().starts_with("file:///work/vmin"));
    let fix = client.ask("textDocument/codeAction", json!({
        "textDocument": { "uri": uri }, "range": { "start": position(5, 20), "end": position(5, 24) }, "context": { "diagnostics": [] },
    }));
    let fix = fix.expect("an answer");
    assert_eq!(
        (fix[0]["isPreferred"].as_bool(), fix[0]["diagnostics"][0]["code"].as_str()),
        (Some(true), Some("V0304"))
    );
    assert_eq!(fix[0]["edit"]["documentChanges"][0]["textDocument"]["version"], 1);
    let hover = client.ask("textDocument/hover", at(7, 4)).expect("an answer");
    assert_eq!(hover["contents"]["kind"], "plaintext");
    let prepared = client.ask("textDocument/prepareRename", at(7, 7)).expect("an answer");
    assert_eq!(prepared["placeholder"], "L");
    let tokens = client.ask("textDocument/semanticTokens/full", at(0, 0)).expect("an answer");
    assert_eq!(tokens["data"].as_array().unwrap()[..5], [json!(0), json!(0), json!(8), json!(3), json!(0)]);
    let port = json!({ "command": "vop.port", "arguments": ["vadd4.u32.u32.u32", "rust"] });
    let function = client.ask("workspace/executeCommand", port).expect("an answer");
    assert!(
        function["name"] == "vadd4_u32_u32_u32.rs" && function["text"].as_str().unwrap().contains("const fn"),
        "{function}"
    );
    let wrong = json!({ "command": "vop.port", "arguments": ["vadd9", "rust"] });
    assert_eq!(client.ask("workspace/executeCommand", wrong).expect_err("no instruction").0, -32803);
    client.end();
}
