//! Graphs.

#![allow(unsafe_code, reason = "callers pass pointers and functions")]

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use super::copy::Copy3D;
use super::launch::{COOPERATIVE, cooperative, fits_together, launch};
use super::module::function_of;
use super::stream::{event_of, stream_of};
use super::types::{DeviceNumber, DevicePointer, Handle, get, handle, list, number, put, put_if_asked, text};
use crate::abi::api;
use crate::machine::copy::{Fill, Side};
use crate::machine::event::Event;
use crate::machine::graph::{Graph, Instance, Kept, NodeOf, Task, UserObject};
use crate::machine::launch::{Launch, Shape};
use crate::machine::memory::{Allocation, Kind, Wanted};
use crate::machine::work::{HostFunction, Owned, Work};
use crate::machine::{Context, machine, report};
use crate::status::{Answer, Status};

/// `CUDA_KERNEL_NODE_PARAMS_v2`, of which the first version has the beginning.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KernelNode {
    first: KernelNodeOld,
    kernel: Handle,
    context: Handle,
}

/// `CUDA_KERNEL_NODE_PARAMS_v1`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KernelNodeOld {
    function: Handle,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    parameters: *const *const c_void,
    extra: *const *const c_void,
}

/// `CUDA_MEMSET_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FillNode {
    to: DevicePointer,
    pitch: usize,
    value: u32,
    element: u32,
    width: usize,
    height: usize,
}

/// `CUDA_HOST_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct HostNode {
    function: Option<unsafe extern "C" fn(*mut c_void)>,
    data: *mut c_void,
}

/// `CUDA_MEM_ALLOC_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct AllocateNode {
    pool: super::memory::PoolProperties,
    access: *const c_void,
    access_count: usize,
    len: usize,
    pointer: DevicePointer,
}

/// `CUDA_GRAPH_INSTANTIATE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct InstantiateParameters {
    flags: u64,
    stream: Handle,
    error_node: Handle,
    result: i32,
}

/// `CUgraphNodeParams`: what it is, and what each kind has.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct NodeParameters {
    kind: i32,
    reserved: [i32; 3],
    value: [u64; 29],
    reserved_end: u64,
}

/// `CUgraphExecUpdateResultInfo`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct UpdateResult {
    result: i32,
    node: Handle,
    from: Handle,
}

fn graph_of(graph: Handle) -> Answer<Arc<Graph>> {
    machine()?.handles.get(number(graph)).ok_or(Status::INVALID_VALUE)
}

fn instance_of(instance: Handle) -> Answer<Arc<Instance>> {
    machine()?.handles.get(number(instance)).ok_or(Status::INVALID_VALUE)
}

/// The graph of a node.
fn owner_of(node: Handle) -> Answer<Arc<Graph>> {
    let node: Arc<NodeOf> = machine()?.handles.get(number(node)).ok_or(Status::INVALID_VALUE)?;
    node.graph.upgrade().ok_or(Status::INVALID_VALUE)
}

/// What a node does.
fn task_of(node: Handle) -> Answer<Task> {
    let graph = owner_of(node)?;
    let nodes = graph.nodes();
    nodes.get(&number(node)).map(|node| node.task.clone()).ok_or(Status::INVALID_VALUE)
}

/// Changes what a node does, to something of the same kind.
fn set_task(node: Handle, task: Task) -> Answer {
    let graph = owner_of(node)?;
    let mut nodes = graph.nodes();
    let found = nodes.get_mut(&number(node)).ok_or(Status::INVALID_VALUE)?;
    if kind_of(&found.task) != kind_of(&task) {
        return Err(Status::INVALID_VALUE);
    }
    found.task = task;
    Ok(())
}

/// Changes what a node of an instance does, to something of the same kind.
fn set_step(instance: Handle, node: Handle, work: Work) -> Answer {
    instance_of(instance)?.change(number(node), |step| {
        let kind = |work: &Work| kind_of(&Task::Work(work.clone()));
        if kind(&step.work) != kind(&work) {
            return Err(Status::INVALID_VALUE);
        }
        step.work = work;
        Ok(())
    })
}

/// `CUgraphNodeType`.
fn kind_of(task: &Task) -> i32 {
    match task {
        Task::Child(_) => 4,
        Task::Allocate(..) => 10,
        Task::Free(_) => 11,
        Task::Work(work) => match work {
            Work::Launch(_) => 0,
            Work::Copy(_) | Work::CopyFor(..) | Work::Put(..) => 1,
            Work::Fill(_) => 2,
            Work::Host(_) | Work::Callback(_) => 3,
            Work::All(_) => 4,
            Work::Nothing | Work::Pass(_) | Work::Release(_) | Work::Keep(_) => 5,
            Work::Wait(_) => 6,
            Work::Record(_) => 7,
            Work::WriteValue(..) | Work::WaitValue(..) => 12,
        },
    }
}

/// # Safety
/// A place for a handle, or null; so many handles, or null.
unsafe fn add(node: *mut Handle, graph: Handle, after: *const Handle, count: usize, task: Task) -> Answer {
    let graph = graph_of(graph)?;
    if node.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: as the caller says.
    unsafe {
        let after: Vec<u64> = list(after, count)?.into_iter().map(number).collect();
        put(node, handle(graph.add(task, &after)?))
    }
}

/// Adds a node of the kind that its parameters tell.
///
/// # Safety
/// As for [`add`]; a place for parameters, or null.
unsafe fn add_any(
    node: *mut Handle,
    graph: Handle,
    after: *const Handle,
    count: usize,
    parameters: *mut NodeParameters,
) -> Answer {
    // SAFETY: as the caller says.
    unsafe {
        let mut found = get(parameters)?;
        let task = task(&mut found)?;
        add(node, graph, after, count, task)?;
        put(parameters, found)
    }
}

/// # Safety
/// The arguments that the structure leads to.
unsafe fn kernel_work(node: &KernelNodeOld, kernel: Handle) -> Answer<Work> {
    let function = function_of(if node.function.is_null() { kernel } else { node.function })?;
    let shape = Shape { grid: node.grid, block: node.block, shared: node.shared, is_cooperative: false };
    // SAFETY: as the caller says.
    Ok(Work::Launch(Arc::new(unsafe { launch(&function, shape, node.parameters, node.extra) }?)))
}

fn kernel_node(task: &Task) -> Answer<KernelNodeOld> {
    let Task::Work(Work::Launch(launch)) = task else { return Err(Status::INVALID_VALUE) };
    Ok(KernelNodeOld {
        function: handle(launch.function.handle),
        grid: launch.shape.grid,
        block: launch.shape.block,
        shared: launch.shape.shared,
        parameters: launch.pointers().as_ptr().cast(),
        extra: std::ptr::null(),
    })
}

fn copy_work(copy: &Copy3D) -> Answer<Work> {
    let copy = copy.copy()?;
    copy.check()?;
    Ok(Work::Copy(copy))
}

fn fill_work(node: &FillNode) -> Answer<Work> {
    let height = node.height.max(1) as u64;
    let to = Side { address: node.to, pitch: node.pitch as u64, slice: 0 };
    if !matches!(node.element, 1 | 2 | 4) || node.width == 0 {
        return Err(Status::INVALID_VALUE);
    }
    let bytes = u64::from(node.element);
    let fill = Fill { to, value: node.value, bytes, width: node.width as u64, height, depth: 1 };
    fill.check(machine()?)?;
    Ok(Work::Fill(fill))
}

fn host_work(node: &HostNode) -> Answer<Work> {
    let function = node.function.ok_or(Status::INVALID_VALUE)?;
    Ok(Work::Host(HostFunction { function, data: node.data.expose_provenance() }))
}

/// Allocates what a node allocates; the pointer is the same in each launch.
fn allocation(node: &AllocateNode) -> Answer<(DevicePointer, Task)> {
    let machine = machine()?;
    let device = machine.device(node.pool.device()?)?;
    if node.len == 0 {
        return Err(Status::INVALID_VALUE);
    }
    let context = Context::current()?.handle;
    let by = "cuGraphAddMemAllocNode";
    let wanted = Wanted { kind: Kind::Pool, len: node.len as u64, context, flags: 0, pool: 0, by };
    let made = machine.allocate(device, wanted)?;
    let start = made.start;
    Ok((start, Task::Allocate(start, Work::Keep(Arc::new(Owned::new(&made))))))
}

/// The structure that a kind of node has in `CUgraphNodeParams`.
///
/// # Safety
/// It is of this kind.
unsafe fn inner<T: Copy>(parameters: &NodeParameters) -> T {
    const { assert!(size_of::<T>() <= 232) };
    // SAFETY: the union is large enough, and all bits are values of these structures, but for functions: null is none.
    unsafe { (&raw const parameters.value).cast::<T>().read_unaligned() }
}

/// What a node of any kind does.
///
/// # Safety
/// The structure is of the kind that it says.
unsafe fn task(parameters: &mut NodeParameters) -> Answer<Task> {
    // SAFETY: as the caller says.
    unsafe {
        Ok(match parameters.kind {
            0 => {
                let node: KernelNode = inner(parameters);
                Task::Work(kernel_work(&node.first, node.kernel)?)
            }
            1 => {
                // Flags and a context stand before the copy.
                let node: CopyNode = inner(parameters);
                Task::Work(copy_work(&node.copy)?)
            }
            2 => Task::Work(fill_work(&inner(parameters))?),
            3 => Task::Work(host_work(&inner(parameters))?),
            4 => Task::Child(graph_of(inner(parameters))?.copied()?.0),
            5 => Task::Work(Work::Nothing),
            6 => Task::Work(Work::Wait(event_of(inner(parameters))?)),
            7 => Task::Work(Work::Record(event_of(inner(parameters))?)),
            10 => {
                let mut node: AllocateNode = inner(parameters);
                let (pointer, task) = allocation(&node)?;
                node.pointer = pointer;
                (&raw mut parameters.value).cast::<AllocateNode>().write_unaligned(node);
                task
            }
            11 => Task::Free(inner(parameters)),
            kind => return Err(report::not_supported(&format!("nodes of graphs of the type {kind}"))),
        })
    }
}

/// `CUDA_MEMCPY_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy)]
struct CopyNode {
    _before: [u64; 2],
    copy: Copy3D,
}

/// Writes handles where the caller asks for them: how many there are, if there is no place for them; otherwise as many as there is room
/// for, and zeros behind them.
///
/// # Safety
/// A place for a number; a place for so many handles, or null.
unsafe fn put_all(to: *mut Handle, count: *mut usize, all: &[u64]) -> Answer {
    // SAFETY: as the caller says.
    unsafe {
        let room = get(count)?;
        if to.is_null() {
            return put(count, all.len());
        }
        for i in 0..room {
            to.add(i).write_unaligned(handle(all.get(i).copied().unwrap_or(0)));
        }
        put(count, all.len().min(room))
    }
}

/// All edges: from the node before to the node after.
fn edges(graph: &Graph) -> Vec<(u64, u64)> {
    let nodes = graph.nodes();
    nodes.iter().flat_map(|(handle, node)| node.after.iter().map(|before| (*before, *handle))).collect()
}

unsafe fn put_edges(graph: Handle, from: *mut Handle, to: *mut Handle, data: *mut u64, count: *mut usize) -> Answer {
    let edges = edges(&*graph_of(graph)?);
    let (before, after): (Vec<u64>, Vec<u64>) = edges.into_iter().unzip();
    // SAFETY: a place for a number; places for so many handles, or null.
    unsafe {
        let room = get(count)?;
        if from.is_null() != to.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        put_all(from, count, &before)?;
        if !to.is_null() {
            put(count, room)?;
            put_all(to, count, &after)?;
            clear(data, before.len().min(room));
        }
    }
    Ok(())
}

/// No edge has data.
///
/// # Safety
/// A place for so many structures of 8 bytes, or null.
unsafe fn clear(data: *mut u64, count: usize) {
    if !data.is_null() {
        // SAFETY: as the caller says.
        unsafe { std::ptr::write_bytes(data, 0, count) };
    }
}

/// # Safety
/// So many structures of 8 bytes, or null.
unsafe fn refuse_data(data: *const u64, count: usize) -> Answer {
    if data.is_null() {
        return Ok(());
    }
    // SAFETY: as the caller says.
    match unsafe { list(data, count) }?.iter().all(|edge| *edge == 0) {
        true => Ok(()),
        false => Err(report::not_supported("edges of graphs with data (programmatic launches)")),
    }
}

/// # Safety
/// So many handles each, or null.
unsafe fn change_edges(graph: Handle, from: *const Handle, to: *const Handle, count: usize, is_new: bool) -> Answer {
    let graph = graph_of(graph)?;
    // SAFETY: as the caller says.
    let (from, to) = unsafe { (list(from, count)?, list(to, count)?) };
    let mut nodes = graph.nodes();
    for (from, to) in from.into_iter().map(number).zip(to.into_iter().map(number)) {
        if !nodes.contains_key(&from) || from == to {
            return Err(Status::INVALID_VALUE);
        }
        let after = &mut nodes.get_mut(&to).ok_or(Status::INVALID_VALUE)?.after;
        let at = after.iter().position(|before| *before == from);
        match (at, is_new) {
            (None, true) => after.push(from),
            (Some(at), false) => _ = after.remove(at),
            _ => return Err(Status::INVALID_VALUE),
        }
    }
    Ok(())
}

fn before(node: Handle) -> Answer<Vec<u64>> {
    let graph = owner_of(node)?;
    let nodes = graph.nodes();
    nodes.get(&number(node)).map(|node| node.after.clone()).ok_or(Status::INVALID_VALUE)
}

fn behind(node: Handle) -> Answer<Vec<u64>> {
    let graph = owner_of(node)?;
    Ok(edges(&graph).into_iter().filter(|(from, _)| *from == number(node)).map(|(_, to)| to).collect())
}

/// # Safety
/// A place for a handle, or null.
unsafe fn instantiate(instance: *mut Handle, graph: Handle, flags: u64) -> Answer {
    let graph = graph_of(graph)?;
    // Freeing on launch, an upload, a launch from the device, priorities of nodes.
    if flags & !0xf != 0 || instance.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    if flags & 4 != 0 {
        return Err(report::not_supported("graphs that kernels launch"));
    }
    let made = Instance::new(&graph, flags)?;
    // SAFETY: a place for a handle.
    unsafe { put(instance, handle(made.handle)) }
}

fn update(instance: Handle, graph: Handle) -> (i32, Answer) {
    let updated = instance_of(instance).and_then(|instance| instance.update(&*graph_of(graph)?));
    (if updated.is_ok() { 0 } else { TOPOLOGY_CHANGED }, updated)
}

/// `CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED`.
const TOPOLOGY_CHANGED: i32 = 2;

/// A number that is told to tools.
fn short(handle: u64) -> u32 {
    (handle >> 4) as u32
}

api! {
    /// Makes a graph.
    fn cuGraphCreate(graph: *mut Handle, flags: u32) {
        machine()?;
        if flags != 0 || graph.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: a place for a handle.
        unsafe { put(graph, handle(Graph::new()?.handle)) }
    }

    /// Destroys a graph.
    fn cuGraphDestroy(graph: Handle) {
        graph_of(graph)?.forget()
    }

    /// Adds the launch of a kernel.
    fn cuGraphAddKernelNode_v2(
        node: *mut Handle, graph: Handle, after: *const Handle, count: usize, parameters: *const KernelNode
    ) {
        // SAFETY: the caller's arguments.
        unsafe {
            let parameters = get(parameters)?;
            add(node, graph, after, count, Task::Work(kernel_work(&parameters.first, parameters.kernel)?))
        }
    }

    /// Adds the launch of a kernel.
    fn cuGraphAddKernelNode(
        node: *mut Handle, graph: Handle, after: *const Handle, count: usize, parameters: *const KernelNodeOld
    ) {
        // SAFETY: the caller's arguments.
        unsafe {
            let work = kernel_work(&get(parameters)?, std::ptr::null_mut())?;
            add(node, graph, after, count, Task::Work(work))
        }
    }

    /// What a node launches. The arguments stay until the node is changed.
    fn cuGraphKernelNodeGetParams_v2(node: Handle, parameters: *mut KernelNode) {
        let first = kernel_node(&task_of(node)?)?;
        let (kernel, context) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: a place for the structure, or null.
        unsafe { put(parameters, KernelNode { first, kernel, context }) }
    }

    /// What a node launches. The arguments stay until the node is changed.
    fn cuGraphKernelNodeGetParams(node: Handle, parameters: *mut KernelNodeOld) {
        let found = kernel_node(&task_of(node)?)?;
        // SAFETY: a place for the structure, or null.
        unsafe { put(parameters, found) }
    }

    /// Changes what a node launches.
    fn cuGraphKernelNodeSetParams_v2(node: Handle, parameters: *const KernelNode) {
        // SAFETY: the caller's arguments.
        unsafe {
            let parameters = get(parameters)?;
            set_task(node, Task::Work(kernel_work(&parameters.first, parameters.kernel)?))
        }
    }

    /// Changes what a node launches.
    fn cuGraphKernelNodeSetParams(node: Handle, parameters: *const KernelNodeOld) {
        // SAFETY: the caller's arguments.
        unsafe { set_task(node, Task::Work(kernel_work(&get(parameters)?, std::ptr::null_mut())?)) }
    }

    /// Changes what a node of an instance launches.
    fn cuGraphExecKernelNodeSetParams_v2(instance: Handle, node: Handle, parameters: *const KernelNode) {
        // SAFETY: the caller's arguments.
        unsafe {
            let parameters = get(parameters)?;
            set_step(instance, node, kernel_work(&parameters.first, parameters.kernel)?)
        }
    }

    /// Changes what a node of an instance launches.
    fn cuGraphExecKernelNodeSetParams(instance: Handle, node: Handle, parameters: *const KernelNodeOld) {
        // SAFETY: the caller's arguments.
        unsafe { set_step(instance, node, kernel_work(&get(parameters)?, std::ptr::null_mut())?) }
    }

    /// Attributes of kernel nodes have no effect; they are kept nowhere.
    fn cuGraphKernelNodeCopyAttributes(to: Handle, from: Handle) {
        kernel_node(&task_of(to)?)?;
        kernel_node(&task_of(from)?)?;
        Ok(())
    }

    /// An attribute of a kernel node: whether its blocks may wait for one another. Others are as if they had not been set.
    fn cuGraphKernelNodeGetAttribute(node: Handle, attribute: u32, value: *mut [u32; 16]) {
        let Task::Work(Work::Launch(launch)) = task_of(node)? else { return Err(Status::INVALID_VALUE) };
        cooperative(attribute, &[1; 16])?;
        let mut found = [0; 16];
        found[0] = u32::from(attribute == COOPERATIVE && launch.shape.is_cooperative);
        // SAFETY: a place for the union, or null.
        unsafe { put(value, found) }
    }

    /// Sets an attribute of a kernel node. Those that only make a launch faster have no effect.
    fn cuGraphKernelNodeSetAttribute(node: Handle, attribute: u32, value: *const [u32; 16]) {
        let Task::Work(Work::Launch(launch)) = task_of(node)? else { return Err(Status::INVALID_VALUE) };
        // SAFETY: the union, or null.
        let Some(is_cooperative) = cooperative(attribute, &unsafe { get(value) }?)? else { return Ok(()) };
        let shape = Shape { is_cooperative, ..launch.shape };
        if is_cooperative {
            fits_together(launch.function.context, &launch.function, shape)?;
        }
        let copy = Launch::new(&launch.function, shape, |number, _, _| Ok(launch.arguments[number].clone()))?;
        set_task(node, Task::Work(Work::Launch(Arc::new(copy))))
    }

    /// Adds a copy.
    fn cuGraphAddMemcpyNode(
        node: *mut Handle, graph: Handle, after: *const Handle, count: usize, copy: *const Copy3D, context: Handle
    ) {
        Context::of(number(context))?;
        // SAFETY: the caller's arguments.
        unsafe { add(node, graph, after, count, Task::Work(copy_work(&get(copy)?)?)) }
    }

    /// What a node copies: between addresses, whatever they were.
    fn cuGraphMemcpyNodeGetParams(node: Handle, copy: *mut Copy3D) {
        let Task::Work(Work::Copy(found)) = task_of(node)? else { return Err(Status::INVALID_VALUE) };
        // SAFETY: a place for the structure, or null.
        unsafe { put(copy, Copy3D::of(&found)) }
    }

    /// Changes what a node copies.
    fn cuGraphMemcpyNodeSetParams(node: Handle, copy: *const Copy3D) {
        // SAFETY: the structure, or null.
        set_task(node, Task::Work(copy_work(&unsafe { get(copy) }?)?))
    }

    /// Changes what a node of an instance copies.
    fn cuGraphExecMemcpyNodeSetParams(instance: Handle, node: Handle, copy: *const Copy3D, context: Handle) {
        Context::of(number(context))?;
        // SAFETY: the structure, or null.
        set_step(instance, node, copy_work(&unsafe { get(copy) }?)?)
    }

    /// Adds a fill.
    fn cuGraphAddMemsetNode(
        node: *mut Handle, graph: Handle, after: *const Handle, count: usize, fill: *const FillNode, context: Handle
    ) {
        Context::of(number(context))?;
        // SAFETY: the caller's arguments.
        unsafe { add(node, graph, after, count, Task::Work(fill_work(&get(fill)?)?)) }
    }

    /// What a node fills.
    fn cuGraphMemsetNodeGetParams(node: Handle, fill: *mut FillNode) {
        let Task::Work(Work::Fill(found)) = task_of(node)? else { return Err(Status::INVALID_VALUE) };
        let made = FillNode {
            to: found.to.address,
            pitch: found.to.pitch as usize,
            value: found.value,
            element: found.bytes as u32,
            width: found.width as usize,
            height: found.height as usize,
        };
        // SAFETY: a place for the structure, or null.
        unsafe { put(fill, made) }
    }

    /// Changes what a node fills.
    fn cuGraphMemsetNodeSetParams(node: Handle, fill: *const FillNode) {
        // SAFETY: the structure, or null.
        set_task(node, Task::Work(fill_work(&unsafe { get(fill) }?)?))
    }

    /// Changes what a node of an instance fills.
    fn cuGraphExecMemsetNodeSetParams(instance: Handle, node: Handle, fill: *const FillNode, context: Handle) {
        Context::of(number(context))?;
        // SAFETY: the structure, or null.
        set_step(instance, node, fill_work(&unsafe { get(fill) }?)?)
    }

    /// Adds a call of a function of the program.
    fn cuGraphAddHostNode(
        node: *mut Handle, graph: Handle, after: *const Handle, count: usize, parameters: *const HostNode
    ) {
        // SAFETY: the caller's arguments.
        unsafe { add(node, graph, after, count, Task::Work(host_work(&get(parameters)?)?)) }
    }

    /// What a node calls.
    fn cuGraphHostNodeGetParams(node: Handle, parameters: *mut HostNode) {
        let Task::Work(Work::Host(found)) = task_of(node)? else { return Err(Status::INVALID_VALUE) };
        let data = std::ptr::with_exposed_provenance_mut(found.data);
        // SAFETY: a place for the structure, or null.
        unsafe { put(parameters, HostNode { function: Some(found.function), data }) }
    }

    /// Changes what a node calls.
    fn cuGraphHostNodeSetParams(node: Handle, parameters: *const HostNode) {
        // SAFETY: the structure, or null.
        set_task(node, Task::Work(host_work(&unsafe { get(parameters) }?)?))
    }

    /// Changes what a node of an instance calls.
    fn cuGraphExecHostNodeSetParams(instance: Handle, node: Handle, parameters: *const HostNode) {
        // SAFETY: the structure, or null.
        set_step(instance, node, host_work(&unsafe { get(parameters) }?)?)
    }

    /// Adds a copy of another graph.
    fn cuGraphAddChildGraphNode(node: *mut Handle, graph: Handle, after: *const Handle, count: usize, child: Handle) {
        let child = graph_of(child)?.copied()?.0;
        // SAFETY: the caller's arguments.
        unsafe { add(node, graph, after, count, Task::Child(child)) }
    }

    /// The graph that is a node of another one.
    fn cuGraphChildGraphNodeGetGraph(node: Handle, graph: *mut Handle) {
        let Task::Child(child) = task_of(node)? else { return Err(Status::INVALID_VALUE) };
        // SAFETY: a place for a handle, or null.
        unsafe { put(graph, handle(child.handle)) }
    }

    /// Changes what a graph in an instance does.
    fn cuGraphExecChildGraphNodeSetParams(instance: Handle, node: Handle, child: Handle) {
        let work = Instance::all(&*graph_of(child)?)?;
        set_step(instance, node, work)
    }

    /// Adds a node that does nothing.
    fn cuGraphAddEmptyNode(node: *mut Handle, graph: Handle, after: *const Handle, count: usize) {
        // SAFETY: the caller's arguments.
        unsafe { add(node, graph, after, count, Task::Work(Work::Nothing)) }
    }

    /// Adds the record of an event.
    fn cuGraphAddEventRecordNode(node: *mut Handle, graph: Handle, after: *const Handle, count: usize, event: Handle) {
        // SAFETY: the caller's arguments.
        unsafe { add(node, graph, after, count, Task::Work(Work::Record(event_of(event)?))) }
    }

    /// Adds the wait for an event.
    fn cuGraphAddEventWaitNode(node: *mut Handle, graph: Handle, after: *const Handle, count: usize, event: Handle) {
        // SAFETY: the caller's arguments.
        unsafe { add(node, graph, after, count, Task::Work(Work::Wait(event_of(event)?))) }
    }

    /// The event that a node records.
    fn cuGraphEventRecordNodeGetEvent(node: Handle, event: *mut Handle) {
        let Task::Work(Work::Record(found)) = task_of(node)? else { return Err(Status::INVALID_VALUE) };
        put_event(event, &found)
    }

    /// The event that a node waits for.
    fn cuGraphEventWaitNodeGetEvent(node: Handle, event: *mut Handle) {
        let Task::Work(Work::Wait(found)) = task_of(node)? else { return Err(Status::INVALID_VALUE) };
        put_event(event, &found)
    }

    /// Changes the event that a node records.
    fn cuGraphEventRecordNodeSetEvent(node: Handle, event: Handle) {
        set_task(node, Task::Work(Work::Record(event_of(event)?)))
    }

    /// Changes the event that a node waits for.
    fn cuGraphEventWaitNodeSetEvent(node: Handle, event: Handle) {
        set_task(node, Task::Work(Work::Wait(event_of(event)?)))
    }

    /// Changes the event that a node of an instance records.
    fn cuGraphExecEventRecordNodeSetEvent(instance: Handle, node: Handle, event: Handle) {
        set_step(instance, node, Work::Record(event_of(event)?))
    }

    /// Changes the event that a node of an instance waits for.
    fn cuGraphExecEventWaitNodeSetEvent(instance: Handle, node: Handle, event: Handle) {
        set_step(instance, node, Work::Wait(event_of(event)?))
    }

    /// Adds memory that is there from this node on.
    fn cuGraphAddMemAllocNode(
        node: *mut Handle, graph: Handle, after: *const Handle, count: usize, parameters: *mut AllocateNode
    ) {
        // SAFETY: the caller's arguments.
        unsafe {
            let mut found = get(parameters)?;
            let (pointer, task) = allocation(&found)?;
            found.pointer = pointer;
            add(node, graph, after, count, task)?;
            put(parameters, found)
        }
    }

    /// Adds the end of memory that a node has allocated. It stays as long as the graph, for the next launch.
    fn cuGraphAddMemFreeNode(
        node: *mut Handle, graph: Handle, after: *const Handle, count: usize, pointer: DevicePointer
    ) {
        machine()?.space.find(pointer).ok_or(Status::INVALID_VALUE)?;
        // SAFETY: the caller's arguments.
        unsafe { add(node, graph, after, count, Task::Free(pointer)) }
    }

    /// The memory that a node allocates.
    fn cuGraphMemAllocNodeGetParams(node: Handle, parameters: *mut AllocateNode) {
        let Task::Allocate(pointer, _) = task_of(node)? else { return Err(Status::INVALID_VALUE) };
        let found = machine()?.space.find(pointer).ok_or(Status::INVALID_VALUE)?;
        let pool = super::memory::PoolProperties::of(found.device as i32);
        let (access, access_count) = (std::ptr::null(), 0);
        // SAFETY: a place for the structure, or null.
        unsafe { put(parameters, AllocateNode { pool, access, access_count, len: found.len as usize, pointer }) }
    }

    /// Bytes of memory that graphs have allocated, now and at most.
    fn cuDeviceGetGraphMemAttribute(device: DeviceNumber, attribute: u32, value: *mut c_void) {
        let machine = machine()?;
        let device = machine.device(device)?.ordinal;
        if attribute > 3 {
            return Err(Status::INVALID_VALUE);
        }
        let is_graphs = |found: &Allocation| found.kind == Kind::Pool && found.pool == 0 && found.device == device;
        let sum: u64 = machine.space.filtered(is_graphs).iter().map(|found| found.len).sum();
        // SAFETY: a place for a number, or null.
        unsafe { put(value.cast::<u64>(), sum) }
    }

    /// Lets the count of most bytes start again, which is that of now.
    fn cuDeviceSetGraphMemAttribute(device: DeviceNumber, attribute: u32, value: *mut c_void) {
        machine()?.device(device)?;
        // SAFETY: a number, or null.
        let value = unsafe { get(value.cast_const().cast::<u64>()) }?;
        if matches!(attribute, 1 | 3) && value == 0 { Ok(()) } else { Err(Status::INVALID_VALUE) }
    }

    /// The memory that a node frees.
    fn cuGraphMemFreeNodeGetParams(node: Handle, pointer: *mut DevicePointer) {
        let Task::Free(found) = task_of(node)? else { return Err(Status::INVALID_VALUE) };
        // SAFETY: a place for a pointer, or null.
        unsafe { put(pointer, found) }
    }

    /// Memory of graphs is given back with them.
    fn cuDeviceGraphMemTrim(device: DeviceNumber) {
        machine()?.device(device)?;
        Ok(())
    }

    /// Adds a node of any kind.
    fn cuGraphAddNode_v2(
        node: *mut Handle, graph: Handle, after: *const Handle, data: *const u64, count: usize,
        parameters: *mut NodeParameters
    ) {
        // SAFETY: the caller's arguments.
        unsafe {
            refuse_data(data, count)?;
            add_any(node, graph, after, count, parameters)
        }
    }

    /// Adds a node of any kind.
    fn cuGraphAddNode_v3(
        node: *mut Handle, graph: Handle, after: *const Handle, data: *const u64, count: usize,
        parameters: *mut NodeParameters
    ) {
        // SAFETY: the caller's arguments.
        unsafe {
            refuse_data(data, count)?;
            add_any(node, graph, after, count, parameters)
        }
    }

    /// Adds a node of any kind.
    fn cuGraphAddNode(
        node: *mut Handle, graph: Handle, after: *const Handle, count: usize, parameters: *mut NodeParameters
    ) {
        // SAFETY: the caller's arguments.
        unsafe {
            add_any(node, graph, after, count, parameters)
        }
    }

    /// Changes what a node does.
    fn cuGraphNodeSetParams(node: Handle, parameters: *mut NodeParameters) {
        // SAFETY: the caller's arguments.
        unsafe { set_task(node, task(&mut get(parameters)?)?) }
    }

    /// Changes what a node does.
    fn cuGraphNodeSetParams_v2(node: Handle, parameters: *mut NodeParameters) {
        // SAFETY: the caller's arguments.
        unsafe { set_task(node, task(&mut get(parameters)?)?) }
    }

    /// Changes what a node of an instance does.
    fn cuGraphExecNodeSetParams(instance: Handle, node: Handle, parameters: *mut NodeParameters) {
        // SAFETY: the caller's arguments.
        let work = match unsafe { task(&mut get(parameters)?) }? {
            Task::Work(work) => work,
            Task::Child(child) => Instance::all(&child)?,
            _ => return Err(Status::INVALID_VALUE),
        };
        set_step(instance, node, work)
    }

    /// A copy of a graph.
    fn cuGraphClone(clone: *mut Handle, graph: Handle) {
        let graph = graph_of(graph)?;
        if clone.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: a place for a handle.
        unsafe { put(clone, handle(graph.copied()?.0.handle)) }
    }

    /// The node of a copy that a node of the original has become.
    fn cuGraphNodeFindInClone(node: *mut Handle, original: Handle, clone: Handle) {
        let found = graph_of(clone)?.copy_of(number(original)).ok_or(Status::INVALID_VALUE)?;
        // SAFETY: a place for a handle, or null.
        unsafe { put(node, handle(found)) }
    }

    /// The kind of a node.
    fn cuGraphNodeGetType(node: Handle, kind: *mut i32) {
        let is = kind_of(&task_of(node)?);
        // SAFETY: a place for a number, or null.
        unsafe { put(kind, is) }
    }

    /// The graph of a node.
    fn cuGraphNodeGetContainingGraph(node: Handle, graph: *mut Handle) {
        let found = owner_of(node)?.handle;
        // SAFETY: a place for a handle, or null.
        unsafe { put(graph, handle(found)) }
    }

    /// A number that no other node of the graph has.
    fn cuGraphNodeGetLocalId(node: Handle, id: *mut u32) {
        owner_of(node)?;
        // SAFETY: a place for a number, or null.
        unsafe { put(id, short(number(node))) }
    }

    /// A number that no other node has.
    fn cuGraphNodeGetToolsId(node: Handle, id: *mut u64) {
        owner_of(node)?;
        // SAFETY: a place for a number, or null.
        unsafe { put(id, number(node)) }
    }

    /// A number that no other graph has.
    fn cuGraphGetId(graph: Handle, id: *mut u32) {
        let found = graph_of(graph)?.handle;
        // SAFETY: a place for a number, or null.
        unsafe { put(id, short(found)) }
    }

    /// A number that no other instance has.
    fn cuGraphExecGetId(instance: Handle, id: *mut u32) {
        let found = instance_of(instance)?.handle;
        // SAFETY: a place for a number, or null.
        unsafe { put(id, short(found)) }
    }

    /// All nodes.
    fn cuGraphGetNodes(graph: Handle, nodes: *mut Handle, count: *mut usize) {
        let all: Vec<u64> = graph_of(graph)?.nodes().keys().copied().collect();
        // SAFETY: the caller's arguments.
        unsafe { put_all(nodes, count, &all) }
    }

    /// The nodes that come after none.
    fn cuGraphGetRootNodes(graph: Handle, nodes: *mut Handle, count: *mut usize) {
        let graph = graph_of(graph)?;
        let all: Vec<u64> =
            graph.nodes().iter().filter(|(_, node)| node.after.is_empty()).map(|(handle, _)| *handle).collect();
        // SAFETY: the caller's arguments.
        unsafe { put_all(nodes, count, &all) }
    }

    /// Which nodes come after which.
    fn cuGraphGetEdges(graph: Handle, from: *mut Handle, to: *mut Handle, count: *mut usize) {
        // SAFETY: the caller's arguments.
        unsafe { put_edges(graph, from, to, std::ptr::null_mut(), count) }
    }

    /// Which nodes come after which.
    fn cuGraphGetEdges_v2(graph: Handle, from: *mut Handle, to: *mut Handle, data: *mut u64, count: *mut usize) {
        // SAFETY: the caller's arguments.
        unsafe { put_edges(graph, from, to, data, count) }
    }

    /// The nodes before a node.
    fn cuGraphNodeGetDependencies(node: Handle, nodes: *mut Handle, count: *mut usize) {
        // SAFETY: the caller's arguments.
        unsafe { put_all(nodes, count, &before(node)?) }
    }

    /// The nodes before a node.
    fn cuGraphNodeGetDependencies_v2(node: Handle, nodes: *mut Handle, data: *mut u64, count: *mut usize) {
        // SAFETY: the caller's arguments.
        unsafe {
            put_all(nodes, count, &before(node)?)?;
            clear(data, get(count)?);
        }
        Ok(())
    }

    /// The nodes after a node.
    fn cuGraphNodeGetDependentNodes(node: Handle, nodes: *mut Handle, count: *mut usize) {
        // SAFETY: the caller's arguments.
        unsafe { put_all(nodes, count, &behind(node)?) }
    }

    /// The nodes after a node.
    fn cuGraphNodeGetDependentNodes_v2(node: Handle, nodes: *mut Handle, data: *mut u64, count: *mut usize) {
        // SAFETY: the caller's arguments.
        unsafe {
            put_all(nodes, count, &behind(node)?)?;
            clear(data, get(count)?);
        }
        Ok(())
    }

    /// Lets nodes come after others.
    fn cuGraphAddDependencies(graph: Handle, from: *const Handle, to: *const Handle, count: usize) {
        // SAFETY: the caller's arguments.
        unsafe { change_edges(graph, from, to, count, true) }
    }

    /// Lets nodes come after others.
    fn cuGraphAddDependencies_v2(
        graph: Handle, from: *const Handle, to: *const Handle, data: *const u64, count: usize
    ) {
        // SAFETY: the caller's arguments.
        unsafe {
            refuse_data(data, count)?;
            change_edges(graph, from, to, count, true)
        }
    }

    /// Ends what `cuGraphAddDependencies` began.
    fn cuGraphRemoveDependencies(graph: Handle, from: *const Handle, to: *const Handle, count: usize) {
        // SAFETY: the caller's arguments.
        unsafe { change_edges(graph, from, to, count, false) }
    }

    /// Ends what `cuGraphAddDependencies` began.
    fn cuGraphRemoveDependencies_v2(
        graph: Handle, from: *const Handle, to: *const Handle, data: *const u64, count: usize
    ) {
        // SAFETY: the caller's arguments.
        unsafe {
            refuse_data(data, count)?;
            change_edges(graph, from, to, count, false)
        }
    }

    /// Takes a node away.
    fn cuGraphDestroyNode(node: Handle) {
        owner_of(node)?.remove(number(node))
    }

    /// Makes a graph ready to launch.
    fn cuGraphInstantiateWithFlags(instance: *mut Handle, graph: Handle, flags: u64) {
        // SAFETY: the caller's arguments.
        unsafe { instantiate(instance, graph, flags) }
    }

    /// Makes a graph ready to launch.
    fn cuGraphInstantiate_v2(
        instance: *mut Handle, graph: Handle, node: *mut Handle, log: *mut c_char, len: usize
    ) {
        // SAFETY: the caller's arguments.
        unsafe {
            put_if_asked(node, std::ptr::null_mut());
            if len > 0 {
                put_if_asked(log, 0);
            }
            instantiate(instance, graph, 0)
        }
    }

    /// Makes a graph ready to launch.
    fn cuGraphInstantiate(instance: *mut Handle, graph: Handle, node: *mut Handle, log: *mut c_char, len: usize) {
        // SAFETY: the caller's arguments.
        unsafe {
            put_if_asked(node, std::ptr::null_mut());
            if len > 0 {
                put_if_asked(log, 0);
            }
            instantiate(instance, graph, 0)
        }
    }

    /// Makes a graph ready to launch.
    fn cuGraphInstantiateWithParams(instance: *mut Handle, graph: Handle, parameters: *mut InstantiateParameters) {
        // SAFETY: the caller's arguments.
        unsafe {
            let mut found = get(parameters)?;
            let made = instantiate(instance, graph, found.flags);
            found.error_node = std::ptr::null_mut();
            found.result = i32::from(made.is_err());
            put(parameters, found)?;
            made
        }
    }

    /// The flags that an instance was made with.
    fn cuGraphExecGetFlags(instance: Handle, flags: *mut u64) {
        let is = instance_of(instance)?.flags;
        // SAFETY: a place for a number, or null.
        unsafe { put(flags, is) }
    }

    /// Lets a node of an instance do something, or nothing.
    fn cuGraphNodeSetEnabled(instance: Handle, node: Handle, enabled: u32) {
        instance_of(instance)?.change(number(node), |step| {
            step.is_disabled = enabled == 0;
            Ok(())
        })
    }

    /// Whether a node of an instance does something.
    fn cuGraphNodeGetEnabled(instance: Handle, node: Handle, enabled: *mut u32) {
        let mut is = 0;
        instance_of(instance)?.change(number(node), |step| {
            is = u32::from(!step.is_disabled);
            Ok(())
        })?;
        // SAFETY: a place for a number, or null.
        unsafe { put(enabled, is) }
    }

    /// Nothing has to be brought to the device.
    fn cuGraphUpload(instance: Handle, stream: Handle) |call| {
        instance_of(instance)?;
        stream_of(call, stream)?;
        Ok(())
    }

    /// Gives an instance to a stream.
    fn cuGraphLaunch(instance: Handle, stream: Handle) |call| {
        let instance = instance_of(instance)?;
        instance.launch(&stream_of(call, stream)?)
    }

    /// Destroys an instance. Launches that were given to streams are done.
    fn cuGraphExecDestroy(instance: Handle) {
        machine()?.handles.remove::<Instance>(number(instance)).map(|_| ()).ok_or(Status::INVALID_VALUE)
    }

    /// Takes everything from a graph with the same nodes.
    fn cuGraphExecUpdate_v2(instance: Handle, graph: Handle, result: *mut UpdateResult) {
        let (found, updated) = update(instance, graph);
        let (node, from) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: a place for the structure, or null.
        unsafe { put_if_asked(result, UpdateResult { result: found, node, from }) };
        updated
    }

    /// Takes everything from a graph with the same nodes.
    fn cuGraphExecUpdate(instance: Handle, graph: Handle, node: *mut Handle, result: *mut i32) {
        let (found, updated) = update(instance, graph);
        // SAFETY: places for a handle and a number, or null.
        unsafe {
            put_if_asked(node, std::ptr::null_mut());
            put_if_asked(result, found);
        }
        updated
    }

    /// Writes a graph as a text for Graphviz.
    fn cuGraphDebugDotPrint(graph: Handle, path: *const c_char, flags: u32) {
        let _ = flags;
        let graph = graph_of(graph)?;
        let mut dot = String::from("digraph {\n");
        for (handle, node) in graph.nodes().iter() {
            let label = match &node.task {
                Task::Work(Work::Launch(launch)) => vop_run::demangled(&launch.function.name).replace('"', "\\\""),
                task => KINDS.get(kind_of(task) as usize).copied().unwrap_or("node").to_owned(),
            };
            dot.push_str(&format!("  n{handle} [label=\"{label}\"];\n"));
            node.after.iter().for_each(|before| dot.push_str(&format!("  n{before} -> n{handle};\n")));
        }
        dot.push_str("}\n");
        // SAFETY: a text, or null.
        std::fs::write(unsafe { text(path) }?, dot).map_err(|_| Status::OPERATING_SYSTEM)
    }

    /// Makes an object that graphs may hold, and that is destroyed when nobody does.
    fn cuUserObjectCreate(
        object: *mut Handle, data: *mut c_void, destroy: Option<unsafe extern "C" fn(*mut c_void)>, count: u32,
        flags: u32
    ) {
        let machine = machine()?;
        let function = destroy.filter(|_| count > 0 && flags == 1).ok_or(Status::INVALID_VALUE)?;
        let destroy = HostFunction { function, data: data.expose_provenance() };
        if object.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: a place for a handle.
        unsafe { put(object, handle(machine.handles.add(Arc::new(UserObject::new(destroy, count.into()))))) }
    }

    /// Holds an object more often.
    fn cuUserObjectRetain(object: Handle, count: u32) {
        object_of(object)?.retain(count.into());
        Ok(())
    }

    /// Holds an object less often.
    fn cuUserObjectRelease(object: Handle, count: u32) {
        object_of(object)?.release(count.into())
    }

    /// Lets a graph hold an object. With the flag 1, it takes over what the caller held.
    fn cuGraphRetainUserObject(graph: Handle, object: Handle, count: u32, flags: u32) {
        let (graph, object) = (graph_of(graph)?, object_of(object)?);
        if flags & !1 != 0 || count == 0 {
            return Err(Status::INVALID_VALUE);
        }
        if flags == 0 {
            object.retain(count.into());
        }
        graph.kept().push(Arc::new(Kept { object, count: count.into() }));
        Ok(())
    }

    /// Lets a graph hold an object no more, as often as it was told to.
    fn cuGraphReleaseUserObject(graph: Handle, object: Handle, count: u32) {
        let (graph, object) = (graph_of(graph)?, object_of(object)?);
        let mut left = u64::from(count);
        let mut released = Vec::new();
        graph.kept().retain(|kept| {
            let goes = Arc::ptr_eq(&kept.object, &object) && kept.count <= left;
            if goes {
                left -= kept.count;
                released.push(Arc::clone(kept));
            }
            !goes
        });
        // The program's function is called without a lock.
        drop(released);
        if left == 0 { Ok(()) } else { Err(Status::INVALID_VALUE) }
    }
}

/// Names of kinds of nodes.
const KINDS: [&str; 13] = [
    "kernel",
    "copy",
    "fill",
    "host",
    "graph",
    "empty",
    "wait",
    "record",
    "signal",
    "semaphore",
    "allocate",
    "free",
    "words",
];

fn object_of(object: Handle) -> Answer<Arc<UserObject>> {
    machine()?.handles.get(number(object)).ok_or(Status::INVALID_VALUE)
}

fn put_event(to: *mut Handle, event: &Event) -> Answer {
    // SAFETY: a place for a handle, or null.
    unsafe { put(to, handle(event.handle)) }
}
