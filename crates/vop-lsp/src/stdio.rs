//! The server over standard input and output.
//!
//! `lsp-server` has such threads, too, which end at a message that is no JSON. The protocol wants an answer to it.

use std::io::{self, BufRead, Read, Write};

use crossbeam_channel::{Sender, unbounded};
use lsp_server::{Connection, ErrorCode, Message};
use serde_json::{Value, json};

use crate::server::{Configuration, serve};

/// Bytes that a message may have.
const MAX_MESSAGE: usize = 1 << 28;

/// Serves one client until it says `exit`, or closes the input. The answer is whether it has said `shutdown` before.
///
/// # Errors
/// The output cannot be written.
pub fn stdio(configuration: Configuration<'_>) -> io::Result<bool> {
    // What is read waits where the server sees it: a later message may make an earlier one needless.
    let (sender, to_write) = unbounded::<Message>();
    let (to_serve, receiver) = unbounded::<Message>();
    let writer = std::thread::Builder::new()
        .name("writer".into())
        .spawn(move || to_write.into_iter().try_for_each(|message| message.write(&mut io::stdout().lock())))?;
    // It ends with the process: nothing interrupts the reading of input.
    std::thread::Builder::new().name("reader".into()).spawn(move || {
        if let Err(why) = read(&mut io::stdin().lock(), &to_serve) {
            // Editors show what a server writes there. If nobody does, the server ends all the same.
            let _ = writeln!(io::stderr(), "vop lsp: the input is not the protocol's: {why}");
        }
    })?;
    let connection = Connection { sender, receiver };
    let is_clean = serve(&connection, configuration);
    drop(connection);
    match writer.join() {
        Ok(written) => written.map(|()| is_clean),
        Err(_) => Err(io::Error::other("the thread that writes has ended")),
    }
}

/// Reads messages and hands them on, until the input ends or is no longer the protocol's.
fn read(input: &mut impl BufRead, to: &Sender<Message>) -> io::Result<()> {
    while let Some(body) = frame(input)? {
        let read = serde_json::from_slice::<Value>(&body);
        let refused = match read.map(|value| (value.get("id").cloned(), serde_json::from_value::<Message>(value))) {
            Ok((_, Ok(message))) => {
                let is_exit = matches!(&message, Message::Notification(exit) if exit.method == "exit");
                if to.send(message).is_err() || is_exit {
                    return Ok(());
                }
                continue;
            }
            Ok((id, Err(why))) => (id.unwrap_or(Value::Null), ErrorCode::InvalidRequest, why.to_string()),
            Err(why) => (Value::Null, ErrorCode::ParseError, why.to_string()),
        };
        let (id, code, why) = refused;
        let answer =
            json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code as i32, "message": why } }).to_string();
        let mut out = io::stdout().lock();
        write!(out, "Content-Length: {}\r\n\r\n{answer}", answer.len())?;
        out.flush()?;
    }
    Ok(())
}

/// The next message's bytes; none at the end of the input.
fn frame(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let invalid = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why.to_owned());
    let mut length = None;
    loop {
        let mut line = Vec::new();
        // No header is longer.
        if input.by_ref().take(4096).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').ok_or_else(|| invalid("a header has no colon"))?;
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse::<usize>().ok();
        }
    }
    let length = length.ok_or_else(|| invalid("there is no Content-Length"))?;
    if length > MAX_MESSAGE {
        return Err(invalid("the message is too long"));
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    Ok(Some(body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames() {
        let mut input = &b"Content-Length: 2\r\nContent-Type: x\r\n\r\n{}content-length:1\r\n\r\n7"[..];
        assert_eq!(frame(&mut input).unwrap().as_deref(), Some(&b"{}"[..]));
        assert_eq!(frame(&mut input).unwrap().as_deref(), Some(&b"7"[..]));
        assert_eq!(frame(&mut input).unwrap(), None);
        for wrong in [
            "\r\n{}",
            "Content-Length: x\r\n\r\n",
            "Content-Length: 9\r\n\r\n{}",
            "hello\n",
            "Content-Length: 999999999999\r\n\r\n",
        ] {
            assert!(frame(&mut wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
