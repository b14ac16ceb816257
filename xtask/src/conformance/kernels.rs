//! The self-checking kernels: PTX with one entry for each mnemonic, which runs the rows of the small set.
//!
//! The inputs are in global memory, so that no compiler can compute them in advance. A thread executes one instruction for each
//! row, stores the results, and compares them with the expected ones.

use std::fmt::Write as _;

use vop::Mnemonic;

use super::vectors::Row;

/// The PTX version that has `.global` arrays, 64-bit addresses and all video instructions, and the first target that has them.
const HEADER: &str = ".version 3.0\n.target sm_30\n.address_size 64\n";

/// The module of a mnemonic.
pub fn module(mnemonic: Mnemonic, rows: &[Row]) -> String {
    let mut text = format!(
        "// {mnemonic}: the {} rows of {mnemonic} in vectors-small.tsv, in their order.\n\
         //\n\
         // Launch one thread with (address of two words, semantics). Semantics 0 is the manual, 1 is the code of ptxas 13.3 and\n\
         // later, 2 is that of ptxas 11.7 to 13.2. The first word becomes 0 if all rows are right, otherwise the number of the\n\
         // first wrong row, from 1. The second word becomes the number of wrong rows. {mnemonic}_got has the value of each row.\n\
         {HEADER}\n",
        rows.len()
    );
    array(&mut text, &format!(".global .align 4 .b32 {mnemonic}_inputs"), rows.iter().flat_map(|row| row.inputs), 3);
    let expected = (0..3).flat_map(|column| rows.iter().map(move |row| row.d[column]));
    array(&mut text, &format!(".global .align 4 .b32 {mnemonic}_expected"), expected, 8);
    // Writing to a String cannot fail.
    let _ = write!(
        text,
        ".visible .global .align 4 .b32 {mnemonic}_got[{count}];\n\n\
         .visible .entry {mnemonic}(.param .u64 result, .param .u32 semantics)\n\
         {{\n\
         \x20   .reg .pred p;\n\
         \x20   .reg .b32 a, b, c, d, by, row, first, wrong;\n\
         \x20   .reg .b64 to, got, expected, offset;\n\
         \x20   ld.param.u64 to, [result];\n\
         \x20   ld.param.u32 by, [semantics];\n\
         \x20   mov.u32 a, %tid.x;\n\
         \x20   mov.u32 b, %ctaid.x;\n\
         \x20   or.b32 a, a, b;\n\
         \x20   setp.ne.u32 p, a, 0;\n\
         \x20   @p bra END;\n\
         \x20   mov.u32 first, 0xffffffff;\n\
         \x20   mov.u32 wrong, 0;\n\
         \x20   setp.gt.u32 p, by, 2;\n\
         \x20   @p bra WRITE;\n",
        count = rows.len(),
    );
    for (i, row) in rows.iter().enumerate() {
        let at = 12 * i;
        let _ = write!(
            text,
            "    // row {}\n\
             \x20   ld.global.b32 a, [{mnemonic}_inputs+{at}];\n\
             \x20   ld.global.b32 b, [{mnemonic}_inputs+{}];\n\
             \x20   ld.global.b32 c, [{mnemonic}_inputs+{}];\n\
             \x20   {};\n\
             \x20   st.global.b32 [{mnemonic}_got+{}], d;\n",
            i + 1,
            at + 4,
            at + 8,
            row.form,
            4 * i,
        );
    }
    let _ = write!(
        text,
        "    mov.u64 got, {mnemonic}_got;\n\
         \x20   mov.u64 expected, {mnemonic}_expected;\n\
         \x20   mul.wide.u32 offset, by, {bytes};\n\
         \x20   add.u64 expected, expected, offset;\n\
         \x20   mov.u32 row, 0;\n\
         \x20   mov.u32 first, 0;\n\
         AGAIN:\n\
         \x20   add.u32 row, row, 1;\n\
         \x20   ld.global.b32 a, [got];\n\
         \x20   ld.global.b32 b, [expected];\n\
         \x20   add.u64 got, got, 4;\n\
         \x20   add.u64 expected, expected, 4;\n\
         \x20   setp.eq.u32 p, a, b;\n\
         \x20   @p bra NEXT;\n\
         \x20   add.u32 wrong, wrong, 1;\n\
         \x20   setp.ne.u32 p, first, 0;\n\
         \x20   @p bra NEXT;\n\
         \x20   mov.u32 first, row;\n\
         NEXT:\n\
         \x20   setp.lt.u32 p, row, {count};\n\
         \x20   @p bra AGAIN;\n\
         WRITE:\n\
         \x20   st.global.b32 [to], first;\n\
         \x20   st.global.b32 [to+4], wrong;\n\
         END:\n\
         \x20   ret;\n\
         }}\n",
        bytes = 4 * rows.len(),
        count = rows.len(),
    );
    text
}

/// An initialised array, with some words on each line.
fn array(text: &mut String, declaration: &str, words: impl Iterator<Item = u32>, on_line: usize) {
    let words: Vec<String> = words.map(|word| format!("{word:#010x}")).collect();
    let lines: Vec<String> = words.chunks(on_line).map(|line| line.join(", ")).collect();
    let _ = writeln!(text, "{declaration}[{}] = {{\n{}\n}};", words.len(), lines.join(",\n"));
}
