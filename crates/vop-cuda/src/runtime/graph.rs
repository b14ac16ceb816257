//! Graphs.

use std::ffi::{c_char, c_void};

use super::types::{
    ARRAY, DriverCopy, DriverKernelNode, Extent, KernelNodeParams, Memcpy3DParms, MemsetParams, PitchedPtr, Pos,
};
use super::{array, context, copy, driver, function, put, runtime};
use crate::status::{Answer, Status};

/// A node.
type Node = *mut c_void;

/// What a kernel node launches, as the driver has it.
///
/// # Safety
/// The pointer is null or leads to the structure.
unsafe fn kernel_node(parameters: *const KernelNodeParams) -> Answer<DriverKernelNode> {
    // SAFETY: as the caller says.
    let p = unsafe { parameters.as_ref() }.ok_or(Status::INVALID_VALUE)?;
    let none = std::ptr::null_mut();
    let func = function(p.func)?;
    let (params, extra) = (p.params, p.extra);
    Ok(DriverKernelNode {
        func,
        grid: p.grid,
        block: p.block,
        shared: p.shared,
        params,
        extra,
        kernel: none,
        context: none,
    })
}

/// The structure that the driver reads, without its type.
fn opaque<T>(of: &T) -> *mut c_void {
    (&raw const *of).cast_mut().cast()
}

fn current() -> Answer<*mut c_void> {
    context::ensure()?;
    let mut current: *mut c_void = std::ptr::null_mut();
    driver!(cuCtxGetCurrent((&raw mut current).cast()))?;
    Ok(current)
}

/// A copy of bytes as a description.
fn line(dst: *mut c_void, src: *const c_void, count: usize, kind: i32) -> Answer<DriverCopy> {
    copy::described(&Memcpy3DParms {
        src_array: std::ptr::null_mut(),
        src_pos: Pos::default(),
        src_ptr: PitchedPtr { ptr: src.cast_mut(), pitch: count, xsize: count, ysize: 1 },
        dst_array: std::ptr::null_mut(),
        dst_pos: Pos::default(),
        dst_ptr: PitchedPtr { ptr: dst, pitch: count, xsize: count, ysize: 1 },
        extent: Extent { width: count, height: 1, depth: 1 },
        kind,
    })
}

/// # Safety
/// The pointer is null or leads to the structure.
unsafe fn described(parameters: *const Memcpy3DParms) -> Answer<DriverCopy> {
    context::ensure()?;
    // SAFETY: as the caller says.
    copy::described(unsafe { parameters.as_ref() }.ok_or(Status::INVALID_VALUE)?)
}

/// A description as the runtime has it.
fn parameters(copy: &DriverCopy) -> Answer<Memcpy3DParms> {
    let side = |operand: &super::types::DriverOperand| -> Answer<(Node, usize, Pos, PitchedPtr)> {
        let is_array = operand.memory_type == ARRAY;
        let element = if is_array { array::element_size(operand.array)?.max(1) } else { 1 };
        let pos = Pos { x: operand.x_in_bytes / element, y: operand.y, z: operand.z };
        let pointer =
            if operand.memory_type == super::types::HOST { operand.host } else { operand.device as *mut c_void };
        let ptr = if is_array { std::ptr::null_mut() } else { pointer };
        let array = if is_array { operand.array } else { std::ptr::null_mut() };
        Ok((
            array,
            element,
            pos,
            PitchedPtr { ptr, pitch: operand.pitch, xsize: copy.width_in_bytes, ysize: operand.height },
        ))
    };
    let (src_array, src_element, src_pos, src_ptr) = side(&copy.src)?;
    let (dst_array, dst_element, dst_pos, dst_ptr) = side(&copy.dst)?;
    let is_host = |memory: u32| memory == super::types::HOST;
    let kind = match (copy.src.memory_type, copy.dst.memory_type) {
        (from, to) if from == super::types::UNIFIED || to == super::types::UNIFIED => 4,
        (from, to) => {
            if is_host(from) {
                i32::from(!is_host(to))
            } else {
                3 - i32::from(is_host(to))
            }
        }
    };
    let width = copy.width_in_bytes / src_element.max(dst_element);
    let extent = Extent { width, height: copy.height, depth: copy.depth };
    Ok(Memcpy3DParms { src_array, src_pos, src_ptr, dst_array, dst_pos, dst_ptr, extent, kind })
}

/// `cudaGraphInstantiate` and its forms.
fn instantiate(executable: *mut *mut c_void, graph: *mut c_void, flags: u64) -> Answer {
    context::ensure()?;
    driver!(cuGraphInstantiateWithFlags(executable.cast(), graph.cast(), flags as _))
}

runtime! {
    /// Makes an empty graph.
    fn cudaGraphCreate(graph: *mut *mut c_void, flags: u32) {
        context::ensure()?;
        driver!(cuGraphCreate(graph.cast(), flags))
    }

    /// Destroys a graph.
    fn cudaGraphDestroy(graph: *mut c_void) {
        context::ensure()?;
        driver!(cuGraphDestroy(graph.cast()))
    }

    /// Copies a graph.
    fn cudaGraphClone(clone: *mut *mut c_void, graph: *mut c_void) {
        context::ensure()?;
        driver!(cuGraphClone(clone.cast(), graph.cast()))
    }

    /// Makes a graph executable.
    fn cudaGraphInstantiate(executable: *mut *mut c_void, graph: *mut c_void, flags: u64) {
        instantiate(executable, graph, flags)
    }

    /// Makes a graph executable, as CUDA 11 has it.
    fn cudaGraphInstantiate_v1(
        executable: *mut *mut c_void, graph: *mut c_void, node: *mut Node, log: *mut c_char, size: usize,
    ) {
        unsafe {
            if !node.is_null() {
                put(node, std::ptr::null_mut())?;
            }
            if !log.is_null() && size > 0 {
                put(log, 0)?;
            }
        }
        instantiate(executable, graph, 0)
    }

    /// Makes a graph executable.
    fn cudaGraphInstantiateWithFlags(executable: *mut *mut c_void, graph: *mut c_void, flags: u64) {
        instantiate(executable, graph, flags)
    }

    /// Makes a graph executable.
    fn cudaGraphInstantiateWithParams(executable: *mut *mut c_void, graph: *mut c_void, parameters: *mut c_void) {
        context::ensure()?;
        driver!(cuGraphInstantiateWithParams(executable.cast(), graph.cast(), parameters.cast()))
    }

    /// Launches a graph.
    fn cudaGraphLaunch(executable: *mut c_void, stream: *mut c_void) |call| {
        context::ensure()?;
        driver!(cuGraphLaunch(executable.cast(), context::stream(call, stream).cast()))
    }

    /// Prepares a graph for its launch.
    fn cudaGraphUpload(executable: *mut c_void, stream: *mut c_void) |call| {
        context::ensure()?;
        driver!(cuGraphUpload(executable.cast(), context::stream(call, stream).cast()))
    }

    /// Destroys an executable graph.
    fn cudaGraphExecDestroy(executable: *mut c_void) {
        context::ensure()?;
        driver!(cuGraphExecDestroy(executable.cast()))
    }

    /// The flags of an executable graph.
    fn cudaGraphExecGetFlags(executable: *mut c_void, flags: *mut u64) {
        context::ensure()?;
        driver!(cuGraphExecGetFlags(executable.cast(), flags))
    }

    /// Changes an executable graph to what another graph is.
    fn cudaGraphExecUpdate(executable: *mut c_void, graph: *mut c_void, result: *mut c_void) {
        context::ensure()?;
        driver!(cuGraphExecUpdate_v2(executable.cast(), graph.cast(), result.cast()))
    }

    /// Writes a graph as a drawing for Graphviz.
    fn cudaGraphDebugDotPrint(graph: *mut c_void, path: *const c_char, flags: u32) {
        context::ensure()?;
        driver!(cuGraphDebugDotPrint(graph.cast(), path, flags))
    }

    /// Adds the launch of a kernel.
    fn cudaGraphAddKernelNode(
        node: *mut Node, graph: *mut c_void, before: *const Node, count: usize, parameters: *const KernelNodeParams,
    ) {
        context::ensure()?;
        let parameters = unsafe { kernel_node(parameters)? };
        driver!(cuGraphAddKernelNode_v2(node.cast(), graph.cast(), before.cast(), count, opaque(&parameters).cast()))
    }

    /// What a kernel node launches.
    fn cudaGraphKernelNodeGetParams(node: Node, parameters: *mut KernelNodeParams) {
        context::ensure()?;
        let mut found: DriverKernelNode = unsafe { std::mem::zeroed() };
        let to = (&raw mut found).cast::<c_void>();
        driver!(cuGraphKernelNodeGetParams_v2(node.cast(), to.cast()))?;
        let DriverKernelNode { func, grid, block, shared, params, extra, kernel, .. } = found;
        let func = function::host_function(if func.is_null() { kernel } else { func });
        unsafe { put(parameters, KernelNodeParams { func, grid, block, shared, params, extra }) }
    }

    /// Changes what a kernel node launches.
    fn cudaGraphKernelNodeSetParams(node: Node, parameters: *const KernelNodeParams) {
        context::ensure()?;
        let parameters = unsafe { kernel_node(parameters)? };
        driver!(cuGraphKernelNodeSetParams_v2(node.cast(), opaque(&parameters).cast()))
    }

    /// Changes what a kernel node of an executable graph launches.
    fn cudaGraphExecKernelNodeSetParams(executable: *mut c_void, node: Node, parameters: *const KernelNodeParams) {
        context::ensure()?;
        let parameters = unsafe { kernel_node(parameters)? };
        driver!(cuGraphExecKernelNodeSetParams_v2(executable.cast(), node.cast(), opaque(&parameters).cast()))
    }

    /// Copies the attributes of a kernel node.
    fn cudaGraphKernelNodeCopyAttributes(to: Node, from: Node) {
        context::ensure()?;
        driver!(cuGraphKernelNodeCopyAttributes(to.cast(), from.cast()))
    }

    /// An attribute of a kernel node.
    fn cudaGraphKernelNodeGetAttribute(node: Node, attribute: i32, value: *mut c_void) {
        context::ensure()?;
        driver!(cuGraphKernelNodeGetAttribute(node.cast(), attribute as _, value.cast()))
    }

    /// Sets an attribute of a kernel node.
    fn cudaGraphKernelNodeSetAttribute(node: Node, attribute: i32, value: *const c_void) {
        context::ensure()?;
        driver!(cuGraphKernelNodeSetAttribute(node.cast(), attribute as _, value.cast_mut().cast()))
    }

    /// Adds a copy.
    fn cudaGraphAddMemcpyNode(
        node: *mut Node, graph: *mut c_void, before: *const Node, count: usize, parameters: *const Memcpy3DParms,
    ) {
        add_copy(node, graph, before, count, &unsafe { described(parameters)? })
    }

    /// Adds a copy of bytes.
    fn cudaGraphAddMemcpyNode1D(
        node: *mut Node, graph: *mut c_void, before: *const Node, count: usize, dst: *mut c_void, src: *const c_void,
        size: usize, kind: i32,
    ) {
        add_copy(node, graph, before, count, &line(dst, src, size, kind)?)
    }

    /// Adds a copy into a variable.
    fn cudaGraphAddMemcpyNodeToSymbol(
        node: *mut Node, graph: *mut c_void, before: *const Node, count: usize, symbol: *const c_void,
        src: *const c_void,
        size: usize, offset: usize, kind: i32,
    ) {
        let dst = copy::to_symbol(symbol, offset, size, kind)?;
        add_copy(node, graph, before, count, &line(dst, src, size, kind)?)
    }

    /// Adds a copy from a variable.
    fn cudaGraphAddMemcpyNodeFromSymbol(
        node: *mut Node, graph: *mut c_void, before: *const Node, count: usize, dst: *mut c_void, symbol: *const c_void,
        size: usize, offset: usize, kind: i32,
    ) {
        let src = copy::from_symbol(symbol, offset, size, kind)?;
        add_copy(node, graph, before, count, &line(dst, src, size, kind)?)
    }

    /// What a node copies.
    fn cudaGraphMemcpyNodeGetParams(node: Node, to: *mut Memcpy3DParms) {
        context::ensure()?;
        let mut found: DriverCopy = unsafe { std::mem::zeroed() };
        let place = (&raw mut found).cast::<c_void>();
        driver!(cuGraphMemcpyNodeGetParams(node.cast(), place.cast()))?;
        unsafe { put(to, parameters(&found)?) }
    }

    /// Changes what a node copies.
    fn cudaGraphMemcpyNodeSetParams(node: Node, parameters: *const Memcpy3DParms) {
        set_copy(node, &unsafe { described(parameters)? })
    }

    /// Changes what a node copies.
    fn cudaGraphMemcpyNodeSetParams1D(node: Node, dst: *mut c_void, src: *const c_void, size: usize, kind: i32) {
        set_copy(node, &line(dst, src, size, kind)?)
    }

    /// Changes what a node copies.
    fn cudaGraphMemcpyNodeSetParamsToSymbol(
        node: Node, symbol: *const c_void, src: *const c_void, size: usize, offset: usize, kind: i32,
    ) {
        let dst = copy::to_symbol(symbol, offset, size, kind)?;
        set_copy(node, &line(dst, src, size, kind)?)
    }

    /// Changes what a node copies.
    fn cudaGraphMemcpyNodeSetParamsFromSymbol(
        node: Node, dst: *mut c_void, symbol: *const c_void, size: usize, offset: usize, kind: i32,
    ) {
        let src = copy::from_symbol(symbol, offset, size, kind)?;
        set_copy(node, &line(dst, src, size, kind)?)
    }

    /// Changes what a node of an executable graph copies.
    fn cudaGraphExecMemcpyNodeSetParams(executable: *mut c_void, node: Node, parameters: *const Memcpy3DParms) {
        set_executable_copy(executable, node, &unsafe { described(parameters)? })
    }

    /// Changes what a node of an executable graph copies.
    fn cudaGraphExecMemcpyNodeSetParams1D(
        executable: *mut c_void, node: Node, dst: *mut c_void, src: *const c_void, size: usize, kind: i32,
    ) {
        set_executable_copy(executable, node, &line(dst, src, size, kind)?)
    }

    /// Changes what a node of an executable graph copies.
    fn cudaGraphExecMemcpyNodeSetParamsToSymbol(
        executable: *mut c_void, node: Node, symbol: *const c_void, src: *const c_void, size: usize, offset: usize,
        kind: i32,
    ) {
        let dst = copy::to_symbol(symbol, offset, size, kind)?;
        set_executable_copy(executable, node, &line(dst, src, size, kind)?)
    }

    /// Changes what a node of an executable graph copies.
    fn cudaGraphExecMemcpyNodeSetParamsFromSymbol(
        executable: *mut c_void, node: Node, dst: *mut c_void, symbol: *const c_void, size: usize, offset: usize,
        kind: i32,
    ) {
        let src = copy::from_symbol(symbol, offset, size, kind)?;
        set_executable_copy(executable, node, &line(dst, src, size, kind)?)
    }

    /// Adds a set.
    fn cudaGraphAddMemsetNode(
        node: *mut Node, graph: *mut c_void, before: *const Node, count: usize, parameters: *const MemsetParams,
    ) {
        let context = current()?.cast();
        let parameters = parameters.cast_mut().cast();
        driver!(cuGraphAddMemsetNode(node.cast(), graph.cast(), before.cast(), count, parameters, context))
    }

    /// What a node sets.
    fn cudaGraphMemsetNodeGetParams(node: Node, parameters: *mut MemsetParams) {
        context::ensure()?;
        driver!(cuGraphMemsetNodeGetParams(node.cast(), parameters.cast()))
    }

    /// Changes what a node sets.
    fn cudaGraphMemsetNodeSetParams(node: Node, parameters: *const MemsetParams) {
        context::ensure()?;
        driver!(cuGraphMemsetNodeSetParams(node.cast(), parameters.cast_mut().cast()))
    }

    /// Changes what a node of an executable graph sets.
    fn cudaGraphExecMemsetNodeSetParams(executable: *mut c_void, node: Node, parameters: *const MemsetParams) {
        let context = current()?.cast();
        driver!(cuGraphExecMemsetNodeSetParams(executable.cast(), node.cast(), parameters.cast_mut().cast(), context))
    }

    /// Adds a call of the host.
    fn cudaGraphAddHostNode(
        node: *mut Node, graph: *mut c_void, before: *const Node, count: usize, parameters: *const c_void,
    ) {
        context::ensure()?;
        driver!(cuGraphAddHostNode(node.cast(), graph.cast(), before.cast(), count, parameters.cast_mut().cast()))
    }

    /// What a node calls.
    fn cudaGraphHostNodeGetParams(node: Node, parameters: *mut c_void) {
        context::ensure()?;
        driver!(cuGraphHostNodeGetParams(node.cast(), parameters.cast()))
    }

    /// Changes what a node calls.
    fn cudaGraphHostNodeSetParams(node: Node, parameters: *const c_void) {
        context::ensure()?;
        driver!(cuGraphHostNodeSetParams(node.cast(), parameters.cast_mut().cast()))
    }

    /// Changes what a node of an executable graph calls.
    fn cudaGraphExecHostNodeSetParams(executable: *mut c_void, node: Node, parameters: *const c_void) {
        context::ensure()?;
        driver!(cuGraphExecHostNodeSetParams(executable.cast(), node.cast(), parameters.cast_mut().cast()))
    }

    /// Adds a graph as a node.
    fn cudaGraphAddChildGraphNode(
        node: *mut Node, graph: *mut c_void, before: *const Node, count: usize, child: *mut c_void,
    ) {
        context::ensure()?;
        driver!(cuGraphAddChildGraphNode(node.cast(), graph.cast(), before.cast(), count, child.cast()))
    }

    /// The graph of a node.
    fn cudaGraphChildGraphNodeGetGraph(node: Node, graph: *mut *mut c_void) {
        context::ensure()?;
        driver!(cuGraphChildGraphNodeGetGraph(node.cast(), graph.cast()))
    }

    /// Changes the graph of a node of an executable graph.
    fn cudaGraphExecChildGraphNodeSetParams(executable: *mut c_void, node: Node, child: *mut c_void) {
        context::ensure()?;
        driver!(cuGraphExecChildGraphNodeSetParams(executable.cast(), node.cast(), child.cast()))
    }

    /// Adds a node that does nothing.
    fn cudaGraphAddEmptyNode(node: *mut Node, graph: *mut c_void, before: *const Node, count: usize) {
        context::ensure()?;
        driver!(cuGraphAddEmptyNode(node.cast(), graph.cast(), before.cast(), count))
    }

    /// Adds an event.
    fn cudaGraphAddEventRecordNode(
        node: *mut Node, graph: *mut c_void, before: *const Node, count: usize, event: *mut c_void,
    ) {
        context::ensure()?;
        driver!(cuGraphAddEventRecordNode(node.cast(), graph.cast(), before.cast(), count, event.cast()))
    }

    /// The event of a node.
    fn cudaGraphEventRecordNodeGetEvent(node: Node, event: *mut *mut c_void) {
        context::ensure()?;
        driver!(cuGraphEventRecordNodeGetEvent(node.cast(), event.cast()))
    }

    /// Changes the event of a node.
    fn cudaGraphEventRecordNodeSetEvent(node: Node, event: *mut c_void) {
        context::ensure()?;
        driver!(cuGraphEventRecordNodeSetEvent(node.cast(), event.cast()))
    }

    /// Changes the event of a node of an executable graph.
    fn cudaGraphExecEventRecordNodeSetEvent(executable: *mut c_void, node: Node, event: *mut c_void) {
        context::ensure()?;
        driver!(cuGraphExecEventRecordNodeSetEvent(executable.cast(), node.cast(), event.cast()))
    }

    /// Adds a wait for an event.
    fn cudaGraphAddEventWaitNode(
        node: *mut Node, graph: *mut c_void, before: *const Node, count: usize, event: *mut c_void,
    ) {
        context::ensure()?;
        driver!(cuGraphAddEventWaitNode(node.cast(), graph.cast(), before.cast(), count, event.cast()))
    }

    /// The event that a node waits for.
    fn cudaGraphEventWaitNodeGetEvent(node: Node, event: *mut *mut c_void) {
        context::ensure()?;
        driver!(cuGraphEventWaitNodeGetEvent(node.cast(), event.cast()))
    }

    /// Changes the event that a node waits for.
    fn cudaGraphEventWaitNodeSetEvent(node: Node, event: *mut c_void) {
        context::ensure()?;
        driver!(cuGraphEventWaitNodeSetEvent(node.cast(), event.cast()))
    }

    /// Changes the event that a node of an executable graph waits for.
    fn cudaGraphExecEventWaitNodeSetEvent(executable: *mut c_void, node: Node, event: *mut c_void) {
        context::ensure()?;
        driver!(cuGraphExecEventWaitNodeSetEvent(executable.cast(), node.cast(), event.cast()))
    }

    /// Adds an allocation.
    fn cudaGraphAddMemAllocNode(
        node: *mut Node, graph: *mut c_void, before: *const Node, count: usize, parameters: *mut c_void,
    ) {
        context::ensure()?;
        driver!(cuGraphAddMemAllocNode(node.cast(), graph.cast(), before.cast(), count, parameters.cast()))
    }

    /// What a node allocates.
    fn cudaGraphMemAllocNodeGetParams(node: Node, parameters: *mut c_void) {
        context::ensure()?;
        driver!(cuGraphMemAllocNodeGetParams(node.cast(), parameters.cast()))
    }

    /// Adds the end of an allocation.
    fn cudaGraphAddMemFreeNode(
        node: *mut Node, graph: *mut c_void, before: *const Node, count: usize, pointer: *mut c_void,
    ) {
        context::ensure()?;
        driver!(cuGraphAddMemFreeNode(node.cast(), graph.cast(), before.cast(), count, pointer as u64))
    }

    /// What a node frees.
    fn cudaGraphMemFreeNodeGetParams(node: Node, pointer: *mut c_void) {
        context::ensure()?;
        driver!(cuGraphMemFreeNodeGetParams(node.cast(), pointer.cast()))
    }

    /// The type of a node.
    fn cudaGraphNodeGetType(node: Node, kind: *mut i32) {
        context::ensure()?;
        driver!(cuGraphNodeGetType(node.cast(), kind.cast()))
    }

    /// The node of a clone that is the copy of a node.
    fn cudaGraphNodeFindInClone(found: *mut Node, original: Node, clone: *mut c_void) {
        context::ensure()?;
        driver!(cuGraphNodeFindInClone(found.cast(), original.cast(), clone.cast()))
    }

    /// Whether a node of an executable graph does anything.
    fn cudaGraphNodeGetEnabled(executable: *mut c_void, node: Node, is_enabled: *mut u32) {
        context::ensure()?;
        driver!(cuGraphNodeGetEnabled(executable.cast(), node.cast(), is_enabled))
    }

    /// Sets whether a node of an executable graph does anything.
    fn cudaGraphNodeSetEnabled(executable: *mut c_void, node: Node, is_enabled: u32) {
        context::ensure()?;
        driver!(cuGraphNodeSetEnabled(executable.cast(), node.cast(), is_enabled))
    }

    /// Removes a node.
    fn cudaGraphDestroyNode(node: Node) {
        context::ensure()?;
        driver!(cuGraphDestroyNode(node.cast()))
    }

    /// The nodes of a graph.
    fn cudaGraphGetNodes(graph: *mut c_void, nodes: *mut Node, count: *mut usize) {
        context::ensure()?;
        driver!(cuGraphGetNodes(graph.cast(), nodes.cast(), count))
    }

    /// The nodes of a graph that depend on none.
    fn cudaGraphGetRootNodes(graph: *mut c_void, nodes: *mut Node, count: *mut usize) {
        context::ensure()?;
        driver!(cuGraphGetRootNodes(graph.cast(), nodes.cast(), count))
    }

    /// The edges of a graph.
    fn cudaGraphGetEdges(graph: *mut c_void, from: *mut Node, to: *mut Node, edges: *mut c_void, count: *mut usize) {
        context::ensure()?;
        driver!(cuGraphGetEdges_v2(graph.cast(), from.cast(), to.cast(), edges.cast(), count))
    }

    /// The edges of a graph, as CUDA 12 has it.
    fn cudaGraphGetEdges_v1(graph: *mut c_void, from: *mut Node, to: *mut Node, count: *mut usize) {
        context::ensure()?;
        let none = std::ptr::null_mut::<c_void>();
        driver!(cuGraphGetEdges_v2(graph.cast(), from.cast(), to.cast(), none.cast(), count))
    }

    /// The nodes that a node depends on.
    fn cudaGraphNodeGetDependencies(node: Node, nodes: *mut Node, edges: *mut c_void, count: *mut usize) {
        context::ensure()?;
        driver!(cuGraphNodeGetDependencies_v2(node.cast(), nodes.cast(), edges.cast(), count))
    }

    /// The nodes that a node depends on, as CUDA 12 has it.
    fn cudaGraphNodeGetDependencies_v1(node: Node, nodes: *mut Node, count: *mut usize) {
        context::ensure()?;
        let none = std::ptr::null_mut::<c_void>();
        driver!(cuGraphNodeGetDependencies_v2(node.cast(), nodes.cast(), none.cast(), count))
    }

    /// The nodes that depend on a node.
    fn cudaGraphNodeGetDependentNodes(node: Node, nodes: *mut Node, edges: *mut c_void, count: *mut usize) {
        context::ensure()?;
        driver!(cuGraphNodeGetDependentNodes_v2(node.cast(), nodes.cast(), edges.cast(), count))
    }

    /// The nodes that depend on a node, as CUDA 12 has it.
    fn cudaGraphNodeGetDependentNodes_v1(node: Node, nodes: *mut Node, count: *mut usize) {
        context::ensure()?;
        let none = std::ptr::null_mut::<c_void>();
        driver!(cuGraphNodeGetDependentNodes_v2(node.cast(), nodes.cast(), none.cast(), count))
    }

    /// Adds edges.
    fn cudaGraphAddDependencies(
        graph: *mut c_void, from: *const Node, to: *const Node, edges: *const c_void, count: usize,
    ) {
        context::ensure()?;
        driver!(cuGraphAddDependencies_v2(graph.cast(), from.cast(), to.cast(), edges.cast(), count))
    }

    /// Adds edges, as CUDA 12 has it.
    fn cudaGraphAddDependencies_v1(graph: *mut c_void, from: *const Node, to: *const Node, count: usize) {
        context::ensure()?;
        let none = std::ptr::null::<c_void>();
        driver!(cuGraphAddDependencies_v2(graph.cast(), from.cast(), to.cast(), none.cast(), count))
    }

    /// Removes edges.
    fn cudaGraphRemoveDependencies(
        graph: *mut c_void, from: *const Node, to: *const Node, edges: *const c_void, count: usize,
    ) {
        context::ensure()?;
        driver!(cuGraphRemoveDependencies_v2(graph.cast(), from.cast(), to.cast(), edges.cast(), count))
    }

    /// Removes edges, as CUDA 12 has it.
    fn cudaGraphRemoveDependencies_v1(graph: *mut c_void, from: *const Node, to: *const Node, count: usize) {
        context::ensure()?;
        let none = std::ptr::null::<c_void>();
        driver!(cuGraphRemoveDependencies_v2(graph.cast(), from.cast(), to.cast(), none.cast(), count))
    }

    /// Adds a node of any type.
    fn cudaGraphAddNode(
        node: *mut Node, graph: *mut c_void, before: *const Node, edges: *const [u8; 8], count: usize,
        parameters: *mut NodeParams,
    ) {
        // All that the edges may say is that a node waits for the whole of another.
        if !edges.is_null() && (0..count).any(|index| unsafe { edges.add(index).read() } != [0; 8]) {
            super::unsupported::count("cudaGraphAddNode with edges that are not for whole nodes");
            return Err(Status::NOT_SUPPORTED);
        }
        unsafe { add(node, graph, before, count, parameters) }
    }

    /// Adds a node of any type, as CUDA 12 has it.
    fn cudaGraphAddNode_v1(
        node: *mut Node, graph: *mut c_void, before: *const Node, count: usize, parameters: *mut NodeParams,
    ) {
        unsafe { add(node, graph, before, count, parameters) }
    }

    /// Makes an object of the program that graphs keep.
    fn cudaUserObjectCreate(
        object: *mut *mut c_void, pointer: *mut c_void, destroy: *mut c_void, count: u32, flags: u32,
    ) {
        if destroy.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        context::ensure()?;
        // SAFETY: it is a function of this type, which the manual says.
        let destroy: unsafe extern "C" fn(*mut c_void) = unsafe { std::mem::transmute(destroy) };
        driver!(cuUserObjectCreate(object.cast(), pointer, Some(destroy), count, flags))
    }

    /// Keeps an object.
    fn cudaUserObjectRetain(object: *mut c_void, count: u32) {
        context::ensure()?;
        driver!(cuUserObjectRetain(object.cast(), count))
    }

    /// Lets an object go.
    fn cudaUserObjectRelease(object: *mut c_void, count: u32) {
        context::ensure()?;
        driver!(cuUserObjectRelease(object.cast(), count))
    }

    /// Lets a graph keep an object.
    fn cudaGraphRetainUserObject(graph: *mut c_void, object: *mut c_void, count: u32, flags: u32) {
        context::ensure()?;
        driver!(cuGraphRetainUserObject(graph.cast(), object.cast(), count, flags))
    }

    /// Lets a graph let an object go.
    fn cudaGraphReleaseUserObject(graph: *mut c_void, object: *mut c_void, count: u32) {
        context::ensure()?;
        driver!(cuGraphReleaseUserObject(graph.cast(), object.cast(), count))
    }
}

fn add_copy(node: *mut Node, graph: *mut c_void, before: *const Node, count: usize, copy: &DriverCopy) -> Answer {
    let context = current()?.cast();
    driver!(cuGraphAddMemcpyNode(node.cast(), graph.cast(), before.cast(), count, opaque(copy).cast(), context))
}

fn set_copy(node: Node, copy: &DriverCopy) -> Answer {
    context::ensure()?;
    driver!(cuGraphMemcpyNodeSetParams(node.cast(), opaque(copy).cast()))
}

fn set_executable_copy(executable: *mut c_void, node: Node, copy: &DriverCopy) -> Answer {
    let context = current()?.cast();
    driver!(cuGraphExecMemcpyNodeSetParams(executable.cast(), node.cast(), opaque(copy).cast(), context))
}

/// `cudaGraphNodeParams`: a type, and what it needs.
#[repr(C)]
pub struct NodeParams {
    kind: i32,
    reserved: [i32; 3],
    of: [u64; 29],
    reserved_2: u64,
}

/// # Safety
/// The pointer is null or leads to the structure, which holds what its type says.
unsafe fn add(node: *mut Node, graph: *mut c_void, before: *const Node, count: usize, of: *mut NodeParams) -> Answer {
    if of.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: as the caller says. The structures of the types begin as those of the functions for each type.
    unsafe {
        let kind = (*of).kind;
        let of = (&raw mut (*of).of).cast::<c_void>();
        let handle = of.cast::<*mut c_void>();
        super::answer(match kind {
            0 => cudaGraphAddKernelNode(node, graph, before, count, of.cast()),
            // Behind flags and a context.
            1 => cudaGraphAddMemcpyNode(node, graph, before, count, of.byte_add(16).cast()),
            2 => cudaGraphAddMemsetNode(node, graph, before, count, of.cast()),
            3 => cudaGraphAddHostNode(node, graph, before, count, of),
            4 => cudaGraphAddChildGraphNode(node, graph, before, count, handle.read()),
            5 => cudaGraphAddEmptyNode(node, graph, before, count),
            6 => cudaGraphAddEventWaitNode(node, graph, before, count, handle.read()),
            7 => cudaGraphAddEventRecordNode(node, graph, before, count, handle.read()),
            10 => cudaGraphAddMemAllocNode(node, graph, before, count, of),
            11 => cudaGraphAddMemFreeNode(node, graph, before, count, handle.read()),
            _ => {
                super::unsupported::count("cudaGraphAddNode with a conditional node or one of another interface");
                return Err(Status::NOT_SUPPORTED);
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As C compilers lay it out (driver_types.h of CUDA 12.9 and 13.5).
    #[test]
    fn parameters_are_as_long_as_in_the_header() {
        assert_eq!((size_of::<NodeParams>(), std::mem::offset_of!(NodeParams, of)), (256, 16));
    }

    #[test]
    fn a_copy_of_bytes_is_read_back() {
        for kind in 0..=4 {
            let copy = line(0x2000 as *mut c_void, 0x1000 as *const c_void, 24, kind).expect("a copy");
            let back = parameters(&copy).expect("parameters");
            assert_eq!((back.kind, back.extent.width, back.extent.height, back.extent.depth), (kind, 24, 1, 1));
            assert_eq!((back.src_ptr.ptr as usize, back.dst_ptr.ptr as usize), (0x1000, 0x2000));
        }
    }
}
