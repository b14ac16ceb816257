//! Programs in C and C++ that use the library: compiled with every warning as an error, linked with both libraries, and run under a tool that
//! finds leaks and wrong accesses.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

/// What the static library needs of the system.
const SYSTEM: [&str; 5] = ["-lgcc_s", "-lpthread", "-ldl", "-lm", "-lc"];

/// The libraries as they are installed, in a folder of their own.
fn install() -> tempfile::TempDir {
    let test = std::env::current_exe().expect("the test knows its place");
    // cargo puts the libraries that a test needs beside it.
    let built = test.parent().expect("it is in a folder");
    let folder = tempfile::tempdir().expect("there is room");
    for (from, to) in
        [("libvop_capi.so", "libvop.so"), ("libvop_capi.so", "libvop.so.0"), ("libvop_capi.a", "static/libvop.a")]
    {
        let (from, to) = (built.join(from), folder.path().join(to));
        assert!(from.is_file(), "{} is not there", from.display());
        std::fs::create_dir_all(to.parent().expect("it is in a folder")).expect("the folder can be made");
        symlink(from, to).expect("links can be made");
    }
    folder
}

/// Says why nothing is tested, where a tool is not on this machine.
fn missing(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        let _ = writeln!(std::io::stderr(), "skipped: what needs {tool}, which is not on this machine");
    }
    !found
}

fn run(command: &mut Command) -> String {
    let output = command.output().expect("the command can be started");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{command:?} failed, {}:\n{out}{err}", output.status);
    out
}

/// Compiles a program, as a test of it.
fn compile(compiler: &str, standard: &str, source: &Path, flags: &[&OsStr], to: PathBuf) -> PathBuf {
    let warnings = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-g"];
    let language = if standard.contains("++") { "c++" } else { "c" };
    let mut command = Command::new(compiler);
    command.arg(format!("-std={standard}")).args(warnings).arg("-I").arg(format!("{CRATE}/include"));
    run(command.args(["-x", language]).arg(source).args(["-x", "none", "-o"]).arg(&to).args(flags).arg("-pthread"));
    to
}

/// Compiles a program as C and as C++ with the shared library, and runs it.
fn test(name: &str, under_valgrind: bool) {
    let source = Path::new(CRATE).join("tests/c").join(name);
    let folder = install();
    let libraries = folder.path();
    for (compiler, standard) in [("gcc", "c11"), ("g++", "c++17"), ("clang", "c11")] {
        if missing(compiler) {
            continue;
        }
        let flags = [OsStr::new("-L"), libraries.as_os_str(), OsStr::new("-lvop")];
        let program = compile(compiler, standard, &source, &flags, libraries.join(format!("{compiler}-{standard}")));
        // C++ and clang show that the header is theirs, too; the program does the same.
        if compiler == "gcc" {
            let mut command = Command::new("valgrind");
            if !under_valgrind || missing("valgrind") {
                command = Command::new(&program);
            } else {
                // Not what the standard library keeps for threads.
                let leaks = [
                    "--leak-check=full",
                    "--show-leak-kinds=definite",
                    "--errors-for-leak-kinds=definite",
                    "--error-exitcode=99",
                    "--quiet",
                ];
                command.args(leaks).arg(&program);
            }
            let said = run(command.env("LD_LIBRARY_PATH", libraries));
            assert!(said.contains("as expected"), "{said}");
        }
    }
}

#[test]
fn instructions() {
    test("instructions.c", true);
}

#[test]
fn launches() {
    test("launches.c", true);
}

#[test]
#[cfg(target_os = "linux")]
fn ptx_run() {
    // It is about what the process has mapped, which valgrind changes.
    test("ptx_run.c", false);
}

/// The static library holds all that the system does not have.
#[test]
fn linked_statically() {
    if missing("gcc") {
        return;
    }
    let folder = install();
    let source = Path::new(CRATE).join("tests/c/instructions.c");
    let library = folder.path().join("static/libvop.a");
    let mut flags = vec![library.as_os_str()];
    flags.extend(SYSTEM.map(OsStr::new));
    let program = compile("gcc", "c11", &source, &flags, folder.path().join("program"));
    assert!(run(&mut Command::new(program)).contains("as expected"));
}

/// The shared library exports what the header declares, and nothing else.
#[test]
fn exports_are_those_of_the_header() {
    if missing("nm") {
        return;
    }
    let folder = install();
    let symbols = run(Command::new("nm").args(["-D", "--defined-only", "-P"]).arg(folder.path().join("libvop.so")));
    let mut exported: Vec<&str> = symbols.lines().filter_map(|line| line.split(' ').next()).collect();
    let header = std::fs::read_to_string(format!("{CRATE}/include/vop.h")).expect("the header is there");
    let declarations = header.lines().filter(|line| line.contains('(') && !line.starts_with(['/', '#', ' ', '*']));
    let named = declarations.filter_map(|line| line.split('(').next()?.rsplit([' ', '*']).next());
    let mut declared: Vec<&str> = named.filter(|name| name.starts_with("vop_") || *name == "ptx_run").collect();
    exported.sort_unstable();
    declared.sort_unstable();
    assert!(declared.len() > 80, "{declared:?}");
    assert_eq!(exported, declared);
}

/// What docs/c.md says to do, by the file for pkg-config.
#[test]
fn examples() {
    if missing("gcc") || missing("make") || missing("pkg-config") {
        return;
    }
    let folder = install();
    let prefix = folder.path();
    symlink(format!("{CRATE}/include"), prefix.join("include")).expect("links can be made");
    symlink(".", prefix.join("lib")).expect("links can be made");
    let template = std::fs::read_to_string(format!("{CRATE}/vop.pc.in")).expect("the template is there");
    let filled =
        template.replace("@prefix@", &prefix.to_string_lossy()).replace("@version@", env!("CARGO_PKG_VERSION"));
    std::fs::write(prefix.join("vop.pc"), filled).expect("the file can be written");
    let mut make = Command::new("make");
    make.arg("-C").arg(format!("{CRATE}/../../examples/c")).arg("run").arg(format!("BUILD={}", prefix.display()));
    let said = run(make.env("PKG_CONFIG_PATH", prefix).env("CFLAGS", "-Werror").env("CC", "gcc"));
    assert!(said.contains("d = 0x6e\n"), "{said}");
    assert!(said.contains("4096 bytes are 7; ") && said.contains("0 findings"), "{said}");
}
