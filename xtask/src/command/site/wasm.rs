//! The playground's module of WebAssembly, and the script that holds it.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::command::Failure;
use crate::command::process::{cargo, output, succeed};

/// The target that it is built for.
const TARGET: &str = "wasm32-unknown-unknown";

/// The bytes that the compressed module may have.
const MOST_BYTES: usize = 1_000_000;

/// The loader: the module goes in the place of this text.
const LOADER: &str = include_str!("../../../../crates/vop-web/src/loader.js");
const PLACE: &str = "\"VOP_WASM\"";

/// The playground's module.
pub(crate) struct Wasm {
    /// The module as it was built.
    pub(crate) module: Vec<u8>,
    /// Compressed by gzip.
    pub(crate) compressed: Vec<u8>,
}

/// The profile that the module is built in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Small, as it is published.
    Web,
    /// Not optimised: built in half the time, with checks of arithmetic, and of any size.
    Dev,
}

impl Profile {
    /// Its name in Cargo.toml.
    fn name(self) -> &'static str {
        match self {
            Profile::Web => "web",
            Profile::Dev => "web-dev",
        }
    }
}

/// Builds `vop-web` for WebAssembly, in a target folder of its own: flags of the workspace's builds are not for it.
///
/// The toolchain must have the target's standard library, as `rustup target add wasm32-unknown-unknown` installs it. Where it comes from
/// packages of Debian (rustc-web, cargo-web, rust-web-src, lld), the standard library is built from its source:
///
/// ```sh
/// RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_UNSTABLE_BUILD_STD=core,alloc,std,panic_abort \
///     CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld cargo xtask site
/// ```
///
/// # Errors
/// If the target is missing, the build fails, or the module of [`Profile::Web`] is larger than a page should load.
pub(crate) fn build(root: &Path, profile: Profile) -> Result<Wasm, Failure> {
    if std::env::var_os("CARGO_UNSTABLE_BUILD_STD").is_none() {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let mut asked = Command::new(rustc);
        let folder = output(asked.current_dir(root).args(["--print", "target-libdir", "--target", TARGET]))?;
        if !Path::new(folder.trim()).is_dir() {
            let help = format!("`rustup target add {TARGET}` installs it");
            return Err(format!("the Rust toolchain has no standard library for {TARGET}: {help}").into());
        }
    }
    let target_dir = root.join("target/web");
    let mut build = Command::new(cargo());
    build.current_dir(root).args(["rustc", "--locked", "--package", "vop-web", "--lib", "--crate-type", "cdylib"]);
    build.args(["--profile", profile.name(), "--target", TARGET, "--target-dir"]).arg(&target_dir);
    // Addresses are written in as few bytes as they need.
    build.args(["--", "-C", "link-arg=--compress-relocations"]);
    for flags in ["RUSTC_WORKSPACE_WRAPPER", "RUSTC_WRAPPER", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
        build.env_remove(flags);
    }
    succeed(build.stdin(Stdio::null()))?;
    let file = target_dir.join(TARGET).join(profile.name()).join("vop_web.wasm");
    let module = std::fs::read(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    let compressed = gzip(&module)?;
    if profile == Profile::Web && compressed.len() > MOST_BYTES {
        return Err(format!("the module has {} bytes, compressed: more than {MOST_BYTES}", compressed.len()).into());
    }
    Ok(Wasm { module, compressed })
}

impl Wasm {
    /// The script `vop-wasm.js`: the loader with the module in it.
    pub(crate) fn script(&self) -> String {
        LOADER.replacen(PLACE, &format!("\"{}\"", base64(&self.compressed)), 1)
    }
}

/// Compressed as well as gzip can. The same bytes give the same.
fn gzip(bytes: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

/// Bytes as text for `atob`.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let word = (0..3).fold(0, |word, at| word << 8 | u32::from(three.get(at).copied().unwrap_or(0)));
        for digit in 0..4 {
            let is_there = digit <= three.len();
            let index = word >> (18 - 6 * digit) & 63;
            text.push(if is_there { char::from(DIGITS[index as usize]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_every_length() {
        for (bytes, text) in [
            (&b""[..], ""),
            (b"f", "Zg=="),
            (b"fo", "Zm8="),
            (b"foo", "Zm9v"),
            (b"foob", "Zm9vYg=="),
            (b"\xff\xfe\xfd", "//79"),
        ] {
            assert_eq!(base64(bytes), text);
        }
    }

    #[test]
    fn the_loader_has_one_place() {
        assert_eq!(LOADER.matches(PLACE).count(), 1);
    }
}
