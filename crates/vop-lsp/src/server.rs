//! The protocol: messages to questions, answers to messages.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crossbeam_channel::Sender;
use gen_lsp_types as lsp;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use vop::{Edit, Severity};

use crate::actions::{self, Action, Effect};
use crate::completion::{self, ItemKind};
use crate::document::{self, Document};
use crate::position::Encoding;
use crate::settings::{FileSettings, Settings};
use crate::symbols::{self, Symbol};
use crate::tokens::TokenType;
use crate::{cost, diagnostics, folding, hints, hover, names, signature, tokens};

/// What the configuration of a file says, or why it cannot be read.
pub type Configuration<'c> = &'c dyn Fn(&Path) -> Result<FileSettings, String>;

/// Serves a client until it says `exit`, or is gone. The answer is whether it has said `shutdown` before.
///
/// Diagnostics are published when no other message waits, so that those of a text are not computed while the next one is there. A request
/// that is cancelled, or whose document has been changed since, is answered with an error and not computed.
pub fn serve(connection: &Connection, configuration: Configuration<'_>) -> bool {
    let mut server = Server {
        sender: &connection.sender,
        configuration,
        state: State::New,
        client: Client::default(),
        documents: HashMap::new(),
        settings: Settings::default(),
        stale: VecDeque::new(),
        complaints: HashSet::new(),
        requests: 0,
    };
    let mut waiting: VecDeque<Message> = VecDeque::new();
    loop {
        if waiting.is_empty() && server.stale.is_empty() {
            match connection.receiver.recv() {
                Ok(message) => server.take(message, &mut waiting),
                Err(_) => return server.state == State::ShutDown,
            }
        }
        while let Ok(message) = connection.receiver.try_recv() {
            server.take(message, &mut waiting);
        }
        match waiting.pop_front() {
            Some(Message::Request(request)) => server.request(request, &waiting),
            Some(Message::Notification(notification)) if notification.method == "exit" => {
                return server.state == State::ShutDown;
            }
            Some(Message::Notification(notification)) => server.notification(notification),
            Some(Message::Response(_)) => {}
            None => server.publish_next(),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    New,
    Running,
    ShutDown,
}

/// What the client can do.
#[derive(Default, Debug)]
struct Client {
    encoding: Encoding,
    plain_hover: bool,
    disabled_actions: bool,
    new_files: bool,
    versioned_edits: bool,
    flat_symbols: bool,
    refreshes_hints: bool,
}

struct Open {
    document: Document,
    version: i32,
    file: FileSettings,
}

struct Server<'c> {
    sender: &'c Sender<Message>,
    configuration: Configuration<'c>,
    state: State,
    client: Client,
    documents: HashMap<String, Open>,
    settings: Settings,
    /// The documents whose diagnostics are to be published.
    stale: VecDeque<String>,
    /// What has been said about settings.
    complaints: HashSet<String>,
    /// The requests that were sent to the client.
    requests: i32,
}

/// Why a request has no answer.
struct Refusal {
    code: ErrorCode,
    why: String,
}

impl Refusal {
    fn new(code: ErrorCode, why: impl Into<String>) -> Refusal {
        Refusal { code, why: why.into() }
    }
}

type Answer = Result<Value, Refusal>;

fn read<T: DeserializeOwned>(params: Value) -> Result<T, Refusal> {
    serde_json::from_value(params).map_err(|why| Refusal::new(ErrorCode::InvalidParams, why.to_string()))
}

fn answer<T: Serialize>(value: T) -> Answer {
    serde_json::to_value(value).map_err(|why| Refusal::new(ErrorCode::InternalError, why.to_string()))
}

/// The document that a message is about.
fn uri_of(params: &Value) -> Option<&str> {
    params.get("textDocument")?.get("uri")?.as_str()
}

impl Server<'_> {
    fn send(&self, message: impl Into<Message>) {
        // If the client is gone, the loop ends by itself.
        let _ = self.sender.send(message.into());
    }

    fn respond(&self, id: RequestId, answer: Answer) {
        let response = match answer {
            Ok(value) => Response { id, response_result: Ok(value) },
            Err(Refusal { code, why }) => Response::new_err(id, code as i32, why),
        };
        self.send(response);
    }

    fn notify(&self, method: &str, params: impl Serialize) {
        self.send(Notification::new(method.into(), params));
    }

    /// Puts a message behind those that wait; one that cancels a request that waits is carried out at once.
    fn take(&self, message: Message, waiting: &mut VecDeque<Message>) {
        if let Message::Notification(notification) = &message
            && notification.method == "$/cancelRequest"
        {
            let id = notification.params.get("id").cloned().unwrap_or_default();
            let id = serde_json::from_value::<RequestId>(id).ok();
            let is_it = |one: &Message| matches!(one, Message::Request(request) if Some(&request.id) == id.as_ref());
            if let (Some(place), Some(id)) = (waiting.iter().position(is_it), id.clone()) {
                waiting.remove(place);
                self.respond(id, Err(Refusal::new(ErrorCode::RequestCanceled, "cancelled")));
            }
            return;
        }
        waiting.push_back(message);
    }

    fn request(&mut self, request: Request, waiting: &VecDeque<Message>) {
        let Request { id, method, params } = request;
        let answer = match (self.state, method.as_str()) {
            (State::New, "initialize") => self.initialize(params),
            (State::New, _) => Err(Refusal::new(ErrorCode::ServerNotInitialized, "`initialize` comes first")),
            (State::Running, "initialize") => Err(Refusal::new(ErrorCode::InvalidRequest, "it is initialized already")),
            (State::Running, "shutdown") => {
                self.state = State::ShutDown;
                Ok(Value::Null)
            }
            (State::ShutDown, _) => Err(Refusal::new(ErrorCode::InvalidRequest, "only `exit` follows `shutdown`")),
            (State::Running, method) => {
                let changes = |message: &Message| match (message, uri_of(&params)) {
                    (Message::Notification(change), Some(uri)) => {
                        change.method == "textDocument/didChange" && uri_of(&change.params) == Some(uri)
                    }
                    _ => false,
                };
                if waiting.iter().any(changes) {
                    Err(Refusal::new(ErrorCode::ContentModified, "the document has been changed"))
                } else {
                    let answered = catch_unwind(AssertUnwindSafe(|| self.asked(method, params)));
                    answered.unwrap_or_else(|panic| {
                        Err(Refusal::new(ErrorCode::InternalError, format!("a bug in vop: {}", words_of(&*panic))))
                    })
                }
            }
        };
        self.respond(id, answer);
    }

    fn notification(&mut self, notification: Notification) {
        if self.state != State::Running {
            return;
        }
        let Notification { method, params } = notification;
        let done = catch_unwind(AssertUnwindSafe(|| self.told(&method, params)));
        let why = match done {
            Ok(Ok(())) => return,
            Ok(Err(refusal)) => format!("{method}: {}", refusal.why),
            Err(panic) => format!("{method}: a bug in vop: {}", words_of(&*panic)),
        };
        self.notify("window/logMessage", json!({ "type": lsp::MessageType::Error, "message": why }));
    }

    fn initialize(&mut self, params: Value) -> Answer {
        // What a client can do is read word by word: one with capabilities that are not known here must start, too.
        let can = |pointer: &str| params.pointer(&format!("/capabilities/{pointer}"));
        let does = |pointer: &str| can(pointer).and_then(Value::as_bool) == Some(true);
        let lists = |pointer: &str, word: &str| {
            can(pointer).and_then(Value::as_array).is_some_and(|all| all.iter().any(|one| one == word))
        };
        let encodings = can("general/positionEncodings").cloned().unwrap_or_default();
        let encoding = Encoding::of_client(&serde_json::from_value::<Vec<_>>(encodings).unwrap_or_default());
        let versioned_edits = does("workspace/workspaceEdit/documentChanges");
        let formats = "textDocument/hover/contentFormat";
        self.client = Client {
            encoding,
            plain_hover: can(formats).is_some_and(Value::is_array) && !lists(formats, "markdown"),
            disabled_actions: does("textDocument/codeAction/disabledSupport"),
            versioned_edits,
            new_files: versioned_edits && lists("workspace/workspaceEdit/resourceOperations", "create"),
            flat_symbols: !does("textDocument/documentSymbol/hierarchicalDocumentSymbolSupport"),
            refreshes_hints: does("workspace/inlayHint/refreshSupport"),
        };
        self.state = State::Running;
        self.configure(params.get("initializationOptions").unwrap_or(&Value::Null));
        answer(lsp::InitializeResult {
            capabilities: capabilities_of_server(encoding),
            server_info: Some(lsp::ServerInfo { name: "vop".into(), version: Some(env!("CARGO_PKG_VERSION").into()) }),
        })
    }

    fn configure(&mut self, value: &Value) {
        let (settings, wrong) = Settings::read(value);
        self.settings = settings;
        wrong.into_iter().for_each(|why| self.complain(why));
    }

    /// Says what is wrong with settings, once.
    fn complain(&mut self, why: String) {
        if self.complaints.insert(why.clone()) {
            self.notify(
                "window/showMessage",
                json!({ "type": lsp::MessageType::Warning, "message": format!("vop: {why}") }),
            );
        }
    }

    /// What the configuration of a document's file says.
    fn file_settings(&mut self, uri: &str) -> FileSettings {
        let Some(path) = document::path(uri) else { return FileSettings::default() };
        match (self.configuration)(&path) {
            Ok(file) => file,
            Err(why) => {
                self.complain(why);
                FileSettings::default()
            }
        }
    }

    // Notifications.

    fn told(&mut self, method: &str, params: Value) -> Result<(), Refusal> {
        match method {
            "textDocument/didOpen" => {
                let params: lsp::DidOpenTextDocumentParams = read(params)?;
                let lsp::TextDocumentItem { uri: lsp::Uri(uri), language_id, version, text } = params.text_document;
                let path = document::path(&uri);
                let Some(language) = document::language(path.as_deref(), &String::from(language_id)) else {
                    return Ok(());
                };
                let file = self.file_settings(&uri);
                self.documents.insert(uri.clone(), Open { document: Document::new(text, language), version, file });
                self.is_stale(uri);
            }
            "textDocument/didChange" => {
                let params: lsp::DidChangeTextDocumentParams = read(params)?;
                let lsp::Uri(uri) = params.text_document.text_document_identifier.uri;
                let Some(open) = self.documents.get_mut(&uri) else { return Ok(()) };
                for change in params.content_changes {
                    let (range, text) = match change {
                        lsp::TextDocumentContentChangeEvent::TextDocumentContentChangePartial(part) => {
                            (Some(part.range), part.text)
                        }
                        lsp::TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(whole) => {
                            (None, whole.text)
                        }
                    };
                    open.document.change(range, &text, self.client.encoding);
                }
                open.version = params.text_document.version;
                self.is_stale(uri);
            }
            "textDocument/didClose" => {
                let params: lsp::DidCloseTextDocumentParams = read(params)?;
                let uri = params.text_document.uri;
                self.stale.retain(|stale| *stale != uri.0);
                if self.documents.remove(&uri.0).is_some() {
                    self.notify("textDocument/publishDiagnostics", json!({ "uri": uri, "diagnostics": [] }));
                }
            }
            "workspace/didChangeConfiguration" => {
                let settings = params.get("settings").cloned().unwrap_or_default();
                // A client that says nothing about this server keeps what it said at the beginning.
                if Settings::are_in(&settings) {
                    self.configure(&settings);
                    self.judge_again();
                }
            }
            // A configuration may have been saved.
            "textDocument/didSave" => self.judge_again(),
            _ => {}
        }
        Ok(())
    }

    fn judge_again(&mut self) {
        let uris: Vec<String> = self.documents.keys().cloned().collect();
        let mut has_changed = false;
        for uri in uris {
            let file = self.file_settings(&uri);
            if let Some(open) = self.documents.get_mut(&uri) {
                has_changed |= open.file != file;
                open.file = file;
            }
            self.is_stale(uri);
        }
        if self.client.refreshes_hints && (has_changed || !self.documents.is_empty()) {
            self.requests += 1;
            let id = RequestId::from(self.requests);
            self.send(Request::new(id, "workspace/inlayHint/refresh".into(), ()));
        }
    }

    fn is_stale(&mut self, uri: String) {
        if !self.stale.contains(&uri) {
            self.stale.push_back(uri);
        }
    }

    fn publish_next(&mut self) {
        let Some(uri) = self.stale.pop_front() else { return };
        let Some(open) = self.documents.get(&uri) else { return };
        let found = catch_unwind(AssertUnwindSafe(|| self.diagnostics(&uri, open)));
        match found {
            Ok(diagnostics) => self.notify(
                "textDocument/publishDiagnostics",
                lsp::PublishDiagnosticsParams { uri: lsp::Uri(uri), version: Some(open.version), diagnostics },
            ),
            Err(panic) => {
                let why = format!("{uri}: a bug in vop: {}", words_of(&*panic));
                self.notify("window/logMessage", json!({ "type": lsp::MessageType::Error, "message": why }));
            }
        }
    }

    fn diagnostics(&self, uri: &str, open: &Open) -> Vec<lsp::Diagnostic> {
        if open.file.excluded {
            return Vec::new();
        }
        let settings = self.settings.of_file(&open.file);
        let findings = diagnostics::findings(&open.document, &settings);
        findings.into_iter().map(|finding| self.diagnostic(uri, &open.document, finding)).collect()
    }

    fn diagnostic(&self, uri: &str, document: &Document, finding: &vop::Diagnostic) -> lsp::Diagnostic {
        let range = |span: &Range<usize>| document.range(span, self.client.encoding);
        let related = finding.related.iter().map(|(span, words)| lsp::DiagnosticRelatedInformation {
            location: lsp::Location { uri: uri.into(), range: range(span) },
            message: words.clone(),
        });
        let related: Vec<_> = related.collect();
        lsp::Diagnostic {
            range: range(&finding.span),
            severity: Some(match finding.code.severity() {
                Severity::Error => lsp::DiagnosticSeverity::Error,
                Severity::Warning => lsp::DiagnosticSeverity::Warning,
                Severity::Note => lsp::DiagnosticSeverity::Information,
            }),
            code: Some(finding.code.name().to_owned().into()),
            source: Some("vop".into()),
            message: diagnostics::message(finding).into(),
            related_information: (!related.is_empty()).then_some(related),
            ..lsp::Diagnostic::default()
        }
    }

    // Requests.

    fn asked(&mut self, method: &str, params: Value) -> Answer {
        if method == "workspace/executeCommand" {
            return self.command(read(params)?);
        }
        const METHODS: [&str; 13] = [
            "textDocument/hover",
            "textDocument/completion",
            "textDocument/signatureHelp",
            "textDocument/definition",
            "textDocument/references",
            "textDocument/documentHighlight",
            "textDocument/documentSymbol",
            "textDocument/codeAction",
            "textDocument/rename",
            "textDocument/prepareRename",
            "textDocument/foldingRange",
            "textDocument/semanticTokens/full",
            "textDocument/inlayHint",
        ];
        if !METHODS.contains(&method) {
            return Err(Refusal::new(ErrorCode::MethodNotFound, format!("`{method}` is not known")));
        }
        let uri = uri_of(&params).map(str::to_owned);
        let uri = uri.ok_or_else(|| Refusal::new(ErrorCode::InvalidParams, "there is no `textDocument`"))?;
        // One of a language that is not read.
        let Some(open) = self.documents.get(&uri) else { return Ok(Value::Null) };
        let document = &open.document;
        let settings = self.settings.of_file(&open.file);
        let encoding = self.client.encoding;
        let offset = |position: lsp::Position| document.offset(position, encoding);
        let range = |span: &Range<usize>| document.range(span, encoding);
        let place = |params: &Value| -> Result<usize, Refusal> {
            read(params.get("position").cloned().unwrap_or_default()).map(offset)
        };
        let location = |span: &Range<usize>| lsp::Location { uri: uri.as_str().into(), range: range(span) };
        match method {
            "textDocument/hover" => {
                let found = hover::hover(document, place(&params)?, &settings);
                answer(found.map(|found| lsp::Hover {
                    contents: self.markup(found.markdown).into(),
                    range: Some(range(&found.span)),
                }))
            }
            "textDocument/completion" => {
                let found = completion::completion(document, place(&params)?);
                answer(found.map(|found| completions(found, range)))
            }
            "textDocument/signatureHelp" => {
                let found = signature::signature(document, place(&params)?);
                answer(found.map(signature_help))
            }
            "textDocument/definition" => {
                let at = place(&params)?;
                let found = document.module().and_then(|module| names::definition(module, at));
                answer(found.map(|span| location(&span)))
            }
            "textDocument/references" => {
                let at = place(&params)?;
                let declared = params.pointer("/context/includeDeclaration").and_then(Value::as_bool) == Some(true);
                let found = document.module().map(|module| names::references(module, at, declared));
                answer(found.unwrap_or_default().iter().map(location).collect::<Vec<_>>())
            }
            "textDocument/documentHighlight" => {
                let at = place(&params)?;
                let found = document.module().map(|module| names::references(module, at, true)).unwrap_or_default();
                let highlight = |span: &Range<usize>| lsp::DocumentHighlight { range: range(span), kind: None };
                answer(found.iter().map(highlight).collect::<Vec<_>>())
            }
            "textDocument/documentSymbol" => {
                let found = document.module().map(symbols::symbols).unwrap_or_default();
                match self.client.flat_symbols {
                    true => answer(flat(&found, None, &location)),
                    false => answer(found.iter().map(|symbol| nested(symbol, &range)).collect::<Vec<_>>()),
                }
            }
            "textDocument/codeAction" => {
                let params: lsp::CodeActionParams = read(params)?;
                let span = offset(params.range.start)..offset(params.range.end);
                let only: Option<Vec<String>> =
                    params.context.only.map(|kinds| kinds.into_iter().map(String::from).collect());
                answer(self.code_actions(&uri, open, &span, only.as_deref(), &settings))
            }
            "textDocument/prepareRename" => {
                let at = place(&params)?;
                let renamable = document
                    .module()
                    .ok_or_else(not_ptx)
                    .and_then(|module| names::renamable(module, at).map_err(refused))?;
                answer(json!({ "range": range(&renamable), "placeholder": document.slice(&renamable) }))
            }
            "textDocument/rename" => {
                let at = place(&params)?;
                let new_name = params.get("newName").and_then(Value::as_str).unwrap_or_default();
                let module = document.module().ok_or_else(not_ptx)?;
                let edits = names::rename(module, at, new_name).map_err(refused)?;
                answer(self.workspace_edit(&uri, open, &edits))
            }
            "textDocument/foldingRange" => answer(
                folding::folds(document)
                    .into_iter()
                    .map(|fold| lsp::FoldingRange {
                        start_line: fold.lines.0 as u32,
                        end_line: fold.lines.1 as u32,
                        kind: fold.is_comment.then_some(lsp::FoldingRangeKind::Comment),
                        ..lsp::FoldingRange::default()
                    })
                    .collect::<Vec<_>>(),
            ),
            "textDocument/semanticTokens/full" => {
                let found = document.module().map(tokens::tokens);
                answer(found.map(|found| self.semantic_tokens(document, &found)))
            }
            _ => {
                let params: lsp::InlayHintParams = read(params)?;
                if !settings.inlay_hints || open.file.excluded {
                    return Ok(json!([]));
                }
                let span = offset(params.range.start)..offset(params.range.end);
                let hints = hints::hints(document, &span, &settings);
                let target = cost::target(document, &settings);
                let tooltip = format!("Machine instructions that ptxas 13.5 spends on it on {target}, by itself.");
                let hint = |hint: hints::Hint| lsp::InlayHint {
                    position: range(&(hint.at..hint.at)).start,
                    label: hint.label.into(),
                    kind: None,
                    text_edits: None,
                    tooltip: Some(tooltip.clone().into()),
                    padding_left: Some(true),
                    padding_right: None,
                    data: None,
                };
                answer(hints.into_iter().map(hint).collect::<Vec<_>>())
            }
        }
    }

    fn markup(&self, markdown: String) -> lsp::MarkupContent {
        match self.client.plain_hover {
            false => lsp::MarkupContent { kind: lsp::MarkupKind::Markdown, value: markdown },
            true => {
                let lines = markdown.lines().filter(|line| !line.starts_with("```"));
                let value = lines.collect::<Vec<_>>().join("\n").replace("**", "");
                lsp::MarkupContent { kind: lsp::MarkupKind::PlainText, value }
            }
        }
    }

    fn text_edits(&self, document: &Document, edits: &[Edit]) -> Vec<lsp::TextEdit> {
        let edit = |edit: &Edit| lsp::TextEdit {
            range: document.range(&edit.span, self.client.encoding),
            new_text: edit.text.clone(),
        };
        edits.iter().map(edit).collect()
    }

    fn workspace_edit(&self, uri: &str, open: &Open, edits: &[Edit]) -> lsp::WorkspaceEdit {
        let edits = self.text_edits(&open.document, edits);
        if !self.client.versioned_edits {
            let changes = HashMap::from([(uri.into(), edits)]);
            return lsp::WorkspaceEdit { changes: Some(changes), ..lsp::WorkspaceEdit::default() };
        }
        let text_document = lsp::OptionalVersionedTextDocumentIdentifier {
            version: Some(open.version),
            text_document_identifier: lsp::TextDocumentIdentifier { uri: uri.into() },
        };
        let edits = edits.into_iter().map(Into::into).collect();
        let change = lsp::TextDocumentEdit { text_document, edits };
        lsp::WorkspaceEdit { document_changes: Some(vec![change.into()]), ..lsp::WorkspaceEdit::default() }
    }

    /// A file beside a document.
    fn new_file(uri: &str, name: &str, text: String) -> Option<lsp::WorkspaceEdit> {
        let (folder, _) = uri.rsplit_once('/')?;
        let new: lsp::Uri = format!("{folder}/{name}").into();
        let create = lsp::CreateFile {
            uri: new.clone(),
            options: Some(lsp::CreateFileOptions { overwrite: Some(false), ignore_if_exists: Some(false) }),
            annotation_id: None,
        };
        let fill = lsp::TextDocumentEdit {
            text_document: lsp::OptionalVersionedTextDocumentIdentifier {
                version: None,
                text_document_identifier: lsp::TextDocumentIdentifier { uri: new },
            },
            edits: vec![lsp::TextEdit { range: lsp::Range::default(), new_text: text }.into()],
        };
        Some(lsp::WorkspaceEdit {
            document_changes: Some(vec![create.into(), fill.into()]),
            ..lsp::WorkspaceEdit::default()
        })
    }

    fn code_actions(
        &self,
        uri: &str,
        open: &Open,
        span: &Range<usize>,
        only: Option<&[String]>,
        settings: &Settings,
    ) -> Vec<lsp::CodeAction> {
        if open.file.excluded {
            return Vec::new();
        }
        // `refactor` asks for all that begins so.
        let within = |kind: &str, wanted: &str| {
            wanted.is_empty() || kind == wanted || kind.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('.'))
        };
        let is_wanted = |kind: &str| only.is_none_or(|kinds| kinds.iter().any(|wanted| within(kind, wanted)));
        let mut all: Vec<Action> = Vec::new();
        if [actions::QUICK_FIX, actions::LOWER, actions::PORT].into_iter().any(is_wanted) {
            all = actions::actions(&open.document, span, settings);
        }
        // It judges the file again and again, and is made where it is asked for.
        if only.is_some() && is_wanted(actions::FIX_ALL) {
            all.extend(actions::fix_all(&open.document, settings));
        }
        let made = all.into_iter().filter(|action| is_wanted(action.kind)).filter_map(|action| {
            let (edit, disabled) = match action.effect {
                Ok(Effect::Edits(edits)) => (Some(self.workspace_edit(uri, open, &edits)), None),
                Ok(Effect::NewFile { .. }) if !self.client.new_files => return None,
                Ok(Effect::NewFile { name, text }) => (Some(Self::new_file(uri, &name, text)?), None),
                Err(why) if self.client.disabled_actions => (None, Some(lsp::CodeActionDisabled { reason: why })),
                Err(_) => return None,
            };
            Some(lsp::CodeAction {
                title: action.title,
                kind: Some(action.kind.to_owned().into()),
                diagnostics: action.finding.map(|finding| vec![self.diagnostic(uri, &open.document, &finding)]),
                is_preferred: action.is_preferred.then_some(true),
                edit,
                disabled,
                ..lsp::CodeAction::default()
            })
        });
        made.collect()
    }

    fn semantic_tokens(&self, document: &Document, found: &[tokens::Token]) -> lsp::SemanticTokens {
        let mut before = lsp::Position::default();
        let token = |token: &tokens::Token| {
            let start = document.lines().position(document.text(), token.span.start, self.client.encoding);
            let delta_line = start.line - before.line;
            let delta_start = if delta_line == 0 { start.character - before.character } else { start.character };
            before = start;
            lsp::SemanticToken {
                delta_line,
                delta_start,
                length: self.client.encoding.length(document.slice(&token.span)) as u32,
                token_type: token.ty as u32,
                token_modifiers_bitset: 0,
            }
        };
        lsp::SemanticTokens { result_id: None, data: found.iter().map(token).collect() }
    }

    /// `vop.port` with an instruction and a language: a function and a name for its file.
    fn command(&self, params: lsp::ExecuteCommandParams) -> Answer {
        if params.command != PORT_COMMAND {
            return Err(Refusal::new(ErrorCode::InvalidParams, format!("there is no command `{}`", params.command)));
        }
        let arguments = params.arguments.unwrap_or_default();
        let [Value::String(text), Value::String(target)] = arguments.as_slice() else {
            let why = format!("{PORT_COMMAND} takes an instruction and the name of a language");
            return Err(Refusal::new(ErrorCode::InvalidParams, why));
        };
        let target = target.parse().map_err(|why: vop_port::UnknownTarget| refused(why.to_string()))?;
        let (name, text) = actions::function(text, target, self.settings.semantics()).map_err(refused)?;
        Ok(json!({ "name": name, "text": text }))
    }
}

/// The command of [`Server::command`].
const PORT_COMMAND: &str = "vop.port";

/// The protocol's `RequestFailed`: the request is right, and cannot be fulfilled.
fn refused(why: String) -> Refusal {
    Refusal::new(ErrorCode::RequestFailed, why)
}

fn not_ptx() -> Refusal {
    refused("Names are known in files of PTX alone.".into())
}

fn words_of(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no words")
}

fn capabilities_of_server(encoding: Encoding) -> lsp::ServerCapabilities {
    let strings = |all: &[&str]| Some(all.iter().map(|one| (*one).to_owned()).collect::<Vec<String>>());
    lsp::ServerCapabilities {
        position_encoding: Some(encoding.kind()),
        text_document_sync: Some(
            lsp::TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(lsp::TextDocumentSyncKind::Incremental),
                save: Some(true.into()),
                ..lsp::TextDocumentSyncOptions::default()
            }
            .into(),
        ),
        hover_provider: Some(true.into()),
        completion_provider: Some(lsp::CompletionOptions {
            trigger_characters: strings(&[".", "%"]),
            ..lsp::CompletionOptions::default()
        }),
        signature_help_provider: Some(lsp::SignatureHelpOptions {
            trigger_characters: strings(&[".", " ", ","]),
            ..lsp::SignatureHelpOptions::default()
        }),
        definition_provider: Some(true.into()),
        references_provider: Some(true.into()),
        document_highlight_provider: Some(true.into()),
        document_symbol_provider: Some(true.into()),
        code_action_provider: Some(
            lsp::CodeActionOptions {
                code_action_kinds: Some(
                    [actions::QUICK_FIX, actions::LOWER, actions::PORT, actions::FIX_ALL]
                        .map(|kind| kind.to_owned().into())
                        .to_vec(),
                ),
                ..lsp::CodeActionOptions::default()
            }
            .into(),
        ),
        rename_provider: Some(
            lsp::RenameOptions { prepare_provider: Some(true), ..lsp::RenameOptions::default() }.into(),
        ),
        folding_range_provider: Some(true.into()),
        semantic_tokens_provider: Some(
            lsp::SemanticTokensOptions {
                legend: lsp::SemanticTokensLegend {
                    token_types: TokenType::NAMES.map(str::to_owned).to_vec(),
                    token_modifiers: Vec::new(),
                },
                full: Some(true.into()),
                range: None,
                work_done_progress_options: lsp::WorkDoneProgressOptions::default(),
            }
            .into(),
        ),
        inlay_hint_provider: Some(true.into()),
        execute_command_provider: Some(lsp::ExecuteCommandOptions {
            commands: vec![PORT_COMMAND.into()],
            work_done_progress_options: lsp::WorkDoneProgressOptions::default(),
        }),
        ..lsp::ServerCapabilities::default()
    }
}

fn completions(found: completion::Completion, range: impl Fn(&Range<usize>) -> lsp::Range) -> lsp::CompletionList {
    let replaced = range(&found.replaces);
    let item = |(number, item): (usize, completion::Item)| lsp::CompletionItem {
        kind: Some(match item.kind {
            ItemKind::Video => lsp::CompletionItemKind::Function,
            ItemKind::Base | ItemKind::Directive => lsp::CompletionItemKind::Keyword,
            ItemKind::Modifier => lsp::CompletionItemKind::EnumMember,
            ItemKind::Register => lsp::CompletionItemKind::Variable,
        }),
        detail: (!item.detail.is_empty()).then_some(item.detail),
        // Clients sort by the label otherwise, and the order of the syntax is lost.
        sort_text: Some(format!("{number:04}")),
        filter_text: Some(item.label.clone()),
        text_edit: Some(lsp::TextEdit { range: replaced, new_text: item.label.clone() }.into()),
        label: item.label,
        ..lsp::CompletionItem::default()
    };
    lsp::CompletionList {
        is_incomplete: found.is_incomplete,
        items: found.items.into_iter().enumerate().map(item).collect(),
        item_defaults: None,
        apply_kind: None,
    }
}

fn signature_help(found: signature::Signature) -> lsp::SignatureHelp {
    // Where nothing is active the client shows none, if it is told a number behind the last.
    let active = found.active.unwrap_or(found.parameters.len()) as u32;
    let parameter = |(span, meaning): (Range<usize>, String)| lsp::ParameterInformation {
        label: (span.start as u32, span.end as u32).into(),
        documentation: Some(meaning.into()),
    };
    let information = lsp::SignatureInformation {
        label: found.label,
        documentation: Some(found.summary.to_owned().into()),
        parameters: Some(found.parameters.into_iter().map(parameter).collect()),
        active_parameter: Some(active.into()),
    };
    lsp::SignatureHelp {
        signatures: vec![information],
        active_signature: Some(0),
        active_parameter: Some(active.into()),
    }
}

fn symbol_kind(kind: symbols::Kind) -> lsp::SymbolKind {
    match kind {
        symbols::Kind::Function => lsp::SymbolKind::Function,
        symbols::Kind::Variable => lsp::SymbolKind::Variable,
        symbols::Kind::Constant => lsp::SymbolKind::Constant,
        symbols::Kind::Label => lsp::SymbolKind::Key,
    }
}

fn nested(symbol: &Symbol, range: &impl Fn(&Range<usize>) -> lsp::Range) -> Value {
    json!({
        "name": symbol.name,
        "detail": symbol.detail,
        "kind": symbol_kind(symbol.kind),
        "range": range(&symbol.span),
        "selectionRange": range(&symbol.name_span),
        "children": symbol.children.iter().map(|child| nested(child, range)).collect::<Vec<_>>(),
    })
}

fn flat(symbols: &[Symbol], container: Option<&str>, location: &impl Fn(&Range<usize>) -> lsp::Location) -> Vec<Value> {
    let mut all = Vec::new();
    for symbol in symbols {
        all.push(json!({
            "name": symbol.name,
            "kind": symbol_kind(symbol.kind),
            "location": location(&symbol.span),
            "containerName": container,
        }));
        all.extend(flat(&symbol.children, Some(&symbol.name), location));
    }
    all
}
