//! The tools that some tests need. Where one is absent its tests are skipped, and a line says so.

use std::io::Write;
use std::sync::LazyLock;

use vop::Semantics;
use xtask::divergence::Solver;
use xtask::sass::Toolchain;

/// Whether all is asked, as before a release: ptxas takes long, and otherwise some tests ask it about a part.
pub(crate) fn full() -> bool {
    std::env::var_os("VOP_FULL").is_some()
}

/// ptxas and nvdisasm, if they are here.
pub(crate) fn ptxas() -> Option<&'static Toolchain> {
    static FOUND: LazyLock<Option<Toolchain>> = LazyLock::new(|| here(Toolchain::find()));
    FOUND.as_ref()
}

/// As [`ptxas`], of a release whose code computes what the golden data say.
pub(crate) fn ptxas_of_golden_values() -> Option<&'static Toolchain> {
    static FOUND: LazyLock<Option<&Toolchain>> = LazyLock::new(|| {
        ptxas_where(
            |version| format!("ptxas-{version}").parse() == Ok(Semantics::Ptxas),
            "golden values are of 13.3 to 13.5",
        )
    });
    *FOUND
}

/// As [`ptxas`], of the release that costs and messages were taken from.
pub(crate) fn ptxas_of_golden_costs() -> Option<&'static Toolchain> {
    static FOUND: LazyLock<Option<&Toolchain>> =
        LazyLock::new(|| ptxas_where(|version| version == "13.5", "costs and messages are of 13.5"));
    *FOUND
}

fn ptxas_where(is_right: impl Fn(&str) -> bool, why: &str) -> Option<&'static Toolchain> {
    let found = ptxas()?;
    if !is_right(found.version()) {
        say(format_args!("ptxas is of {}, and {why}", found.version()));
        return None;
    }
    Some(found)
}

/// As [`ptxas_of_golden_costs`], with an nvcc that compiles CUDA C.
pub(crate) fn nvcc() -> Option<&'static Toolchain> {
    static FOUND: LazyLock<Option<&Toolchain>> = LazyLock::new(|| {
        let found = ptxas_of_golden_costs()?;
        here(found.cuda_costs(&["a + b"], "sm_90")).map(|_| found)
    });
    *FOUND
}

/// z3, if it is here.
pub(crate) fn z3() -> Option<Solver> {
    here(Solver::start())
}

fn here<T>(found: Result<T, impl std::fmt::Display>) -> Option<T> {
    found.map_err(|why| say(format_args!("{why}"))).ok()
}

/// Says that a test is skipped. Not by `eprintln!`, whose output a passing test swallows.
pub(crate) fn say(why: std::fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}
