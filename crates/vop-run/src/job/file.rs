//! Launch files.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use toml::{Spanned, Value};
use vop_arrays::{Element, UnknownElement};

use super::repeat::{self, Numbers};
use super::texture::{Files, SurfaceFile, TextureFile, TextureSpec};
use super::value;
use super::{
    Address, ArgSpec, At, BufferSpec, Check, Content, Home, Job, LaunchSpec, Text, Tolerance, parse_bytes, parse_time,
    product, read_text,
};
use crate::engine::launch::Arg;
use crate::error::{RunError, RunErrorKind, RunErrors};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LaunchFile {
    ptx: Spanned<PathBuf>,
    #[serde(default)]
    buffers: BTreeMap<String, Spanned<Buffer>>,
    #[serde(default)]
    variables: BTreeMap<String, Spanned<Buffer>>,
    #[serde(default)]
    textures: Files<TextureFile>,
    #[serde(default)]
    surfaces: Files<SurfaceFile>,
    launch: Vec<Launch>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table, such as { type = \"u32\", values = [7] }")]
struct Buffer {
    file: Option<Spanned<PathBuf>>,
    #[serde(rename = "type")]
    ty: Option<Spanned<String>>,
    shape: Option<Spanned<Vec<u64>>>,
    fill: Option<Spanned<Value>>,
    values: Option<Spanned<Vec<Spanned<Value>>>>,
    addresses: Option<Spanned<Vec<Spanned<Value>>>>,
    /// Of a variable.
    offset: Option<Spanned<u64>>,
    save: Option<Spanned<PathBuf>>,
    expect: Option<Spanned<PathBuf>>,
    tolerance: Option<Spanned<f64>>,
    ulps: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table, such as { grid = 1, block = 64, args = [] }")]
struct Launch {
    entry: Option<Spanned<String>>,
    grid: Spanned<Value>,
    block: Spanned<Value>,
    shared: Option<Spanned<Value>>,
    #[serde(default)]
    cooperative: bool,
    args: Spanned<Vec<Spanned<Value>>>,
    #[serde(rename = "for", default)]
    repeat: Option<Spanned<BTreeMap<String, Spanned<Value>>>>,
    #[serde(default, deserialize_with = "checks")]
    check: Vec<Check>,
    timeout: Option<Spanned<Value>>,
}

/// `"all"`, `"races,uninit"`, `["races", "uninit"]`.
fn checks<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<Check>, D::Error> {
    struct Names;

    impl<'de> serde::de::Visitor<'de> for Names {
        type Value = Vec<Check>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a list of checks, or `all`")
        }

        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Vec<Check>, E> {
            let mut checks = Vec::new();
            for name in text.split(',').map(str::trim) {
                let names: Vec<String> = Check::ALL.iter().map(|check| format!("`{}`", check.name())).collect();
                let found = Check::named(name).ok_or_else(|| {
                    E::custom(format!("there is no check `{name}`: they are {} and `all`", names.join(", ")))
                })?;
                checks.extend(found);
            }
            Ok(checks)
        }

        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<Vec<Check>, A::Error> {
            let mut checks = Vec::new();
            while let Some(name) = list.next_element::<String>()? {
                checks.extend(self.visit_name(&name)?);
            }
            Ok(checks)
        }
    }

    impl Names {
        fn visit_name<E: serde::de::Error>(&self, name: &str) -> Result<Vec<Check>, E> {
            serde::de::Visitor::visit_str(Names, name)
        }
    }

    deserializer.deserialize_any(Names)
}

impl<T> From<Spanned<T>> for At<T> {
    fn from(spanned: Spanned<T>) -> At<T> {
        At { span: Some(spanned.span()), value: spanned.into_inner() }
    }
}

/// Reads a launch file. All errors are reported; of the TOML's syntax errors, the first.
pub(super) fn read(path: &Path) -> Result<Job, RunErrors> {
    let source = Text { path: Some(path.to_owned()), text: read_text(path)? };
    let file: LaunchFile = toml::from_str(&source.text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        source.error(RunErrorKind::LaunchFile, Some(&span), error.message().trim())
    })?;
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let reader = Reader { source: &source, folder: &folder };
    let mut errors = Vec::new();
    let mut keep = |error| errors.push(error);
    let names = Names {
        buffers: file.buffers.keys().cloned().collect(),
        textures: file.textures.keys().chain(file.surfaces.keys()).cloned().collect(),
    };
    let mut buffers = Vec::new();
    let textures = reader.textures(&file, &names, &mut buffers, &mut keep);
    for (name, buffer) in file.buffers {
        buffers.extend(reader.buffer(name, buffer, &names, false).map_err(&mut keep).ok());
    }
    let mut variables = Vec::new();
    for (name, variable) in file.variables {
        variables.extend(reader.buffer(name, variable, &names, true).map_err(&mut keep).ok());
    }
    let mut launches = Vec::new();
    for (index, launch) in file.launch.into_iter().enumerate() {
        reader.repetitions(index, launch, &names, &mut launches, &mut keep);
    }
    let unused = reader.unused(&buffers, &variables, &textures, &launches);
    if launches.is_empty() && errors.is_empty() {
        let message = "nothing to run: there is no `[[launch]]`";
        errors.push(source.error(RunErrorKind::LaunchFile, None, message));
    }
    if !errors.is_empty() {
        errors.sort_by_key(|error| error.place.as_ref().map(|place| place.span.start));
        return Err(RunErrors(errors));
    }
    let ptx = At::from(file.ptx).map(|ptx| folder.join(ptx));
    Ok(Job { source, folder, ptx, buffers, variables, textures, launches, unused })
}

/// Launches that one file may make.
const MAX_LAUNCHES: usize = 100_000;

/// The names that an argument may have.
struct Names {
    buffers: Vec<String>,
    textures: Vec<String>,
}

struct Reader<'a> {
    source: &'a Text,
    folder: &'a Path,
}

impl Reader<'_> {
    fn wrong<T>(&self, at: &Spanned<T>, message: impl Into<String>) -> RunError {
        self.source.error(RunErrorKind::LaunchFile, Some(&at.span()), message)
    }

    /// An error about a text in the place of a number, which may have been meant as the name of one.
    fn named(&self, error: RunError, value: &Value) -> RunError {
        match value {
            Value::String(name) if name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') => {
                let help =
                    format!("a name stands for a number if `for` of the launch has it: for = {{ {name} = [1, 2, 4] }}");
                error.with_help(help)
            }
            _ => error,
        }
    }

    /// Textures and surfaces, and the buffers of those that have files.
    fn textures(
        &self,
        file: &LaunchFile,
        names: &Names,
        buffers: &mut Vec<BufferSpec>,
        keep: &mut impl FnMut(RunError),
    ) -> Vec<TextureSpec> {
        let mut textures = Vec::new();
        let wrong =
            |span: Range<usize>, message: String| self.source.error(RunErrorKind::LaunchFile, Some(&span), message);
        for (name, spec) in &file.textures {
            match TextureSpec::texture(name.clone(), spec, wrong) {
                Ok(texture) => textures.push(texture),
                Err(error) => keep(error),
            }
            if let Some(path) = &spec.get_ref().file {
                let content = Content::File(self.input(path));
                let (name, span, home) = (name.clone(), Some(spec.span()), Home::Buffer);
                let (ty, shape, save, expect, tolerance) = (None, None, None, None, None);
                buffers.push(BufferSpec { name, span, home, ty, shape, content, save, expect, tolerance });
            }
        }
        textures.extend(file.surfaces.iter().map(|(name, spec)| TextureSpec::surface(name.clone(), spec)));
        for texture in &textures {
            let at = texture.span.clone().unwrap_or_default();
            let (name, what) = (&texture.name, texture.what());
            let twice = textures.iter().filter(|other| other.name == *name).count() > 1;
            if names.buffers.contains(name) || twice {
                keep(wrong(at, format!("{what} `{name}` has the name of another buffer, texture or surface")));
            } else if texture.buffer.value != *name {
                let at = Spanned::new(texture.buffer.span.clone().unwrap_or(at), ());
                self.known_buffer(&at, &texture.buffer.value, names).map_err(&mut *keep).ok();
            }
        }
        textures
    }

    /// A buffer, or a variable of the module.
    fn buffer(
        &self,
        name: String,
        spec: Spanned<Buffer>,
        names: &Names,
        variable: bool,
    ) -> Result<BufferSpec, RunError> {
        let buffer = spec.get_ref();
        let home = match (&buffer.offset, variable) {
            (Some(offset), false) => {
                let message = format!("buffer `{name}` has an `offset`, which is one of `[variables]`");
                return Err(self.wrong(offset, message));
            }
            (_, false) => Home::Buffer,
            (offset, true) => Home::Variable { offset: offset.as_ref().map(|offset| *offset.get_ref()) },
        };
        let ty = buffer
            .ty
            .as_ref()
            .map(|ty| ty.get_ref().parse().map_err(|unknown: UnknownElement| self.wrong(ty, unknown.to_string())));
        let mut ty = ty.transpose()?;
        let mut shape: Option<Vec<u64>> = buffer.shape.as_ref().map(|shape| shape.get_ref().clone());
        let content = match &buffer.addresses {
            Some(addresses) => {
                let what = if variable { "variable" } else { "buffer" };
                self.addresses(what, &name, &spec, addresses, names, &mut ty, &mut shape)?
            }
            None if variable => self.content_of_variable(&name, &spec, ty, &shape)?,
            None => self.content("buffer", &name, &spec, ty, &mut shape)?,
        };
        if let Some(tolerance) = buffer.tolerance.as_ref()
            && !(0.0..=f64::INFINITY).contains(tolerance.get_ref())
        {
            let message = format!("`{}` is no tolerance: it is a number from 0", tolerance.get_ref());
            return Err(self.wrong(tolerance, message));
        }
        let tolerance = (buffer.tolerance.is_some() || buffer.ulps.is_some()).then(|| Tolerance {
            absolute: buffer.tolerance.as_ref().map_or(0.0, |tolerance| *tolerance.get_ref()),
            ulps: buffer.ulps.unwrap_or(0),
        });
        let save = buffer.save.clone().map(At::from);
        let expect = buffer.expect.as_ref().map(|path| self.input(path));
        Ok(BufferSpec { name, span: Some(spec.span()), home, ty, shape, content, save, expect, tolerance })
    }

    /// What a variable is filled with before the first launch. Type and shape are the variable's if they are not given.
    fn content_of_variable(
        &self,
        name: &str,
        spec: &Spanned<Buffer>,
        ty: Option<Element>,
        shape: &Option<Vec<u64>>,
    ) -> Result<Content, RunError> {
        let buffer = spec.get_ref();
        match (&buffer.file, &buffer.fill, &buffer.values, ty) {
            (None, None, None, _) if buffer.save.is_none() && buffer.expect.is_none() => {
                let message = format!("nothing is done with variable `{name}`");
                Err(self.wrong(spec, message).with_help(
                    "fill it with `file`, `values`, `fill` or `addresses`, or `save` it, or say what to `expect`",
                ))
            }
            (None, None, None, _) => Ok(Content::Kept),
            (None, Some(fill), None, Some(ty)) => Ok(Content::Fill(self.scalar(ty, fill.get_ref(), fill)?)),
            // The module tells the type.
            (None, Some(fill), None, None) => Ok(Content::Untyped { values: vec![fill.clone().into()], is_fill: true }),
            (None, None, Some(values), None) => {
                self.check_count(values, &mut shape.clone())?;
                let values = values.get_ref().iter().map(|value| At::from(value.clone())).collect();
                Ok(Content::Untyped { values, is_fill: false })
            }
            // The number of values is a shape only where it is not the declared one.
            _ => self.content("variable", name, spec, ty, &mut shape.clone()),
        }
    }

    /// The content of a buffer at the start. The number of its values is its shape if no shape is given.
    fn content(
        &self,
        what: &str,
        name: &str,
        spec: &Spanned<Buffer>,
        ty: Option<Element>,
        shape: &mut Option<Vec<u64>>,
    ) -> Result<Content, RunError> {
        let wrong = |has: &str| Err(self.wrong(spec, format!("{what} `{name}` has {has}")));
        let buffer = spec.get_ref();
        match (&buffer.file, &buffer.fill, &buffer.values, ty) {
            (Some(file), None, None, _) => Ok(Content::File(self.input(file))),
            (None, None, Some(values), Some(ty)) => {
                self.check_count(values, shape)?;
                let bits = values.get_ref().iter().map(|value| self.scalar(ty, value.get_ref(), value));
                Ok(Content::Values(value::bytes(ty, bits.collect::<Result<Vec<_>, _>>()?)))
            }
            (None, None, None, Some(_)) if shape.is_some() => Ok(Content::Nothing),
            (None, Some(fill), None, Some(ty)) if shape.is_some() => {
                Ok(Content::Fill(self.scalar(ty, fill.get_ref(), fill)?))
            }
            (None, _, None, _) => wrong("neither a `file` nor both `type` and `shape`"),
            (None, None, Some(_), None) => wrong("`values` and no `type` of them"),
            _ => wrong("more than one of `file`, `fill` and `values`"),
        }
    }

    /// Whether values are of a shape, which is their number if none is given.
    fn check_count(&self, values: &Spanned<Vec<Spanned<Value>>>, shape: &mut Option<Vec<u64>>) -> Result<(), RunError> {
        let len = values.get_ref().len() as u64;
        let shape = shape.get_or_insert_with(|| vec![len]);
        match product(shape) == Some(len) {
            true => Ok(()),
            false => Err(self.wrong(values, format!("{len} values are not of shape {shape:?}"))),
        }
    }

    /// A table of pointers.
    #[allow(clippy::too_many_arguments, reason = "what is declared of a buffer, and what is known of others")]
    fn addresses(
        &self,
        what: &str,
        name: &str,
        spec: &Spanned<Buffer>,
        addresses: &Spanned<Vec<Spanned<Value>>>,
        names: &Names,
        ty: &mut Option<Element>,
        shape: &mut Option<Vec<u64>>,
    ) -> Result<Content, RunError> {
        let buffer = spec.get_ref();
        let len = addresses.get_ref().len() as u64;
        let other = buffer.file.is_some() || buffer.fill.is_some() || buffer.values.is_some();
        if other || *ty.get_or_insert(Element::U64) != Element::U64 || *shape.get_or_insert(vec![len]) != [len] {
            let message =
                format!("{what} `{name}` has `addresses`, which make it a u64 of shape [{len}], and says otherwise");
            return Err(self.wrong(spec, message));
        }
        let all = addresses.get_ref().iter().map(|address| match address.get_ref() {
            Value::String(name) => {
                self.known_buffer(address, name, names)?;
                Ok(At::from(address.clone()).map(|_| Address { name: name.clone(), offset: 0 }))
            }
            Value::Table(table) if table.contains_key("address") => {
                Ok(At { value: self.address(address, table)?, span: Some(address.span()) })
            }
            _ => {
                let message = "an address is the name of a buffer, or `{ address = \"NAME\", offset = 4 }`";
                Err(self.wrong(address, message))
            }
        });
        Ok(Content::Addresses(all.collect::<Result<_, _>>()?))
    }

    /// `{ address = "out", offset = 4 }`: of a buffer or a variable.
    fn address<T>(&self, at: &Spanned<T>, table: &toml::Table) -> Result<Address, RunError> {
        let offset = table.get("offset").map_or(Some(0), |offset| u64::try_from(offset.as_integer()?).ok());
        if let (Some(given), None) = (table.get("offset"), offset) {
            let error = self.wrong(at, format!("{given} is no offset: it is a number of bytes, from 0"));
            return Err(self.named(error, given));
        }
        let known = table.keys().all(|key| key == "address" || key == "offset");
        match (table.get("address"), offset, known) {
            (Some(Value::String(name)), Some(offset), true) => Ok(Address { name: name.clone(), offset }),
            _ => {
                let message = "an address is `{ address = \"NAME\" }` of a buffer or a variable, perhaps with `offset`, a number of bytes";
                Err(self.wrong(at, message))
            }
        }
    }

    /// The launches that `for` makes of one, or the one.
    fn repetitions(
        &self,
        index: usize,
        launch: Launch,
        names: &Names,
        launches: &mut Vec<LaunchSpec>,
        keep: &mut impl FnMut(RunError),
    ) {
        let Some(numbers) = &launch.repeat else {
            launches.extend(self.launch(&launch, index, &[], names, keep));
            return;
        };
        let numbers = match Numbers::read(numbers, |at, why| self.wrong(at, why)) {
            Ok(numbers) => numbers,
            Err(error) => return keep(error),
        };
        let texts = [&launch.grid, &launch.block].into_iter().chain(&launch.shared).chain(launch.args.get_ref());
        let texts: Vec<&Value> = texts.map(Spanned::get_ref).collect();
        for (name, at) in numbers.names() {
            if names.buffers.contains(name) || names.textures.contains(name) {
                let message = format!("`{name}` is also a buffer, texture or surface: give the number another name");
                return keep(self.wrong(at, message));
            }
            if !texts.iter().any(|value| repeat::mentions(value, name)) {
                let error = self.wrong(at, format!("nothing in the launch uses `{name}`"));
                return keep(
                    error.with_help(format!("write \"{name}\" where its number stands: {{ u32 = \"{name}\" }}")),
                );
            }
        }
        if launches.len() + numbers.len() > MAX_LAUNCHES {
            let at = launch.repeat.as_ref().map(Spanned::span);
            let message = format!("more than {MAX_LAUNCHES} launches");
            return keep(self.source.error(RunErrorKind::LaunchFile, at.as_ref(), message));
        }
        for round in 0..numbers.len() {
            let round = numbers.round(round);
            let put = |value: &Spanned<Value>| Spanned::new(value.span(), repeat::put(value.get_ref(), &round));
            let one = Launch {
                entry: launch.entry.clone(),
                grid: put(&launch.grid),
                block: put(&launch.block),
                shared: launch.shared.as_ref().map(put),
                cooperative: launch.cooperative,
                args: Spanned::new(launch.args.span(), launch.args.get_ref().iter().map(put).collect()),
                repeat: None,
                check: launch.check.clone(),
                timeout: launch.timeout.clone(),
            };
            match self.launch(&one, index, &round, names, keep) {
                Some(launch) => launches.push(launch),
                // What is wrong with one is mostly wrong with all.
                None => return,
            }
        }
    }

    /// Buffers that no launch reaches: not even through tables of addresses.
    fn unused(
        &self,
        buffers: &[BufferSpec],
        variables: &[BufferSpec],
        textures: &[TextureSpec],
        launches: &[LaunchSpec],
    ) -> Vec<RunError> {
        fn of_argument<'a>(arg: &'a ArgSpec, reached: &mut Vec<&'a str>) {
            match arg {
                ArgSpec::Buffer(name) | ArgSpec::Address(Address { name, .. }) => reached.push(name),
                ArgSpec::Structure(members) => members.iter().for_each(|(member, _)| of_argument(member, reached)),
                ArgSpec::Value(_) | ArgSpec::Texture(_) => {}
            }
        }
        let in_table = |spec: &'_ BufferSpec| match &spec.content {
            Content::Addresses(addresses) => addresses.iter().map(|address| address.value.name.clone()).collect(),
            _ => Vec::new(),
        };
        let mut reached = Vec::new();
        for launch in launches {
            launch.args.value.iter().for_each(|arg| of_argument(&arg.value, &mut reached));
        }
        let mut next: Vec<String> = reached.into_iter().map(str::to_owned).collect();
        next.sort_unstable();
        next.dedup();
        next.extend(variables.iter().flat_map(in_table));
        // Textures that nothing uses are found when the module is known.
        next.extend(textures.iter().map(|texture| texture.buffer.value.clone()));
        let mut used = std::collections::BTreeSet::new();
        while let Some(name) = next.pop() {
            if let Some(buffer) = buffers.iter().find(|buffer| buffer.name == name)
                && used.insert(name)
            {
                next.extend(in_table(buffer));
            }
        }
        let unused = buffers.iter().filter(|buffer| !used.contains(&buffer.name)).map(|buffer| {
            let message = format!("nothing uses buffer `{}`", buffer.name);
            let help =
                "name it among the `args` of a launch, or remove it; a variable of the module stands in `[variables]`";
            self.source.error(RunErrorKind::LaunchFile, buffer.span.as_ref(), message).with_help(help)
        });
        let mut unused: Vec<RunError> = unused.collect();
        unused.sort_by_key(|error| error.place.as_ref().map(|place| place.span.start));
        unused
    }

    /// A file to read, relative to the launch file's folder.
    fn input(&self, path: &Spanned<PathBuf>) -> At<PathBuf> {
        At::from(path.clone()).map(|path| self.folder.join(path))
    }

    fn launch(
        &self,
        spec: &Launch,
        index: usize,
        round: &[(String, Value)],
        names: &Names,
        keep: &mut impl FnMut(RunError),
    ) -> Option<LaunchSpec> {
        let grid = self.size(&spec.grid).map_err(&mut *keep).ok();
        let block = self.size(&spec.block).map_err(&mut *keep).ok();
        let args = spec.args.get_ref().iter().map(|arg| {
            let value = self.arg(arg, names).map_err(&mut *keep).ok()?;
            Some(At { value, span: Some(arg.span()) })
        });
        // All errors are kept.
        let args: Vec<_> = args.collect();
        let args = At { value: args.into_iter().collect::<Option<Vec<_>>>()?, span: Some(spec.args.span()) };
        let entry = spec.entry.clone().map(At::from);
        let shared = spec.shared.as_ref().map_or(Ok(0), |shared| self.bytes(shared));
        let shared = shared.map_err(&mut *keep).ok();
        let timeout = spec.timeout.as_ref().map(|timeout| self.time(timeout)).transpose().map_err(keep).ok()?;
        let round = round.iter().map(|(name, value)| (name.clone(), value.to_string())).collect();
        let (grid, block, shared, checks) = (grid?, block?, shared?, spec.check.clone());
        let cooperative = spec.cooperative;
        Some(LaunchSpec { index, round, entry, grid, block, shared, cooperative, args, checks, timeout })
    }

    /// A time: `90`, `1.5`, `"500ms"`.
    fn time(&self, value: &Spanned<Value>) -> Result<Duration, RunError> {
        let text = match value.get_ref() {
            Value::String(text) => text.clone(),
            number => number.to_string(),
        };
        parse_time(&text).map_err(|why| self.wrong(value, why))
    }

    /// A number of bytes: `49152`, `48e3`, `"48K"`.
    fn bytes(&self, value: &Spanned<Value>) -> Result<usize, RunError> {
        let bytes = match value.get_ref() {
            Value::Integer(bytes) => usize::try_from(*bytes).ok(),
            Value::Float(bytes) => parse_bytes(&bytes.to_string()).ok().and_then(|bytes| usize::try_from(bytes).ok()),
            Value::String(text) => {
                let bytes = parse_bytes(text).map_err(|why| self.named(self.wrong(value, why), value.get_ref()))?;
                usize::try_from(bytes).ok()
            }
            _ => None,
        };
        bytes.ok_or_else(|| self.wrong(value, format!("{} is no number of bytes", value.get_ref())))
    }

    /// `64`, `[64]`, `[64, 2]` or `[64, 2, 1]`.
    fn size(&self, value: &Spanned<Value>) -> Result<At<[u32; 3]>, RunError> {
        let number = |number: &Value| {
            let wrong = || {
                let error = self.wrong(value, "a size is a number or a list of one to three: x, y, z");
                self.named(error, number)
            };
            number.as_integer().and_then(|n| u32::try_from(n).ok()).ok_or_else(wrong)
        };
        let mut size = [1; 3];
        match value.get_ref() {
            Value::Array(list) if (1..=3).contains(&list.len()) => {
                for (axis, value) in size.iter_mut().zip(list) {
                    *axis = number(value)?;
                }
            }
            value => size[0] = number(value)?,
        }
        Ok(At { value: size, span: Some(value.span()) })
    }

    /// An argument or a member of one, and the alignment that C gives it.
    fn arg(&self, arg: &Spanned<Value>, names: &Names) -> Result<ArgSpec, RunError> {
        Ok(self.member(arg, arg.get_ref(), names)?.0)
    }

    fn member(&self, at: &Spanned<Value>, value: &Value, names: &Names) -> Result<(ArgSpec, usize), RunError> {
        match value {
            Value::String(name) if names.textures.contains(name) => Ok((ArgSpec::Texture(name.clone()), 8)),
            Value::String(name) => {
                self.known_buffer(at, name, names)?;
                Ok((ArgSpec::Buffer(name.clone()), 8))
            }
            Value::Table(table) if table.contains_key("address") => Ok((ArgSpec::Address(self.address(at, table)?), 8)),
            Value::Table(table) if table.len() == 1 => {
                let Some((name, value)) = table.iter().next() else { return Err(self.no_argument(at)) };
                let Ok(ty) = name.parse::<Element>() else {
                    return Err(
                        self.wrong(at, format!("`{name}` is no type of an argument: they are {}", Element::names()))
                    );
                };
                let number = |value| self.scalar(ty, value, at).map_err(|error| self.named(error, value));
                let arg = match value {
                    Value::Array(list) => {
                        let bits = list.iter().map(number);
                        Arg::Bytes(value::bytes(ty, bits.collect::<Result<Vec<_>, _>>()?))
                    }
                    value => value::argument(ty, number(value)?),
                };
                Ok((ArgSpec::Value(arg), ty.size()))
            }
            Value::Array(members) if !members.is_empty() => {
                let members = members.iter().map(|member| self.member(at, member, names));
                let members = members.collect::<Result<Vec<_>, _>>()?;
                let align = members.iter().map(|(_, align)| *align).max().unwrap_or(1);
                Ok((ArgSpec::Structure(members), align))
            }
            _ => Err(self.no_argument(at)),
        }
    }

    fn known_buffer<T>(&self, at: &Spanned<T>, name: &str, names: &Names) -> Result<(), RunError> {
        if names.buffers.iter().any(|known| known == name) {
            return Ok(());
        }
        let names: Vec<String> = names.buffers.iter().map(|name| format!("`{name}`")).collect();
        let buffers = match names.is_empty() {
            true => "there are none".to_owned(),
            false => format!("the buffers are {}", names.join(", ")),
        };
        let help = format!("{buffers}; {{ address = \"NAME\" }} is the address of a variable of the module");
        Err(self.wrong(at, format!("there is no buffer `{name}`")).with_help(help))
    }

    fn no_argument(&self, arg: &Spanned<Value>) -> RunError {
        let message = "an argument is the name of a buffer, `{ address = \"NAME\", offset = 4 }`, a value with its type, `{ i32 = 640 }`, or a structure of such, in brackets";
        self.wrong(arg, message)
    }

    /// The bits of a value; an error at a place if it is not in the type's range.
    fn scalar<T>(&self, ty: Element, value: &Value, at: &Spanned<T>) -> Result<u64, RunError> {
        value::of_toml(value, ty).ok_or_else(|| self.wrong(at, format!("{value} is no {ty}")))
    }
}
