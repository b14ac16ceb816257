//! Tests of the developer tools. A module is what is tested; `cargo test -p xtask --test cases MODULE::` runs one. Tests that need
//! ptxas, nvcc, z3 or Python say in a line that they are skipped where it is absent.

mod conformance;
mod dependencies;
mod divergence;
mod docs;
mod fold;
mod golden;
mod gpu;
mod listings;
mod lowering;
mod pages;
mod patches;
mod port;
mod rewrite;
mod search;
mod sweep;
mod toolchain;
mod tools;

/// A file that is no module would not be run.
#[test]
fn every_file_is_a_module() {
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).expect("the folder can be read") {
        let name = entry.expect("the folder can be read").file_name().into_string().expect("a name in UTF-8");
        let Some(module) = name.strip_suffix(".rs").filter(|module| *module != "main") else { continue };
        assert!(include_str!("main.rs").contains(&format!("\nmod {module};\n")), "main.rs lacks `mod {module};`");
    }
}
