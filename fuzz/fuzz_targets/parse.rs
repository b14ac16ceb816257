//! No text makes the parser panic; what it takes has a canonical text that it takes again, with the same meaning; what it
//! refuses it refuses with places inside the text, and so do lints speak of what it takes.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use vop::{Form, Parser, Registers};

static REGISTERS: LazyLock<Registers> = LazyLock::new(|| {
    ".reg .pred p; .reg .b32 a,b,c,d; .reg .u32 u; .reg .s32 s; .reg .f32 f; .reg .b16 h; .reg .u64 w; .reg .b32 %r<9>;"
        .parse()
        .expect("legal")
});

fuzz_target!(|text: &str| {
    for parser in [Parser::new(), Parser::new().allow_bare(), Parser::new().with_registers(&*REGISTERS)] {
        match parser.parse_all(text) {
            Ok(instructions) => {
                for instruction in instructions {
                    let canonical = instruction.to_string();
                    let again = vop::parse(&canonical).expect("canonical text is legal");
                    assert_eq!(again.form, instruction.form);
                    assert_eq!(again.to_string(), canonical);
                    let form = instruction.form;
                    assert_eq!(form.to_string().parse::<Form>().as_ref(), Ok(&form));
                    let [a, b, c] = [0x80ff_7f01, 0xfe01_8080, text.len() as u32];
                    assert_eq!(form.explain(a, b, c).d, form.eval(a, b, c));
                    assert!(form.describe().ends_with('.'));
                }
            }
            Err(faults) => {
                assert!(!faults.is_empty());
                for fault in faults {
                    assert!(text.get(fault.span.clone()).is_some(), "{fault:?}");
                    // A block that a help says to write closes what it opens.
                    if let Some((_, block)) = fault.help.as_deref().unwrap_or_default().split_once(":\n{") {
                        assert!(block.ends_with('}') && block.contains(';'), "{fault:?}");
                    }
                    for (span, _) in &fault.related {
                        assert!(text.get(span.clone()).is_some(), "{fault:?}");
                    }
                }
            }
        }
    }
    if let Ok((instruction, places)) = Parser::new().allow_bare().parse_with_places(text) {
        for lint in vop::lint(text, &instruction, &places) {
            let related = lint.related.iter().map(|(span, _)| span);
            assert!(related.chain([&lint.span]).all(|span| text.get(span.clone()).is_some()), "{lint:?}");
        }
    }
    let _ = parser_of_declarations(text);
});

fn parser_of_declarations(text: &str) -> Option<Registers> {
    text.parse().ok()
}
