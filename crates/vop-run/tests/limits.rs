//! What ends launches before their end, what counts as work, and threads that wait for memory.
//!
//! Nothing here depends on time: counts of thread-instructions are compared, and time-outs end loops that have no end.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::sync::atomic::Ordering;
use std::time::Duration;

use vop_run::{Activity, Check, LaunchOptions, Memory, Program, Report, RunError, RunErrorKind, RunErrors, Stop};

/// Runs the first entry with one buffer of zeros.
fn run(
    ptx: &str,
    [grid, block]: [u32; 2],
    words: usize,
    options: &LaunchOptions,
) -> (Result<Report, RunErrors>, Vec<u32>) {
    let program = Program::read(ptx);
    let kernel = program.kernel(program.entries().next().unwrap()).unwrap_or_else(|errors| panic!("{errors}"));
    let mut memory = program.memory();
    let out = memory.allocate("out", vec![0; 4 * words]);
    let args: Vec<_> = kernel.parameters().iter().map(|_| out.into()).collect();
    let result = kernel.launch([grid, 1, 1], [block, 1, 1], &args, &mut memory, options);
    let found = memory.bytes(out).as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    (result, found)
}

fn error(result: Result<Report, RunErrors>) -> RunError {
    result.unwrap_err().0.remove(0)
}

/// How many thread-instructions a launch executes up to its limit of 100 million.
fn executed_to_the_limit(ptx: &str, block: u32, words: usize) -> u64 {
    let options = LaunchOptions::default().with_cores(1);
    let limited = options.with_instructions(100_000_000);
    let failed = error(run(ptx, [1, block], words, &limited).0);
    assert_eq!(failed.kind, RunErrorKind::Limit, "{failed}");
    let executed = failed.message.split("has executed ").nth(1).unwrap_or_else(|| panic!("{failed}"));
    assert!(failed.help.unwrap().contains("--limit 1G"));
    executed.split(", and").next().unwrap().replace(',', "").parse().unwrap()
}

/// Fails at the limit though it executes few thread-instructions.
fn costs_more_than_it_executes(ptx: &str, block: u32) {
    let executed = executed_to_the_limit(ptx, block, 1);
    assert!(executed < 30_000_000, "{executed}: {ptx}");
}

#[test]
fn a_step_of_one_thread_costs_more_than_one_of_a_warp() {
    costs_more_than_it_executes(".entry k() { L: bra L; }", 1);
    let one_of_many = ".entry k() { .reg .pred p; setp.ne.u32 p, %tid.x, 0; @p bra END; L: bra L; END: ret; }";
    costs_more_than_it_executes(one_of_many, 1024);
    // Of whole warps the limit is the number of thread-instructions.
    let options = LaunchOptions::default().with_instructions(50_000_000);
    let failed = error(run(".entry k() { L: bra L; }", [1, 64], 1, &options).0);
    assert_eq!(failed.message, "the launch's limit of 50,000,000 thread-instructions is reached");
}

#[test]
fn the_limit_of_a_short_launch_is_exact() {
    let ptx = ".entry k() { .reg .b32 r; add.u32 r, r, 1; add.u32 r, r, 1; ret; }";
    let executed = run(ptx, [3, 1], 1, &LaunchOptions::default()).0.unwrap().instructions;
    assert_eq!(executed, 9);
    assert!(run(ptx, [3, 1], 1, &LaunchOptions::default().with_instructions(9)).0.is_ok());
    assert_eq!(error(run(ptx, [3, 1], 1, &LaunchOptions::default().with_instructions(8)).0).kind, RunErrorKind::Limit);
}

/// One core takes several blocks in a row; the limit is that of all together, not of each.
#[test]
fn blocks_share_the_limit() {
    // Shared memory keeps blocks from running as one.
    let ptx = ".entry k(.param .u64 out) { .reg .b32 r<3>; .reg .b64 d<3>; .reg .pred p; .shared .b32 s;
        ld.param.u64 d1, [out]; mov.u32 r1, %ctaid.x; mul.wide.u32 d2, r1, 4; add.u64 d1, d1, d2; mov.u32 r2, 100000;
        L: sub.u32 r2, r2, 1; setp.ne.u32 p, r2, 0; @p bra L;
        mov.u32 r1, 1; st.global.u32 [d1], r1; }";
    // 32 blocks a turn, of 300,000 * 32 thread-instructions each.
    let options = LaunchOptions::default().with_cores(1).with_instructions(25_000_000);
    let (result, found) = run(ptx, [32 * 1024, 32], 32 * 1024, &options);
    assert_eq!(error(result).kind, RunErrorKind::Limit);
    assert_eq!(found.iter().sum::<u32>(), 2);
}

#[test]
fn formatting_counts_bytes_and_conversions() {
    let print = |format: &str, body: &str| {
        let bytes: Vec<String> = format.bytes().chain([0]).map(|byte| byte.to_string()).collect();
        format!(
            ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
            .global .align 8 .b8 format[{}] = {{{}}};
            .global .align 8 .b8 long[1000000] = {{65}};
            .entry k() {{ .reg .b64 d<4>; .reg .b32 r<4>; .local .align 8 .b8 list[8000]; {body}
            L: {{ .param .b64 f; .param .b64 a; .param .b32 r;
                mov.u64 d1, format; cvta.global.u64 d1, d1; st.param.b64 [f], d1;
                mov.u64 d2, list; cvta.local.u64 d2, d2; st.param.b64 [a], d2;
                call.uni (r), vprintf, (f, a); ld.param.b32 r1, [r]; }}
            bra L; }}",
            format.len() + 1,
            bytes.join(",")
        )
    };
    // Strings of which nothing is printed, and a thousand of them.
    let fill = "mov.u64 d3, long; cvta.global.u64 d3, d3;";
    let list: String = (0..1000).fold(fill.to_owned(), |text, i| text + &format!("st.local.u64 [list+{}], d3;", 8 * i));
    costs_more_than_it_executes(&print(&"%.0s".repeat(1000), &list), 1);
    costs_more_than_it_executes(&print(&"%.0d".repeat(1000), ""), 1);
    costs_more_than_it_executes(&print(&"%65000d".repeat(2), ""), 1);
    // The smallest number, of which no digit is known before.
    let least = "mov.u64 d3, 1; st.local.u64 [list], d3; st.local.u64 [list+8], d3;";
    costs_more_than_it_executes(&print("%.1024f%.1024e", least), 1);
    // An ordinary line costs about what it takes: some hundred thread-instructions.
    let lines = print("thread %d of %d\n", "mov.u32 r2, 0;")
        .replace("bra L; }", ".reg .pred p; add.u32 r2, r2, 1; setp.lt.u32 p, r2, 30000; @p bra L; }");
    let cheap = LaunchOptions::default().with_cores(1).with_instructions(12_000_000);
    run(&lines, [1, 1], 1, &cheap).0.unwrap_or_else(|errors| panic!("{errors}"));
    // A precision bounds what is read: beyond it there need be no zero byte.
    let ptx = print(
        "%.2s|",
        "mov.u32 r2, 0x4242; st.local.u32 [list+4], r2; mov.u64 d3, list; cvta.local.u64 d3, d3;
        add.u64 d3, d3, 4; st.local.u64 [list], d3; st.local.u32 [list+4], r2; trap;",
    );
    assert!(run(&ptx, [1, 1], 1, &LaunchOptions::default()).0.is_err());
}

#[test]
fn malloc_counts_what_it_passes() {
    costs_more_than_it_executes(
        ".extern .func (.param .b64 p) malloc (.param .b64 n);
        .entry k() { .reg .b64 d<4>;
        L: { .param .b64 n; .param .b64 p; mov.u64 d1, 16; st.param.b64 [n], d1;
            call.uni (p), malloc, (n); ld.param.b64 d2, [p]; }
        bra L; }",
        32,
    );
}

#[test]
fn free_counts() {
    costs_more_than_it_executes(
        ".extern .func free (.param .b64 p);
        .entry k() { .reg .b64 d; L: { .param .b64 p; mov.u64 d, 0; st.param.b64 [p], d; call.uni free, (p); } bra L; }",
        32,
    );
}

/// The heap is there for kernels that may use it, and is named where there is no memory for it.
#[test]
fn the_heap_is_made_when_a_kernel_uses_it() {
    let program = Program::read(
        ".extern .func (.param .b64 p) malloc (.param .b64 n);
        .global .b8 table[1000];
        .func f() { .reg .b64 d; { .param .b64 n; .param .b64 p; mov.u64 d, 16; st.param.b64 [n], d; call.uni (p), malloc, (n); } }
        .entry without() { ret; }
        .entry with() { call f; }",
    );
    let [without, with] = ["without", "with"].map(|name| program.kernel(name).unwrap());
    let mut memory = program.memory();
    memory.set_limit(1 << 20).unwrap();
    let options = LaunchOptions::default();
    without.launch([1; 3], [32, 1, 1], &[], &mut memory, &options).unwrap();
    let failed = error(with.launch([1; 3], [32, 1, 1], &[], &mut memory, &options));
    assert_eq!(failed.kind, RunErrorKind::Memory);
    let message = "64 MiB for the heap of `malloc`: 1023 KiB of the limit of 1 MiB are left";
    assert_eq!(failed.message, message);
    // What is left is rounded down: it is never shown as enough.
    memory.set_limit(64 << 20).unwrap();
    let failed = error(with.launch([1; 3], [32, 1, 1], &[], &mut memory, &options));
    assert!(failed.message.ends_with(": 63.9 MiB of the limit of 64 MiB are left"), "{failed}");
    memory.set_limit(70 << 20).unwrap();
    for _ in 0..2 {
        with.launch([1; 3], [32, 1, 1], &[], &mut memory, &options).unwrap();
    }
    // It counts once, as other buffers do.
    assert!(memory.allocate_zeros("large", 7 << 20).is_err());
    assert!(memory.allocate_zeros("large", 5 << 20).is_ok());
}

#[test]
fn atomics_and_copies_count() {
    costs_more_than_it_executes(
        ".entry k(.param .u64 out) { .reg .b64 d; .reg .b32 r; ld.param.u64 d, [out];
        L: red.global.add.u32 [d], 1; bra L; }",
        64,
    );
    costs_more_than_it_executes(
        ".entry k(.param .u64 out) { .reg .b64 d; .shared .align 4 .b32 s; ld.param.u64 d, [out];
        L: cp.async.ca.shared.global [s], [d], 4; cp.async.ca.shared.global [s], [d], 4; bra L; }",
        64,
    );
}

/// A copy takes time for each of its bytes.
#[test]
fn copies_cost_by_their_bytes() {
    let copy = |bytes: u32| {
        let ptx = format!(
            ".entry k(.param .u64 out) {{ .reg .b64 d; .shared .align 16 .b8 s[16]; ld.param.u64 d, [out];
            L: cp.async.ca.shared.global [s], [d], {bytes}; cp.async.wait_all; bra L; }}"
        );
        executed_to_the_limit(&ptx, 64, 4)
    };
    let [small, large] = [4, 16].map(copy);
    assert!(small < 6_000_000, "{small}");
    assert!(large < 2_500_000, "{large}");
}

/// A tree of calls without a label in it: nothing but calls can look at the limit.
#[test]
fn calls_count_and_look_at_the_limit() {
    let ptx = ".visible .func f(.reg .b32 n) { .reg .pred p; setp.eq.u32 p, n, 0; @p ret; sub.u32 n, n, 1;
            call f, (n); call f, (n); }
        .entry k() { .reg .b32 n; mov.u32 n, 60; call f, (n); }";
    costs_more_than_it_executes(ptx, 1);
    // A structure that is passed by value.
    let ptx = ".visible .func f(.param .align 8 .b8 s[4000]) { ret; }
        .entry k() { .param .align 8 .b8 s[4000]; L: call f, (s); bra L; }";
    costs_more_than_it_executes(ptx, 32);
}

/// The bytes of arguments and the registers that a function finds to be zero take time at each call.
#[test]
fn calls_count_bytes_and_registers() {
    costs_more_than_it_executes(
        ".func f(.param .b8 x[20000]) { ret; }
        .entry k() { L: { .param .b8 y[20000]; call f, (y); } bra L; }",
        64,
    );
    let sum: String = (0..2000).fold(String::new(), |text, i| text + &format!("add.u32 a, a, q{i};"));
    costs_more_than_it_executes(
        &format!(
            ".func f(.reg .b32 n) {{ .reg .b32 a, q<2000>; .reg .pred p; .shared .b32 s; setp.eq.u32 p, n, 0; @p ret;
            {sum} st.shared.u32 [s], a; }}
            .entry k() {{ .reg .b32 z; mov.u32 z, 0; L: call f, (z); bra L; }}"
        ),
        64,
    );
}

/// Values that are passed on against the order of the steps: finding what comes from `activemask` looks at each step a few times.
#[test]
fn a_long_chain_against_the_order_is_decoded() {
    let mut ptx = ".entry k(.param .u64 out) { .reg .b64 d; .reg .b32 r<60001>; ld.param.u64 d, [out];".to_owned();
    for i in 0..60_000 {
        let _ = write!(ptx, "mov.b32 r{i}, r{};", i + 1);
    }
    ptx += "activemask.b32 r60000; st.global.u32 [d], r60000; }";
    assert_eq!(run(&ptx, [1, 5], 1, &LaunchOptions::default()).1, [31]);
}

/// Code without labels is left within some hundred steps.
#[test]
fn long_code_looks_at_the_limit() {
    let mut ptx = ".entry k(.param .u64 out) { .reg .b64 d; .reg .b32 r; ld.param.u64 d, [out];".to_owned();
    for i in 0..4000 {
        let _ = write!(ptx, "add.u32 r, r, {i};");
    }
    ptx += "st.global.u32 [d], 1; }";
    let (result, found) = run(&ptx, [1, 32], 1, &LaunchOptions::default().with_instructions(32 * 1000));
    assert_eq!(error(result).kind, RunErrorKind::Limit);
    assert_eq!(found, [0]);
    assert_eq!(run(&ptx, [1, 32], 1, &LaunchOptions::default()).1, [1]);
}

const ENDLESS: &str = ".entry k() { L: bra L; }";

#[test]
fn a_timeout_ends_a_launch() {
    for cores in [1, 2] {
        let options = LaunchOptions::default().with_instructions(u64::MAX).with_cores(cores);
        let failed = error(run(ENDLESS, [3, 32], 1, &options.with_timeout(Duration::from_millis(20))).0);
        assert_eq!((failed.kind, failed.kind.code()), (RunErrorKind::Timeout, "V0630"));
        assert!(failed.message.contains("0.02s") && failed.help.unwrap().contains("--timeout 0.2s"));
        assert!(failed.place.is_some() && failed.thread.is_some());
    }
}

#[test]
fn another_thread_stops_a_launch() {
    for ptx in [
        ENDLESS,
        // It waits for a block that waits for it.
        ".entry k(.param .u64 out) { .reg .b64 d; .reg .b32 r; .reg .pred p; ld.param.u64 d, [out];
        L: ld.volatile.global.u32 r, [d]; add.u32 r, r, %clock; setp.ne.u32 p, r, 0; @p bra L; bra L; }",
    ] {
        let (activity, stop) = (Activity::default(), Stop::default());
        let options = LaunchOptions::default().with_instructions(u64::MAX).with_activity(activity.clone());
        let options = options.with_stop(stop.clone());
        let failed = std::thread::scope(|scope| {
            let launch = scope.spawn(|| run(ptx, [4, 32], 1, &options).0);
            while activity.now().is_none_or(|now| now.instructions == 0) {
                std::thread::sleep(Duration::from_millis(1));
            }
            stop.store(true, Ordering::Relaxed);
            error(launch.join().unwrap())
        });
        assert_eq!(failed.kind, RunErrorKind::Stopped, "{failed}");
    }
    // A launch that is stopped before it starts does nothing.
    let options = LaunchOptions::default().with_stop(Stop::new(true.into()));
    let ptx = ".entry k(.param .u64 out) { .reg .b64 d; ld.param.u64 d, [out]; st.global.u32 [d], 1; }";
    let (result, found) = run(ptx, [1, 1], 1, &options);
    assert_eq!((error(result).kind, &found[..]), (RunErrorKind::Stopped, &[0][..]));
}

/// A warp waits while another one works: it executes the same number of instructions however long that takes.
#[test]
fn a_warp_that_waits_executes_next_to_nothing() {
    let kernel = |init: &str, wait: &str, set: &str, turns: u32| {
        let ptx = format!(
            ".entry k(.param .u64 out) {{ .reg .b32 r<8>; .reg .b64 d<4>; .reg .pred p, q; .shared .align 8 .b64 s;
            ld.param.u64 d1, [out]; {init} bar.sync 0;
            setp.lt.u32 p, %tid.x, 32; @!p bra WORK;
            {wait}
            st.global.u32 [d1], 7; bra END;
            WORK: mov.u32 r1, {turns};
            TURN: sub.u32 r1, r1, 1; st.global.u32 [d1+4], r1; setp.ne.u32 q, r1, 0; @q bra TURN;
            setp.eq.u32 q, %tid.x, 32; @!q bra END;
            {set}
            END: ret; }}"
        );
        let options = LaunchOptions::default().with_cores(1);
        let (report, found) = run(&ptx, [1, 64], 2, &options);
        assert_eq!(found, [7, 0]);
        report.unwrap().instructions
    };
    let cases = [
        ("", "L: ld.volatile.shared.u32 r2, [s]; setp.eq.u32 q, r2, 0; @q bra L;", "st.volatile.shared.u32 [s], 1;"),
        (
            "",
            "L: ld.acquire.gpu.global.u32 r2, [d1+4]; setp.eq.u32 q, r2, 0; @!q bra M; nanosleep.u32 20; bra L; M:",
            "",
        ),
        ("", "L: ld.shared.u32 r2, [s]; nanosleep.u32 20; setp.eq.u32 q, r2, 0; @q bra L;", "st.shared.u32 [s], 1;"),
        ("", "L: atom.shared.or.b32 r2, [s], 0; setp.eq.u32 q, r2, 0; @q bra L;", "red.shared.add.u32 [s], 1;"),
        ("", "L: atom.shared.cas.b32 r2, [s], 1, 1; setp.ne.u32 q, r2, 1; @q bra L;", "st.volatile.shared.u32 [s], 1;"),
        (
            "setp.ne.u32 p, %tid.x, 0; @!p mbarrier.init.shared.b64 [s], 1;",
            "L: mbarrier.try_wait.parity.shared.b64 q, [s], 0; @!q bra L;",
            "mbarrier.arrive.shared.b64 _, [s];",
        ),
        (
            "setp.ne.u32 p, %tid.x, 0; @!p mbarrier.init.shared.b64 [s], 1;",
            "mov.u32 r3, 0; L: mbarrier.test_wait.parity.shared.b64 q, [s], 0; add.u32 r3, r3, 1; @!q bra L;",
            "mbarrier.arrive.shared.b64 _, [s];",
        ),
    ];
    for (init, wait, set) in cases {
        let [few, many] = [1000, 20_000].map(|turns| kernel(init, wait, set, turns));
        let work = |turns: u64| turns * 4 * 32;
        let (few, many) = (few - work(1000), many - work(20_000));
        // Some turns of the old patience are allowed: one in four thousand.
        // Where it is not known what a warp waits for, it looks every 64 turns of the others.
        let looks = if wait.contains("ld.shared") { 32 * 5 * 20_000 / 60 } else { 0 };
        assert!(many.abs_diff(few) < 32 * 60 + looks, "{wait}: {few} and {many}");
    }
}

/// Lanes and warps take a lock one after the other: each attempt that fails is made once.
#[test]
fn a_spin_lock_is_tried_when_it_is_given_back() {
    let ptx = ".entry k(.param .u64 out) { .reg .b32 r<4>; .reg .b64 d<4>; .reg .pred p;
        ld.param.u64 d1, [out];
        L: atom.global.cas.b32 r1, [d1], 0, 1; setp.ne.u32 p, r1, 0; @p bra L;
        ld.volatile.global.u32 r2, [d1+4]; add.u32 r2, r2, 1; st.volatile.global.u32 [d1+4], r2;
        mov.u32 r3, 100; W: sub.u32 r3, r3, 1; setp.ne.u32 p, r3, 0; @p bra W;
        atom.global.exch.b32 r1, [d1], 0; }";
    for threads in [32, 256] {
        let options = LaunchOptions::default().with_cores(1);
        let (report, found) = run(ptx, [1, threads], 2, &options);
        assert_eq!(found, [0, threads]);
        let n = u64::from(threads);
        // Each thread: a few instructions, 300 of the loop, and three for each attempt: at most two for each thread that goes before.
        let executed = report.unwrap().instructions;
        assert!(executed < n * 320 + 3 * n * n * 3 / 2, "{threads}: {executed}");
    }
}

/// Blocks wait for one another, on fewer cores than there are blocks.
#[test]
fn blocks_that_wait_let_others_run() {
    // A barrier of the whole grid, three times: each block leaves the number of blocks that have come before it went on.
    let ptx = ".entry k(.param .u64 out) { .reg .b32 r<8>; .reg .b64 d<4>; .reg .pred p;
        ld.param.u64 d1, [out]; mov.u32 r1, %ctaid.x; mul.wide.u32 d2, r1, 4; add.u64 d2, d2, d1; mov.u32 r2, 0;
        NEXT: bar.sync 0; setp.ne.u32 p, %tid.x, 0; @p bra OTHERS;
        add.u32 r2, r2, %nctaid.x; membar.gl; red.global.add.u32 [d1], 1;
        L: ld.volatile.global.u32 r3, [d1]; setp.lt.u32 p, r3, r2; @p bra L;
        OTHERS: bar.sync 0; mul.lo.u32 r5, %nctaid.x, 3; setp.lt.u32 p, r2, r5; @p bra NEXT2; bra DONE;
        NEXT2: setp.ne.u32 p, %tid.x, 0; @p add.u32 r2, r2, %nctaid.x; setp.lt.u32 p, r2, r5; @p bra NEXT;
        DONE: setp.ne.u32 p, %tid.x, 0; @p bra END; ld.volatile.global.u32 r3, [d1]; st.global.u32 [d2+4], r3; END: ret; }";
    for cores in [1, 2, 5] {
        let options = LaunchOptions::default().with_cores(cores).with_instructions(200_000_000);
        let (report, found) = run(ptx, [40, 64], 41, &options);
        report.unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(found, [120; 41], "{cores}");
    }
    // Each block waits for the next one.
    let ptx = ".entry k(.param .u64 out) { .reg .b32 r<8>; .reg .b64 d<4>; .reg .pred p;
        ld.param.u64 d1, [out]; mov.u32 r1, %ctaid.x; mul.wide.u32 d2, r1, 4; add.u64 d1, d2, d1;
        sub.u32 r2, %nctaid.x, 1; setp.eq.u32 p, r1, r2; @p bra LAST;
        L: ld.acquire.gpu.global.u32 r3, [d1+4]; setp.eq.u32 p, r3, 0; @p bra L;
        LAST: add.u32 r3, r3, 1; st.release.gpu.global.u32 [d1], r3; }";
    for cores in [1, 3] {
        let (report, found) = run(ptx, [100, 1], 100, &LaunchOptions::default().with_cores(cores));
        report.unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(found, (1..=100).rev().collect::<Vec<_>>());
    }
}

#[test]
fn a_wait_without_an_end_is_a_deadlock() {
    let wait = "L: ld.volatile.global.u32 r, [d]; setp.eq.u32 p, r, 0; @p bra L;";
    let paused = "L: ld.volatile.global.u32 r, [d]; nanosleep.u32 40; setp.eq.u32 p, r, 0; @p bra L;";
    let other = "setp.lt.u32 p, %tid.x, 32; @p bra A; bar.sync 1, 64; A: L: ld.volatile.shared.u32 r, [s];
        setp.eq.u32 p, r, 0; @p bra L; bar.sync 1, 64;";
    let lock = "L: atom.global.cas.b32 r, [d], 5, 1; setp.ne.u32 p, r, 5; @p bra L;";
    let barrier = "setp.eq.u32 p, %tid.x, 0; @p mbarrier.init.shared.b64 [s], 2;
        L: mbarrier.try_wait.parity.shared.b64 p, [s], 0; @!p bra L;";
    for (body, what) in
        [(wait, "`out`"), (paused, "`out`"), (other, "shared memory"), (lock, "`out`"), (barrier, "shared memory")]
    {
        for (grid, cores) in [(1, 1), (5, 1), (5, 3)] {
            let ptx = format!(
                ".entry k(.param .u64 out) {{ .reg .b64 d; .reg .b32 r; .reg .pred p; .shared .align 8 .b64 s;
                ld.param.u64 d, [out]; {body} }}"
            );
            let failed = error(run(&ptx, [grid, 64], 1, &LaunchOptions::default().with_cores(cores)).0);
            assert_eq!(failed.kind, RunErrorKind::Deadlock, "{failed}");
            let expected = format!("bytes 0 to {} of {what}", if body == barrier { 7 } else { 3 });
            assert!(failed.message.contains(&expected), "{failed}");
            assert!(failed.place.is_some(), "{failed}");
        }
    }
    // Blocks that wait for each other.
    let ptx = ".entry k(.param .u64 out) { .reg .b64 d<3>; .reg .b32 r<3>; .reg .pred p; ld.param.u64 d1, [out];
        mov.u32 r1, %ctaid.x; mul.wide.u32 d2, r1, 4; add.u64 d1, d1, d2;
        L: ld.volatile.global.u32 r2, [d1]; setp.eq.u32 p, r2, 0; @p bra L; st.global.u32 [d1+4], 1; }";
    for cores in [1, 2] {
        let failed = error(run(ptx, [3, 32], 4, &LaunchOptions::default().with_cores(cores)).0);
        assert_eq!((failed.kind, failed.thread.unwrap().block), (RunErrorKind::Deadlock, [0, 0, 0]), "{failed}");
    }
}

/// What the first block printed, and what was found, is there although all blocks wait forever.
#[test]
fn a_deadlock_keeps_what_was_printed_and_found() {
    let ptx = ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
        .global .b8 format[4] = {37, 100, 10, 0};
        .entry k(.param .u64 out) { .reg .b64 d<3>; .reg .b32 r; .reg .pred p; .local .align 8 .b32 list; .shared .b32 s;
        ld.param.u64 d1, [out]; st.shared.u32 [s], %tid.x; setp.ne.u32 p, %tid.x, 0; @p bra L;
        mov.u32 r, %ctaid.x; st.local.u32 [list], r;
        { .param .b64 f; .param .b64 a; .param .b32 r; mov.u64 d2, format; st.param.b64 [f], d2;
            mov.u64 d2, list; cvta.local.u64 d2, d2; st.param.b64 [a], d2; call (r), vprintf, (f, a); }
        L: ld.volatile.global.u32 r, [d1]; setp.eq.u32 p, r, 0; @p bra L; }";
    let program = Program::read(ptx);
    for cores in [1, 2] {
        let mut memory = program.memory();
        let out = memory.allocate("out", [0; 4]);
        let options = LaunchOptions::default().with_cores(cores).with_check(Check::Races);
        let result = program.kernel("k").unwrap().launch([3, 1, 1], [32, 1, 1], &[out.into()], &mut memory, &options);
        let kinds: Vec<RunErrorKind> = result.unwrap_err().0.iter().map(|error| error.kind).collect();
        assert_eq!(kinds, [RunErrorKind::Deadlock, RunErrorKind::Race]);
        assert_eq!(memory.take_printed(), "0\n");
    }
}

/// A loop that counts its turns in memory, or that reads it by `.cv`, does not keep its core from the block that it waits for.
#[test]
fn a_wait_that_changes_memory_lets_other_blocks_run() {
    for turn in [
        "ld.volatile.global.u32 r, [d]; ld.local.u32 n, [l]; add.u32 n, n, 1; st.local.u32 [l], n;",
        "ld.volatile.global.u32 r, [d]; ld.shared.u32 n, [s]; add.u32 n, n, 1; st.shared.u32 [s], n; nanosleep.u32 20;",
        "atom.global.or.b32 r, [d], 0; atom.global.add.u32 n, [d+4], 1;",
        "ld.global.cv.u32 r, [d]; add.u32 n, n, 1;",
    ] {
        let ptx = format!(
            ".entry k(.param .u64 out) {{ .reg .b64 d; .reg .b32 r, n; .reg .pred p; .local .b32 l; .shared .b32 s;
            ld.param.u64 d, [out]; mov.u32 n, 0; setp.eq.u32 p, %ctaid.x, 3; @p bra LAST;
            L: {turn} setp.eq.u32 p, r, 0; @p bra L; ret;
            LAST: st.volatile.global.u32 [d], 1; }}"
        );
        for cores in [1, 2] {
            let options = LaunchOptions::default().with_cores(cores).with_instructions(500_000_000);
            let (report, found) = run(&ptx, [4, 32], 2, &options);
            report.unwrap_or_else(|errors| panic!("{turn}: {errors}"));
            assert_eq!(found[0], 1);
        }
    }
}

/// Two blocks of many threads: of what a block waits for the core knows a part only.
#[test]
fn blocks_that_wait_for_many_places_go_on() {
    let ptx = ".entry k(.param .u64 out) { .reg .b64 d<6>; .reg .b32 r<12>; .reg .pred p, q;
        ld.param.u64 d1, [out]; mov.u32 r1, %tid.x; mov.u32 r2, %ctaid.x; xor.b32 r4, r2, 1; mov.u32 r5, 0;
        mad.lo.u32 r3, r2, 128, r1; mad.lo.u32 r4, r4, 128, r1;
        mul.wide.u32 d2, r3, 4; add.u64 d2, d1, d2; mul.wide.u32 d3, r4, 4; add.u64 d3, d1, d3;
        setp.eq.u32 p, r1, 100; setp.eq.and.u32 p, r2, 0, p; @p bra SEND;
        WAIT: ld.volatile.global.u32 r6, [d2]; setp.eq.u32 q, r6, r5; @q bra WAIT;
        setp.ne.u32 p, r1, 100; @p ret; mov.u32 r5, r6;
        SEND: add.u32 r7, r5, 1; st.volatile.global.u32 [d3], r7; setp.lt.u32 p, r7, 300; @p bra WAIT;
        mov.u32 r8, 0;
        ALL: st.volatile.global.u32 [d1], 1000; add.u64 d1, d1, 4; add.u32 r8, r8, 1; setp.lt.u32 p, r8, 256; @p bra ALL; }";
    for cores in [1, 2] {
        let (report, found) = run(ptx, [2, 128], 256, &LaunchOptions::default().with_cores(cores));
        report.unwrap_or_else(|errors| panic!("{cores}: {errors}"));
        assert!(found.iter().all(|n| *n >= 300), "{found:?}");
    }
}

/// A loop that gives up by the clock does not keep its core from the block that it waits for.
#[test]
fn a_wait_with_a_clock_lets_other_blocks_run() {
    let ptx = ".entry k(.param .u64 out) { .reg .b32 r<8>; .reg .b64 d<4>; .reg .pred p, q;
        ld.param.u64 d1, [out]; mov.u32 r1, %ctaid.x; setp.eq.u32 p, r1, 19; @p bra LAST;
        mov.u32 r2, %clock;
        L: ld.acquire.gpu.global.u32 r3, [d1]; setp.ne.u32 p, r3, 0; @p bra DONE;
        mov.u32 r4, %clock; sub.u32 r4, r4, r2; setp.gt.u32 q, r4, 100000000; @q trap; nanosleep.u32 20; bra L;
        LAST: st.release.gpu.global.u32 [d1], 1; DONE: ret; }";
    for cores in [1, 2] {
        let (report, found) = run(ptx, [20, 32], 1, &LaunchOptions::default().with_cores(cores));
        report.unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(found, [1]);
    }
}

/// Loops that look as if they waited, and end by themselves.
#[test]
fn a_loop_that_counts_its_attempts_is_no_deadlock() {
    for turn in [
        "ld.volatile.global.u32 r, [d]; add.u32 n, n, 1; setp.lt.u32 p, n, 5000; @p bra L;",
        "atom.global.exch.b32 r, [d], 0; add.u32 n, n, 1; setp.lt.u32 p, n, 5000; @p bra L;",
        "nanosleep.u32 100; mov.u32 n, %clock; setp.lt.u32 p, n, 300000; @p bra L;",
        "ld.volatile.global.u32 r, [d]; mov.u32 n, %clock; setp.lt.u32 p, n, 300000; @p bra L;",
        // A register that seldom changes: every thousandth turn.
        "ld.volatile.global.u32 r, [d]; mov.u32 m, %clock; shr.u32 n, m, 17; mov.u32 m, 0; setp.lt.u32 p, n, 3; @p bra L;",
    ] {
        let ptx = format!(
            ".entry k(.param .u64 out) {{ .reg .b64 d; .reg .b32 r, n, m; .reg .pred p; ld.param.u64 d, [out]; mov.u32 n, 0;
            L: {turn} st.global.u32 [d], 3; }}"
        );
        let (report, found) = run(&ptx, [1, 32], 1, &LaunchOptions::default());
        report.unwrap_or_else(|errors| panic!("{turn}: {errors}"));
        assert_eq!(found, [3]);
    }
}

/// Memory that the process has, in bytes.
#[cfg(target_os = "linux")]
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

/// Checks for races keep what fits: of many addresses what was released there together, and accesses within the launch's limit.
#[test]
fn checks_take_a_bounded_amount_of_memory() {
    // Each thread writes a word, and releases 100 flags of its own.
    let ptx = ".entry k(.param .u64 out) { .reg .b64 d<4>; .reg .b32 r<4>; .reg .pred p;
        ld.param.u64 d1, [out]; mov.u32 r1, %tid.x; mul.wide.u32 d2, r1, 4; add.u64 d1, d1, d2;
        st.global.u32 [d1], 1; fence.acq_rel.cta; mov.u32 r2, 100; mov.u64 d3, d1;
        L: add.u64 d3, d3, 4096; st.relaxed.cta.global.u32 [d3], 1; sub.u32 r2, r2, 1; setp.ne.u32 p, r2, 0; @p bra L;
        // The flag of another thread, in the last row; and its word.
        xor.b32 r1, r1, 33; mul.wide.u32 d2, r1, 4; ld.param.u64 d1, [out]; add.u64 d1, d1, d2; add.u64 d2, d1, 409600;
        W: ld.acquire.cta.global.u32 r3, [d2]; setp.eq.u32 p, r3, 0; @p bra W;
        ld.global.u32 r3, [d1]; }";
    let options = LaunchOptions::default().with_cores(1).with_check(Check::Races);
    #[cfg(target_os = "linux")]
    let before = resident();
    let report = run(ptx, [1, 1024], 1024 * 101, &options).0.unwrap();
    #[cfg(target_os = "linux")]
    assert!(resident().saturating_sub(before) < 256 << 20);
    assert_eq!(report.findings, []);
    // Many threads read each of many words.
    let ptx = ".entry k(.param .u64 out) { .reg .b64 d; .reg .b32 r<3>; .reg .pred p; ld.param.u64 d, [out]; mov.u32 r2, 100000;
        L: ld.global.u32 r1, [d]; add.u64 d, d, 4; sub.u32 r2, r2, 1; setp.ne.u32 p, r2, 0; @p bra L; }";
    let few = run(ptx, [1, 128], 100_000, &options.clone().with_memory(2_000_000)).0.unwrap();
    assert!(few.findings.iter().any(|finding| finding.error.message.contains("no memory to look at all")), "{few:?}");
    assert_eq!(run(ptx, [1, 128], 100_000, &options).0.unwrap().findings, []);
    // The cells of shared memory belong to a block.
    let shared = options.with_dynamic_shared(200_000).with_memory(1_000_000);
    assert_eq!(error(run(".entry k() { ret; }", [1, 1], 1, &shared).0).kind, RunErrorKind::Memory);
}

#[test]
fn zeros_take_no_memory() {
    let mut memory = Memory::default();
    memory.set_limit(1 << 40).unwrap();
    #[cfg(target_os = "linux")]
    let before = resident();
    let buffer = memory.allocate_zeros("a", 4 << 30).unwrap();
    let bytes = memory.bytes_mut(buffer);
    assert_eq!((bytes.len(), bytes[0], bytes[(4 << 30) - 1]), (4 << 30, 0, 0));
    #[cfg(target_os = "linux")]
    assert!(resident().saturating_sub(before) < 256 << 20);
}

#[test]
fn memory_is_bounded_and_refused_with_an_error() {
    let kind = |error: RunError| (error.kind, error.message);
    let mut memory = Memory::default();
    memory.set_limit(1000).unwrap();
    memory.allocate_zeros("a", 600).unwrap();
    let (found, message) = kind(memory.allocate_zeros("b", 500).unwrap_err());
    assert_eq!(found, RunErrorKind::Memory);
    assert_eq!(message, "500 bytes for `b`: 400 bytes of the limit of 1000 bytes are left");
    assert_eq!(kind(memory.set_limit(500).unwrap_err()).0, RunErrorKind::Memory);
    // More than there is on any machine.
    memory.set_limit(u64::MAX).unwrap();
    assert_eq!(kind(memory.allocate_zeros("c", 1 << 62).unwrap_err()).0, RunErrorKind::Memory);
    // An allocation that is not made is reported by the launch.
    memory.set_limit(1000).unwrap();
    let d = memory.allocate("d", vec![1; 500]);
    assert_eq!(memory.bytes(d), []);
    let program = Program::read(".entry k() { ret; }");
    let kernel = program.kernel("k").unwrap();
    let result = kernel.launch([1; 3], [1; 3], &[], &mut memory, &LaunchOptions::default());
    assert_eq!(error(result).kind, RunErrorKind::Memory);
}

#[test]
fn what_a_launch_takes_is_bounded() {
    // Registers, shared memory, the stack of a frame and of a recursion: each alone goes beyond the limit.
    let recursion = ".visible .func f(.reg .b32 n) { .reg .pred p; .local .b8 x[8000]; setp.eq.u32 p, n, 0; @p ret;
        sub.u32 n, n, 1; call f, (n); } .entry k(.param .u64 out) { .reg .b32 n; mov.u32 n, 60; call f, (n); }";
    for ptx in [
        recursion,
        ".entry k(.param .u64 out) { .local .b8 x[400000]; ret; }",
        ".entry k(.param .u64 out) { .reg .b32 r; .shared .b8 s[200000]; ld.shared.u8 r, [s]; }",
    ] {
        let limit = 150_000;
        let failed = error(run(ptx, [1, 1024], 1, &LaunchOptions::default().with_cores(1).with_memory(limit)).0);
        assert_eq!(failed.kind, RunErrorKind::Memory, "{failed}");
        assert!(run(ptx, [1, 1024], 1, &LaunchOptions::default().with_cores(1)).0.is_ok(), "{ptx}");
    }
    // Blocks that wait for others that cannot be started any more.
    let ptx = ".entry k(.param .u64 out) { .reg .b64 d; .reg .b32 r; .reg .pred p; .shared .b8 s[200000]; ld.param.u64 d, [out];
        red.global.add.u32 [d], 1; L: ld.volatile.global.u32 r, [d]; setp.lt.u32 p, r, %nctaid.x; @p bra L; }";
    let options = LaunchOptions::default().with_cores(1).with_memory(1_000_000);
    let failed = error(run(ptx, [20, 1], 1, &options).0);
    assert_eq!(failed.kind, RunErrorKind::Deadlock, "{failed}");
    assert!(failed.help.unwrap().contains("--memory"));
    assert!(run(ptx, [20, 1], 1, &LaunchOptions::default().with_cores(1)).0.is_ok());
}
