//! Graphs: work that is given once and launched often; and the capture of streams, which makes graphs.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::ThreadId;

use super::event::{Event, Mark};
use super::stream::{Stream, Ticket};
use super::work::{HostFunction, Work};
use super::{handles, machine};
use crate::status::{Answer, Status};

/// A graph.
pub struct Graph {
    /// Its handle.
    pub handle: u64,
    nodes: Mutex<BTreeMap<u64, Node>>,
    /// If it is a copy: the node for each of the original.
    copied: Mutex<HashMap<u64, u64>>,
    /// What the program keeps as long as the graph is there.
    kept: Mutex<Vec<Arc<Kept>>>,
}

/// A node: what it does, and what it comes after.
#[derive(Clone)]
pub struct Node {
    /// What it does.
    pub task: Task,
    /// The nodes before it, in the order that they were given.
    pub after: Vec<u64>,
    /// Whether it does nothing in instances.
    pub is_disabled: bool,
}

/// What a node does.
#[derive(Clone)]
pub enum Task {
    /// A piece of work.
    Work(Work),
    /// Another graph, as a part of this one.
    Child(Arc<Graph>),
    /// Memory that is there as long as the graph: the address.
    Allocate(u64, Work),
    /// The end of that.
    Free(u64),
}

/// What the handle of a node stands for.
pub struct NodeOf {
    /// Its graph.
    pub graph: Weak<Graph>,
    /// Its handle.
    pub handle: u64,
}

impl Graph {
    /// A graph without nodes.
    pub fn new() -> Answer<Arc<Graph>> {
        let handle = handles::next();
        let graph =
            Arc::new(Graph { handle, nodes: Mutex::default(), copied: Mutex::default(), kept: Mutex::default() });
        machine()?.handles.set(handle, Arc::clone(&graph));
        Ok(graph)
    }

    /// Its nodes by their handles, which grow.
    pub fn nodes(&self) -> MutexGuard<'_, BTreeMap<u64, Node>> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the program keeps with it.
    pub fn kept(&self) -> MutexGuard<'_, Vec<Arc<Kept>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a node.
    ///
    /// # Errors
    /// A node that it comes after is of another graph, or is there twice.
    pub fn add(self: &Arc<Self>, task: Task, after: &[u64]) -> Answer<u64> {
        let machine = machine()?;
        let mut nodes = self.nodes();
        let different: HashSet<u64> = after.iter().copied().collect();
        if different.len() != after.len() || after.iter().any(|before| !nodes.contains_key(before)) {
            return Err(Status::INVALID_VALUE);
        }
        let handle = handles::next();
        nodes.insert(handle, Node { task, after: after.to_vec(), is_disabled: false });
        machine.handles.set(handle, Arc::new(NodeOf { graph: Arc::downgrade(self), handle }));
        Ok(handle)
    }

    /// Takes a node away.
    ///
    /// # Errors
    /// It is of another graph.
    pub fn remove(&self, node: u64) -> Answer {
        let mut nodes = self.nodes();
        nodes.remove(&node).ok_or(Status::INVALID_VALUE)?;
        nodes.values_mut().for_each(|other| other.after.retain(|before| *before != node));
        machine()?.handles.remove::<NodeOf>(node);
        Ok(())
    }

    /// All nodes in an order that has each node after those before it.
    ///
    /// # Errors
    /// Nodes come after one another in a circle.
    pub fn order(&self) -> Answer<Vec<u64>> {
        order(&self.nodes())
    }

    /// A copy, with nodes of its own; and the new node for each.
    pub fn copied(&self) -> Answer<(Arc<Graph>, HashMap<u64, u64>)> {
        let copy = Graph::new()?;
        copy.kept().clone_from(&self.kept());
        let mut new = HashMap::new();
        let nodes = self.nodes().clone();
        for handle in order(&nodes)? {
            let node = &nodes[&handle];
            let after: Vec<u64> = node.after.iter().filter_map(|before| new.get(before).copied()).collect();
            let task = match &node.task {
                Task::Child(child) => Task::Child(child.copied()?.0),
                task => task.clone(),
            };
            let made = copy.add(task, &after)?;
            if let Some(made) = copy.nodes().get_mut(&made) {
                made.is_disabled = node.is_disabled;
            }
            new.insert(handle, made);
        }
        copy.copied.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&new);
        Ok((copy, new))
    }

    /// The node that a node of the original has become.
    pub fn copy_of(&self, original: u64) -> Option<u64> {
        self.copied.lock().unwrap_or_else(PoisonError::into_inner).get(&original).copied()
    }

    /// The graph, and its nodes, lose their handles.
    pub fn forget(&self) -> Answer {
        let machine = machine()?;
        for (handle, node) in self.nodes().iter() {
            machine.handles.remove::<NodeOf>(*handle);
            if let Task::Child(child) = &node.task {
                child.forget()?;
            }
        }
        machine.handles.remove::<Graph>(self.handle).map(|_| ()).ok_or(Status::INVALID_VALUE)
    }
}

fn order(nodes: &BTreeMap<u64, Node>) -> Answer<Vec<u64>> {
    let mut missing: HashMap<u64, usize> = nodes.iter().map(|(handle, node)| (*handle, node.after.len())).collect();
    let mut next: HashMap<u64, Vec<u64>> = HashMap::new();
    for (handle, node) in nodes {
        node.after.iter().for_each(|before| next.entry(*before).or_default().push(*handle));
    }
    let mut ready: BTreeSet<u64> =
        missing.iter().filter(|(_, count)| **count == 0).map(|(handle, _)| *handle).collect();
    let mut all = Vec::with_capacity(nodes.len());
    while let Some(handle) = ready.pop_first() {
        all.push(handle);
        for follower in next.get(&handle).into_iter().flatten() {
            let count = missing.entry(*follower).or_default();
            *count = count.saturating_sub(1);
            if *count == 0 {
                ready.insert(*follower);
            }
        }
    }
    if all.len() == nodes.len() { Ok(all) } else { Err(Status::INVALID_VALUE) }
}

/// An object of the program that is destroyed when nobody needs it any more: `CUuserObject`.
pub struct UserObject {
    /// Calls the program's function.
    destroy: HostFunction,
    count: AtomicU64,
}

impl UserObject {
    /// An object that is held so often.
    pub fn new(destroy: HostFunction, count: u64) -> UserObject {
        UserObject { destroy, count: AtomicU64::new(count) }
    }

    /// Holds it more often.
    pub fn retain(&self, count: u64) {
        self.count.fetch_add(count, Ordering::Relaxed);
    }

    /// Holds it less often. Nobody holding it destroys it.
    ///
    /// # Errors
    /// It was not held so often.
    pub fn release(&self, count: u64) -> Answer {
        let less = |held: u64| held.checked_sub(count);
        let before = self.count.fetch_update(Ordering::AcqRel, Ordering::Acquire, less);
        if before.map_err(|_| Status::INVALID_VALUE)? == count && count > 0 {
            self.destroy.call();
        }
        Ok(())
    }
}

/// An object that a graph holds.
pub struct Kept {
    /// The object.
    pub object: Arc<UserObject>,
    /// How often.
    pub count: u64,
}

impl Drop for Kept {
    fn drop(&mut self) {
        let _ = self.object.release(self.count);
    }
}

/// A graph that can be launched.
pub struct Instance {
    /// Its handle.
    pub handle: u64,
    /// The flags that the program gave.
    pub flags: u64,
    steps: Mutex<Vec<InstanceStep>>,
    /// Its last launch: a launch runs behind the ones before, in whatever stream.
    last: Mutex<Option<Ticket>>,
    _kept: Vec<Arc<Kept>>,
}

/// A node of an instance.
#[derive(Clone)]
pub struct InstanceStep {
    /// The graph's node.
    pub node: u64,
    /// The steps that it comes after, by their numbers, in order.
    pub after: Vec<usize>,
    /// What it does.
    pub work: Work,
    /// Whether it does nothing.
    pub is_disabled: bool,
}

fn steps(graph: &Graph) -> Answer<Vec<InstanceStep>> {
    let nodes = graph.nodes().clone();
    let order = order(&nodes)?;
    let numbers: HashMap<u64, usize> = order.iter().enumerate().map(|(number, handle)| (*handle, number)).collect();
    let step = |handle: u64| {
        let node = &nodes[&handle];
        let mut after: Vec<usize> = node.after.iter().map(|before| numbers[before]).collect();
        after.sort_unstable();
        let work = match &node.task {
            Task::Work(work) | Task::Allocate(_, work) => work.clone(),
            Task::Free(_) => Work::Nothing,
            Task::Child(child) => Instance::all(child)?,
        };
        Ok(InstanceStep { node: handle, after, work, is_disabled: node.is_disabled })
    };
    order.into_iter().map(step).collect()
}

impl Instance {
    /// Makes a graph ready to launch. Later changes of the graph are not seen.
    ///
    /// # Errors
    /// Nodes come after one another in a circle.
    pub fn new(graph: &Graph, flags: u64) -> Answer<Arc<Instance>> {
        let (handle, steps, kept) = (handles::next(), Mutex::new(steps(graph)?), graph.kept().clone());
        let instance = Arc::new(Instance { handle, flags, steps, last: Mutex::default(), _kept: kept });
        machine()?.handles.set(instance.handle, Arc::clone(&instance));
        Ok(instance)
    }

    /// All that a graph does, as one piece of work.
    ///
    /// # Errors
    /// Nodes come after one another in a circle.
    pub fn all(graph: &Graph) -> Answer<Work> {
        let all = steps(graph)?.into_iter().filter(|step| !step.is_disabled);
        Ok(Work::All(all.map(|step| step.work).collect()))
    }

    fn steps(&self) -> MutexGuard<'_, Vec<InstanceStep>> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what a node does.
    ///
    /// # Errors
    /// The node was not in the graph.
    pub fn change(&self, node: u64, change: impl FnOnce(&mut InstanceStep) -> Answer) -> Answer {
        let mut steps = self.steps();
        let step = steps.iter_mut().find(|step| step.node == node).ok_or(Status::INVALID_VALUE)?;
        change(step)
    }

    /// Takes everything from a graph with the same nodes, which come after one another in the same way.
    ///
    /// # Errors
    /// It has other nodes, or another order: [`Status::GRAPH_EXEC_UPDATE_FAILURE`].
    pub fn update(&self, graph: &Graph) -> Answer {
        let new = steps(graph)?;
        let mut old = self.steps();
        let same_kind = |(old, new): (&InstanceStep, &InstanceStep)| {
            std::mem::discriminant(&old.work) == std::mem::discriminant(&new.work) && old.after == new.after
        };
        if old.len() != new.len() || !old.iter().zip(&new).all(same_kind) {
            return Err(Status::GRAPH_EXEC_UPDATE_FAILURE);
        }
        for (old, new) in old.iter_mut().zip(new) {
            // Who changes the instance by node names a node of the first graph.
            old.work = new.work;
            old.is_disabled = new.is_disabled;
        }
        Ok(())
    }

    /// Gives it to a stream.
    ///
    /// # Errors
    /// The stream's capture is broken.
    pub fn launch(&self, stream: &Arc<Stream>) -> Answer {
        let all: Arc<[Work]> =
            self.steps().iter().filter(|step| !step.is_disabled).map(|step| step.work.clone()).collect();
        if stream.is_capturing() {
            // It becomes part of another graph, whose launch will look at its events.
            return stream.give(Work::All(all)).map(|_| ());
        }
        let mut events = Events::default();
        let all: Arc<[Work]> = all.iter().map(|work| events.found(work)).collect();
        for event in events.waits {
            event.let_wait(stream)?;
        }
        let ticket = {
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            let ticket = stream.give_after(last.iter().cloned().collect(), Work::All(all))?;
            *last = Some(ticket.clone());
            ticket
        };
        for (event, mark) in events.recorded {
            event.record_now(mark, Ticket::clone(&ticket));
        }
        Ok(())
    }
}

/// What a launch does at once: its events, those of graphs within the graph, too, and its memory.
#[derive(Default)]
struct Events {
    recorded: Vec<(Arc<Event>, Mark)>,
    waits: Vec<Arc<Event>>,
}

impl Events {
    /// Notes the events of a piece of work, and allocates its memory. What is left to do for a stream comes back.
    fn found(&mut self, work: &Work) -> Work {
        match work {
            Work::Record(event) => {
                let mark = Mark::default();
                self.recorded.push((Arc::clone(event), mark.clone()));
                Work::Pass(mark)
            }
            Work::Wait(event) => {
                self.waits.push(Arc::clone(event));
                Work::Nothing
            }
            Work::Keep(owned) => {
                owned.allocate_again();
                work.clone()
            }
            Work::All(all) => Work::All(all.iter().map(|work| self.found(work)).collect()),
            work => work.clone(),
        }
    }
}

/// Which calls break a capture: `CUstreamCaptureMode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Unsafe calls of any thread.
    Global,
    /// Those of the thread that captures.
    ThreadLocal,
    /// None.
    Relaxed,
}

/// A capture: streams that write a graph together.
pub struct Capture {
    /// A number that no other capture of the process has.
    pub id: u64,
    /// The graph.
    pub graph: Arc<Graph>,
    /// Which calls break it.
    pub mode: Mode,
    /// The thread that began it.
    pub thread: ThreadId,
    /// The handle of the stream that it began in.
    origin: u64,
    is_broken: AtomicBool,
    streams: Mutex<Vec<Weak<Stream>>>,
    /// The last nodes of streams that were destroyed meanwhile.
    left: Mutex<Vec<u64>>,
}

/// A stream's part of a capture.
pub struct Capturing {
    /// The capture.
    pub capture: Arc<Capture>,
    /// What the next node comes after.
    pub last: Vec<u64>,
}

/// A place in a capture, which an event holds.
#[derive(Clone)]
pub struct Joined {
    capture: Arc<Capture>,
    after: Vec<u64>,
}

/// The captures that run, but for relaxed ones: a call that may not be made then asks first.
static OPEN: Mutex<Vec<Arc<Capture>>> = Mutex::new(Vec::new());
/// How many there are, so that most calls need no lock.
static OPEN_COUNT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// What the thread has said about calls while captures run: `cuThreadExchangeStreamCaptureMode`.
    pub static THREAD_MODE: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

fn with_open<T>(use_it: impl FnOnce(&mut Vec<Arc<Capture>>) -> T) -> T {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let result = use_it(&mut open);
    OPEN_COUNT.store(open.len(), Ordering::Release);
    result
}

/// Whether a call that may wait for the device is allowed while captures run. One that is not breaks them.
///
/// # Errors
/// A capture runs that it would break.
pub fn may_wait() -> Answer {
    if OPEN_COUNT.load(Ordering::Acquire) == 0 {
        return Ok(());
    }
    let (mode, thread) = (THREAD_MODE.get(), std::thread::current().id());
    let is_broken = |capture: &&Arc<Capture>| match mode {
        0 => capture.mode == Mode::Global || capture.thread == thread,
        1 => capture.thread == thread,
        _ => false,
    };
    let broken = with_open(|open| {
        let broken = open.iter().filter(is_broken);
        broken.map(|capture| capture.is_broken.store(true, Ordering::Relaxed)).count()
    });
    if broken > 0 { Err(Status::STREAM_CAPTURE_UNSUPPORTED) } else { Ok(()) }
}

impl Capture {
    /// Begins to capture a stream, into a new graph or behind nodes of one.
    ///
    /// # Errors
    /// The stream is captured already.
    pub fn begin(stream: &Arc<Stream>, mode: Mode, into: Option<(Arc<Graph>, Vec<u64>)>) -> Answer {
        static IDS: AtomicU64 = AtomicU64::new(1);
        let (graph, last) = match into {
            Some(into) => into,
            None => (Graph::new()?, Vec::new()),
        };
        let capture = Arc::new(Capture {
            id: IDS.fetch_add(1, Ordering::Relaxed),
            graph,
            mode,
            thread: std::thread::current().id(),
            origin: stream.handle,
            is_broken: AtomicBool::new(false),
            streams: Mutex::new(vec![Arc::downgrade(stream)]),
            left: Mutex::default(),
        });
        stream.with_capture(|capturing| {
            if capturing.is_some() {
                return Err(Status::ILLEGAL_STATE);
            }
            *capturing = Some(Capturing { capture: Arc::clone(&capture), last });
            Ok(())
        })?;
        if mode != Mode::Relaxed {
            with_open(|open| open.push(capture));
        }
        Ok(())
    }

    /// It runs no more.
    fn close(&self) {
        with_open(|open| open.retain(|other| other.id != self.id));
    }

    /// Ends the capture that began in a stream.
    ///
    /// # Errors
    /// It did not begin there or in this thread, or was broken, or another stream has not come back to this one.
    pub fn end(stream: &Arc<Stream>) -> Answer<Arc<Graph>> {
        let found: Answer<(Arc<Capture>, Vec<u64>)> = stream.with_capture(|capturing| {
            let capturing = capturing.as_ref().ok_or(Status::ILLEGAL_STATE)?;
            Ok((Arc::clone(&capturing.capture), capturing.last.clone()))
        });
        let (capture, last) = found?;
        if capture.origin != stream.handle {
            capture.is_broken.store(true, Ordering::Relaxed);
            return Err(Status::STREAM_CAPTURE_UNMATCHED);
        }
        if capture.mode != Mode::Relaxed && capture.thread != std::thread::current().id() {
            return Err(Status::STREAM_CAPTURE_WRONG_THREAD);
        }
        capture.close();
        let streams = std::mem::take(&mut *capture.streams.lock().unwrap_or_else(PoisonError::into_inner));
        let mut ends = std::mem::take(&mut *capture.left.lock().unwrap_or_else(PoisonError::into_inner));
        for other in streams.iter().filter_map(Weak::upgrade) {
            let taken = other.with_capture(Option::take);
            if other.handle != stream.handle {
                ends.extend(taken.into_iter().flat_map(|capturing| capturing.last));
            }
        }
        if capture.is_broken.load(Ordering::Relaxed) {
            let _ = capture.graph.forget();
            return Err(Status::STREAM_CAPTURE_INVALIDATED);
        }
        // All that other streams did comes before the end of this one.
        let mut before: HashSet<u64> = HashSet::new();
        {
            let nodes = capture.graph.nodes();
            let mut next = last;
            while let Some(node) = next.pop() {
                if before.insert(node) {
                    next.extend(nodes.get(&node).into_iter().flat_map(|node| &node.after));
                }
            }
        }
        if ends.iter().any(|end| !before.contains(end)) {
            let _ = capture.graph.forget();
            return Err(Status::STREAM_CAPTURE_UNJOINED);
        }
        Ok(Arc::clone(&capture.graph))
    }

    /// Whether something that was not allowed has broken it.
    pub fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }
}

impl Capturing {
    /// Adds a node behind the stream's last one.
    ///
    /// # Errors
    /// The capture is broken.
    pub fn add(&mut self, work: Work) -> Answer {
        self.add_task(Task::Work(work)).map(|_| ())
    }

    /// As [`Capturing::add`], and returns the node.
    pub fn add_task(&mut self, task: Task) -> Answer<u64> {
        if self.capture.is_broken() {
            return Err(Status::STREAM_CAPTURE_INVALIDATED);
        }
        let node = self.capture.graph.add(task, &self.last)?;
        self.last = vec![node];
        Ok(node)
    }

    /// The stream of this handle is no more. If the capture began there, it is over; else what the stream did last must be joined before the
    /// end.
    pub fn abandon(&mut self, stream: u64) {
        if self.capture.origin == stream {
            self.invalidate();
            self.capture.close();
        } else {
            self.capture.left.lock().unwrap_or_else(PoisonError::into_inner).append(&mut self.last);
        }
    }

    /// Breaks the capture: it cannot be ended well any more.
    pub fn invalidate(&mut self) {
        self.capture.is_broken.store(true, Ordering::Relaxed);
    }

    /// Where the stream is, for an event.
    ///
    /// # Errors
    /// The capture is broken.
    pub fn joined(&self) -> Answer<Joined> {
        if self.capture.is_broken() {
            return Err(Status::STREAM_CAPTURE_INVALIDATED);
        }
        Ok(Joined { capture: Arc::clone(&self.capture), after: self.last.clone() })
    }
}

impl Joined {
    /// A stream waits for the event: it becomes part of the capture.
    ///
    /// # Errors
    /// It is part of another one.
    pub fn join(&self, stream: &Arc<Stream>, capturing: &mut Option<Capturing>) -> Answer {
        if self.capture.is_broken() {
            return Err(Status::STREAM_CAPTURE_INVALIDATED);
        }
        match capturing {
            Some(other) if !Arc::ptr_eq(&other.capture, &self.capture) => {
                other.invalidate();
                self.capture.is_broken.store(true, Ordering::Relaxed);
                Err(Status::STREAM_CAPTURE_MERGE)
            }
            Some(other) => {
                let new = self.after.iter().filter(|node| !other.last.contains(node)).copied().collect::<Vec<_>>();
                other.last.extend(new);
                Ok(())
            }
            None => {
                let mut streams = self.capture.streams.lock().unwrap_or_else(PoisonError::into_inner);
                if streams.is_empty() {
                    // It has ended.
                    return Err(Status::INVALID_VALUE);
                }
                streams.push(Arc::downgrade(stream));
                *capturing = Some(Capturing { capture: Arc::clone(&self.capture), last: self.after.clone() });
                Ok(())
            }
        }
    }
}
