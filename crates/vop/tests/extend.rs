//! What CONTRIBUTING says under "Add an instruction": a made-up one is added to a copy of this crate.
//!
//! The compiler must name every file that a new operation needs, except those that only the table of CONTRIBUTING names. With
//! the additions to these files the copy must build, and the instruction must work.

#![allow(clippy::unwrap_used, reason = "a test: what fails here fails it")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What is added, behind which line of which file. First the table and the operation, then what the compiler asks for.
const DECLARED: [(&str, &str, &str); 2] = [
    ("isa/types.rs", "    Sub,\n", "    /// Made up: b - a.\n    Rsub,\n"),
    (
        "isa/table.rs",
        "table! {\n",
        "    Vrsub \"vrsub\" Rsub Scalar \".dtype.atype.btype{.sat}{.op2} d{.dsel}, a{.asel}, b{.bsel}{, c}\" \"made up\" \"0\" (2, 0) 20;
    Vrsub4 \"vrsub4\" Rsub Bytes \".dtype.atype.btype{.sat}{.add} d{.mask}, a{.asel}, b{.bsel}, c\" \"made up\" \"0\" (3, 0) 30;\n",
    ),
];

const ASKED_FOR: [(&str, &str, &str); 7] = [
    ("eval.rs", "Operation::Sub => a - b,\n", "Operation::Rsub => b - a,\n"),
    (
        "smt.rs",
        "(Operation::Sub, _) => format!(\"(bvsub {a} {b})\"),\n",
        "(Operation::Rsub, _) => format!(\"(bvsub {b} {a})\"),\n",
    ),
    ("interval.rs", "(Operation::Sub, _) => inputs.sum([1, -1]),\n", "(Operation::Rsub, _) => inputs.sum([-1, 1]),\n"),
    (
        "describe.rs",
        "Operation::Sub => format!(\"Subtracts {b} from {a}\"),\n",
        "Operation::Rsub => format!(\"Subtracts {a} from {b}\"),\n",
    ),
    ("lower/scalar/word.rs", "Operation::Sub => difference,\n", "Operation::Rsub => negated(difference),\n"),
    ("bulk/choose.rs", "of! { Add ADD, ", "Rsub RSUB, "),
    // Named by `bulk/choose.rs` rather than by the compiler.
    (
        "bulk/kernels.rs",
        "pub(super) const SUB: u8 = Operation::Sub as u8;\n",
        "pub(super) const RSUB: u8 = Operation::Rsub as u8;\n",
    ),
];

/// The loops of `bulk/kernels.rs`.
const LOOPS: [(&str, &str); 3] = [
    ("SUB => C::sub(a, b),\n", "RSUB => C::sub(b, a),\n"),
    ("SUB => a.sub32(b),\n", "RSUB => b.sub32(a),\n"),
    ("SUB => a.sub64(b),\n", "RSUB => b.sub64(a),\n"),
];

const PROGRAM: &str = r#"
use vop::{Deviations, Form, Semantics, bulk::Plan, smt::Script};

fn main() {
    for (text, a, b, c, expected) in [
        ("vrsub.s32.u32.u32 d, a, b", 7, 5, 0, -2i32 as u32),
        ("vrsub.u32.u32.u32.sat d.b1, a, b, c", 7, 5, 0x11223344, 0x11220044),
        ("vrsub4.s32.s32.s32.sat d, a, b, c", 0x01_80_7f_05, 0x02_7f_80_05, 0, 0x01_7f_80_00),
        ("vrsub4.s32.u32.u32.add d, a, b, c", 0x01_02_03_04, 0x02_02_02_02, 10, 8),
    ] {
        let form: Form = text.parse().unwrap();
        assert_eq!(form.eval(a, b, c), expected, "{text}");
        assert_eq!(form.explain(a, b, c).d, expected, "{text}");
        let mut d = [0; 40];
        Plan::new(form, Semantics::Isa).run(a.into(), b.into(), c.into(), &mut d);
        assert_eq!(d, [expected; 40], "{text}");
        assert!(form.describe().starts_with("Subtracts "), "{}", form.describe());
        let mut script = Script::new();
        form.smt(Deviations::NONE, &mut script, ["a", "b", "c"]);
        assert!(script.to_string().contains("bvsub"));
    }
}
"#;

/// A copy of the crate as a workspace of its own.
struct Copy {
    folder: PathBuf,
}

impl Copy {
    fn new() -> Copy {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("made-up-instruction");
        // What a run before has built serves this one; its sources do not.
        let _ = fs::remove_dir_all(folder.join("src"));
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &folder.join("src"));
        fs::create_dir_all(folder.join("examples")).unwrap();
        fs::write(folder.join("examples/made_up.rs"), PROGRAM).unwrap();
        let manifest = "[package]\nname = \"vop\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[features]\nbulk = []\n\n\
                        [workspace]\n\n[profile.dev]\ndebug = false\n";
        fs::write(folder.join("Cargo.toml"), manifest).unwrap();
        Copy { folder }
    }

    fn add(&self, (file, behind, addition): (&str, &str, &str)) {
        let path = self.folder.join("src").join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(behind), "{file} has changed: it lacks {behind:?}");
        fs::write(&path, text.replace(behind, &format!("{behind}{addition}"))).unwrap();
    }

    fn cargo(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO"));
        command.args(arguments).args(["--offline", "--features", "bulk"]).current_dir(&self.folder);
        // The compiler as it is: not with the lints that a wrapper adds.
        for flags in ["RUSTFLAGS", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER"] {
            command.env_remove(flags);
        }
        command.env("CARGO_TARGET_DIR", self.folder.join("target")).output().unwrap()
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn a_made_up_instruction() {
    let copy = Copy::new();
    DECLARED.into_iter().for_each(|addition| copy.add(addition));
    let checked = copy.cargo(&["check", "--message-format", "short"]);
    let messages = String::from_utf8_lossy(&checked.stderr).into_owned();
    let errors = messages.lines().filter(|line| line.contains(": error"));
    let named: BTreeSet<String> = errors
        .filter_map(|line| Some(line.split(':').next()?.replace('\\', "/").strip_prefix("src/")?.to_owned()))
        .collect();
    let asked_for = ASKED_FOR.iter().map(|(file, ..)| (*file).to_owned()).filter(|file| file != "bulk/kernels.rs");
    assert_eq!(named, asked_for.collect::<BTreeSet<String>>(), "{messages}");

    ASKED_FOR.into_iter().for_each(|addition| copy.add(addition));
    LOOPS.into_iter().for_each(|(behind, addition)| copy.add(("bulk/kernels.rs", behind, addition)));
    let run = copy.cargo(&["run", "--quiet", "--example", "made_up"]);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}
