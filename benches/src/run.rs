//! Thread-instructions a second of the example.

use vop_ptx::run::{RunOptions, run_launch_file};

pub fn bench() {
    let output = std::env::temp_dir().join("vop-bench-run");
    let options = RunOptions { output: Some(output), ..RunOptions::default() };
    println!("\nRunning examples/motion on the CPU, one thread; median of 3");
    let mut runs = Vec::new();
    for _ in 0..3 {
        match run_launch_file("../examples/motion/motion.toml".as_ref(), &options) {
            Ok(summary) => runs.push(summary),
            Err(errors) => return println!("  failed: {errors}"),
        }
    }
    for i in 0..runs[0].launches.len() {
        let mut rates: Vec<f64> = runs
            .iter()
            .map(|run| run.launches[i].counts.instructions as f64 / run.launches[i].time.as_secs_f64() / 1e6)
            .collect();
        rates.sort_by(f64::total_cmp);
        let launch = &runs[0].launches[i];
        println!(
            "  {:<44} {:>10.2} M thread-instructions/s ({} of them, {:.0} % video)",
            launch.entry,
            rates[1],
            launch.report.instructions,
            100.0 * launch.report.video as f64 / launch.counts.instructions as f64,
        );
    }
}
