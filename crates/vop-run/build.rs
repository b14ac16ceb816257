//! Tells the crate whether the compiler makes vector instructions of loops.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(scalar_loops)");
    // Below level 2 it does not, so that the loops of all levels would be the same code, three times.
    let level = std::env::var("OPT_LEVEL").unwrap_or_default();
    if matches!(level.as_str(), "0" | "1") {
        println!("cargo::rustc-cfg=scalar_loops");
    }
}
