//! Assembly of other machines: ARM's NEON has mnemonics that read like PTX's, `vadd.u8 q0, q0, q1`.

use super::cursor::is_ident;

/// Whether the template of an `asm` is ARM's: it names registers of NEON (`q0`, `d31`, `s3`), or writes immediates with `#` or an address
/// with `]!`. PTX has none of these, unless it declares registers of such names.
pub(super) fn is_arm(template: &[u8]) -> bool {
    if memchr::memmem::find(template, b".reg").is_some() {
        return false;
    }
    let immediate = |at: usize| template.get(at + 1).is_some_and(|b| b.is_ascii_digit() || *b == b'-');
    memchr::memchr_iter(b'#', template).any(immediate)
        || memchr::memmem::find(template, b"]!").is_some()
        || names_register(template)
}

fn names_register(template: &[u8]) -> bool {
    let of_word = |b: u8| is_ident(b) || matches!(b, b'%' | b'$' | b'.');
    let mut at = 0;
    while at < template.len() {
        let end = template[at..].iter().position(|&b| !of_word(b)).map_or(template.len(), |len| at + len);
        // `%[d0]` and Rust's `{d0}` are operands, whatever their names are.
        let before = at.checked_sub(1).map(|before| template[before]);
        let operand = matches!((before, template.get(end)), (Some(b'['), Some(b']')) | (Some(b'{'), Some(b'}' | b':')));
        if !operand && is_register(&template[at..end]) {
            return true;
        }
        at = end + 1;
    }
    false
}

fn is_register(word: &[u8]) -> bool {
    let [kind, number @ ..] = word else { return false };
    let number = std::str::from_utf8(number).ok().filter(|number| !number.starts_with('+'));
    let number = number.and_then(|number| number.parse::<u8>().ok());
    match kind {
        b'q' => number.is_some_and(|number| number < 16),
        b'd' | b's' => number.is_some_and(|number| number < 32),
        _ => false,
    }
}
