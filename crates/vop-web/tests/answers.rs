//! The requests of requests.jsonl, one a line, have the answers of answers.jsonl. tests/wasm.mjs asks the module of WebAssembly the same.
//! `VOP_BLESS=1` writes the answers.

use std::path::Path;

#[test]
fn requests_have_their_answers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
    let requests = read("requests.jsonl");
    let answers: Vec<String> = requests.lines().map(vop_web::answer).collect();
    assert!(answers.len() >= 40, "{} requests", answers.len());
    if std::env::var_os("VOP_BLESS").is_some() {
        std::fs::write(folder.join("answers.jsonl"), answers.join("\n") + "\n").expect("the answers are written");
        return;
    }
    let expected = read("answers.jsonl");
    let mut expected = expected.lines();
    for (request, answer) in requests.lines().zip(&answers) {
        let request = request.chars().take(200).collect::<String>();
        assert_eq!(expected.next(), Some(answer.as_str()), "{request}");
    }
    assert_eq!(expected.next(), None, "an answer without a request");
}
