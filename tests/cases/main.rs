//! Tests that cross crates. A module is what is tested; `cargo test -p vop-tests MODULE::` runs one.

mod cost;
mod docs;
mod evaluation;
mod examples;
mod golden;
mod habits;
mod lowering_scalar;
mod lowering_simd;
mod patches;
mod port;
mod ptxas;
mod rewrite;

/// A file that is no module would not be run.
#[test]
fn every_file_is_a_module() {
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/cases")).expect("the folder can be read") {
        let name = entry.expect("the folder can be read").file_name().into_string().expect("a name in UTF-8");
        let Some(module) = name.strip_suffix(".rs").filter(|module| *module != "main") else { continue };
        assert!(include_str!("main.rs").contains(&format!("\nmod {module};\n")), "main.rs lacks `mod {module};`");
    }
}
