//! Contexts: what a thread works in, with its streams, its memory and its error.

#![allow(unsafe_code, reason = "what kernels printed goes to C's standard output")]

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::module::Module;
use super::stream::{Role, Stream, Ticket};
use super::{Device, Machine, graph, handles, machine};
use crate::status::{Answer, Status};

/// A context. It stays where it is for ever: what is destroyed is empty, and says so.
pub struct Context {
    /// Its handle.
    pub handle: u64,
    /// A number that no other context has.
    pub id: u64,
    /// Its device.
    pub device: &'static Device,
    /// Whether it is the device's primary context.
    pub is_primary: bool,
    /// As the program gave them.
    pub flags: AtomicU32,
    machine: &'static Machine,
    is_destroyed: AtomicBool,
    /// The error of a kernel, which stays.
    sticky: AtomicI32,
    /// An error of what ran beside the program, which is told once.
    pending: AtomicI32,
    default: OnceLock<Arc<Stream>>,
    streams: Mutex<Vec<Arc<Stream>>>,
    modules: Mutex<Vec<Arc<Module>>>,
    printed: Mutex<Vec<u8>>,
    /// Bytes of a thread's stack: `CU_LIMIT_STACK_SIZE`.
    stack: AtomicUsize,
    /// Other limits, which are kept for those who ask.
    limits: Mutex<HashMap<u32, usize>>,
    /// `cuCtxSetCacheConfig`, which has no effect.
    pub cache: AtomicI32,
    /// `cuCtxSetSharedMemConfig`, which has no effect.
    pub banks: AtomicI32,
}

/// `CU_LIMIT_STACK_SIZE` and others. The last two, of the second-level cache, have no effect.
const LIMITS: [(u32, usize); 7] = [(0, 1024), (1, 1 << 20), (2, 8 << 20), (3, 2), (4, 2048), (5, 64), (6, 0)];
/// More are possible: what a card maps for all threads at once is no matter here.
const STACK: usize = 1024;

thread_local! {
    /// The thread's contexts; the last one is current.
    static STACK_OF_CONTEXTS: RefCell<Vec<&'static Context>> = const { RefCell::new(Vec::new()) };
    /// The thread's own default streams, by context.
    static OWN_STREAMS: RefCell<OwnStreams> = const { RefCell::new(OwnStreams(Vec::new())) };
}

/// They go with the thread.
struct OwnStreams(Vec<(u64, Arc<Stream>)>);

impl Drop for OwnStreams {
    fn drop(&mut self) {
        for (_, stream) in self.0.drain(..) {
            stream.abandon_capture();
            stream.context.remove_stream(&stream);
        }
    }
}

impl Context {
    /// A context of a device.
    pub fn new(machine: &'static Machine, device: &'static Device, is_primary: bool, flags: u32) -> &'static Context {
        let handle = handles::next();
        let context: &'static Context = Box::leak(Box::new(Context {
            handle,
            id: handle,
            device,
            is_primary,
            flags: AtomicU32::new(flags),
            machine,
            is_destroyed: AtomicBool::new(false),
            sticky: AtomicI32::new(0),
            pending: AtomicI32::new(0),
            default: OnceLock::new(),
            streams: Mutex::default(),
            modules: Mutex::default(),
            printed: Mutex::default(),
            stack: AtomicUsize::new(STACK),
            limits: Mutex::default(),
            cache: AtomicI32::new(0),
            banks: AtomicI32::new(1),
        }));
        machine.handles.set(handle, Arc::new(ContextOf(context)));
        machine.contexts.lock().unwrap_or_else(PoisonError::into_inner).push(context);
        context
    }

    /// The context of a handle.
    ///
    /// # Errors
    /// There is none, or it was destroyed.
    pub fn of(handle: u64) -> Answer<&'static Context> {
        machine()?.handles.get::<ContextOf>(handle).map(|found| found.0).ok_or(Status::INVALID_CONTEXT)
    }

    /// The thread's current context, whatever has happened to it.
    pub fn current_any() -> Option<&'static Context> {
        STACK_OF_CONTEXTS.with_borrow(|stack| stack.last().copied())
    }

    /// The thread's current context.
    ///
    /// # Errors
    /// There is none; or it was destroyed; or a kernel in it has failed.
    pub fn current() -> Answer<&'static Context> {
        machine()?;
        let context = Context::current_any().ok_or(Status::INVALID_CONTEXT)?;
        context.check_sticky()?;
        Ok(context)
    }

    /// Makes a context current in the place of the current one.
    pub fn set_current(context: Option<&'static Context>) {
        STACK_OF_CONTEXTS.with_borrow_mut(|stack| {
            stack.pop();
            stack.extend(context);
        });
    }

    /// Makes a context current until it is popped.
    pub fn push(context: &'static Context) {
        STACK_OF_CONTEXTS.with_borrow_mut(|stack| stack.push(context));
    }

    /// Makes the context current that was so before.
    pub fn pop() -> Option<&'static Context> {
        STACK_OF_CONTEXTS.with_borrow_mut(Vec::pop)
    }

    /// The machine.
    pub fn machine(&self) -> &'static Machine {
        self.machine
    }

    /// Whether it was destroyed.
    pub fn is_destroyed(&self) -> bool {
        self.is_destroyed.load(Ordering::Acquire)
    }

    /// Whether nothing runs in it any more.
    pub fn is_over(&self) -> bool {
        self.sticky.load(Ordering::Acquire) != 0 || self.is_destroyed()
    }

    /// # Errors
    /// It was destroyed, or a kernel has failed.
    pub fn check_sticky(&self) -> Answer {
        if self.is_destroyed() {
            return Err(Status::CONTEXT_IS_DESTROYED);
        }
        match self.sticky.load(Ordering::Acquire) {
            0 => Ok(()),
            number => Err(Status(number)),
        }
    }

    /// As [`Context::check_sticky`], and tells an error of what ran beside the program, once.
    ///
    /// # Errors
    /// As it says.
    pub fn check(&self) -> Answer {
        self.check_sticky()?;
        match self.pending.swap(0, Ordering::AcqRel) {
            0 => Ok(()),
            number => Err(Status(number)),
        }
    }

    /// Something that ran beside the program has failed.
    pub fn fail(&self, status: Status) {
        let place = if status.is_sticky() { &self.sticky } else { &self.pending };
        // The first error stays.
        let _ = place.compare_exchange(0, status.0, Ordering::AcqRel, Ordering::Acquire);
    }

    /// The default stream.
    pub fn default_stream(&'static self) -> &'static Arc<Stream> {
        self.default.get_or_init(|| Stream::new(self, handles::next(), Role::Default, 0))
    }

    /// The thread's own default stream.
    pub fn own_stream(&'static self) -> Arc<Stream> {
        OWN_STREAMS.with_borrow_mut(|all| {
            // One that is closed is of a device that was reset.
            all.0.retain(|(_, stream)| !stream.context.is_destroyed() && !stream.is_closed());
            if let Some((_, stream)) = all.0.iter().find(|(handle, _)| *handle == self.handle) {
                return Arc::clone(stream);
            }
            let stream = Stream::new(self, handles::next(), Role::Blocking, 0);
            self.add_stream(&stream);
            all.0.push((self.handle, Arc::clone(&stream)));
            stream
        })
    }

    /// Makes a stream.
    pub fn make_stream(&'static self, role: Role, priority: i32) -> Arc<Stream> {
        let stream = Stream::new(self, handles::next(), role, priority);
        self.add_stream(&stream);
        self.machine.handles.set(stream.handle, Arc::clone(&stream));
        stream
    }

    fn add_stream(&self, stream: &Arc<Stream>) {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.retain(|other| !other.is_over());
        streams.push(Arc::clone(stream));
    }

    /// Forgets a stream. What it has to do is done, and the default stream still waits for that.
    pub fn remove_stream(&self, stream: &Arc<Stream>) {
        stream.close();
        self.streams.lock().unwrap_or_else(PoisonError::into_inner).retain(|other| !other.is_over());
    }

    /// The tickets of all that who waits for a stream waits for.
    pub fn all_of(&self, stream: &Arc<Stream>) -> Vec<Ticket> {
        let mut all = vec![stream.last()];
        if stream.role == Role::Default {
            let streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
            all.extend(streams.iter().filter(|other| other.role == Role::Blocking).map(Stream::last));
        }
        all
    }

    fn streams(&self) -> Vec<Arc<Stream>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What work of a stream waits for, as the default stream wants it.
    ///
    /// # Errors
    /// The default stream would wait for a stream that is captured.
    pub fn wait_for_default(&'static self, stream: &Arc<Stream>, after: &mut Vec<Ticket>) -> Answer {
        match stream.role {
            Role::NonBlocking => {}
            Role::Blocking => {
                if let Some(default) = self.default.get() {
                    after.push(default.last());
                }
            }
            Role::Default => {
                for other in self.streams.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                    if other.role != Role::Blocking {
                        continue;
                    }
                    if other.is_capturing() {
                        other.with_capture(|capturing| {
                            capturing.iter_mut().for_each(|capturing| capturing.invalidate())
                        });
                        return Err(Status::STREAM_CAPTURE_IMPLICIT);
                    }
                    after.push(other.last());
                }
            }
        }
        Ok(())
    }

    /// Waits for all that was given until now.
    pub fn drain(&self) {
        self.tickets().iter().for_each(Ticket::wait);
    }

    /// Waits for all that was given until now, but not if no kernel has run for so long; false if something is not done then.
    pub fn drain_patiently(&self, patience: Duration) -> bool {
        self.tickets().iter().all(|ticket| ticket.wait_patiently(patience))
    }

    fn tickets(&self) -> Vec<Ticket> {
        let streams = self.streams();
        streams.iter().chain(self.default.get()).map(Stream::last).collect()
    }

    /// Waits for all that was given until now.
    ///
    /// # Errors
    /// A kernel has failed; or a capture runs that this breaks.
    pub fn synchronize(&self) -> Answer {
        graph::may_wait()?;
        self.drain();
        self.flush();
        self.check()
    }

    /// Kernels have printed.
    pub fn print(&self, text: &str) {
        if !text.is_empty() {
            self.printed.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(text.as_bytes());
        }
    }

    /// Writes what kernels have printed, as the program's own `printf` does, so that both keep their order.
    pub fn flush(&self) {
        let mut printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        if printed.is_empty() {
            return;
        }
        let text = std::mem::take(&mut *printed);
        // SAFETY: C's standard output is there as long as the process.
        unsafe {
            let _ = libc::fwrite(text.as_ptr().cast(), 1, text.len(), stdout);
        }
    }

    /// Adds a module.
    pub fn add_module(&self, module: &Arc<Module>) {
        self.modules.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(module));
    }

    /// Takes a module away.
    pub fn remove_module(&self, handle: u64) -> Option<Arc<Module>> {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        let at = modules.iter().position(|module| module.handle == handle)?;
        Some(modules.swap_remove(at))
    }

    /// Its modules.
    pub fn modules(&self) -> Vec<Arc<Module>> {
        self.modules.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Bytes of a thread's stack.
    pub fn stack(&self) -> usize {
        self.stack.load(Ordering::Relaxed)
    }

    /// A limit: `cuCtxGetLimit`.
    ///
    /// # Errors
    /// There is none of this number.
    pub fn limit(&self, limit: u32) -> Answer<usize> {
        let (_, default) = LIMITS.iter().find(|(known, _)| *known == limit).ok_or(Status::UNSUPPORTED_LIMIT)?;
        if limit == 0 {
            return Ok(self.stack());
        }
        Ok(*self.limits.lock().unwrap_or_else(PoisonError::into_inner).get(&limit).unwrap_or(default))
    }

    /// Sets a limit: `cuCtxSetLimit`.
    ///
    /// # Errors
    /// There is none of this number, or the value is too large.
    pub fn set_limit(&self, limit: u32, value: usize) -> Answer {
        self.limit(limit)?;
        match limit {
            0 if value > MAX_STACK => return Err(Status::INVALID_VALUE),
            0 => self.stack.store(value.next_multiple_of(16), Ordering::Relaxed),
            _ => _ = self.limits.lock().unwrap_or_else(PoisonError::into_inner).insert(limit, value),
        }
        Ok(())
    }

    /// Ends all that is in it: it is as new, if it is a primary context, or destroyed.
    pub fn empty(&'static self) {
        self.drain();
        self.flush();
        let streams = std::mem::take(&mut *self.streams.lock().unwrap_or_else(PoisonError::into_inner));
        for stream in streams.iter().chain(self.default.get()) {
            stream.abandon_capture();
        }
        for stream in &streams {
            stream.close();
            self.machine.handles.remove::<Stream>(stream.handle);
        }
        for module in self.modules() {
            module.unload();
        }
        for allocation in self.machine.space.filtered(|allocation| allocation.context == self.handle) {
            let _ = self.machine.release(&allocation);
        }
        self.sticky.store(0, Ordering::Release);
        self.pending.store(0, Ordering::Release);
        self.stack.store(STACK, Ordering::Relaxed);
        self.limits.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Destroys it.
    pub fn destroy(&'static self) {
        self.empty();
        self.is_destroyed.store(true, Ordering::Release);
        if let Some(default) = self.default.get() {
            default.close();
        }
        self.machine.handles.remove::<ContextOf>(self.handle);
        let mut contexts = self.machine.contexts.lock().unwrap_or_else(PoisonError::into_inner);
        contexts.retain(|other| !std::ptr::eq(*other, self));
        drop(contexts);
        STACK_OF_CONTEXTS.with_borrow_mut(|stack| {
            if stack.last().is_some_and(|top| std::ptr::eq(*top, self)) {
                stack.pop();
            }
        });
    }
}

/// Local memory of a thread that the architecture allows.
const MAX_STACK: usize = 512 * 1024;

unsafe extern "C" {
    /// C's standard output.
    static stdout: *mut libc::FILE;
}

/// What the handle of a context stands for.
struct ContextOf(&'static Context);
