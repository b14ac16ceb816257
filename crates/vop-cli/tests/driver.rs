//! The driver API, as programs in C find it in the shared object: tests/driver has them.

#![cfg(all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stderr, reason = "a test that is skipped says why")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::Value;

/// A folder with the library under its name, and the program; none if there is no compiler.
fn folder() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<tempfile::TempDir>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_vop-cuda"), folder.path().join("libcuda.so.1")).unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/driver/driver.c");
        let compiled = Command::new("cc")
            .args(["-Wall", "-Wextra", "-Werror", "-g", "-o"])
            .arg(folder.path().join("driver"))
            .arg(source)
            .args(["-ldl", "-lpthread"])
            .status();
        match compiled {
            Ok(status) => assert!(status.success(), "the program does not compile"),
            Err(_) => {
                eprintln!("skipped: there is no C compiler (cc)");
                return None;
            }
        }
        Some(folder)
    });
    folder.as_ref().map(|folder| folder.path())
}

/// Runs one of the programs; none if there is no compiler.
fn run_with(which: &str, environment: &[(&str, &str)]) -> Option<Output> {
    let folder = folder()?;
    let mut command = Command::new(folder.join("driver"));
    command.arg(which).env("LD_LIBRARY_PATH", folder).envs(environment.iter().copied());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(120) {
            child.kill().unwrap();
            panic!("{which} hangs: {:?}", child.wait_with_output());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Some(child.wait_with_output().unwrap())
}

/// Runs one that must succeed; what it wrote to standard error.
fn run(which: &str) -> Option<String> {
    run_as(which, &[])
}

fn run_as(which: &str, environment: &[(&str, &str)]) -> Option<String> {
    let output = run_with(which, environment)?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{which}: {text}");
    Some(text)
}

#[test]
fn modules_memory_and_launches() {
    if let Some(text) = run("basic") {
        assert_eq!(text, "");
    }
}

#[test]
fn copies_from_and_to_what_is_no_memory_are_errors() {
    run("wild");
}

#[test]
fn faults_stay_and_are_reported() {
    for (which, environment, expected) in [
        (
            "bounds",
            [("", ""); 1],
            &["`add` failed: an access of 4 bytes at byte 4000 of `cuMemAlloc#", "[V0606]", "line 12"][..],
        ),
        ("odd", [("", "")], &["[V0607]", "ld.global.u32 %r1, [%rd1+2]"]),
        ("trap", [("", "")], &["[V0611]", "`trap"]),
        ("forever", [("VOP_CUDA_TIMEOUT", "200ms")], &["[V0630]"]),
    ] {
        let environment: Vec<_> = environment.into_iter().filter(|(name, _)| !name.is_empty()).collect();
        let Some(text) = run_as(which, &environment) else { return };
        for part in expected.iter().chain(&[
            "in thread (",
            "launched by",
            "fault at ",
            "main at ",
            "the program gets CUDA_ERROR_",
        ]) {
            assert!(text.contains(part), "{which}: {part} in {text}");
        }
    }
}

#[test]
fn a_program_may_have_threads_forks_and_an_early_end() {
    run("threads");
    run("forks");
    run("forks-before");
    run("end-early");
}

#[test]
fn streams_events_graphs_and_textures() {
    run("streams");
    run("graphs");
    run("more-graphs");
    run("textures");
}

#[test]
fn modules_are_linked_and_functions_found_by_name() {
    run("linking");
    run("managed-variable");
    if let Some(text) = run("names") {
        assert_eq!(text, "vop: not supported: cuGreenCtxCreate, asked for 2 times\n");
    }
}

#[test]
fn there_may_be_several_devices() {
    if let Some(text) = run_as("devices", &[("VOP_CUDA_DEVICES", "2")]) {
        assert!(text.contains("cuMemAlloc#"), "{text}");
    }
    if let Some(output) = run_with("basic", &[("VOP_CUDA_DEVICES", "9")]) {
        assert!(String::from_utf8_lossy(&output.stderr).contains("VOP_CUDA_DEVICES must be 1 to 8"), "{output:?}");
    }
}

#[test]
fn memory_is_put_at_addresses() {
    if let Some(text) = run("mapping") {
        assert!(text.contains("[V0606]"), "{text}");
    }
}

/// The report of a run.
fn report(which: &str, environment: &[(&str, &str)]) -> Option<Value> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap().to_owned();
    let mut environment = environment.to_vec();
    environment.push(("VOP_CUDA_REPORT", &path));
    run_as(which, &environment)?;
    let files: Vec<PathBuf> = folder.path().read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    let [file] = &files[..] else { panic!("{files:?}") };
    Some(serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap())
}

#[test]
fn a_process_reports_what_it_did() {
    let Some(value) = report("threads", &[("VOP_CUDA_CHECK", "leaks")]) else { return };
    let kernel = &value["kernels"][0];
    assert_eq!((kernel["name"].as_str(), kernel["launches"].as_u64()), (Some("add"), Some(800)), "{value}");
    // What 1000 threads execute, and what the others of 4 blocks of 256 do.
    let each = 1000 * 14 + 24 * 10;
    assert_eq!(kernel["thread_instructions"].as_u64(), Some(800 * each), "{value}");
    assert_eq!(value["errors"].as_array().map(Vec::len), Some(0));
    assert_eq!(value["leaks"].as_array().map(Vec::len), Some(0), "{value}");
    let value = report("bounds", &[("VOP_CUDA_CHECK", "leaks")]).unwrap();
    let error = &value["errors"][0];
    assert_eq!(error["kernel"], "add");
    assert_eq!(error["code"], "V0606");
    assert_eq!(error["status"], 700);
    assert_eq!((error["block"][0].as_u64(), error["thread"][0].as_u64()), (Some(1), Some(0)), "{error}");
    let value = report("graphs", &[("VOP_CUDA_CHECK", "leaks")]).unwrap();
    assert_eq!(value["leaks"].as_array().map(Vec::len), Some(1), "{value}");
    let value = report("streams", &[("VOP_CUDA_PROFILE", "1")]).unwrap();
    let statements = value["kernels"][0]["profile"].as_array().unwrap();
    assert!(statements.iter().any(|statement| statement["opcode"] == "st.global.u32"), "{value}");
}

#[test]
fn a_report_is_there_however_the_process_ends() {
    for (which, is_complete) in [("ends-in-callback", true), ("ends-quickly", true), ("ends-at-once", false)] {
        let Some(value) = report(which, &[]) else { return };
        assert_eq!(value["complete"], is_complete, "{which}: {value}");
        let launches = if is_complete { 1 } else { 2 };
        assert_eq!(value["kernels"][0]["launches"], launches, "{which}: {value}");
        assert_eq!(value["errors"].as_array().map(Vec::len), Some(launches - 1), "{which}: {value}");
    }
}

#[test]
fn what_is_read_before_it_is_written_is_found() {
    let Some(value) = report("threads", &[("VOP_CUDA_CHECK", "uninit")]) else { return };
    assert_eq!(value["findings"].as_array().map(Vec::len), Some(0), "{value}");
    let value = report("bounds", &[("VOP_CUDA_CHECK", "uninit")]).unwrap();
    assert_eq!(
        (&value["errors"][0]["code"], &value["errors"][1]["code"]),
        (&"V0606".into(), &"V0618".into()),
        "{value}"
    );
}
