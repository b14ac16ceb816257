//! A form as an operation on two words: whether words may be folded with it, in any order.

use crate::isa::form::{Finish, Form};
use crate::isa::types::{Operation, Selector, Shape};

impl Form {
    /// The word that leaves every other as it is, if d = f(a, b) is an associative and commutative operation on words, so
    /// that any number of them may be folded in any order.
    ///
    /// These are sums modulo the lanes' size, sums that saturate where all types are `.u32`, least and greatest lanes, all
    /// without selectors.
    ///
    /// ```
    /// let identity = |text: &str| text.parse::<vop::Form>().unwrap().identity();
    /// assert_eq!(identity("vmax4.s32.s32.s32"), Some(0x8080_8080));
    /// assert_eq!(identity("vadd4.u32.u32.u32.sat"), Some(0));
    /// // (127 + 1) - 1 is not 127 + (1 - 1) where 128 becomes 127.
    /// assert_eq!(identity("vadd4.s32.s32.s32.sat"), None);
    /// ```
    pub fn identity(self) -> Option<u32> {
        let shape = self.mnemonic().shape();
        let in_place =
            self.asel() == Selector::default_for(shape, false) && self.bsel() == Selector::default_for(shape, true);
        if self.reads_c() || !in_place || matches!(self.finish(), Finish::Merge(_) | Finish::Secondary(_)) {
            return None;
        }
        let (inputs, result) = (self.atype(), self.is_signed());
        let one_order = inputs == self.btype();
        // Where all three types are the same, saturation leaves what is one of the inputs.
        let one_type = one_order && inputs.is_signed() == result;
        let all = |byte: u32, half: u32, word: u32| match shape {
            Shape::Bytes => byte * 0x0101_0101,
            Shape::Halves => half * 0x1_0001,
            Shape::Scalar => word,
        };
        match self.mnemonic().operation() {
            Operation::Add if !self.sat() || one_type && !result => Some(0),
            Operation::Min | Operation::Max if !(one_type || one_order && !self.sat()) => None,
            Operation::Min if inputs.is_signed() => Some(all(0x7f, 0x7fff, 0x7fff_ffff)),
            Operation::Min => Some(u32::MAX),
            Operation::Max if inputs.is_signed() => Some(all(0x80, 0x8000, 0x8000_0000)),
            Operation::Max => Some(0),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::vec::Vec;

    use super::*;
    use crate::Mnemonic;

    /// Words with all that matters in their lanes, and others.
    fn words() -> Vec<u32> {
        let mut words = alloc::vec![
            0,
            1,
            u32::MAX,
            0x8000_0000,
            0x7fff_ffff,
            0x8080_8080,
            0x7f7f_7f7f,
            0x8000_8000,
            0x7fff_7fff,
            0x0101_0101
        ];
        let mut state = 1_u64;
        words.extend((0..40).map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 32) as u32
        }));
        words
    }

    /// All forms without selectors and masks: what is said of each is so, and nothing is missed.
    #[test]
    fn identities() {
        let words = words();
        let mut found = 0;
        for mnemonic in Mnemonic::ALL {
            for choice in 0..16 {
                let ty = |bit: u32| if choice >> bit & 1 == 0 { "u32" } else { "s32" };
                let (d, a, b, sat) = (ty(0), ty(1), ty(2), if choice < 8 { "" } else { ".sat" });
                for end in ["", ".clamp", ".wrap", ".eq", ".ne", ".lt", ".le", ".gt", ".ge"] {
                    let text = if mnemonic.types() == 2 {
                        format!("{mnemonic}.{a}.{b}{sat}{end}")
                    } else {
                        format!("{mnemonic}.{d}.{a}.{b}{sat}{end}")
                    };
                    let Ok(form) = text.parse::<Form>() else { continue };
                    if form.reads_c() {
                        assert_eq!(form.identity(), None, "{text}");
                        continue;
                    }
                    let f = |a, b| form.eval(a, b, 0);
                    let commutes = words.iter().all(|&a| words.iter().all(|&b| f(a, b) == f(b, a)));
                    let associates = || {
                        words
                            .iter()
                            .all(|&a| words.iter().all(|&b| words.iter().all(|&c| f(f(a, b), c) == f(a, f(b, c)))))
                    };
                    match form.identity() {
                        Some(identity) => {
                            found += 1;
                            assert!(commutes && associates(), "{text}");
                            assert!(words.iter().all(|&a| f(identity, a) == a), "{text}");
                        }
                        None => {
                            let has_identity = words.iter().any(|&e| words.iter().all(|&a| f(e, a) == a));
                            assert!(!commutes || !has_identity || !associates(), "{text}");
                        }
                    }
                }
            }
        }
        assert!(found > 0);
    }

    #[test]
    fn c_counts_where_it_is_read() {
        for (text, reads) in [
            ("vadd.u32.u32.u32 d, a, b", false),
            ("vadd.u32.u32.u32.add d, a, b, c", true),
            ("vadd.u32.u32.u32 d.b0, a, b, c", true),
            ("vmad.u32.u32.u32 d, a, b, c", true),
            ("vadd4.u32.u32.u32 d, a, b, c", false),
            ("vadd4.u32.u32.u32 d.b0, a, b, c", true),
            ("vadd4.u32.u32.u32.add d, a, b, c", true),
        ] {
            let form: Form = text.parse().unwrap();
            assert_eq!(form.reads_c(), reads, "{text}");
            let words = words();
            let differs = words.iter().any(|&c| form.eval(words[9], words[10], c) != form.eval(words[9], words[10], 0));
            assert_eq!(differs, reads, "{text}");
        }
    }
}
