//! `cargo xtask programs`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use toml::{Table, Value};
use xtask::section::replaced;

use super::Failure;
use super::process::{cargo, output, root, succeed};

/// Build and run CUDA programs with nvcc and `vop exec`, and write what came of each.
///
/// A LIST names the programs of one suite: a TOML file with `name`, `repository`, `commit`, and a `[[program]]` for each. Its keys:
///
///     name, folder         the program's name, and where its sources are, from FOLDER/NAME-OF-THE-SUITE
///     sources, options     what nvcc gets, from that folder
///     libraries            what it links, as "-lcuda"
///     modules              files that the program loads: [["kernel.cu", "kernel.ptx", "-ptx"]]
///     architecture         of the PTX, instead of that of the list (compute_75)
///     arguments            a list for each run: [["-n", "100"], ["-n", "1000"]]
///     devices              how many devices the program needs
///     status               the exit status of success, 0 if nothing is said
///     expect, reject       texts that the output has, or has not
///     apart                why the program is counted apart: "graphics", "closed library: cuBLAS"
///
/// nvcc is that of CUDA_BIN or the PATH. What was built before is not built again. Lists of other people's programs stay outside of
/// this project, with these programs.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// The folder with a subfolder for each suite. Nothing in it is executed but the programs.
    folder: PathBuf,
    /// The lists; those of FOLDER (*.toml) if none is named.
    #[arg(long = "list", value_name = "FILE")]
    lists: Vec<PathBuf>,
    /// Only programs whose name contains this.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// The command to try [default: target/release/vop, built before].
    #[arg(long, value_name = "PATH")]
    vop: Option<PathBuf>,
    /// Where programs are built [default: FOLDER/build].
    #[arg(long, value_name = "FOLDER")]
    build: Option<PathBuf>,
    /// Build nothing: run what was built before, which needs no nvcc.
    #[arg(long)]
    run_only: bool,
    /// Programs at a time. Kernels use all cores as it is.
    #[arg(long, value_name = "COUNT", default_value_t = 2)]
    jobs: usize,
    /// Seconds that a run may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    limit: u64,
    /// Write docs/programs.md.
    #[arg(long)]
    write: bool,
}

/// The section of docs/programs.md.
const SECTION: &str = "programs";
/// Seconds that nvcc may take.
const BUILD_LIMIT: u64 = 900;

/// A suite's list.
struct Suite {
    name: String,
    repository: String,
    commit: String,
    programs: Vec<Program>,
}

struct Program {
    name: String,
    folder: String,
    architecture: String,
    sources: Vec<String>,
    options: Vec<String>,
    libraries: Vec<String>,
    modules: Vec<Vec<String>>,
    arguments: Vec<Vec<String>>,
    devices: i64,
    status: i64,
    expect: Vec<String>,
    reject: Vec<String>,
    apart: Option<String>,
}

/// What came of a program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Passed,
    /// It ran, and did not do what is expected.
    Wrong(String),
    /// vop does not have what it needs.
    Refused(String),
    TooSlow,
    /// nvcc does not take it.
    NotBuilt(String),
    Apart(String),
}

impl Outcome {
    fn kind(&self) -> &'static str {
        match self {
            Outcome::Passed => "passed",
            Outcome::Wrong(_) => "wrong",
            Outcome::Refused(_) => "refused",
            Outcome::TooSlow => "too slow",
            Outcome::NotBuilt(_) => "not compiled",
            Outcome::Apart(_) => "apart",
        }
    }

    fn why(&self) -> &str {
        match self {
            Outcome::Wrong(why) | Outcome::Refused(why) | Outcome::NotBuilt(why) | Outcome::Apart(why) => why,
            Outcome::Passed | Outcome::TooSlow => "",
        }
    }
}

/// What came of a program, and the seconds of its runs.
type Done = (Outcome, f64);

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let absolute = |path: &Path| path.canonicalize().map_err(|error| format!("{}: {error}", path.display()));
    let folder = absolute(&args.folder)?;
    let mut lists = args.lists.clone();
    if lists.is_empty() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                lists.push(path);
            }
        }
        lists.sort();
    }
    if lists.is_empty() {
        return Err(format!("{}: there is no list (*.toml); `--list` names one", folder.display()).into());
    }
    let suites = lists.iter().map(|list| Suite::read(list)).collect::<Result<Vec<_>, Failure>>()?;
    let vop = match &args.vop {
        Some(vop) => absolute(vop)?,
        None => {
            let mut build = Command::new(cargo());
            succeed(build.current_dir(root()?).args(["build", "--release", "--locked", "-p", "vop-cli"]))?;
            root()?.join("target/release/vop")
        }
    };
    let build = args.build.clone().unwrap_or_else(|| folder.join("build"));
    std::fs::create_dir_all(&build)?;
    let build = absolute(&build)?;
    let nvcc = if args.run_only { None } else { Some(Nvcc::find(&build)?) };
    let tools = Tools { nvcc, build, vop, limit: args.limit };
    let mut page = String::new();
    for suite in &suites {
        let wanted = |program: &&Program| args.only.as_ref().is_none_or(|only| program.name.contains(only));
        let programs: Vec<&Program> = suite.programs.iter().filter(wanted).collect();
        let done = tools.run_all(suite, &folder, &programs, args.jobs)?;
        let text = report(suite, &programs, &done);
        write!(std::io::stdout(), "{text}")?;
        page.push_str(&text);
    }
    if args.write {
        let path = root()?.join("docs/programs.md");
        let before = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        std::fs::write(&path, replaced(&before, SECTION, page.trim())?)?;
    }
    Ok(())
}

impl Suite {
    fn read(path: &Path) -> Result<Suite, Failure> {
        let wrong = |message: &str| Failure::from(format!("{}: {message}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| wrong(&error.to_string()))?;
        let table: Table = text.parse().map_err(|error: toml::de::Error| wrong(&error.to_string()))?;
        let text_of = |key: &str| table.get(key).and_then(Value::as_str).map(str::to_owned);
        let [Some(name), Some(repository), Some(commit)] = ["name", "repository", "commit"].map(text_of) else {
            return Err(wrong("a list needs `name`, `repository` and `commit`"));
        };
        let architecture = text_of("architecture").unwrap_or_else(|| "compute_75".to_owned());
        let programs = table.get("program").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let programs: Result<Vec<_>, String> =
            programs.iter().map(|program| Program::read(program, &architecture)).collect();
        Ok(Suite { name, repository, commit, programs: programs.map_err(|message| wrong(&message))? })
    }
}

impl Program {
    fn read(value: &Value, architecture: &str) -> Result<Program, String> {
        const KEYS: [&str; 14] = [
            "name",
            "folder",
            "architecture",
            "sources",
            "options",
            "libraries",
            "modules",
            "arguments",
            "devices",
            "status",
            "expect",
            "reject",
            "apart",
            "note",
        ];
        let table = value.as_table().ok_or("a program is a table")?;
        let name = table.get("name").and_then(Value::as_str).ok_or("a program has no `name`")?.to_owned();
        if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(format!("program `{name}`: `{key}` is no key: they are {}", KEYS.join(", ")));
        }
        let wrong = |key: &str, what: &str| format!("program `{name}`: `{key}` is not {what}");
        let text = |key: &str| match table.get(key) {
            None => Ok(None),
            Some(value) => value.as_str().map(|text| Some(text.to_owned())).ok_or_else(|| wrong(key, "a text")),
        };
        let texts = |value: &Value| -> Option<Vec<String>> {
            value.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
        };
        let list = |key: &str| match table.get(key) {
            None => Ok(Vec::new()),
            Some(value) => texts(value).ok_or_else(|| wrong(key, "a list of texts")),
        };
        let lists = |key: &str| match table.get(key) {
            None => Ok(Vec::new()),
            Some(value) => {
                let lists = value.as_array().and_then(|lists| lists.iter().map(texts).collect::<Option<Vec<_>>>());
                lists.ok_or_else(|| wrong(key, "a list of lists of texts"))
            }
        };
        let number = |key: &str, default| match table.get(key) {
            None => Ok(default),
            Some(value) => value.as_integer().ok_or_else(|| wrong(key, "a whole number")),
        };
        let modules = lists("modules")?;
        if modules.iter().any(|module| module.len() != 3) {
            return Err(wrong("modules", "a list of [source, file, \"-ptx\" or \"-fatbin\"]"));
        }
        let mut arguments = lists("arguments")?;
        if arguments.is_empty() {
            arguments.push(Vec::new());
        }
        Ok(Program {
            folder: text("folder")?.unwrap_or_default(),
            architecture: text("architecture")?.unwrap_or_else(|| architecture.to_owned()),
            sources: list("sources")?,
            options: list("options")?,
            libraries: list("libraries")?,
            modules,
            arguments,
            devices: number("devices", 1)?,
            status: number("status", 0)?,
            expect: list("expect")?,
            reject: list("reject")?,
            apart: text("apart")?,
            name,
        })
    }
}

/// What builds programs.
struct Nvcc {
    path: PathBuf,
    /// Where `-lcudart` and `-lcuda` are found.
    libraries: PathBuf,
}

/// What builds and runs programs.
struct Tools {
    nvcc: Option<Nvcc>,
    build: PathBuf,
    vop: PathBuf,
    limit: u64,
}

impl Nvcc {
    fn find(build: &Path) -> Result<Nvcc, Failure> {
        let bin = std::env::var_os("CUDA_BIN").map(PathBuf::from);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = bin.into_iter().chain(std::env::split_paths(&path));
        let nvcc = folders.map(|folder| folder.join("nvcc")).find(|nvcc| nvcc.is_file());
        let nvcc = nvcc.ok_or("nvcc is neither in the folder CUDA_BIN nor on the PATH")?;
        // The packages of PyPI have the runtime under its full name alone, and nothing to link as the driver.
        let libraries = build.join("lib");
        std::fs::create_dir_all(&libraries)?;
        let toolkit = nvcc.parent().and_then(Path::parent).ok_or("nvcc lies in no folder")?;
        let mut runtime = None;
        for folder in ["lib", "lib64"].map(|name| toolkit.join(name)) {
            for entry in std::fs::read_dir(folder).into_iter().flatten() {
                let path = entry?.path();
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                if name.starts_with("libcudart.so") {
                    runtime = runtime.max(Some(path.clone()));
                }
                if name == "libcudadevrt.a" {
                    link(&path, &libraries.join(name))?;
                }
            }
        }
        let runtime = runtime.ok_or_else(|| format!("{}: there is no libcudart.so", toolkit.display()))?;
        link(&runtime, &libraries.join("libcudart.so"))?;
        let (driver, source) = (libraries.join("libcuda.so"), libraries.join("driver.c"));
        if !source.exists() {
            let header = toolkit.join("include/cuda.h");
            let text = std::fs::read_to_string(&header).map_err(|error| format!("{}: {error}", header.display()))?;
            std::fs::write(&source, driver_functions(&text))?;
            let mut gcc = Command::new("gcc");
            gcc.args(["-w", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o"]).arg(&driver).arg(&source);
            output(&mut gcc)?;
        }
        Ok(Nvcc { path: nvcc, libraries })
    }

    /// Builds a program and its modules. Returns why it cannot be built.
    fn build(&self, folder: &Path, program: &Program, to: &Path) -> Result<Option<String>, Failure> {
        let mut commands = Vec::new();
        let nvcc = || {
            let mut command = Command::new(&self.path);
            command.current_dir(folder).arg(format!("-arch={}", program.architecture)).arg("-w");
            command.args(&program.options);
            command
        };
        let mut main = nvcc();
        main.args(["-cudart", "shared", "-O2"]).args(&program.sources);
        main.arg("-L").arg(&self.libraries).args(&program.libraries);
        main.arg("-o").arg(to.join("program"));
        commands.push(main);
        for module in &program.modules {
            let [source, file, kind] = &module[..] else { continue };
            let mut command = nvcc();
            command.arg(kind).arg(source).arg("-o").arg(to.join(file));
            commands.push(command);
        }
        let asked = commands.iter().map(|command| format!("{command:?}\n")).collect::<String>();
        let (note, log) = (to.join("commands"), to.join("build.log"));
        if std::fs::read_to_string(&note).is_ok_and(|before| before == asked) {
            return Ok(std::fs::read_to_string(to.join("why")).ok());
        }
        let _ = std::fs::remove_file(to.join("why"));
        let mut why = None;
        for mut command in commands {
            let ended = ended(&mut command, &log, Duration::from_secs(BUILD_LIMIT))?;
            if ended.status != Some(0) {
                let text = std::fs::read(&log).map(|text| String::from_utf8_lossy(&text).into_owned())?;
                let line = text.lines().find(|line| line.contains("error") || line.contains("undefined"));
                why = Some(short(line.or(text.lines().last()).unwrap_or("nvcc fails")));
                break;
            }
        }
        for module in &program.modules {
            // Programs look for their modules where they are started.
            if let (None, [_, file, _]) = (&why, &module[..]) {
                std::fs::copy(to.join(file), folder.join(file))?;
            }
        }
        if let Some(why) = &why {
            std::fs::write(to.join("why"), why)?;
        }
        std::fs::write(note, asked)?;
        Ok(why)
    }
}

impl Tools {
    fn run_all(&self, suite: &Suite, folder: &Path, programs: &[&Program], jobs: usize) -> Result<Vec<Done>, Failure> {
        let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
        let work = || -> Result<(), String> {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(program) = programs.get(index) else { return Ok(()) };
                let place = folder.join(&suite.name).join(&program.folder);
                let result = self.try_one(suite, &place, program).map_err(|error| error.to_string())?;
                let line = format!("{} {} {:.1} s {}", program.name, result.0.kind(), result.1, result.0.why());
                // Nobody need read it.
                let _ = writeln!(std::io::stderr(), "{}", line.trim_end());
                done.lock().map_err(|_| "a thread failed")?.insert(index, result);
            }
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(work)).collect();
            threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread failed".to_owned())?)
        })?;
        Ok(done.into_inner().map_err(|_| "a thread failed")?.into_values().collect())
    }

    fn try_one(&self, suite: &Suite, folder: &Path, program: &Program) -> Result<Done, Failure> {
        if let Some(why) = &program.apart {
            return Ok((Outcome::Apart(why.clone()), 0.0));
        }
        if !folder.is_dir() {
            return Ok((Outcome::NotBuilt("its folder is not there".to_owned()), 0.0));
        }
        let to = self.build.join(&suite.name).join(&program.name);
        std::fs::create_dir_all(&to)?;
        let why = match &self.nvcc {
            Some(nvcc) => nvcc.build(folder, program, &to)?,
            None if to.join("program").exists() => None,
            None => Some(std::fs::read_to_string(to.join("why")).unwrap_or("it was not built".to_owned())),
        };
        if let Some(why) = why {
            return Ok((Outcome::NotBuilt(why), 0.0));
        }
        let mut seconds = 0.0;
        for arguments in &program.arguments {
            let (outcome, time) = self.run(folder, program, &to, arguments)?;
            seconds += time;
            if outcome != Outcome::Passed {
                return Ok((outcome, seconds));
            }
        }
        Ok((Outcome::Passed, seconds))
    }

    fn run(&self, folder: &Path, program: &Program, to: &Path, arguments: &[String]) -> Result<Done, Failure> {
        let (log, summary) = (to.join("run.log"), to.join("summary.json"));
        let _ = std::fs::remove_file(&summary);
        let mut command = Command::new(&self.vop);
        command.arg("exec").args(["--devices", &program.devices.to_string(), "--format", "json", "--log"]);
        command.arg(&summary).arg(to.join("program")).args(arguments).current_dir(folder);
        let ended = ended(&mut command, &log, Duration::from_secs(self.limit))?;
        let text = String::from_utf8_lossy(&std::fs::read(&log)?).into_owned();
        let summary = std::fs::read_to_string(&summary).unwrap_or_default();
        let outcome = match judged(program, ended.status, &text) {
            _ if ended.status.is_none() && ended.seconds >= self.limit as f64 => Outcome::TooSlow,
            None => Outcome::Passed,
            Some(why) => refusal(&text, &summary).map_or(Outcome::Wrong(why), Outcome::Refused),
        };
        Ok((outcome, ended.seconds))
    }
}

/// A library in C with every function that the header of the driver names, so that programs can be linked: they find the real ones when
/// they start.
fn driver_functions(header: &str) -> String {
    let words = header.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let is_function = |word: &&str| {
        word.strip_prefix("cu").is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_uppercase()))
    };
    let names: BTreeSet<&str> = words.filter(is_function).collect();
    names.into_iter().map(|name| format!("void {name}(void) {{}}\n")).collect()
}

/// Makes a link, in the place of one that is there.
fn link(to: &Path, from: &Path) -> Result<(), Failure> {
    let _ = std::fs::remove_file(from);
    Ok(std::os::unix::fs::symlink(to, from)?)
}

/// What is wrong with a run; nothing if it is as expected.
fn judged(program: &Program, status: Option<i32>, text: &str) -> Option<String> {
    if let Some(found) = program.reject.iter().find(|found| text.contains(found.as_str())) {
        let line = text.lines().find(|line| line.contains(found.as_str())).unwrap_or(found);
        return Some(short(line));
    }
    let expected = i32::try_from(program.status).unwrap_or(0);
    match status {
        None => return Some("a signal ends it".to_owned()),
        Some(status) if status != expected => {
            let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("");
            return Some(short(&format!("status {status}: {line}")));
        }
        Some(_) => {}
    }
    let missing = program.expect.iter().find(|wanted| !text.contains(wanted.as_str()))?;
    Some(format!("the output has no `{missing}`"))
}

/// What vop does not have, if a run failed for that.
fn refusal(text: &str, summary: &str) -> Option<String> {
    const SIGNS: [&str; 3] = ["is not supported by vop", "not supported (", "V0601"];
    if let Some(line) = text.lines().find(|line| SIGNS.iter().any(|sign| line.contains(sign))) {
        return Some(short(line));
    }
    let summary: serde_json::Value = serde_json::from_str(summary).ok()?;
    let mut functions = Vec::new();
    for process in summary.get("processes")?.as_array()? {
        functions.extend(process.get("unsupported").and_then(|found| found.as_object()).into_iter().flatten());
    }
    let names: Vec<&str> = functions.iter().map(|(name, _)| name.as_str()).collect();
    (!names.is_empty()).then(|| short(&format!("calls {}", names.join(", "))))
}

/// A line as a cell of a table.
fn short(line: &str) -> String {
    let line: String = line.trim().chars().filter(|c| !c.is_control()).take(120).collect();
    line.replace('|', "/")
}

struct Ended {
    /// The exit status; none after a signal, or if the time was over.
    status: Option<i32>,
    seconds: f64,
}

/// Runs a command, which writes into a file, up to a time.
fn ended(command: &mut Command, log: &Path, limit: Duration) -> Result<Ended, Failure> {
    let file = File::create(log)?;
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    let start = Instant::now();
    // A group of its own, so that what it starts ends with it.
    let mut child = command.process_group(0).spawn().map_err(|error| format!("{command:?}: {error}"))?;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status.code();
        }
        if start.elapsed() >= limit {
            let group = format!("-{}", child.id());
            // It may just have ended.
            let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
            child.wait()?;
            break None;
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    Ok(Ended { status, seconds: start.elapsed().as_secs_f64() })
}

/// What came of a suite: a table of outcomes, and one of programs.
fn report(suite: &Suite, programs: &[&Program], done: &[Done]) -> String {
    let mut text = format!("## {}\n\n{}, {}\n\n", suite.name, suite.repository, suite.commit);
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for (outcome, _) in done {
        *kinds.entry(outcome.kind()).or_default() += 1;
    }
    text.push_str("| outcome | programs |\n| --- | ---: |\n");
    // Writing to a String cannot fail.
    for (kind, count) in kinds {
        let _ = writeln!(text, "| {kind} | {count} |");
    }
    text.push_str("\n| program | outcome | why | seconds |\n| --- | --- | --- | ---: |\n");
    for (program, (outcome, seconds)) in programs.iter().zip(done) {
        let seconds = if *seconds > 0.0 { format!("{seconds:.1}") } else { String::new() };
        let _ = writeln!(text, "| {} | {} | {} | {seconds} |", program.name, outcome.kind(), outcome.why());
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::{Outcome, Program, driver_functions, judged, refusal, report};

    fn program(text: &str) -> Program {
        let table: toml::Table = text.parse().expect("TOML");
        Program::read(&table.into(), "compute_75").expect("a program")
    }

    #[test]
    fn what_a_run_writes_decides() {
        let program = program("name = 'p'\nstatus = 3\nexpect = ['PASS']\nreject = ['FAIL']\n");
        assert_eq!(judged(&program, Some(3), "a\nPASS\n"), None);
        assert_eq!(judged(&program, Some(3), "a\n").as_deref(), Some("the output has no `PASS`"));
        assert_eq!(judged(&program, Some(3), "PASS\nx FAIL|\n").as_deref(), Some("x FAIL/"));
        assert_eq!(judged(&program, Some(0), "PASS\n\n").as_deref(), Some("status 0: PASS"));
        assert_eq!(judged(&program, None, "PASS\n").as_deref(), Some("a signal ends it"));
    }

    #[test]
    fn a_refusal_has_its_reason() {
        let line = "error[V0601]: instruction `mma.sync` is not supported by vop run: tensor-core instructions are not";
        assert_eq!(refusal(&format!("x\n{line}\n"), "").as_deref(), Some(line));
        let summary = r#"{"processes": [{"unsupported": {"cuCtxFreeze": 2}}, {"unsupported": {}}]}"#;
        assert_eq!(refusal("x\n", summary).as_deref(), Some("calls cuCtxFreeze"));
        assert_eq!(refusal("x\n", r#"{"processes": [{"unsupported": {}}]}"#), None);
    }

    #[test]
    fn a_list_says_what_is_wrong_with_it() {
        let read = |text: &str| {
            let table: toml::Table = text.parse().expect("TOML");
            Program::read(&table.into(), "compute_75").map(|_| ()).expect_err("it is wrong")
        };
        assert_eq!(read("folder = 'x'"), "a program has no `name`");
        assert!(read("name = 'p'\nsource = 'x'").contains("`source` is no key"));
        assert_eq!(read("name = 'p'\nsources = 'x'"), "program `p`: `sources` is not a list of texts");
        assert!(read("name = 'p'\nmodules = [['a.cu', 'a.ptx']]").contains("`modules` is not"));
    }

    #[test]
    fn the_driver_has_the_functions_of_its_header() {
        let header = "#define cuMemAlloc cuMemAlloc_v2\ntypedef int CUresult, cuuint64_t;\nCUresult CUDAAPI cuMemAlloc(size_t n);\n";
        assert_eq!(driver_functions(header), "void cuMemAlloc(void) {}\nvoid cuMemAlloc_v2(void) {}\n");
    }

    #[test]
    fn outcomes_are_counted() {
        let suite = super::Suite {
            name: "s".into(),
            repository: "https://example.org/s".into(),
            commit: "1234".into(),
            programs: vec![program("name = 'a'"), program("name = 'b'"), program("name = 'c'")],
        };
        let programs: Vec<_> = suite.programs.iter().collect();
        let done = [(Outcome::Passed, 1.25), (Outcome::Apart("graphics".into()), 0.0), (Outcome::Passed, 0.5)];
        let text = report(&suite, &programs, &done);
        assert!(text.contains("| apart | 1 |\n| passed | 2 |\n"), "{text}");
        assert!(text.contains("| a | passed |  | 1.2 |\n| b | apart | graphics |  |\n"), "{text}");
    }
}
