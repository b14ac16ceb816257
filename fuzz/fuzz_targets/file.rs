//! No file makes the readers panic: a module prints back what was read, and what is found lies inside the file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vop_ptx::find::Language;
use vop_ptx::module::Module;
use vop_ptx::uses::{Verdict, uses};

fuzz_target!(|input: (u8, &[u8])| {
    let (language, bytes) = input;
    if let Ok(text) = std::str::from_utf8(bytes) {
        assert_eq!(Module::parse(text).to_string(), text);
    }
    for found in uses(bytes, Language::ALL[usize::from(language) % Language::ALL.len()]) {
        assert!(found.span.start <= found.span.end && found.span.end <= bytes.len());
        if let Verdict::Illegal(faults) = found.verdict {
            for fault in faults {
                assert!(fault.span.start <= fault.span.end && fault.span.end <= bytes.len());
            }
        }
    }
});
