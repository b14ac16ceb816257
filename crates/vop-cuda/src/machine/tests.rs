//! Streams, events, graphs and memory together.

#![allow(unsafe_code, reason = "functions that streams call are those of C")]

use std::ffi::c_void;
use std::sync::{Arc, Mutex};

use super::copy::{Copy, Fill, Side};
use super::event::Event;
use super::graph::{Capture, Graph, Instance, Mode, Task};
use super::memory::{Allocation, Kind, Wanted};
use super::stream::Role;
use super::work::{Comparison, HostFunction, Value, Work};
use super::{Context, handles, machine, start};
use crate::status::Status;

fn context() -> &'static Context {
    let machine = start().expect("the environment is that of tests");
    Context::new(machine, machine.device(0).expect("there is a device"), false, 0)
}

fn allocate(context: &'static Context, kind: Kind, len: u64) -> Arc<Allocation> {
    let wanted = Wanted { kind, len, context: context.handle, flags: 0, pool: 0, by: "test" };
    context.machine().allocate(context.device, wanted).expect("there is memory")
}

/// What functions of the program have been called with.
type Calls = Mutex<Vec<(u32, Result<(), Status>)>>;

/// Work that notes a number.
fn note(calls: &'static Calls, number: u32) -> Work {
    unsafe extern "C" fn call(data: *mut c_void) {
        // SAFETY: `note` has leaked it.
        let (calls, number) = unsafe { &*data.cast::<(&'static Calls, u32)>() };
        calls.lock().expect("nobody panics").push((*number, machine().map(|_| ())));
    }
    let data = Box::into_raw(Box::new((calls, number))).expose_provenance();
    Work::Host(HostFunction { function: call, data })
}

fn calls() -> &'static Calls {
    Box::leak(Box::default())
}

fn numbers(calls: &Calls) -> Vec<u32> {
    calls.lock().expect("nobody panics").iter().map(|(number, _)| *number).collect()
}

/// A word, the work that waits until it is 1, and the work that makes it so.
fn gate(context: &'static Context) -> (Work, Work) {
    let word = allocate(context, Kind::Managed, 4).start;
    (Work::WaitValue(word, Value::Word(1), Comparison::Equal), Work::WriteValue(word, Value::Word(1)))
}

#[test]
fn a_stream_works_in_order_and_callbacks_may_not_use_cuda() {
    let (context, calls) = (context(), calls());
    let stream = context.make_stream(Role::NonBlocking, 0);
    for number in 0..100 {
        stream.give(note(calls, number)).expect("no capture");
    }
    stream.synchronize().expect("no fault");
    assert_eq!(numbers(calls), (0..100).collect::<Vec<_>>());
    assert!(calls.lock().expect("nobody panics").iter().all(|(_, result)| *result == Err(Status::NOT_PERMITTED)));
}

#[test]
fn the_default_stream_waits_for_blocking_streams_and_they_for_it() {
    let (context, calls) = (context(), calls());
    let blocking = context.make_stream(Role::Blocking, 0);
    let other = context.make_stream(Role::NonBlocking, 0);
    let default = Arc::clone(context.default_stream());
    let (wait, open) = gate(context);
    blocking.give(wait).expect("no capture");
    blocking.give(note(calls, 1)).expect("no capture");
    default.give(note(calls, 2)).expect("no capture");
    let second = context.make_stream(Role::Blocking, 0);
    second.give(note(calls, 3)).expect("no capture");
    other.give(note(calls, 0)).expect("no capture");
    other.synchronize().expect("no fault");
    assert_eq!(numbers(calls), [0]);
    assert!(!default.is_idle() && !second.is_idle());
    other.give(open).expect("no capture");
    context.synchronize().expect("no fault");
    assert_eq!(numbers(calls), [0, 1, 2, 3]);
}

#[test]
fn a_stream_that_is_forgotten_ends_its_work() {
    let (context, calls) = (context(), calls());
    let stream = context.make_stream(Role::Blocking, 0);
    let (wait, open) = gate(context);
    stream.give(wait).expect("no capture");
    stream.give(note(calls, 1)).expect("no capture");
    context.remove_stream(&stream);
    context.default_stream().give(note(calls, 2)).expect("no capture");
    context.make_stream(Role::NonBlocking, 0).give(open).expect("no capture");
    context.default_stream().synchronize().expect("no fault");
    assert_eq!(numbers(calls), [1, 2]);
}

#[test]
fn events_tell_what_was_given_before() {
    let (context, calls) = (context(), calls());
    let (first, second) = (context.make_stream(Role::NonBlocking, 0), context.make_stream(Role::NonBlocking, 0));
    let event = |flags| Arc::new(Event::new(context, handles::next(), flags));
    let (before, after) = (event(0), event(0));
    assert_eq!(before.query(), Ok(()));
    assert_eq!(after.since(&before), Err(Status::INVALID_HANDLE));
    let (wait, open) = gate(context);
    before.record(&first).expect("no capture");
    first.give(wait).expect("no capture");
    after.record(&first).expect("no capture");
    after.let_wait(&second).expect("no capture");
    second.give(note(calls, 1)).expect("no capture");
    before.synchronize().expect("no fault");
    assert_eq!(after.query(), Err(Status::NOT_READY));
    assert!(numbers(calls).is_empty());
    context.make_stream(Role::NonBlocking, 0).give(open).expect("no capture");
    after.synchronize().expect("no fault");
    second.synchronize().expect("no fault");
    assert_eq!(numbers(calls), [1]);
    assert!(after.since(&before).is_ok_and(|time| time > 0.0));
    assert!(before.since(&after).is_ok_and(|time| time < 0.0));
    assert_eq!(event(super::event::DISABLE_TIMING).since(&before), Err(Status::INVALID_HANDLE));
}

#[test]
fn a_graph_keeps_the_order_that_it_was_given() {
    let (context, calls) = (context(), calls());
    let graph = Graph::new().expect("there is a machine");
    let add = |number, after: &[u64]| graph.add(Task::Work(note(calls, number)), after).expect("the nodes are there");
    let last_added_first = add(3, &[]);
    let first = add(1, &[]);
    let second = add(2, &[first]);
    graph.nodes().get_mut(&last_added_first).expect("it is there").after = vec![first, second];
    let instance = Instance::new(&graph, 0).expect("no circle");
    let stream = context.make_stream(Role::NonBlocking, 0);
    for _ in 0..2 {
        instance.launch(&stream).expect("no capture");
    }
    stream.synchronize().expect("no fault");
    assert_eq!(numbers(calls), [1, 2, 3, 1, 2, 3]);
    graph.nodes().get_mut(&first).expect("it is there").after = vec![last_added_first];
    assert_eq!(graph.order(), Err(Status::INVALID_VALUE));
    assert!(graph.add(Task::Work(Work::Nothing), &[first, first]).is_err());
}

#[test]
fn what_is_captured_is_not_done() {
    let (context, calls) = (context(), calls());
    let stream = context.make_stream(Role::NonBlocking, 0);
    Capture::begin(&stream, Mode::Relaxed, None).expect("it is not captured");
    assert_eq!(Capture::begin(&stream, Mode::Relaxed, None), Err(Status::ILLEGAL_STATE));
    stream.give(note(calls, 1)).expect("the capture is good");
    stream.give(note(calls, 2)).expect("the capture is good");
    let graph = Capture::end(&stream).expect("the capture is good");
    assert!(stream.is_idle() && numbers(calls).is_empty());
    assert_eq!(graph.nodes().len(), 2);
    let (copy, _) = graph.copied().expect("no circle");
    let instance = Instance::new(&copy, 0).expect("no circle");
    instance.launch(&stream).expect("no capture");
    stream.synchronize().expect("no fault");
    assert_eq!(numbers(calls), [1, 2]);
    assert_eq!(Capture::end(&stream).map(|_| ()), Err(Status::ILLEGAL_STATE));
}

#[test]
fn an_address_belongs_to_its_allocation() {
    let context = context();
    let space = &context.machine().space;
    let allocation = allocate(context, Kind::Device, 100);
    let start = allocation.start;
    assert!(space.find(start).is_some() && space.find(start + 99).is_some());
    assert!(space.find(start + 100).is_none() && space.find(start - 1).is_none());
    assert_eq!(space.find_range(start, 101).map(|_| ()), Err(Status::INVALID_VALUE));
    assert_eq!(space.find_range(start - 1, 2).map(|_| ()), Err(Status::INVALID_VALUE));
    assert!(space.find_range(start + 50, 50).is_ok_and(|found| found.is_some()));
    assert_eq!(space.find_range(u64::MAX, 2).map(|_| ()), Err(Status::INVALID_VALUE));
    context.machine().release(&allocation).expect("it is there");
    assert!(space.find(start).is_none());
    assert_eq!(context.machine().release(&allocation), Err(Status::INVALID_VALUE));
}

#[test]
fn boxes_are_copied_and_filled() {
    let context = context();
    let machine = context.machine();
    let allocation = allocate(context, Kind::Device, 4 * 5 * 6);
    let side = |x: u64, y: u64, z: u64| Side { address: allocation.start + 20 * z + 4 * y + x, pitch: 4, slice: 20 };
    let all = Fill { to: side(0, 0, 0), value: 1, bytes: 1, width: 120, height: 1, depth: 1 };
    all.run(machine).expect("it fits");
    let part = Fill { to: side(1, 1, 1), value: 9, bytes: 1, width: 2, height: 3, depth: 4 };
    part.run(machine).expect("it fits");
    let mut host = [0u8; 24];
    let to = Side { address: (&raw mut host).expose_provenance() as u64, pitch: 2, slice: 6 };
    let back = Copy { to, from: side(1, 1, 1), width: 2, height: 3, depth: 4 };
    back.run(machine).expect("it fits");
    assert_eq!(host, [9; 24]);
    let mut whole = [0u8; 120];
    Copy::bytes((&raw mut whole).expose_provenance() as u64, allocation.start, 120).run(machine).expect("it fits");
    assert_eq!(whole.iter().filter(|byte| **byte == 9).count(), 24);
    assert_eq!(whole[20 + 4 + 1], 9);
    for (width, height, depth) in [(96, 1, 1), (2, 30, 1), (2, 3, 6)] {
        assert!(Fill { width, height, depth, ..part }.run(machine).is_err(), "{width} {height} {depth}");
    }
    let odd = Fill { to: Side::row(allocation.start + 1), value: 0, bytes: 4, width: 1, height: 1, depth: 1 };
    assert_eq!(odd.run(machine), Err(Status::INVALID_VALUE));
    let narrow = Copy { from: Side { pitch: 1, ..back.from }, ..back };
    assert_eq!(narrow.run(machine), Err(Status::INVALID_VALUE));
}
