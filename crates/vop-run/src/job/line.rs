//! One launch as a command line gives it.

use std::ops::Range;
use std::path::{Path, PathBuf};

use vop_arrays::Element;

use super::{Address, ArgSpec, At, BufferSpec, Content, Home, Job, LaunchSpec, Text, parse_bytes, parse_count, value};
use crate::engine::launch::Arg;
use crate::error::{RunError, RunErrorKind, RunErrors};

const KINDS: &str = "NAME=FILE is a buffer from a file, NAME=TYPE[SHAPE] one of zeros, TYPE=VALUE a number";

const NAMES: &str = "NAME alone is a buffer that an earlier argument has made, or a variable that `--variable` names";

const VARIABLES: &str = "NAME=FILE fills a variable from a file, NAME=TYPE@FILE from a raw one, NAME=TYPE:VALUE,VALUE with values; \
    :SAVE behind any of them saves it after the run, and NAME=:SAVE only saves it";

/// One launch as a command line gives it; [`CommandLine::job`] reads it.
///
/// `grid` and `block` are one to three numbers: `40,23`. Each of `args` is an argument of the kernel:
///
/// | argument | what it is |
/// |---|---|
/// | `NAME=FILE` | a buffer that holds a .npy or a .png file |
/// | `NAME=TYPE[SHAPE]@FILE` | one that holds a raw file; the shape may be left out |
/// | `NAME=TYPE[SHAPE]` | a buffer of zeros: `out=i32[920,2]` |
/// | any of them and `:SAVE` | the buffer is saved to a .npy or a .png file after the run |
/// | `NAME` | the address of a buffer that an argument before has made, or of a variable that `variables` has |
/// | `NAME+BYTES` | such an address and a number of bytes |
/// | `TYPE=VALUE` | a number: `u32=640`, `i32=-0x80`, `f32=0.5` |
/// | `TYPE=VALUE,VALUE,…` | an array or structure passed by value |
///
/// Each of `variables` is a `.global` or `.const` variable of the module, by its name in PTX or C++:
///
/// | variable | what becomes of it |
/// |---|---|
/// | `NAME=FILE`, `NAME=TYPE[SHAPE]@FILE` | it is filled from a file before the launch |
/// | `NAME=TYPE:VALUE,VALUE,…` | it is filled with values |
/// | any of them and `:SAVE`, as `NAME=TYPE:VALUE:SAVE`, or `NAME=:SAVE` alone | it is saved after the run |
///
/// Types are u8 i8 u16 i16 u32 i32 u64 i64 f16 f32 f64. A file with a `:` in its name needs a launch file.
#[derive(Clone, Debug, Default)]
pub struct CommandLine {
    /// The PTX file.
    pub ptx: PathBuf,
    /// The kernel; the module's only one where it is left out.
    pub entry: Option<String>,
    /// Blocks.
    pub grid: String,
    /// Threads of a block.
    pub block: String,
    /// Bytes of dynamic shared memory.
    pub shared: usize,
    /// Whether blocks may wait for one another: [`LaunchOptions::cooperative`](crate::LaunchOptions::cooperative).
    pub cooperative: bool,
    /// The arguments in order.
    pub args: Vec<String>,
    /// Variables of the module that are filled or saved.
    pub variables: Vec<String>,
}

impl CommandLine {
    /// The text that spans of errors without a file point into: an option a line, arguments first.
    pub fn text(&self) -> String {
        self.source().0
    }

    /// The text, and the spans in it of the arguments, the grid, the block, the entry and the variables.
    fn source(&self) -> (String, [Vec<Range<usize>>; 5]) {
        let mut text = String::new();
        let mut spans = [const { Vec::new() }; 5];
        let options = [("--arg", &self.args[..]), ("--grid", std::slice::from_ref(&self.grid))];
        let options = options.into_iter().chain([("--block", std::slice::from_ref(&self.block))]);
        let options = options.chain([("--entry", self.entry.as_slice()), ("--variable", &self.variables[..])]);
        for ((option, values), spans) in options.zip(&mut spans) {
            for value in values {
                text.push_str(option);
                text.push(' ');
                spans.push(text.len()..text.len() + value.len());
                text.push_str(value);
                text.push('\n');
            }
        }
        (text, spans)
    }

    /// Reads it.
    ///
    /// # Errors
    /// Everything that is wrong with the options.
    pub fn job(&self) -> Result<Job, RunErrors> {
        let (text, [args, grid, block, entry, variables]) = self.source();
        let source = Text { path: None, text };
        let mut errors = Vec::new();
        let mut buffers: Vec<BufferSpec> = Vec::new();
        let mut specs = Vec::new();
        let mut filled: Vec<BufferSpec> = Vec::new();
        for span in variables {
            let piece = source.piece(span);
            match variable(piece) {
                Ok(variable) if filled.iter().any(|other| other.name == variable.name) => {
                    let message = format!("variable `{}` is named twice", variable.name);
                    let help =
                        "one option says all: what fills the variable, and where it is saved: NAME=TYPE:VALUE:SAVE";
                    errors.push(piece.fault(message, help).error(&source));
                }
                Ok(variable) => filled.push(variable),
                Err(fault) => errors.push(fault.error(&source)),
            }
        }
        // Also those that cannot be read.
        let named: Vec<&str> = self.variables.iter().filter_map(|text| text.split('=').next()).collect();
        for span in args {
            match arg(source.piece(span.clone()), &buffers, &named) {
                Ok((value, buffer)) => {
                    buffers.extend(buffer);
                    specs.push(At { value, span: Some(span) });
                }
                Err(fault) => errors.push(fault.error(&source)),
            }
        }
        let mut size = |spans: &[Range<usize>]| {
            let size = size(source.piece(spans.first().cloned().unwrap_or_default()));
            size.unwrap_or_else(|fault| {
                errors.push(fault.error(&source));
                At { value: [1; 3], span: None }
            })
        };
        let (grid, block) = (size(&grid), size(&block));
        if !errors.is_empty() {
            return Err(RunErrors(errors));
        }
        let launch = LaunchSpec {
            index: 0,
            round: Vec::new(),
            entry: self.entry.clone().map(|value| At { value, span: entry.first().cloned() }),
            grid,
            block,
            shared: self.shared,
            cooperative: self.cooperative,
            args: At { value: specs, span: None },
            checks: Vec::new(),
            timeout: None,
        };
        Ok(Job {
            source,
            folder: PathBuf::new(),
            ptx: At { value: self.ptx.clone(), span: None },
            buffers,
            variables: filled,
            launches: vec![launch],
            textures: Vec::new(),
            unused: Vec::new(),
        })
    }
}

/// What is wrong with a piece of the text.
#[derive(Debug, PartialEq, Eq)]
struct Fault {
    span: Range<usize>,
    message: String,
    help: String,
}

impl Fault {
    fn sentence(self) -> String {
        format!("{}: {}", self.message, self.help)
    }

    fn error(self, source: &Text) -> RunError {
        source.error(RunErrorKind::CommandLine, Some(&self.span), self.message).with_help(self.help)
    }
}

/// A part of the text, with its offset.
#[derive(Clone, Copy, Debug)]
struct Piece<'a> {
    text: &'a str,
    start: usize,
}

impl Text {
    fn piece(&self, span: Range<usize>) -> Piece<'_> {
        Piece { text: self.text.get(span.clone()).unwrap_or_default(), start: span.start }
    }
}

impl<'a> Piece<'a> {
    fn span(self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    fn fault(self, message: impl Into<String>, help: impl Into<String>) -> Fault {
        Fault { span: self.span(), message: message.into(), help: help.into() }
    }

    /// The pieces before and after a separator of one byte.
    fn around(self, at: usize) -> (Piece<'a>, Piece<'a>) {
        let (before, after) = (&self.text[..at], &self.text[at + 1..]);
        (Piece { text: before, ..self }, Piece { text: after, start: self.start + at + 1 })
    }

    fn split_once(self, separator: char) -> Option<(Piece<'a>, Piece<'a>)> {
        self.text.find(separator).map(|at| self.around(at))
    }

    /// The pieces between commas.
    fn list(self) -> impl Iterator<Item = Piece<'a>> {
        self.text.split(',').scan(self.start, |start, text| {
            let piece = Piece { text, start: *start };
            *start += text.len() + 1;
            Some(piece)
        })
    }
}

fn size(piece: Piece<'_>) -> Result<At<[u32; 3]>, Fault> {
    const HELP: &str = "write one to three numbers: x,y,z";
    let mut size = [1; 3];
    let mut numbers = piece.list();
    for (axis, number) in size.iter_mut().zip(&mut numbers) {
        let count = parse_count(number.text).ok().and_then(|count| u32::try_from(count).ok());
        *axis =
            count.ok_or_else(|| number.fault(format!("`{}` is no number of blocks or threads", number.text), HELP))?;
    }
    match numbers.next() {
        Some(_) => Err(piece.fault(format!("`{}` has more than three axes", piece.text), HELP)),
        None => Ok(At { value: size, span: Some(piece.span()) }),
    }
}

fn is_element(name: &str) -> bool {
    name.parse::<Element>().is_ok()
}

/// The type to write for a text that looks like a number: `i32` for `2400`, `f32` for `0.5`.
fn type_of_number(text: &str) -> Option<Element> {
    let types = [Element::I32, Element::U32, Element::I64, Element::U64, Element::F32];
    let numeric = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
    types.into_iter().find(|ty| numeric && value::parse(text, *ty).is_some())
}

/// An argument, and the buffer that it makes.
fn arg(piece: Piece<'_>, buffers: &[BufferSpec], variables: &[&str]) -> Result<(ArgSpec, Option<BufferSpec>), Fault> {
    let known = |name: &str| buffers.iter().any(|buffer| buffer.name == name);
    let Some((name, rest)) = piece.split_once('=') else {
        if known(piece.text) {
            return Ok((ArgSpec::Buffer(piece.text.to_owned()), None));
        }
        let is_variable = |name: &str| variables.contains(&name);
        let sum = piece.text.rsplit_once('+').and_then(|(name, offset)| Some((name, parse_bytes(offset).ok()?)));
        let (name, offset) = sum.unwrap_or((piece.text, 0));
        if known(name) || is_variable(name) {
            return Ok((ArgSpec::Address(Address { name: name.to_owned(), offset }), None));
        }
        return Err(piece.fault(format!("no argument before makes a buffer `{name}`"), format!("{NAMES}; {KINDS}")));
    };
    if name.text.is_empty() || rest.text.is_empty() {
        let side = if name.text.is_empty() { "before" } else { "after" };
        return Err(piece.fault(format!("nothing stands {side} the `=` of `{}`", piece.text), KINDS));
    }
    if let Ok(ty) = name.text.parse() {
        let help = format!("`{ty}` is a type, so `{ty}=` gives a number; a buffer needs another name");
        return Ok((ArgSpec::Value(values(ty, rest, &help)?), None));
    }
    if known(name.text) {
        let help = format!("`{}` alone passes the same buffer again", name.text);
        return Err(name.fault(format!("there is a buffer `{}` already", name.text), help));
    }
    let (what, save) = saved(rest)?;
    // `u32[4]=0`: every element is 0.
    let (what, fill) = match what.text.find("]=").map(|at| what.around(at + 1)) {
        Some((declared, fill)) if is_element(declared.stem()) => (declared, Some(fill)),
        _ => (what, None),
    };
    let (declared, file) = match what.split_once('@').filter(|(declared, _)| is_element(declared.stem())) {
        Some((declared, file)) => (Some(declared), Some(file)),
        None if what.text.ends_with(']') || is_element(what.stem()) => (Some(what), None),
        None => (None, Some(what)),
    };
    if file.is_some_and(|file| file.text.is_empty()) {
        return Err(rest.fault("the name of the file to read is missing", KINDS));
    }
    if let Some((number, ty)) = file.and_then(|file| Some((file, type_of_number(file.text)?)))
        && declared.is_none()
        && !Path::new(number.text).exists()
    {
        let message = format!("`{}` would be a buffer, and there is no file `{}`", name.text, number.text);
        let help = format!("a number has its type before the `=`: --arg {ty}={}", number.text);
        return Err(piece.fault(message, help));
    }
    let (ty, shape) = match declared {
        Some(declared) => {
            let (ty, shape) = typed(declared)?;
            if shape.is_none() && file.is_none() {
                let message = format!("how many elements of {} is not said", declared.text);
                return Err(declared.fault(message, format!("write the shape: {}[640]", declared.text)));
            }
            (Some(ty), shape)
        }
        None => (None, None),
    };
    let content = match file {
        Some(file) => Content::File(At { value: file.text.into(), span: Some(file.span()) }),
        None => match (fill, ty) {
            (Some(fill), Some(ty)) => Content::Fill(value::parse(fill.text, ty).ok_or_else(|| {
                fill.fault(format!("`{}` is no {ty}", fill.text), "write what each element is: u32[4]=0")
            })?),
            _ => Content::Nothing,
        },
    };
    let buffer = BufferSpec {
        name: name.text.to_owned(),
        span: Some(piece.span()),
        home: Home::Buffer,
        ty,
        shape,
        content,
        save: save.map(|save| At { value: save.text.into(), span: Some(save.span()) }),
        expect: None,
        tolerance: None,
    };
    Ok((ArgSpec::Buffer(name.text.to_owned()), Some(buffer)))
}

/// What stands before the `:` of a file to save to, and that file.
fn saved(rest: Piece<'_>) -> Result<(Piece<'_>, Option<Piece<'_>>), Fault> {
    let (what, save) = match rest.text.rfind(':').map(|at| rest.around(at)) {
        Some((what, save)) => (what, Some(save)),
        None => (rest, None),
    };
    if let Some(save) = save.filter(|save| save.text.is_empty()) {
        let help = "write the file to save to: out=u32[64]:out.npy";
        return Err(Piece { text: ":", start: save.start - 1 }.fault("no file stands after the `:`", help));
    }
    Ok((what, save))
}

/// A variable of the module.
fn variable(piece: Piece<'_>) -> Result<BufferSpec, Fault> {
    let Some((name, rest)) =
        piece.split_once('=').filter(|(name, rest)| !name.text.is_empty() && !rest.text.is_empty())
    else {
        return Err(piece.fault(format!("`{}` does not say what becomes of which variable", piece.text), VARIABLES));
    };
    // `f32:0.5,1`, perhaps with a file to save to.
    let listed = rest.split_once(':').and_then(|(ty, list)| Some((ty, ty.text.parse::<Element>().ok()?, list)));
    let (ty, shape, content, save) = match listed {
        Some((_, ty, list)) => {
            let (list, save) = match list.text.contains(':') {
                true => saved(list)?,
                false => (list, None),
            };
            let help = format!("write the values of the variable: {}={ty}:1,2,3", name.text);
            let bits = match values(ty, list, &help)? {
                Arg::Bytes(bytes) => bytes,
                Arg::Scalar(_, bits) => value::bytes(ty, [bits]),
                Arg::Buffer(_) => Vec::new(),
            };
            (Some(ty), None, Content::Values(bits), save)
        }
        None => {
            let (what, save) = saved(rest)?;
            let file = |file: Piece<'_>| match file.text.is_empty() {
                true => Err(rest.fault("the name of the file to read is missing", VARIABLES)),
                false => Ok(Content::File(At { value: file.text.into(), span: Some(file.span()) })),
            };
            match what.split_once('@').filter(|(declared, _)| is_element(declared.stem())) {
                Some((declared, path)) => {
                    let (ty, shape) = typed(declared)?;
                    (Some(ty), shape, file(path)?, save)
                }
                None if what.text.is_empty() => (None, None, Content::Kept, save),
                None if what.text.ends_with(']') || is_element(what.stem()) => {
                    return Err(what.fault("what the variable is filled with is not said", VARIABLES));
                }
                None => {
                    if let Some(ty) = type_of_number(what.text).filter(|_| !Path::new(what.text).exists()) {
                        let message = format!("there is no file `{}` to fill `{}` from", what.text, name.text);
                        let help =
                            format!("a value has its type before it: --variable {}={ty}:{}", name.text, what.text);
                        return Err(what.fault(message, help));
                    }
                    (None, None, file(what)?, save)
                }
            }
        }
    };
    Ok(BufferSpec {
        name: name.text.to_owned(),
        span: Some(piece.span()),
        home: Home::Variable { offset: None },
        ty,
        shape,
        content,
        save: save.map(|save| At { value: save.text.into(), span: Some(save.span()) }),
        expect: None,
        tolerance: None,
    })
}

impl<'a> Piece<'a> {
    /// The text before the shape.
    fn stem(self) -> &'a str {
        self.text.split('[').next().unwrap_or_default()
    }
}

/// Reads a type as arguments have it, with the length of each axis: `i32[920,2]`, or `i32` alone.
///
/// # Errors
/// What is wrong with it, and what to write.
pub fn parse_type(text: &str) -> Result<(Element, Option<Vec<u64>>), String> {
    typed(Piece { text, start: 0 }).map_err(Fault::sentence)
}

/// Reads what stands behind the `=` of a value's type: `640`, or `0.5,1` for an array or structure.
///
/// # Errors
/// As [`parse_type`].
pub fn parse_values(ty: Element, text: &str) -> Result<Arg, String> {
    values(ty, Piece { text, start: 0 }, &format!("the argument is one {ty}, or several with commas between them"))
        .map_err(Fault::sentence)
}

/// `i32[920,2]`, or `i32` alone.
fn typed(piece: Piece<'_>) -> Result<(Element, Option<Vec<u64>>), Fault> {
    let stem = Piece { text: piece.stem(), ..piece };
    let ty = stem.text.parse().map_err(|_| {
        stem.fault(format!("`{}` is no element type", stem.text), format!("the types are {}", Element::names()))
    })?;
    if stem.text.len() == piece.text.len() {
        return Ok((ty, None));
    }
    let (_, shape) = piece.around(stem.text.len());
    let help = || format!("write the length of each axis: {}[920,2]", stem.text);
    let Some(inner) = shape.text.strip_suffix(']') else {
        return Err(piece.fault(format!("`{}` has no `]`", piece.text), help()));
    };
    let lengths = Piece { text: inner, ..shape }.list().map(|length| {
        length.text.trim().parse().map_err(|_| {
            // An empty piece cannot be pointed at.
            let place = if length.text.is_empty() { piece } else { length };
            place.fault(format!("`{}` is no length of an axis", length.text), help())
        })
    });
    Ok((ty, Some(lengths.collect::<Result<_, _>>()?)))
}

/// One value, or what is passed as an array or structure: `1,2`, or `1,` for one of a single element.
fn values(ty: Element, piece: Piece<'_>, help: &str) -> Result<Arg, Fault> {
    let list = Piece { text: piece.text.strip_suffix(',').unwrap_or(piece.text), ..piece };
    let bits = list.list().map(|number| {
        value::parse(number.text.trim(), ty).ok_or_else(|| {
            let place = if number.text.is_empty() { piece } else { number };
            place.fault(format!("`{}` is no {ty}", number.text), help)
        })
    });
    let bits = bits.collect::<Result<Vec<u64>, _>>()?;
    Ok(match bits[..] {
        [bits] if list.text.len() == piece.text.len() => value::argument(ty, bits),
        _ => Arg::Bytes(value::bytes(ty, bits)),
    })
}

#[cfg(test)]
mod tests {
    use vop_ptx::module::Scalar;

    use super::*;

    fn line(args: &[&str]) -> CommandLine {
        CommandLine {
            grid: "40,23".into(),
            block: "16".into(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            ..CommandLine::default()
        }
    }

    #[test]
    fn buffers_are_read_made_saved_and_passed_again() {
        let args =
            ["a=x.npy", "b=dir/y.png:z.png", "c=i32[920, 2]:m.npy", "d=f16[3]", "e=u8@r.raw", "f=u16[2,3]@r:s.npy"];
        let job = line(&[&args[..], &["c", "g=me@home.npy"]].concat()).job().unwrap();
        let found = job.buffers.iter().map(|buffer| {
            let content = match &buffer.content {
                Content::File(file) => file.value.display().to_string(),
                content => format!("{content:?}"),
            };
            let save = buffer.save.as_ref().map_or(String::new(), |save| save.value.display().to_string());
            format!("{} {:?} {:?} {content} {save}", buffer.name, buffer.ty, buffer.shape)
        });
        let expected = [
            "a None None x.npy ",
            "b None None dir/y.png z.png",
            "c Some(I32) Some([920, 2]) Nothing m.npy",
            "d Some(F16) Some([3]) Nothing ",
            "e Some(U8) None r.raw ",
            "f Some(U16) Some([2, 3]) r s.npy",
            "g None None me@home.npy ",
        ];
        assert_eq!(found.collect::<Vec<_>>(), expected);
        let launch = &job.launches[0];
        assert_eq!((launch.grid.value, launch.block.value), ([40, 23, 1], [16, 1, 1]));
        assert_eq!(launch.args.value[6].value, ArgSpec::Buffer("c".into()));
    }

    #[test]
    fn values_are_numbers_and_bytes() {
        let job = line(&["u32=640", "i8=-1", "f32=0.5", "u16=1,0x200", "u8=7,", "f16=1"]).job().unwrap();
        let args: Vec<ArgSpec> = job.launches[0].args.value.iter().map(|arg| arg.value.clone()).collect();
        let expected = [
            Arg::Scalar(Scalar::U32, 640),
            Arg::Scalar(Scalar::S8, 0xff),
            Arg::Scalar(Scalar::F32, 0x3f00_0000),
            Arg::Bytes(vec![1, 0, 0, 2]),
            Arg::Bytes(vec![7]),
            Arg::Bytes(vec![0, 0x3c]),
        ];
        assert_eq!(args, expected.map(ArgSpec::Value));
    }

    #[test]
    fn what_is_wrong_is_pointed_at() {
        for (arg, wrong, message) in [
            ("in", "in", "no argument before makes a buffer `in`"),
            ("=a.npy", "=a.npy", "nothing stands before the `=` of `=a.npy`"),
            ("in=", "in=", "nothing stands after the `=` of `in=`"),
            ("u32=x", "x", "`x` is no u32"),
            ("u8=1,256,3", "256", "`256` is no u8"),
            ("u8=1,,3", "1,,3", "`` is no u8"),
            ("out=int[3]", "int", "`int` is no element type"),
            ("out=i32", "i32", "how many elements of i32 is not said"),
            ("out=i32[]", "i32[]", "`` is no length of an axis"),
            ("out=i32[3,x]:o.npy", "x", "`x` is no length of an axis"),
            ("out=i32[3", "i32[3", "`i32[3` has no `]`"),
            ("out=i32[3]:", ":", "no file stands after the `:`"),
            ("out=u8@", "u8@", "the name of the file to read is missing"),
            ("first=b.npy", "first", "there is a buffer `first` already"),
            ("é=ü[1]", "ü", "`ü` is no element type"),
            ("n=2400", "n=2400", "`n` would be a buffer, and there is no file `2400`"),
            ("n=-0.5", "n=-0.5", "`n` would be a buffer, and there is no file `-0.5`"),
        ] {
            let line = line(&["first=a.npy", arg]);
            let errors = line.job().unwrap_err().0;
            let [error] = &errors[..] else { panic!("{arg}: {errors:?}") };
            let span = error.place.as_ref().unwrap().span.clone();
            assert_eq!((&line.text()[span], error.message.as_str()), (wrong, message), "{arg}");
            assert!(error.help.is_some(), "{arg}");
        }
        for (grid, wrong) in
            [("", ""), ("4,", ""), ("4x2", "4x2"), ("1,2,3,4", "1,2,3,4"), ("-1", "-1"), ("4294967296", "4294967296")]
        {
            let line = CommandLine { grid: grid.into(), ..line(&[]) };
            let errors = line.job().unwrap_err().0;
            assert_eq!(&line.text()[errors[0].place.as_ref().unwrap().span.clone()], wrong, "{grid}");
        }
    }
}
