//! Colours, and man pages.

use std::process::{Command, Output};

fn vop(args: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vop"));
    command.args(args).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env_remove("CLICOLOR");
    command.envs(variables.iter().copied()).output().expect("the command runs")
}

/// Standard output and standard error.
fn texts(output: &Output) -> [String; 2] {
    [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned())
}

/// What is no terminal gets no colours, unless they are forced. `NO_COLOR` takes them away even then.
#[test]
fn colours() {
    let explained = ["explain", "vadd4.s32.s32.u32.sat"];
    let illegal = ["eval", "vadd4.s32", "1", "2"];
    let misused = ["explain", "vadd4", "1"];
    for args in [&explained[..], &illegal, &misused] {
        let coloured =
            |variables: &[(&str, &str)]| texts(&vop(args, variables)).iter().any(|text| text.contains('\x1b'));
        assert!(!coloured(&[]), "{args:?}");
        assert!(!coloured(&[("NO_COLOR", "1")]), "{args:?}");
        assert!(coloured(&[("CLICOLOR_FORCE", "1")]), "{args:?}");
        assert!(!coloured(&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]), "{args:?}");
    }
}

#[test]
fn a_man_page_for_each_subcommand() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("man1");
    let path = path.to_str().expect("the path is UTF-8");
    assert!(vop(&["man", "--output", path], &[]).status.success());
    let mut names: Vec<String> = std::fs::read_dir(path)
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be listed").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let [help, _] = texts(&vop(&["--help"], &[]));
    let commands = help.split_once("Commands:\n").and_then(|(_, rest)| rest.split_once("\n\n")).expect("a list").0;
    let mut expected: Vec<String> = commands
        .lines()
        // Continued lines are further in.
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(|name| format!("vop-{name}.1"))
        .collect();
    assert!(expected.len() >= 11, "{expected:?}");
    expected.push("vop.1".to_owned());
    expected.sort();
    assert_eq!(names, expected);
    for name in names {
        let page = std::fs::read_to_string(format!("{path}/{name}")).expect("the page can be read");
        assert!(page.contains(".SH NAME") && page.contains(".SH SYNOPSIS"), "{name}");
        let title = format!("{} \\-", name.trim_end_matches(".1").replace('-', "\\-"));
        assert!(page.contains(&title), "{name}: {page}");
    }
}
