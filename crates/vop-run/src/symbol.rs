//! Names of kernels and variables: PTX has those that a C++ compiler mangles, and people know those of the source.

use std::borrow::Cow;
use std::fmt::{self, Write};

use cpp_demangle::{BorrowedSymbol, DemangleOptions};

/// A longer name is left as it is: some short ones stand for gigabytes.
const MAX_NAME: usize = 4096;

/// A text of at most [`MAX_NAME`] bytes.
#[derive(Default)]
struct Short(String);

impl Write for Short {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > MAX_NAME {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// What is left out of a name of C++.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Nothing: `void ns::scale<float>(float*, int)`.
    Whole,
    /// The type of the result: `ns::scale<float>(float*, int)`.
    Call,
    /// The parameters too: `ns::scale<float>`.
    Name,
}

fn demangle(symbol: &str, form: Form) -> Option<String> {
    if !symbol.starts_with("_Z") || symbol.len() > MAX_NAME {
        return None;
    }
    let options = match form {
        Form::Whole => DemangleOptions::new(),
        Form::Call => DemangleOptions::new().no_return_type(),
        Form::Name => DemangleOptions::new().no_return_type().no_params(),
    };
    let mut text = Short::default();
    BorrowedSymbol::new(symbol.as_bytes())
        .ok()?
        .structured_demangle(&mut text, &options.hide_expression_literal_types())
        .ok()?;
    Some(text.0)
}

/// The name of a kernel or a variable as its C++ source has it: `ns::scale<float>(float*, int)` for a kernel, `ns::table` for a variable. A
/// name that no C++ compiler has mangled is returned as it is.
///
/// ```
/// assert_eq!(vop_run::demangled("_Z5scalePfi"), "scale(float*, int)");
/// assert_eq!(vop_run::demangled("_ZN2ns5tableE"), "ns::table");
/// assert_eq!(vop_run::demangled("scale"), "scale");
/// ```
pub fn demangled(symbol: &str) -> Cow<'_, str> {
    demangle(symbol, Form::Call).map_or(Cow::Borrowed(symbol), Cow::Owned)
}

/// As [`demangled`], without a kernel's parameters: `ns::scale<float>`.
pub fn demangled_name(symbol: &str) -> Cow<'_, str> {
    demangle(symbol, Form::Name).map_or(Cow::Borrowed(symbol), Cow::Owned)
}

/// A name for a message: that of C++ where there is one.
pub(crate) fn shown(symbol: &str) -> String {
    format!("`{}`", demangled(symbol))
}

/// Blanks only where they part two words: `f( int *, unsigned  int )` is `f(int*,unsigned int)`, and `f(void)` is `f()`.
fn plain(text: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let mut plain = String::with_capacity(text.len());
    let mut blank = false;
    for c in text.chars() {
        if c.is_whitespace() {
            blank = true;
            continue;
        }
        if std::mem::take(&mut blank) && is_word(c) && plain.ends_with(is_word) {
            plain.push(' ');
        }
        plain.push(c);
    }
    match plain.strip_suffix("(void)") {
        Some(name) => format!("{name}()"),
        None => plain,
    }
}

/// The last part of a name without arguments: `scale` of `ns::scale<ns::pair<int> >`.
fn last_part(name: &str) -> &str {
    let mut depth = 0usize;
    let mut start = 0;
    let mut end = None;
    for (at, c) in name.char_indices() {
        match c {
            '<' | '(' | '{' => {
                if depth == 0 {
                    end = Some(at);
                }
                depth += 1;
            }
            '>' | ')' | '}' => depth = depth.saturating_sub(1),
            ':' if depth == 0 => (start, end) = (at + 1, None),
            _ => {}
        }
    }
    name.get(start..end.unwrap_or(name.len())).unwrap_or(name)
}

/// The symbols that a name means: of each way to understand it, the first that finds any. The ways are the name of PTX, that of C++ with
/// and without the type of the result and the parameters, and its last part: `scale` for `ns::scale<float>(float*, int)`.
pub(crate) fn find<'s>(wanted: &str, symbols: impl Iterator<Item = &'s str> + Clone) -> Vec<&'s str> {
    if let Some(found) = symbols.clone().find(|symbol| *symbol == wanted) {
        return vec![found];
    }
    let wanted = plain(wanted);
    for form in [Form::Whole, Form::Call, Form::Name] {
        let is_it = |symbol: &&str| demangle(symbol, form).is_some_and(|name| plain(&name) == wanted);
        let found: Vec<&str> = symbols.clone().filter(is_it).collect();
        if !found.is_empty() {
            return found;
        }
    }
    let is_it = |symbol: &&str| demangle(symbol, Form::Name).is_some_and(|name| last_part(&plain(&name)) == wanted);
    symbols.filter(is_it).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYMBOLS: [&str; 9] = [
        "plain",
        "_Z5scalePfi",
        "_Z5scalePdi",
        "_ZN2ns5tableE",
        "_ZL6counts",
        "_Z6reduceILi256EfEvPT0_S1_j",
        "_ZN2ns6reduceIfEEvPT_",
        "_ZN12_GLOBAL__N_14nextEv",
        "_ZNK2ns1SIiEclEPi",
    ];

    #[test]
    fn names_of_c_plus_plus_are_known() {
        for (symbol, call, name) in [
            ("_Z5scalePfi", "scale(float*, int)", "scale"),
            ("_ZN2ns5tableE", "ns::table", "ns::table"),
            ("_ZL6counts", "counts", "counts"),
            ("_Z6reduceILi256EfEvPT0_S1_j", "reduce<256, float>(float*, float*, unsigned int)", "reduce<256, float>"),
            ("_ZN12_GLOBAL__N_14nextEv", "(anonymous namespace)::next()", "(anonymous namespace)::next"),
            ("plain", "plain", "plain"),
            ("_Z", "_Z", "_Z"),
            ("_Zü", "_Zü", "_Zü"),
            ("", "", ""),
        ] {
            assert_eq!((&*demangled(symbol), &*demangled_name(symbol)), (call, name));
        }
    }

    #[test]
    fn every_way_to_write_a_name_finds_it() {
        for (wanted, found) in [
            ("plain", &["plain"][..]),
            ("_Z5scalePfi", &["_Z5scalePfi"]),
            ("scale(float*, int)", &["_Z5scalePfi"]),
            ("scale( double *,int )", &["_Z5scalePdi"]),
            ("scale", &["_Z5scalePfi", "_Z5scalePdi"]),
            ("ns::table", &["_ZN2ns5tableE"]),
            ("table", &["_ZN2ns5tableE"]),
            ("counts", &["_ZL6counts"]),
            ("void reduce<256, float>(float*, float*, unsigned int)", &["_Z6reduceILi256EfEvPT0_S1_j"]),
            ("reduce<256,float>", &["_Z6reduceILi256EfEvPT0_S1_j"]),
            ("ns::reduce<float>(float*)", &["_ZN2ns6reduceIfEEvPT_"]),
            ("reduce", &["_Z6reduceILi256EfEvPT0_S1_j", "_ZN2ns6reduceIfEEvPT_"]),
            ("next(void)", &[]),
            ("next", &["_ZN12_GLOBAL__N_14nextEv"]),
            ("(anonymous namespace)::next(void)", &["_ZN12_GLOBAL__N_14nextEv"]),
            ("ns", &[]),
            ("", &[]),
            ("missing", &[]),
        ] {
            assert_eq!(find(wanted, SYMBOLS.into_iter()), found, "{wanted}");
        }
    }

    /// Names whose text would not fit memory, or that are no names, stay as they are, at once.
    #[test]
    fn hostile_names_are_left_alone() {
        let doubled = |count: usize| {
            // Each template argument holds the one before twice.
            let mut symbol = "_Z1fI1pIiiE".to_owned();
            (0..count).for_each(|i| {
                symbol.push_str(&format!("1pIS{0}_S{0}_E", if i == 0 { String::new() } else { (i - 1).to_string() }))
            });
            symbol + "EvT_"
        };
        let deep = ["_Z1fP", "_ZN", "_Z1fI", "_Z1fIXad", "_Z1fDpT", "_ZZ", "_ZSt"]
            .map(|piece| piece.to_owned() + &piece[2..].repeat(1500));
        let long = format!("_Z5000{}", "x".repeat(5000));
        let start = std::time::Instant::now();
        for symbol in deep.into_iter().chain((1..60).map(doubled)).chain([long]) {
            assert!(demangled(&symbol).len() <= MAX_NAME.max(symbol.len()));
            find(&symbol, std::iter::once("_Z1fv"));
        }
        assert!(start.elapsed().as_secs() < 10);
    }
}
