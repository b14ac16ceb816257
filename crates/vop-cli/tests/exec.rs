//! `vop exec`: how programs run, and what CUDA programs compute.

#![cfg(all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stderr, reason = "a test that is skipped says why")]

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

fn vop(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vop"));
    command.arg("exec").args(args).env("VOP_CUDA_LIBRARY", env!("CARGO_BIN_EXE_vop-cuda"));
    command.env_remove("LD_LIBRARY_PATH");
    command
}

fn run(args: &[&str]) -> Output {
    vop(args).output().expect("vop runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_status_is_the_programs() {
    let output = run(&["sh", "-c", "echo out; echo err >&2; exit 7", "-x", "--help"]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(7), "out\n"));
    assert_eq!(stderr(&output), "err\n\nsummary of `sh`: it has not used CUDA\nno launches\n");
    // Options of the program are the program's, whatever they look like.
    assert_eq!(stdout(&run(&["echo", "--devices", "-0x10", "--", "-h"])), "--devices -0x10 -- -h\n");
    // Its end by a signal is vop's.
    let output = run(&["sh", "-c", "kill -USR1 $$"]);
    assert_eq!(output.status.signal(), Some(libc::SIGUSR1), "{output:?}");
}

#[test]
fn signals_reach_the_program() {
    let script = "trap 'echo got; exit 9' TERM; echo ready; while :; do sleep 0.05; done";
    let mut child = vop(&["sh", "-c", script]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "ready");
    // SAFETY: the process is not waited for yet.
    #[allow(unsafe_code, reason = "the standard library sends no signals")]
    let sent = unsafe { libc::kill(child.id() as i32, libc::SIGTERM) };
    assert_eq!(sent, 0);
    assert_eq!(lines.next().unwrap().unwrap(), "got");
    assert_eq!(child.wait().unwrap().code(), Some(9));
}

#[test]
fn the_library_is_where_programs_look_for_it() {
    let temporary = tempfile::tempdir().unwrap();
    let script =
        "echo $LD_LIBRARY_PATH; for file in ${LD_LIBRARY_PATH%%:*}/*; do readlink $file; echo ${file##*/}; done";
    let output = vop(&["sh", "-c", script])
        .env("TMPDIR", temporary.path())
        .env("LD_LIBRARY_PATH", "/somewhere/else")
        .output()
        .unwrap();
    let text = stdout(&output);
    let (path, files) = text.split_once('\n').unwrap();
    assert!(path.starts_with(temporary.path().to_str().unwrap()) && path.ends_with(":/somewhere/else"), "{path}");
    let names: BTreeSet<&str> = files.lines().filter(|line| !line.contains('/')).collect();
    let expected = ["libcuda.so", "libcuda.so.1", "libcudart.so", "libcudart.so.12", "libcudart.so.13"];
    assert_eq!(names, expected.into());
    assert_eq!(files.matches(env!("CARGO_BIN_EXE_vop-cuda")).count(), 5, "{files}");
    // Nothing stays.
    assert_eq!(temporary.path().read_dir().unwrap().count(), 0);
}

#[test]
fn what_cannot_run_is_said() {
    let refused = |command: &mut Command, words: &str| {
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(stderr(&output).contains(words), "{output:?}");
    };
    refused(&mut vop(&["./there-is-no-such-program"]), "there is no such program");
    refused(&mut vop(&["there-is-no-such-program"]), "there is no such program");
    refused(&mut vop(&[]), "<PROGRAM>...");
    refused(&mut vop(&["--device", "gfx90a", "true"]), "`gfx90a` is no GPU");
    refused(&mut vop(&["--devices", "9", "true"]), "9 is not in 1..=8");
    refused(vop(&["true"]).env("VOP_CUDA_LIBRARY", "/nowhere"), "VOP_CUDA_LIBRARY is no file");
    refused(vop(&["true"]).env("TMPDIR", "/nowhere"), "cannot make a folder in /nowhere");
}

#[test]
fn the_summary_is_json_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.json");
    let output = run(&["--format", "json", "--log", log.to_str().unwrap(), "sh", "-c", "exit 3"]);
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(3), ""));
    let value: serde_json::Value = serde_json::from_slice(&std::fs::read(&log).unwrap()).unwrap();
    assert_eq!((&value["program"], &value["status"], &value["launches"]), (&"sh".into(), &3.into(), &0.into()));
}

/// nvcc with the headers and libraries beside it; none where they are not there.
fn nvcc() -> Option<&'static (PathBuf, tempfile::TempDir)> {
    static FOUND: OnceLock<Option<(PathBuf, tempfile::TempDir)>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let bin = match std::env::var_os("CUDA_BIN") {
            Some(bin) => PathBuf::from(bin),
            None => std::env::split_paths(&std::env::var_os("PATH")?).find(|folder| folder.join("nvcc").is_file())?,
        };
        let runtime = ["../lib", "../lib64"].map(|folder| bin.join(folder).join("libcudart.so.13"));
        let runtime = runtime.iter().find(|file| file.is_file())?;
        // The packages of PyPI lack the name that linkers look for.
        let folder = tempfile::tempdir().ok()?;
        std::os::unix::fs::symlink(std::fs::canonicalize(runtime).ok()?, folder.path().join("libcudart.so")).ok()?;
        bin.join("nvcc").is_file().then(|| (bin.join("nvcc"), folder))
    });
    if found.is_none() {
        eprintln!("skipped: nvcc is missing (CUDA_BIN)");
    }
    found.as_ref()
}

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/programs")
}

/// Builds a program; none where there is no nvcc.
fn built(name: &str, options: &[&str]) -> Option<PathBuf> {
    let (nvcc, folder) = nvcc()?;
    let program = folder.path().join(format!("{name}{}", options.concat().replace(['=', ','], "-")));
    let output = Command::new(nvcc)
        .args(options)
        .arg("-L")
        .arg(folder.path())
        .arg(programs().join(name).with_extension("cu"))
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    assert!(output.status.success(), "{name}: {output:?}");
    Some(program)
}

const OPTIONS: [&str; 4] = ["-arch=compute_75", "-cudart", "shared", "-lineinfo"];

/// Runs a program of examples/programs and compares what it prints.
fn passes(name: &str, options: &[&str]) {
    let Some(program) = built(name, &OPTIONS) else { return };
    let output = run(&[options, &[program.to_str().unwrap()]].concat());
    let expected = std::fs::read_to_string(programs().join(name).with_extension("out")).unwrap();
    assert_eq!(stdout(&output), expected, "{name}: {}", stderr(&output));
    assert_eq!(output.status.code(), Some(0), "{name}: {}", stderr(&output));
    assert!(stderr(&output).ends_with("\nno errors\n"), "{name}: {}", stderr(&output));
}

#[test]
fn streams() {
    passes("streams", &["--check", "leaks,races"]);
}

#[test]
fn managed() {
    passes("managed", &["--check", "leaks"]);
}

#[test]
fn reduce() {
    passes("reduce", &["--check", "leaks", "--device", "sm_80"]);
}

#[test]
fn print() {
    passes("print", &["--check", "leaks,uninit"]);
}

/// Its headers take half a minute: `cargo test -p vop-cli --test exec -- --ignored`.
#[test]
#[ignore = "nvcc takes long"]
fn sort() {
    passes("sort", &["--check", "leaks"]);
}

#[test]
fn faults() {
    let Some(program) = built("faults", &OPTIONS) else { return };
    let program = program.to_str().unwrap();
    // The fault, what is printed before, the error and what the report on it says.
    let sticky = [
        ("bounds", "cudaErrorIllegalAddress", "faults.cu:10"),
        ("null", "cudaErrorIllegalAddress", "faults.cu:12"),
        ("misaligned", "cudaErrorMisalignedAddress", "faults.cu:14"),
        ("assert", "cudaErrorAssert", "values[0] == 42"),
        ("trap", "cudaErrorLaunchFailure", "faults.cu:18"),
        ("endless", "cudaErrorLaunchTimeout", "faults.cu:21"),
        ("stack", "cudaErrorHardwareStackError", "cudaLimitStackSize"),
        ("freed", "cudaErrorIllegalAddress", "faults.cu:10"),
    ];
    for (fault, error, words) in sticky {
        let output = run(&["--limit", "1e7", "--timeout", "20s", "--error-exit-code", "42", program, fault]);
        let expected = format!("launch: cudaSuccess\nwait: {error}\nlast: {error}\nnext: {error}\n");
        assert_eq!(stdout(&output), expected, "{fault}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{fault}: {}", stderr(&output));
        assert!(stderr(&output).ends_with("\n1 error\n"), "{fault}: {}", stderr(&output));
        assert_eq!(output.status.code(), Some(42), "{fault}");
    }
    // A wrong launch and a wrong copy do nothing, and are forgotten once they are told.
    let wrong = "launch: cudaErrorInvalidConfiguration\nwait: cudaSuccess\nlast: cudaErrorInvalidConfiguration\n\
                 next: cudaSuccess\n";
    assert_eq!(stdout(&run(&[program, "shape"])), wrong);
    let copy = "copy: cudaErrorInvalidValue\nlaunch: cudaErrorInvalidValue\nwait: cudaSuccess\nlast: cudaErrorInvalidValue\n\
                next: cudaSuccess\n";
    assert_eq!(stdout(&run(&[program, "copy"])), copy);
    // A program that ends while a stream is stuck does end.
    let output = run(&[program, "never"]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), ""), "{output:?}");
    assert!(stderr(&output).contains("the program ends while a stream waits"), "{output:?}");
    // What checks find.
    let fine = "launch: cudaSuccess\nwait: cudaSuccess\nlast: cudaSuccess\nnext: cudaSuccess\n";
    for (fault, check, words) in
        [("race", "races", "faults.cu:35"), ("leak", "leaks", "\nleak: 256 bytes of device memory")]
    {
        let output = run(&["--check", check, "--error-exit-code", "42", program, fault]);
        assert_eq!((stdout(&output).as_str(), output.status.code()), (fine, Some(42)), "{fault}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{fault}: {}", stderr(&output));
        let output = run(&["--error-exit-code", "42", program, fault]);
        assert_eq!((stdout(&output).as_str(), output.status.code()), (fine, Some(0)), "{fault}: {}", stderr(&output));
    }
}

/// Programs that cannot run are told which flag is missing.
#[test]
fn flags() {
    let Some(program) = built("print", &["-arch=compute_75"]) else { return };
    let output = run(&[program.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(stderr(&output).contains("link it with `nvcc -cudart shared`"), "{output:?}");
    let Some(program) = built("faults", &["-gencode", "arch=compute_75,code=sm_75", "-cudart", "shared"]) else {
        return;
    };
    let output = run(&["--error-exit-code", "42", program.to_str().unwrap(), "trap"]);
    assert_eq!(output.status.code(), Some(42), "{output:?}");
    assert!(stdout(&output).starts_with("launch: cudaErrorNoKernelImageForDevice\n"), "{output:?}");
    assert!(stderr(&output).contains("compile with `-arch=compute_75`"), "{output:?}");
}

/// Programs of the driver API that nvcc links have no runtime, though they have device code, which is empty.
#[test]
fn programs_of_the_driver_api() {
    let Some((nvcc, folder)) = nvcc() else { return };
    let (source, program) = (folder.path().join("driver.cpp"), folder.path().join("driver"));
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_vop-cuda"), folder.path().join("libcuda.so")).unwrap();
    std::fs::write(&source, "extern \"C\" int cuInit(unsigned);\nint main() { return cuInit(0); }\n").unwrap();
    let output = Command::new(nvcc)
        .args(["-arch=compute_75", "-cudart", "shared", "-L"])
        .arg(folder.path())
        .arg(&source)
        .args(["-lcuda", "-o"])
        .arg(&program)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let output = run(&[program.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(stderr(&output).contains("no launches"), "{output:?}");
}

/// The names of the functions of a library, of one version of them.
fn symbols(library: &Path, version: &str) -> Option<BTreeSet<String>> {
    let output = Command::new("nm").args(["-D", "--defined-only"]).arg(library).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let names = text.lines().filter_map(|line| {
        let (name, of) = line.split_whitespace().nth(2)?.split_once('@')?;
        (of.trim_start_matches('@') == version && name != version).then(|| name.to_owned())
    });
    Some(names.collect())
}

/// No symbol is missing that NVIDIA's library has.
#[test]
fn symbols_are_those_of_the_runtime() {
    let Some((nvcc, folder)) = nvcc() else { return };
    let (library, _) = (folder.path().join("libcudart.so"), nvcc);
    let (Some(theirs), Some(ours)) =
        (symbols(&library, "libcudart.so.13"), symbols(Path::new(env!("CARGO_BIN_EXE_vop-cuda")), "libcudart.so.13"))
    else {
        eprintln!("skipped: nm is missing");
        return;
    };
    assert!(theirs.len() > 400, "{theirs:?}");
    let missing: Vec<_> = theirs.difference(&ours).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let old = symbols(Path::new(env!("CARGO_BIN_EXE_vop-cuda")), "libcudart.so.12").unwrap();
    for name in ["cudaMalloc", "cudaGetDeviceProperties_v2", "cudaThreadSynchronize", "cudaMemcpyAsync_ptsz"] {
        assert!(old.contains(name), "{name}");
    }
}
