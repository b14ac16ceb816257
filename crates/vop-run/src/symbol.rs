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

/// Names for a message; of many, the first.
pub(crate) fn listed<'s>(symbols: impl Iterator<Item = &'s str>) -> String {
    const MOST: usize = 20;
    let mut names: Vec<String> = symbols.map(shown).collect();
    let more = names.len().saturating_sub(MOST);
    names.truncate(MOST);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    names.join(", ") + &more
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

/// Whether a path ends with these parts of it: `ns::pair<int>` has the end `pair<int>`, and not `int>`.
fn ends_with(path: &str, parts: &str) -> bool {
    let before = path.strip_suffix(parts).unwrap_or_default();
    let depth = before.bytes().fold(0i32, |depth, byte| match byte {
        b'<' | b'(' | b'{' => depth + 1,
        b'>' | b')' | b'}' => depth - 1,
        _ => depth,
    });
    before.ends_with("::") && depth == 0
}

/// A name without the arguments of its last part: `ns::scale` of `ns::scale<ns::pair<int> >`.
fn without_arguments(name: &str) -> &str {
    let mut depth = 0usize;
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
            ':' if depth == 0 => end = None,
            _ => {}
        }
    }
    name.get(..end.unwrap_or(name.len())).unwrap_or(name)
}

/// The symbols that a name means: of each way to understand it, the first that finds any. The ways are the name of PTX, that of C++ with
/// and without the type of the result and the parameters, and the end of that, also without the last arguments: `scale<float>(float*)`,
/// `scale<float>`, `ns::scale` or `scale` for `ns::scale<float>(float*)`.
pub(crate) fn find<'s>(wanted: &str, symbols: impl Iterator<Item = &'s str> + Clone) -> Vec<&'s str> {
    if let Some(found) = symbols.clone().find(|symbol| *symbol == wanted) {
        return vec![found];
    }
    let wanted = plain(wanted);
    let is_end = |name: &str| ends_with(name, &wanted);
    let is_base = |name: &str| {
        let name = without_arguments(name);
        name == wanted || is_end(name)
    };
    let is_whole = |name: &str| name == wanted;
    type Way<'w> = (Form, &'w dyn Fn(&str) -> bool);
    let ways: [Way<'_>; 6] = [
        (Form::Whole, &is_whole),
        (Form::Call, &is_whole),
        (Form::Name, &is_whole),
        (Form::Call, &is_end),
        (Form::Name, &is_end),
        (Form::Name, &is_base),
    ];
    for (form, is_it) in ways {
        let is_it = |symbol: &&str| demangle(symbol, form).is_some_and(|name| is_it(&plain(&name)));
        let found: Vec<&str> = symbols.clone().filter(is_it).collect();
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYMBOLS: [&str; 13] = [
        "plain",
        "_Z5scalePfi",
        "_Z5scalePdi",
        "_ZN2ns5tableE",
        "_ZL6counts",
        "_Z6reduceILi256EfEvPT0_S1_j",
        "_ZN2ns6reduceIfEEvPT_",
        "_ZN12_GLOBAL__N_14nextEv",
        "_ZNK2ns1SIiEclEPi",
        "_ZN2ns4fillIiEEvPT_",
        "_ZN2ns4fillIfEEvPT_",
        "_ZN5other4fillIfEEvPT_",
        "_ZN1a1b4fillIN2ns1SIiEEEEvPT_",
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
            ("next(void)", &["_ZN12_GLOBAL__N_14nextEv"]),
            ("next", &["_ZN12_GLOBAL__N_14nextEv"]),
            ("fill<int>", &["_ZN2ns4fillIiEEvPT_"]),
            ("fill<int>(int *)", &["_ZN2ns4fillIiEEvPT_"]),
            ("fill<int>(float*)", &[]),
            ("fill<float>", &["_ZN2ns4fillIfEEvPT_", "_ZN5other4fillIfEEvPT_"]),
            ("other::fill", &["_ZN5other4fillIfEEvPT_"]),
            ("ns::fill", &["_ZN2ns4fillIiEEvPT_", "_ZN2ns4fillIfEEvPT_"]),
            ("b::fill<ns::S<int>>", &["_ZN1a1b4fillIN2ns1SIiEEEEvPT_"]),
            // Neither a part of a name nor one of its arguments is an end of it.
            ("ill<int>", &[]),
            ("S<int>>", &[]),
            ("S<int>*)", &[]),
            ("(anonymous namespace)::next(void)", &["_ZN12_GLOBAL__N_14nextEv"]),
            ("ns", &[]),
            ("", &[]),
            ("missing", &[]),
        ] {
            assert_eq!(find(wanted, SYMBOLS.into_iter()), found, "{wanted}");
        }
    }

    #[test]
    fn long_lists_end() {
        let names: Vec<String> = (0..23).map(|i| format!("k{i}")).collect();
        let all = |count: usize| listed(names.iter().take(count).map(String::as_str));
        assert_eq!((all(0), all(2)), (String::new(), "`k0`, `k1`".to_owned()));
        assert!(all(20).ends_with(", `k19`"));
        assert!(all(23).ends_with(", `k19`, and 3 more"));
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
