//! `docs/diagnostics.md`: all diagnostic codes, from the library's tables.

use std::fmt::Write;

use vop::{Code, RunErrorKind, Severity};

use crate::docs::wrapped;

/// What the library knows of a code.
pub(crate) struct Entry {
    pub(crate) code: &'static str,
    pub(crate) severity: Severity,
    pub(crate) title: &'static str,
    pub(crate) explanation: &'static str,
}

/// Every code that any part of the project reports, in the order of their names.
pub(crate) fn entries() -> Vec<Entry> {
    let judged = Code::ALL.iter().map(|code| Entry {
        code: code.name(),
        severity: code.severity(),
        title: code.title(),
        explanation: code.explanation(),
    });
    let executed = RunErrorKind::ALL.iter().map(|kind| Entry {
        code: kind.code(),
        severity: Severity::Error,
        title: kind.title(),
        explanation: kind.explanation(),
    });
    let mut entries: Vec<Entry> = judged.chain(executed).collect();
    entries.sort_by_key(|entry| entry.code);
    entries
}

/// The first four characters of codes, and what such codes are about.
pub(crate) const GROUPS: [(&str, &str); 7] = [
    ("V01", "Syntax"),
    ("V02", "Modifiers"),
    ("V03", "Operands and selectors"),
    ("V04", "Registers"),
    ("V05", "The module's version and target"),
    ("V06", "Running kernels"),
    ("V07", "Lints: legal code that is probably a mistake"),
];

/// What a user does about a code, in a sentence.
///
/// The library explains why something is wrong. This is the short answer for somebody who looks a code up in a table.
pub(crate) fn advice(code: &str) -> Option<&'static str> {
    Some(match code {
        "V0101" => "Correct the syntax at the marked place. Often a comma, a semicolon or an operand is missing.",
        "V0102" => "Correct the mnemonic. `vop list` prints all 23.",
        "V0103" => "Pass exactly one instruction.",
        "V0104" => "Write an integer: decimal, `0x…`, `0b…`, octal, or an expression of such numbers.",
        "V0105" => "Close the comment (`*/`) or the block (`}`).",
        "V0106" => "Write one guard, `@p` or `@!p`, before the mnemonic.",
        "V0201" => "Correct or remove the modifier. `vop list MNEMONIC` prints those that exist.",
        "V0202" => "Remove the modifier, or use an instruction that takes it.",
        "V0203" => "Write three types (of d, a and b); for `vset`, `vset2` and `vset4` two (of a and b).",
        "V0204" => "Write `.u32` or `.s32`. Name a byte or a half-word by a selector on the operand.",
        "V0205" => "Remove the repetition.",
        "V0206" => "Add a comparison (`vset`, `vset2`, `vset4`) or `.clamp` or `.wrap` (`vshl`, `vshr`).",
        "V0207" => "Remove `.sat` or `.add`, or use two instructions.",
        "V0208" => "Use `.add`, or a second instruction for the minimum or maximum.",
        "V0209" => "Write `.u32` as the third type.",
        "V0210" => "Write `.eq`, `.ne`, `.lt`, `.le`, `.gt` or `.ge`. The types decide about the signs.",
        "V0211" => "Remove the selector on d or the secondary operation, or use two instructions.",
        "V0301" => "Write d, a and b, and c where the form reads it.",
        "V0302" => "Move the number into a register first.",
        "V0303" => "Correct the selector. The message lists those that this operand takes.",
        "V0304" => "Use a selector that this operand takes. The message lists them.",
        "V0305" => "Remove the selector. Move the part of c into a register first if you need it.",
        "V0306" => "Add operand c. For `vmad`, remove the selector and insert the result by another instruction.",
        "V0307" => "Remove the minus, or negate in an instruction before.",
        "V0308" => "Negate the product or c, not both.",
        "V0309" => "Remove `.po` or the minus.",
        "V0310" => "Write a 32-bit register; in scalar forms an integer is allowed for a, b and c.",
        "V0311" => "Exchange a and b, and write the selector as the message says.",
        "V0401" => "Declare the register, or correct its name.",
        "V0402" => "Move the bits into a `.b32` register first, or change the declaration.",
        "V0403" => "Declare the guard's register as `.pred`.",
        "V0404" => "Rename one of the two, or remove the second declaration.",
        "V0405" => "Write `.reg`, a type and names.",
        "V0406" => "Give the asm that operand, or correct its number or name.",
        "V0407" => "Use the constraint `r` (`reg32` in Rust) with a 32-bit integer.",
        "V0408" => {
            "Use the constraint `r` for a register, and `n` for a constant that completes a modifier or selector."
        }
        "V0409" => "Convert the expression to a 32-bit integer.",
        "V0501" => "Raise `.version` to the one that the message names.",
        "V0502" => "Raise `.target` to the one that the message names.",
        "V0601" => "Remove the instruction, or run a kernel without it. docs/run.md lists what is supported.",
        "V0602" => "Correct the statement. Compile the source again if a compiler wrote it.",
        "V0603" => "Name a kernel of the module. The message lists them. Declare C++ kernels `extern \"C\"`.",
        "V0604" => "Give one argument for each parameter of the kernel, of its size and in its order.",
        "V0605" => "Choose a grid, a block and a size of shared memory within the limits that the message names.",
        "V0606" => "Correct the index or enlarge the buffer. The message names the buffer and the distance.",
        "V0607" => "Align the address to the size of the access.",
        "V0608" => "Write to memory that may be written, by the state space of its address.",
        "V0609" => "Look for a loop without end, or raise `--limit`.",
        "V0630" => "Give the launch more time with `--timeout`, or find out why it takes so long.",
        "V0631" => "Nothing, if you stopped it.",
        "V0632" => "Make buffers or the grid smaller, use fewer `--cores`, or raise `--memory`.",
        "V0610" => "Make all threads reach the barrier, or make the one that is waited for arrive.",
        "V0611" => "Look at the failed `assert` or the `trap` on the line that the message names.",
        "V0612" => "Correct the launch file. `vop explain V0612` shows a complete one.",
        "V0613" => "Correct the path, the format or the permissions of the file.",
        "V0614" => "Test for zero before the division.",
        "V0615" => "Move the barrier out of the divergent branch.",
        "V0616" => "Bound the recursion, or raise `--stack`.",
        "V0617" => {
            "Put a barrier between the two accesses, or make both atomic. Between blocks, release and acquire a flag."
        }
        "V0640" => "Define the variable `.visible` in one module, and declare it alike in the others.",
        "V0618" => "Write the memory before it is read, or give the buffer contents.",
        "V0619" => "Correct the option. `vop explain V0619` shows all spellings.",
        "V0620" => "Read only lanes that the mask names and that have not ended, or ignore the result.",
        "V0621" => "Name the lanes that come, and let all of them give the same mask.",
        "V0622" => "Take the mask from a ballot before the branch, or number the lanes of the mask.",
        "V0623" => "Keep within the allocation, and use it before it is freed.",
        "V0624" => "Free once what `malloc` returned.",
        "V0625" => "Call `free` on what the place in the message allocated.",
        "V0626" => "Call the function by a pointer of its own type.",
        "V0701" => "Use the replacement that the message shows, or `vop lower`.",
        "V0702" => "Remove `.sat`, or correct the type or the selector of d.",
        "V0703" => "Add the secondary operation or the selector that was meant, or remove c.",
        "V0704" => "Remove the mask or the selector.",
        "V0705" => "Add up packed lanes by a second instruction without `.add`.",
        "V0706" => "Count the digits of selectors on b from 4 (bytes) or 2 (half-words).",
        "V0707" => "Correct the types, the selectors or the comparison.",
        "V0708" => "Declare d as read and written (`\"+r\"`) in inline assembly, or pass another c.",
        "V0709" => "Use the replacement that the message shows, or ptxas 13.3 or later.",
        "V0710" => "Check the digits. Leave them if the byte is meant to be broadcast.",
        "V0711" => "Remove the comment, or move it to the line that it is about.",
        "V0712" => "Write `// vop: allow(V0701)`, with codes of findings that can be allowed there.",
        "V0713" => "Declare the operand as read and written, `+r`, or write it first.",
        "V0714" => "Declare the operand as an output.",
        _ => return None,
    })
}

/// The text of an explanation as Markdown: paragraphs wrapped, code left as it is, headings set bold.
pub(crate) fn explanation(text: &str) -> String {
    let blocks = text.split("\n\n").map(|block| {
        if block.starts_with("    ") {
            block.to_owned()
        } else if block.len() < 30 && !block.contains(['.', ':']) {
            format!("**{block}.**")
        } else {
            wrapped(block)
        }
    });
    blocks.collect::<Vec<_>>().join("\n\n")
}

/// `docs/diagnostics.md`.
///
/// # Panics
/// If a code has no advice or no group: both are written in this file.
pub(crate) fn page() -> String {
    let entries = entries();
    let mut text = String::from(INTRODUCTION);
    for (prefix, about) in GROUPS {
        let _ = writeln!(
            text,
            "\n## {prefix}xx: {about}\n\n| code | severity | title | what to do |\n{}",
            "| --- ".repeat(4) + "|"
        );
        for Entry { code, severity, title, .. } in entries.iter().filter(|entry| entry.code.starts_with(prefix)) {
            let advice = advice(code).unwrap_or_else(|| panic!("xtask/src/diagnostics.rs has no advice on {code}"));
            let _ = writeln!(text, "| [{code}](#{}) | {severity} | {title} | {advice} |", code.to_lowercase());
        }
    }
    text.push_str("\n## Explanations\n\n`vop explain CODE` prints the same texts.\n");
    for Entry { code, title, explanation: words, .. } in &entries {
        assert!(GROUPS.iter().any(|(prefix, _)| code.starts_with(prefix)), "no group of codes begins like {code}");
        let _ = write!(text, "\n### {code}\n\n*{title}*\n\n{}\n", explanation(words));
    }
    text
}

const INTRODUCTION: &str = "\
<!-- Written by `cargo xtask docs`; a test fails when it is not what that writes. -->

# Diagnostic codes

Every error, warning and note of vop has a code. A code keeps its meaning, and is never reused.
`vop explain V0207` prints what a code means, and `vop explain --list` prints all of them.

| severity | meaning |
| --- | --- |
| error | The text is refused, or the kernel failed. |
| warning | The text is legal and probably a mistake. `vop check --deny warnings` makes warnings fail. |
| note | The text is legal and often intended. `vop check --level note` shows notes. |

[check.md](check.md) says how to allow a code for a line, a file or a project.
";
