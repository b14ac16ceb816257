//! Files of every kind where a command reads one: what is no plain file is refused at once, by its kind, and what is too long by its length.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by panicking, and says what it leaves out")]

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

const PTX: &str = ".version 8.0\n.target sm_75\n.address_size 64\n.entry k(.param .u64 out) {\n .reg .b32 %r<3>;\n .reg .b64 %rd<2>;\n \
    ld.param.u64 %rd1, [out];\n mov.b32 %r1, 1;\n vadd4.u32.u32.u32 %r2, %r1, %r1, %r1;\n st.global.u32 [%rd1], %r2;\n ret;\n}\n";

fn vop(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vop"));
    command
        .current_dir(folder)
        .env_remove("RUST_BACKTRACE")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs a command, which must end by itself soon, with little memory.
#[track_caller]
fn ended(command: &mut Command) -> Output {
    let mut child = command.spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(20) {
            child.kill().unwrap();
            panic!("{command:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

#[track_caller]
fn refused(folder: &Path, args: &[&str], words: &str) {
    let output = ended(vop(folder).args(args));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
    assert!(said.contains(words), "{args:?}: {said}");
}

/// A pipe, a socket, a folder, a device and a file of 8 TiB, by these names before a suffix.
fn odd_files() -> (TempDir, std::os::unix::net::UnixListener) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    assert!(Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
    let socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
    std::fs::create_dir(path("folder")).unwrap();
    std::fs::File::create(path("long")).unwrap().set_len(8 << 40).unwrap();
    std::os::unix::fs::symlink("/dev/zero", path("device")).unwrap();
    std::fs::write(path("k.ptx"), PTX).unwrap();
    (folder, socket)
}

const KINDS: [(&str, &str); 5] = [
    ("pipe", "it is a named pipe"),
    ("socket", "it is a socket"),
    ("folder", "it is a folder"),
    ("device", "it is a device"),
    ("long", "it has 8796093022208 bytes"),
];

#[test]
fn every_command_looks_at_a_file_before_it_opens_it() {
    let (folder, _socket) = odd_files();
    let folder = folder.path();
    for (name, words) in KINDS {
        for suffix in ["ptx", "cu", "toml", "npy", "png", "raw", "txt"] {
            std::os::unix::fs::symlink(folder.join(name), folder.join(format!("{name}.{suffix}"))).unwrap();
        }
        let [ptx, cu, toml, npy, png, raw, txt] =
            ["ptx", "cu", "toml", "npy", "png", "raw", "txt"].map(|suffix| format!("{name}.{suffix}"));
        let launch = format!("ptx = \"{ptx}\"\n[[launch]]\ngrid = 1\nblock = 1\nargs = []\n");
        std::fs::write(folder.join("launch.toml"), launch).unwrap();
        refused(folder, &["run", "launch.toml"], words);
        refused(folder, &["run", &toml], words);
        refused(folder, &["run", &ptx, "--grid", "1", "--block", "1"], words);
        refused(folder, &["lower", &ptx, "--target", "sm_90"], words);
        refused(folder, &["check", "--config", &toml, "k.ptx"], words);
        if name != "long" {
            // A batch is read line by line, so that it may be long.
            refused(folder, &["lower", "--batch", &txt, "--target", "sm_90"], words);
            refused(folder, &["eval", "--batch", &txt], words);
        }
        if name != "folder" {
            refused(folder, &["check", &cu], words);
            refused(folder, &["check", "--language", "ptx", &txt], words);
        }
        for file in [&npy, &png, &raw] {
            // Its beginning is looked at, or its rows are read, however long it is.
            let words = if name == "long" && *file != raw { "" } else { words };
            let argument = if *file == raw { format!("a=u8@{file}") } else { format!("a={file}") };
            refused(folder, &["run", "k.ptx", "--grid", "1", "--block", "1", "--arg", &argument], words);
            if name != "long" {
                refused(folder, &["map", "vadd.u32.u32.u32", file, "1", "--reduce", "add"], words);
                refused(folder, &["map", "vadd.u32.u32.u32", "k.raw", "1", "-o", file], "cannot");
            }
            let expected = format!("out={file}");
            let args = ["run", "k.ptx", "--grid", "1", "--block", "1", "--arg", "out=u32[1]", "--compare", &expected];
            refused(folder, &args, if *file == raw && name == "long" { "8796093022208 bytes" } else { words });
        }
    }
}

/// A configuration that is found, not named.
#[test]
fn configurations_are_looked_at() {
    let (folder, _socket) = odd_files();
    let folder = folder.path();
    std::fs::rename(folder.join("long"), folder.join("vop.toml")).unwrap();
    refused(folder, &["check", "k.ptx"], "vop.toml: it has 8796093022208 bytes");
    // Others are no configuration.
    for name in ["pipe", "device", "folder"] {
        let _ = std::fs::remove_file(folder.join("vop.toml"));
        std::os::unix::fs::symlink(folder.join(name), folder.join("vop.toml")).unwrap();
        assert!(ended(vop(folder).args(["check", "k.ptx"])).status.success(), "{name}");
    }
}

/// Pipes of the shell are files that end.
#[test]
fn descriptors_are_read_to_their_end() {
    let (folder, _socket) = odd_files();
    let folder = folder.path();
    let shell = |script: &str| {
        let script = script.replace("vop ", &format!("{} ", env!("CARGO_BIN_EXE_vop")));
        let mut command = Command::new("bash");
        command.args(["-c", &script]).current_dir(folder).stdin(Stdio::null());
        ended(command.stdout(Stdio::piped()).stderr(Stdio::piped()))
    };
    if Command::new("bash").arg("-c").arg("true").status().is_err() {
        eprintln!("no bash: nothing is tested");
        return;
    }
    for script in [
        "vop check --language ptx <(sleep 0.1; cat k.ptx)",
        "cat k.ptx | vop check --language ptx -",
        "cat k.ptx | vop check --language ptx /dev/stdin",
        "vop check --language ptx /dev/stdin < k.ptx",
        "vop check --language ptx /dev/fd/3 3< k.ptx",
        "(sleep 0.1; cat k.ptx > pipe) & vop check --language ptx - < pipe",
    ] {
        let output = shell(script);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 "), "{script}: {output:?}");
    }
    for script in [
        "vop lower <(cat k.ptx) --target sm_90",
        "cat k.ptx | vop lower - --target sm_90",
        "vop lower /dev/stdin --target sm_90 < k.ptx",
    ] {
        let output = shell(script);
        assert!(output.status.success() && output.stdout.starts_with(b".version"), "{script}: {output:?}");
    }
    for script in [
        r"vop eval --batch <(printf 'vmax.s32.s32.s32\t-5\t7\t-\n')",
        r"printf 'vmax.s32.s32.s32\t-5\t7\t-' | vop eval --batch -",
        r"printf 'vmax.s32.s32.s32\t-5\t7\t-\n' | vop eval --batch /dev/stdin",
    ] {
        assert_eq!(shell(script).stdout, b"0x00000007\n", "{script}");
    }
    let output = shell(r"vop run k.ptx --grid 1 --block 1 --arg a=u32@<(printf '\1\2\3\4'):d.npy");
    assert!(output.status.success(), "{output:?}");
    assert!(std::fs::read(folder.join("d.npy")).unwrap().ends_with(&[2, 0, 0, 0]));
    // What never ends does.
    for script in [
        "vop check --language ptx - < /dev/zero",
        "vop check --language ptx /dev/stdin < /dev/zero",
        "vop lower - --target sm_90 < /dev/zero",
        "vop lower <(cat /dev/zero) --target sm_90",
    ] {
        let output = shell(script);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(2) && said.contains("it has more than 268435456 bytes"),
            "{script}: {said}"
        );
    }
}

/// Lines of a batch are short: what is longer is an error of that line.
#[test]
fn a_long_line_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let row = "vmax.s32.s32.s32\t-5\t7\t-\n";
    let text = format!("\u{feff}{row}{}\n{row}\n{}", "x".repeat(3 << 20), "y".repeat(2 << 20));
    std::fs::write(folder.path().join("rows.txt"), text).unwrap();
    let output = ended(vop(folder.path()).args(["eval", "--batch", "rows.txt"]));
    let said = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    let long = "error: the line has more than 1048576 bytes";
    assert_eq!((lines.len(), lines[0], lines[1], lines[2], lines[4]), (5, "0x00000007", long, "0x00000007", long));
    assert_eq!(output.status.code(), Some(1));
}

/// A bug in one file is reported with what to send, and the other files are checked.
#[test]
#[cfg(debug_assertions)]
fn a_panic_ends_the_work_on_one_file() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.ptx", "b.ptx", "c.ptx"] {
        std::fs::write(folder.path().join(name), PTX.replace("%r1, %r1;", "%r1;")).unwrap();
    }
    for format in ["human", "json", "sarif", "github"] {
        let output = ended(
            vop(folder.path()).env("VOP_PANIC", "b.ptx").args(["check", "--format", format, "a.ptx", "b.ptx", "c.ptx"]),
        );
        let (out, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(2), "{said}");
        for words in ["b.ptx: this is a bug in vop, not in your file", "please report it", "bug.rs:"] {
            assert!(said.contains(words), "{said}");
        }
        assert!(!said.contains("panicked at"), "{said}");
        let all = format!("{out}{said}");
        assert!(all.contains("a.ptx") && all.contains("c.ptx") && all.contains("V03"), "{all}");
        if format == "json" {
            assert!(out.contains("this is a bug in vop"), "{out}");
        }
    }
    for args in [&["lower", "a.ptx", "--target", "sm_90"][..], &["run", "a.ptx", "--grid", "1", "--block", "1"]] {
        let output = ended(vop(folder.path()).env("VOP_PANIC", "a.ptx").args(args));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(101), "{said}");
        assert!(said.contains("a.ptx: this is a bug in vop"), "{said}");
    }
}

/// What a killed run leaves is removed by the next run that writes to the folder, and not before: another may still write.
#[test]
fn a_killed_run_is_swept_up() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::File::create(folder.join("long.raw")).unwrap().set_len(4 << 30).unwrap();
    std::fs::write(folder.join("short.raw"), [0; 8]).unwrap();
    let temporary = || {
        let names = folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with(".vop-")).collect::<Vec<_>>()
    };
    let begun = |output: &str| {
        let before = temporary();
        let child = vop(folder).args(["map", "vadd.u32.u32.u32", "long.raw", "1", "-o", output]).spawn().unwrap();
        let start = Instant::now();
        while temporary().iter().all(|name| before.contains(name)) {
            assert!(start.elapsed() < Duration::from_secs(60), "nothing is written");
            std::thread::sleep(Duration::from_millis(2));
        }
        child
    };
    let mut killed = begun("killed.raw");
    killed.kill().unwrap();
    killed.wait().unwrap();
    let left = temporary();
    assert_eq!(left.len(), 1);
    let mut running = begun("running.raw");
    let during = temporary();
    assert!(during.len() == 1 && during != left, "the first is gone, the second writes");
    let output = ended(vop(folder).args(["map", "vadd.u32.u32.u32", "short.raw", "1", "-o", "d.raw"]));
    assert!(output.status.success(), "{output:?}");
    assert_eq!(temporary(), during, "a run that goes on is left alone");
    running.kill().unwrap();
    running.wait().unwrap();
    let output = ended(vop(folder).args(["map", "vadd.u32.u32.u32", "short.raw", "1", "-o", "d.raw"]));
    assert!(output.status.success() && temporary().is_empty(), "{output:?}");
}

/// A file in UTF-16 is read as its text, with lines and columns in characters; one of no known kind, and a cell of another language, that
/// mention an instruction are counted.
#[test]
fn wide_files_and_other_cells_are_not_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let wide = |text: &str| [vec![0xff, 0xfe], text.encode_utf16().flat_map(u16::to_le_bytes).collect()].concat();
    let path = |name: &str| folder.path().join(name);
    let source = "// é\nvoid f() { asm(\"vmul4.u32.u32.u32 %0, %0, %0, %0;\" : \"+r\"(d)); }\n";
    std::fs::write(path("wide.cu"), wide(source)).unwrap();
    std::fs::write(path("wide.txt"), wide("vadd4.u32.u32.u32 d, a, b, c")).unwrap();
    let notebook = r#"{"cells": [
        {"cell_type": "code", "source": ["%%bash\n", "echo 'vadd4.u32.u32.u32 d, a, b, c;' > k.ptx"]},
        {"cell_type": "code", "source": ["%%writefile \"k.cu\"\n", "asm(\"vadd9.u32.u32.u32 %0, %0, %0, %0;\");"]}
    ], "metadata": {}}"#;
    std::fs::write(path("wide.ipynb"), wide(notebook)).unwrap();
    let output = ended(vop(folder.path()).args(["check", "--no-config", "."]));
    let (out, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("--> wide.cu:2:17"), "{said}");
    assert!(said.contains("--> wide.ipynb:cell 2:2:6"), "{said}");
    assert!(out.contains("skipped: 1 file of no known kind mentions a mnemonic and is not read: wide.txt"), "{out}");
    assert!(
        out.contains("skipped: 1 cell of no known kind mentions a mnemonic and is not read: wide.ipynb:cell 1"),
        "{out}"
    );
    assert!(out.ends_with("2 video instructions in 2 of 2 files: 0 legal, 2 illegal, 0 not judged\n"), "{out}");
}
