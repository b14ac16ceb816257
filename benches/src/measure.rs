//! Timing: rounds that alternate between what is compared, and medians.

use std::time::{Duration, Instant};

use vop_run::Level;

/// The processor's name.
pub fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("unknown processor");
    format!(
        "{}, {} thread(s)",
        model.trim_start_matches([' ', '\t', ':']),
        std::thread::available_parallelism().map_or(1, usize::from)
    )
}

/// The level that `VOP_LEVEL` names, or the best.
pub fn level() -> Level {
    let wanted = std::env::var("VOP_LEVEL").unwrap_or_default().to_ascii_lowercase();
    let named = Level::available().find(|level| format!("{level:?}").to_ascii_lowercase() == wanted);
    assert!(wanted.is_empty() || named.is_some(), "VOP_LEVEL is none of {:?}", Level::available().collect::<Vec<_>>());
    named.unwrap_or(Level::best())
}

/// The processors' time that this process has used, of all of its threads.
pub fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the system writes to the value.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// One thing to time: a name, how many items a call handles, and the call, whose result is kept from being optimised away.
pub struct Subject<'a> {
    pub name: String,
    pub items: usize,
    pub call: Box<dyn FnMut() -> u64 + 'a>,
}

impl<'a> Subject<'a> {
    pub fn new(name: impl Into<String>, items: usize, call: impl FnMut() -> u64 + 'a) -> Subject<'a> {
        Subject { name: name.into(), items, call: Box::new(call) }
    }
}

/// Times all subjects in turn, eleven rounds, and prints medians in millions of items a second, with the ratio to the
/// first, the rival or bound.
pub fn compare(title: &str, unit: &str, subjects: &mut [Subject<'_>]) {
    const ROUNDS: usize = 11;
    let mut rates = vec![Vec::new(); subjects.len()];
    for round in 0..=ROUNDS {
        for (subject, rates) in subjects.iter_mut().zip(&mut rates) {
            let start = Instant::now();
            std::hint::black_box((subject.call)());
            // The first round warms up.
            if round > 0 {
                rates.push(subject.items as f64 / start.elapsed().as_secs_f64() / 1e6);
            }
        }
    }
    println!("\n{title}");
    let medians: Vec<f64> = rates
        .iter_mut()
        .map(|rates| {
            rates.sort_by(f64::total_cmp);
            rates[ROUNDS / 2]
        })
        .collect();
    for (subject, median) in subjects.iter().zip(&medians) {
        println!("  {:<44} {median:>10.2} M {unit}/s   x{:.2}", subject.name, median / medians[0]);
    }
}
