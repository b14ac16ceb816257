//! `vop lsp`, the command itself, over its standard input and output.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

struct Server {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start() -> Server {
        let mut process = Command::new(env!("CARGO_BIN_EXE_vop"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let input = process.stdin.take().expect("it is piped");
        let output = BufReader::new(process.stdout.take().expect("it is piped"));
        Server { process, input, output }
    }

    fn write(&mut self, body: &str) {
        write!(self.input, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("it reads");
        self.input.flush().expect("it reads");
    }

    fn send(&mut self, message: Value) {
        self.write(&message.to_string());
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.output.read_line(&mut line).expect("a header");
            match line.trim_end().strip_prefix("Content-Length: ") {
                Some(number) => length = number.parse().expect("a number"),
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).expect("a message");
        serde_json::from_slice(&body).expect("JSON")
    }

    fn ask(&mut self, id: i32, method: &str, params: Value) -> Value {
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
        }
    }
}

#[test]
fn an_editor_s_session() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("vop.toml"), "targets = [\"sm_75\"]\nallow = [\"V0702\"]\n")
        .expect("it is written");
    let uri = format!("file://{}/a.cu", folder.path().display());
    let text = "asm(\"vabsdiff4.u32.u32.u32.sat %0, %1, %2.b0, %3;\" : \"=r\"(d) : \"r\"(a), \"r\"(b), \"r\"(c));";
    let mut server = Server::start();
    // What is no JSON has an answer, and so has what is no message; the server goes on.
    server.write("{\"jsonrpc\": ");
    let answer = server.receive();
    assert_eq!((answer["id"].clone(), answer["error"]["code"].as_i64()), (Value::Null, Some(-32700)));
    server.write("{\"jsonrpc\": \"2.0\", \"id\": 7}");
    assert_eq!(server.receive()["error"]["code"], -32600);
    let answer =
        server.ask(1, "initialize", json!({ "capabilities": { "general": { "positionEncodings": ["utf-8"] } } }));
    assert_eq!(answer["result"]["capabilities"]["positionEncoding"], "utf-8");
    let document = json!({ "uri": uri, "languageId": "cuda-cpp", "version": 3, "text": text });
    server.send(json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }));
    server.send(json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": { "textDocument": document } }));
    let published = server.receive();
    assert_eq!(published["method"], "textDocument/publishDiagnostics");
    assert_eq!(
        (published["params"]["version"].as_i64(), published["params"]["uri"].as_str()),
        (Some(3), Some(uri.as_str()))
    );
    let codes: Vec<&str> = published["params"]["diagnostics"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|one| one["code"].as_str())
        .collect();
    assert_eq!(codes, ["V0304"]);
    // Without the fault the lint would be there, which vop.toml allows; the cost is of its target.
    let start = text.find(".b0").expect("it is there");
    let range = json!({ "start": { "line": 0, "character": start }, "end": { "line": 0, "character": start + 3 } });
    server.send(json!({ "jsonrpc": "2.0", "method": "textDocument/didChange", "params": {
        "textDocument": { "uri": uri, "version": 4 }, "contentChanges": [{ "range": range, "text": "" }],
    } }));
    let published = server.receive();
    assert_eq!(
        (published["params"]["version"].as_i64(), published["params"]["diagnostics"].clone()),
        (Some(4), json!([]))
    );
    let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9, "character": 0 } });
    let hints = server.ask(2, "textDocument/inlayHint", json!({ "textDocument": { "uri": uri }, "range": whole }));
    assert!(hints["result"][0]["label"].as_str().expect("a label").ends_with("on sm_75"), "{hints}");
    assert_eq!(server.ask(3, "shutdown", Value::Null)["result"], Value::Null);
    server.send(json!({ "jsonrpc": "2.0", "method": "exit" }));
    assert!(server.process.wait().expect("it ends").success());
}

/// A client that goes away without a word.
#[test]
fn closed_input() {
    let Server { mut process, input, .. } = Server::start();
    drop(input);
    assert_eq!(process.wait().expect("it ends").code(), Some(1));
}
