//! The project's speed, each figure beside a rival or a bound measured in the same run.
//!
//!     cd benches && cargo run --release [parse|eval|bulk|files|kernels|run|run-arithmetic|run-motion|run-memory|run-startup]…
//!
//! `docs/performance.md` keeps the latest table.

mod bulk;
mod eval;
mod files;
mod kernels;
mod measure;
mod opencl;
mod parse;
mod run;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let run = |name: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name);
    println!("{}", measure::machine());
    if run("parse") {
        parse::bench();
    }
    if run("eval") {
        eval::bench();
    }
    if run("bulk") {
        bulk::bench();
    }
    if run("files") {
        files::bench();
    }
    if run("kernels") {
        kernels::bench();
    }
    for (name, bench) in run::BENCHES {
        if run("run") || wanted.iter().any(|wanted| wanted == name) {
            bench();
        }
    }
}
