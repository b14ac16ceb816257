//! Memory at the host's addresses: the same kernels, the same checks, and what the host does meanwhile.

#![allow(unsafe_code, reason = "memory of the test's own is lent to kernels")]

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use vop_run::{Arg, Check, LaunchOptions, Memory, Program, RunErrorKind};

const HEAD: &str = ".version 8.0 .target sm_75 .address_size 64";

/// `out[i] = in[i] + 1` for a row of 32-bit words, one for each thread.
fn increment() -> Program {
    Program::read(&format!(
        "{HEAD}
         .visible .entry increment(.param .u64 to, .param .u64 from) {{
             .reg .b32 %r<6>; .reg .b64 %rd<6>;
             ld.param.u64 %rd1, [to];
             ld.param.u64 %rd2, [from];
             mov.u32 %r1, %ctaid.x;
             mov.u32 %r2, %ntid.x;
             mov.u32 %r3, %tid.x;
             mad.lo.s32 %r4, %r1, %r2, %r3;
             mul.wide.u32 %rd3, %r4, 4;
             add.s64 %rd4, %rd1, %rd3;
             add.s64 %rd5, %rd2, %rd3;
             ld.global.u32 %r5, [%rd5];
             add.u32 %r5, %r5, 1;
             st.global.u32 [%rd4], %r5;
             ret;
         }}"
    ))
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect()
}

fn load(memory: &mut Memory, program: &Program) -> Program {
    memory.load(&[program]).expect("it loads").remove(0)
}

#[test]
fn an_address_is_the_host_s() {
    let mut memory = Memory::at_host_addresses();
    let program = load(&mut memory, &increment());
    let from = memory.allocate("from", (0..256u32).flat_map(u32::to_le_bytes).collect::<Vec<u8>>());
    let to = memory.allocate_zeros("to", 1024).expect("there is room");
    let address = memory.pointer(to) as u64;
    assert_eq!(memory.address(to), address);
    assert_eq!(memory.locate(address + 1023), Some((to, 1023)));
    assert_eq!(memory.locate(address + 1024), None);
    // The last byte of one is far from the first of the other.
    assert!(memory.address(from).abs_diff(address) > 1 << 20);
    let kernel = program.kernel("increment").expect("it decodes");
    kernel
        .launch([2, 1, 1], [128, 1, 1], &[to.into(), from.into()], &mut memory, &LaunchOptions::default())
        .expect("it runs");
    assert_eq!(words(memory.bytes(to)), (1..=256).collect::<Vec<u32>>());
    assert_eq!(memory.locate(address), Some((to, 0)));
}

/// Every way of checking a warp: rows, samples and single threads find the end exactly.
#[test]
fn bounds_are_exact() {
    let mut memory = Memory::at_host_addresses();
    let program = load(&mut memory, &increment());
    let kernel = program.kernel("increment").expect("it decodes");
    for count in [1, 31, 32, 33, 63, 64, 100, 128] {
        let from = memory.allocate_zeros("from", 4 * count).expect("there is room");
        let to = memory.allocate_zeros("to", 512).expect("there is room");
        let mut run = |threads: u64, delta: i64| {
            let address = memory.address(from).wrapping_add_signed(delta);
            let args = [to.into(), address.into()];
            kernel
                .launch([1; 3], [threads as u32, 1, 1], &args, &mut memory, &LaunchOptions::default())
                .map_err(|errors| errors.0[0].clone())
        };
        run(count, 0).expect("all is inside");
        let beyond = run(count + 1, 0).expect_err("one is beyond");
        assert_eq!(beyond.kind, RunErrorKind::OutOfBounds);
        assert_eq!(beyond.thread.map(|thread| u64::from(thread.thread[0])), Some(count), "{beyond}");
        assert!(beyond.message.contains("`from`"), "{beyond}");
        let before = run(count, -4).expect_err("one is before");
        assert_eq!((before.kind, before.thread.map(|thread| thread.thread[0])), (RunErrorKind::OutOfBounds, Some(0)));
        let odd = run(1, 2).expect_err("it is no multiple of four");
        assert_eq!(odd.kind, RunErrorKind::Misaligned);
        memory.free(from).expect("it is there");
        memory.free(to).expect("it is there");
    }
}

#[test]
fn what_was_freed_is_not_reached() {
    let mut memory = Memory::at_host_addresses();
    let program = load(&mut memory, &increment());
    let kernel = program.kernel("increment").expect("it decodes");
    let from = memory.allocate("from", [0; 128]);
    let to = memory.allocate("to", [0; 128]);
    let args = [Arg::from(memory.address(to)), Arg::from(memory.address(from))];
    let run = |memory: &mut Memory| kernel.launch([1; 3], [32, 1, 1], &args, memory, &LaunchOptions::default());
    run(&mut memory).expect("all is there");
    memory.free(from).expect("it is there");
    assert!(memory.free(from).is_err(), "it was freed before");
    let errors = run(&mut memory).expect_err("it was freed");
    assert_eq!(errors.0[0].kind, RunErrorKind::OutOfBounds);
    assert_eq!((memory.bytes(from), memory.len_of(from)), (&[][..], 0));
    // What is allocated next is elsewhere.
    let next = memory.allocate("next", [0; 128]);
    assert_ne!(Arg::from(memory.address(next)), args[1]);
    assert_eq!(run(&mut memory).expect_err("it was freed").0[0].kind, RunErrorKind::OutOfBounds);
}

/// Ranges that start anywhere, beside others, on the stack and in a vector.
#[test]
fn memory_of_the_caller_is_checked_as_exactly() {
    let program = increment();
    let mut to = [0u32; 40];
    let mut from: Vec<u32> = (0..40).collect();
    for (first, count) in [(0, 32), (1, 32), (3, 7), (8, 32)] {
        let mut memory = Memory::at_host_addresses();
        let program = load(&mut memory, &program);
        let kernel = program.kernel("increment").expect("it decodes");
        let mut register = |slice: &mut [u32], read_only: bool| {
            // SAFETY: the arrays live longer than the memory, and nobody looks at them while kernels run.
            unsafe { memory.register("lent", slice.as_mut_ptr().cast(), 4 * count as u64, read_only) }.expect("it fits")
        };
        let (one, two) = (register(&mut to[first..], false), register(&mut from[first..], true));
        let mut run = |a: u64, b: u64, threads: usize| {
            let args = [a.into(), b.into()];
            kernel
                .launch([1; 3], [threads as u32, 1, 1], &args, &mut memory, &LaunchOptions::default())
                .map_err(|errors| errors.0[0].kind)
        };
        let (a, b) = (to[first..].as_ptr() as u64, from[first..].as_ptr() as u64);
        assert_eq!(run(a, b, count).map(|_| ()), Ok(()));
        assert_eq!(run(a, b, count + 1).map(|_| ()), Err(RunErrorKind::OutOfBounds));
        assert_eq!(run(a, b - 4, 1).map(|_| ()), Err(RunErrorKind::OutOfBounds));
        assert_eq!(run(b, a, 1).map(|_| ()), Err(RunErrorKind::Forbidden), "it may only be read");
        assert_eq!(memory.locate(a + 3), Some((one, 3)));
        // SAFETY: it is refused.
        let again = unsafe { memory.register("again", to[first + count - 1..].as_mut_ptr().cast(), 4, false) };
        assert!(again.is_err_and(|error| error.message.contains("overlap")));
        memory.free(two).expect("it is there");
        assert_eq!(to[first..first + count], (first as u32 + 1..).take(count).collect::<Vec<u32>>());
        to.fill(0);
    }
    assert_eq!(from, (0..40).collect::<Vec<u32>>());
    let mut own = Memory::default();
    // SAFETY: it is refused.
    assert!(unsafe { own.register("lent", to.as_mut_ptr().cast(), 4, false) }.is_err());
}

/// Variables, pointers to them in initial values, and a program that goes.
#[test]
fn modules_come_and_go() {
    let text = format!(
        "{HEAD}
         .visible .global .u32 table[4] = {{10, 20, 30, 40}};
         .visible .global .u64 pointer = table+8;
         .visible .const .u32 factor = 3;
         .visible .entry through(.param .u64 to) {{
             .reg .b32 %r<3>; .reg .b64 %rd<4>;
             ld.param.u64 %rd1, [to];
             ld.global.u64 %rd2, [pointer];
             ld.u32 %r1, [%rd2];
             ld.const.u32 %r2, [factor];
             mul.lo.u32 %r1, %r1, %r2;
             st.global.u32 [%rd1], %r1;
             st.global.u32 [table], %r1;
             ret;
         }}"
    );
    let read = Program::read(&text);
    let mut memory = Memory::at_host_addresses();
    let to = memory.allocate("to", [0; 4]);
    for _ in 0..3 {
        let program = load(&mut memory, &read);
        let kernel = program.kernel("through").expect("it decodes");
        kernel.launch([1; 3], [1; 3], &[to.into()], &mut memory, &LaunchOptions::default()).expect("it runs");
        assert_eq!(words(memory.bytes(to)), [90]);
        let table = program.variable("table").expect("the module has it");
        assert_eq!(words(memory.bytes(table)), [90, 20, 30, 40]);
        memory.unload(&program).expect("it is loaded");
        assert!(memory.unload(&program).is_err());
        let gone = kernel.launch([1; 3], [1; 3], &[to.into()], &mut memory, &LaunchOptions::default());
        assert_eq!(gone.expect_err("it is gone").0[0].kind, RunErrorKind::Argument);
    }
    // A module that cannot be loaded leaves nothing.
    memory.set_limit(64).expect("it holds 4 bytes");
    let large = Program::read(&format!("{HEAD} .visible .global .u8 small[8]; .visible .global .u8 large[100];"));
    assert!(memory.load(&[&large]).is_err());
    assert_eq!(memory.find("small"), None);
    load(&mut memory, &read);
}

#[test]
fn checks_see_what_they_see_elsewhere() {
    let program = Program::read(&format!(
        "{HEAD}
         .visible .entry all(.param .u64 place) {{
             .reg .b32 %r<3>; .reg .b64 %rd<4>;
             ld.param.u64 %rd1, [place];
             mov.u32 %r1, %tid.x;
             ld.global.u32 %r2, [%rd1+8];
             st.global.u32 [%rd1], %r1;
             ret;
         }}"
    ));
    let found = |mut memory: Memory| {
        let program = load(&mut memory, &program);
        let place = memory.allocate_uninitialized("place", 16).expect("there is room");
        let kernel = program.kernel("all").expect("it decodes");
        let options = LaunchOptions::default().with_check(Check::Races).with_check(Check::Uninit);
        let report = kernel.launch([1; 3], [64, 1, 1], &[place.into()], &mut memory, &options).expect("it runs");
        let error = |finding: &vop_run::Finding| (finding.error.kind, finding.error.message.clone(), finding.count);
        report.findings.iter().map(error).collect::<Vec<_>>()
    };
    let host = found(Memory::at_host_addresses());
    assert_eq!(host, found(Memory::default()));
    assert!(host.iter().any(|(kind, ..)| *kind == RunErrorKind::Race));
    assert!(host.iter().any(|(kind, ..)| *kind == RunErrorKind::Uninitialized));
}

/// A kernel waits for a flag that the host sets while it runs; meanwhile others allocate, free and launch.
#[test]
fn a_kernel_and_the_host_run_at_the_same_time() {
    let program = Program::read(&format!(
        "{HEAD}
         .visible .entry wait(.param .u64 flag, .param .u64 told) {{
             .reg .b32 %r<3>; .reg .b64 %rd<4>; .reg .pred %p;
             ld.param.u64 %rd1, [flag];
             ld.param.u64 %rd2, [told];
             mov.u32 %r1, 1;
             st.volatile.global.u32 [%rd2], %r1;
         again:
             ld.volatile.global.u32 %r2, [%rd1];
             setp.eq.u32 %p, %r2, 0;
             @%p bra again;
             st.global.u32 [%rd2], %r2;
             ret;
         }}"
    ));
    let memory = Mutex::new(Memory::at_host_addresses());
    let (program, flag, told, other) = {
        let mut memory = memory.lock().expect("nobody panics");
        let program = load(&mut memory, &program);
        (program, memory.allocate("flag", [0; 4]), memory.allocate("told", [0; 4]), load(&mut memory, &increment()))
    };
    let [flag_at, told_at] = [flag, told].map(|id| memory.lock().expect("nobody panics").pointer(id) as usize);
    // SAFETY: both are words of allocations that nobody frees; kernels reach them by atomics.
    let word = |at: usize| unsafe { AtomicU32::from_ptr(at as *mut u32) };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let kernel = program.kernel("wait").expect("it decodes");
            kernel
                .launch_shared([1; 3], [1; 3], &[flag.into(), told.into()], &memory, &LaunchOptions::default())
                .expect("the flag is set");
        });
        while word(told_at).load(Ordering::Acquire) == 0 {
            std::thread::yield_now();
        }
        let kernel = other.kernel("increment").expect("it decodes");
        for _ in 0..10 {
            let [to, from] = ["to", "from"].map(|name| memory.lock().expect("nobody panics").allocate(name, [7; 128]));
            kernel
                .launch_shared([1; 3], [32, 1, 1], &[to.into(), from.into()], &memory, &LaunchOptions::default())
                .expect("it runs");
            let mut memory = memory.lock().expect("nobody panics");
            assert_eq!(words(memory.bytes(to)), [0x0707_0708; 32]);
            for id in [to, from] {
                memory.free(id).expect("it is there");
            }
        }
        assert_eq!(word(told_at).load(Ordering::Acquire), 1, "it still waits");
        word(flag_at).store(5, Ordering::Release);
    });
    assert_eq!(words(memory.lock().expect("nobody panics").bytes(told)), [5]);
    // Without a host that does its part, the launch fails in the end.
    memory.lock().expect("nobody panics").bytes_mut(flag).fill(0);
    let kernel = program.kernel("wait").expect("it decodes");
    let options = LaunchOptions::default().with_patience(std::time::Duration::from_millis(50));
    let errors = kernel.launch_shared([1; 3], [1; 3], &[flag.into(), told.into()], &memory, &options);
    assert_eq!(errors.expect_err("nobody sets it").0[0].kind, RunErrorKind::Deadlock);
}

/// A heap, and a clone.
#[test]
fn malloc_and_clones() {
    let program = Program::read(&format!(
        "{HEAD}
         .extern .func (.param .b64 result) malloc(.param .b64 bytes);
         .visible .entry keep(.param .u64 to) {{
             .reg .b32 %r<3>; .reg .b64 %rd<4>;
             ld.param.u64 %rd1, [to];
             {{
                 .param .b64 p; .param .b64 q;
                 st.param.b64 [p], 16;
                 call.uni (q), malloc, (p);
                 ld.param.b64 %rd2, [q];
             }}
             st.global.u64 [%rd1], %rd2;
             mov.u32 %r1, 42;
             st.u32 [%rd2], %r1;
             ret;
         }}"
    ));
    let mut memory = Memory::at_host_addresses();
    let program = load(&mut memory, &program);
    let to = memory.allocate("to", [0; 8]);
    let kernel = program.kernel("keep").expect("it decodes");
    kernel.launch([1; 3], [1; 3], &[to.into()], &mut memory, &LaunchOptions::default()).expect("it runs");
    let address = u64::from_le_bytes(memory.bytes(to).try_into().expect("eight bytes"));
    let (heap, offset) = memory.locate(address).expect("malloc gave it");
    assert_eq!(memory.bytes(heap)[offset as usize..][..4], [42, 0, 0, 0]);
    // SAFETY: the address is the host's, and nothing runs.
    assert_eq!(unsafe { *(address as *const u32) }, 42);
    let copy = memory.clone();
    assert_eq!(copy.bytes(heap)[offset as usize..][..4], [42, 0, 0, 0]);
    assert_ne!(copy.address(to), memory.address(to));
}

/// Blocks of a cooperative grid wait for each other, in several launches at once on one memory: each has a barrier of its own.
#[test]
fn cooperative_grids_at_the_same_time() {
    const BLOCKS: u32 = 6;
    // Rounds of: every block adds its number to the sum, waits for the others, and reads it.
    let program = Program::read(&format!(
        "{HEAD}
         .visible .entry sums(.param .u64 to) {{
             .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<6>;
             ld.param.u64 %rd1, [to];
             mov.u32 %r1, %envreg1;
             mov.u32 %r2, %envreg2;
             mov.b64 %rd2, {{%r2, %r1}};
             mov.u32 %r3, %ctaid.x;
             mov.u32 %r4, 0;
         ROUND:
             mul.wide.u32 %rd3, %r4, 4;
             add.u64 %rd3, %rd1, %rd3;
             add.u32 %r5, %r3, 1;
             red.add.u32 [%rd3], %r5;
             setp.eq.u32 %p1, %r3, 0;
             selp.b32 %r6, 0x7ffffffb, 1, %p1;
             atom.add.release.gpu.u32 %r7, [%rd2+4], %r6;
         WAIT:
             ld.acquire.gpu.u32 %r8, [%rd2+4];
             xor.b32 %r8, %r8, %r7;
             setp.ge.s32 %p2, %r8, 0;
             @%p2 bra WAIT;
             ld.u32 %r8, [%rd3];
             setp.ne.u32 %p2, %r8, 21;
             @%p2 trap;
             add.u32 %r4, %r4, 1;
             setp.lt.u32 %p2, %r4, 40;
             @%p2 bra ROUND;
             ret;
         }}"
    ));
    let mut memory = Memory::at_host_addresses();
    let program = memory.load(&[&program]).expect("it loads").remove(0);
    let buffers: Vec<_> = (0..4).map(|i| memory.allocate(&format!("to{i}"), vec![0; 160])).collect();
    let kernel = program.kernel("sums").expect("it is decoded");
    let memory = Mutex::new(memory);
    let options = LaunchOptions::default().with_cooperative(u64::from(BLOCKS));
    std::thread::scope(|scope| {
        for id in &buffers {
            scope.spawn(|| {
                for _ in 0..3 {
                    memory.lock().expect("no panic").bytes_mut(*id).fill(0);
                    let done = kernel.launch_shared([BLOCKS, 1, 1], [1; 3], &[(*id).into()], &memory, &options);
                    done.expect("no block waits for ever");
                }
            });
        }
    });
    let error = kernel
        .launch_shared([BLOCKS + 1, 1, 1], [1; 3], &[buffers[0].into()], &memory, &options)
        .expect_err("there is no room for the last block");
    assert_eq!(error.0[0].kind, RunErrorKind::Argument);
}

/// What is freed while a launch runs stays there until it has ended, in memories of both kinds.
#[test]
fn what_a_launch_uses_is_kept() {
    let program = Program::read(&format!(
        "{HEAD}
         .visible .entry wait(.param .u64 flag, .param .u64 gone, .param .u64 told) {{
             .reg .b32 %r<3>; .reg .b64 %rd<4>; .reg .pred %p;
             ld.param.u64 %rd1, [flag];
             ld.param.u64 %rd2, [gone];
             ld.param.u64 %rd3, [told];
             mov.u32 %r1, 1;
             st.volatile.global.u32 [%rd3], %r1;
         again:
             ld.volatile.global.u32 %r2, [%rd1];
             setp.eq.u32 %p, %r2, 0;
             @%p bra again;
             ld.global.u32 %r1, [%rd2+60];
             st.global.u32 [%rd3], %r1;
             ret;
         }}"
    ));
    for mut memory in [Memory::default(), Memory::at_host_addresses()] {
        let program = load(&mut memory, &program);
        let [flag, told] = ["flag", "told"].map(|name| memory.allocate(name, [0; 4]));
        let gone = memory.allocate("gone", [9; 64]);
        let [flag_at, told_at] = [flag, told].map(|id| memory.pointer(id) as usize);
        let memory = Mutex::new(memory);
        // SAFETY: both are words of allocations that nobody frees; kernels reach them by atomics.
        let word = |at: usize| unsafe { AtomicU32::from_ptr(at as *mut u32) };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let kernel = program.kernel("wait").expect("it decodes");
                let args = [flag.into(), gone.into(), told.into()];
                kernel
                    .launch_shared([1; 3], [1; 3], &args, &memory, &LaunchOptions::default())
                    .expect("the flag is set");
            });
            while word(told_at).load(Ordering::Acquire) == 0 {
                std::thread::yield_now();
            }
            memory.lock().expect("nobody panics").free(gone).expect("it is there");
            // Where the system would put what is freed.
            let others: Vec<Vec<u8>> = (0..100).map(|_| vec![1; 64]).collect();
            word(flag_at).store(5, Ordering::Release);
            drop(others);
        });
        assert_eq!(words(memory.lock().expect("nobody panics").bytes(told)), [0x0909_0909]);
    }
}

/// A variable is its module's: nobody else frees it, and later not what took its place.
#[test]
fn a_variable_is_freed_with_its_module() {
    let read = Program::read(&format!("{HEAD} .visible .global .u32 table[4] = {{1, 2, 3, 4}};"));
    for mut memory in [Memory::default(), Memory::at_host_addresses()] {
        let program = load(&mut memory, &read);
        let table = program.variable("table").expect("the module has it");
        assert!(memory.free(table).is_err_and(|error| error.kind == RunErrorKind::Free));
        memory.unload(&program).expect("it is loaded");
        let new = memory.allocate("new", [7; 16]);
        assert!(memory.unload(&program).is_err());
        assert_eq!(memory.bytes(new), [7; 16]);
    }
    let mut memory = Memory::at_host_addresses();
    let mut byte = 0u8;
    // SAFETY: it is refused.
    assert!(unsafe { memory.register("nothing", &raw mut byte, 0, false) }.is_err());
}
