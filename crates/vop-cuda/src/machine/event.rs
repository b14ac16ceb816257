//! Events: places in streams, and when they were passed.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use super::context::Context;
use super::graph::Joined;
use super::stream::{Stream, Ticket};
use super::work::Work;
use crate::status::{Answer, Status};

/// `CU_EVENT_DISABLE_TIMING`.
pub const DISABLE_TIMING: u32 = 2;

/// An event.
pub struct Event {
    /// Its handle.
    pub handle: u64,
    /// Its context.
    pub context: &'static Context,
    /// As the program gave them.
    pub flags: u32,
    recorded: Mutex<Recorded>,
}

#[derive(Clone, Default)]
enum Recorded {
    #[default]
    Never,
    /// In a stream, as this work.
    Stream(Ticket, Mark),
    /// In a capture.
    Capture(Joined),
}

/// When a stream came by.
#[derive(Clone, Default)]
pub struct Mark(Arc<OnceLock<Instant>>);

impl Mark {
    /// The stream comes by.
    pub fn pass(&self) {
        let _ = self.0.set(Instant::now());
    }
}

impl Event {
    /// An event of a context.
    pub fn new(context: &'static Context, handle: u64, flags: u32) -> Event {
        Event { handle, context, flags, recorded: Mutex::default() }
    }

    fn recorded(&self) -> Recorded {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, recorded: Recorded) {
        *self.recorded.lock().unwrap_or_else(PoisonError::into_inner) = recorded;
    }

    /// Notes all that a stream has been given until now.
    ///
    /// # Errors
    /// The stream is of another context, or its capture is broken.
    pub fn record(self: &Arc<Self>, stream: &Arc<Stream>) -> Answer {
        if !std::ptr::eq(stream.context, self.context) {
            return Err(Status::INVALID_HANDLE);
        }
        if let Some(joined) = stream.with_capture(|capturing| capturing.as_ref().map(|capturing| capturing.joined())) {
            self.set(Recorded::Capture(joined?));
            return Ok(());
        }
        let mark = Mark::default();
        let ticket = stream.give(Work::Pass(mark.clone()))?;
        self.set(Recorded::Stream(ticket, mark));
        Ok(())
    }

    /// Notes that a graph comes by here.
    pub fn record_now(&self, mark: Mark, ticket: Ticket) {
        self.set(Recorded::Stream(ticket, mark));
    }

    /// Lets a stream wait for what was noted.
    ///
    /// # Errors
    /// One of both is captured, and the other cannot be captured with it.
    pub fn let_wait(&self, stream: &Arc<Stream>) -> Answer {
        match self.recorded() {
            Recorded::Never => Ok(()),
            Recorded::Capture(joined) => stream.with_capture(|capturing| joined.join(stream, capturing)),
            Recorded::Stream(ticket, _) => {
                if stream.is_capturing() {
                    // The capture would depend on what is not in it.
                    stream.with_capture(|capturing| capturing.iter_mut().for_each(|capturing| capturing.invalidate()));
                    return Err(Status::STREAM_CAPTURE_ISOLATION);
                }
                if !ticket.is_done() {
                    stream.give_after(vec![ticket], Work::Nothing)?;
                }
                Ok(())
            }
        }
    }

    /// Whether the stream has come by.
    ///
    /// # Errors
    /// [`Status::NOT_READY`] if not; and if it was recorded in a capture.
    pub fn query(&self) -> Answer {
        match self.recorded() {
            Recorded::Stream(ticket, _) if !ticket.is_done() => Err(Status::NOT_READY),
            Recorded::Capture(_) => Err(Status::CAPTURED_EVENT),
            _ => Ok(()),
        }
    }

    /// Waits until the stream has come by.
    ///
    /// # Errors
    /// It was recorded in a capture; or a kernel in the context has failed.
    pub fn synchronize(&self) -> Answer {
        match self.recorded() {
            Recorded::Stream(ticket, _) => ticket.wait(),
            Recorded::Capture(_) => return Err(Status::CAPTURED_EVENT),
            Recorded::Never => {}
        }
        self.context.flush();
        self.context.check()
    }

    /// Milliseconds from another event to this one.
    ///
    /// # Errors
    /// One of them was not recorded, or has no times, or was not passed yet.
    pub fn since(&self, start: &Event) -> Answer<f32> {
        let at = |event: &Event| {
            if event.flags & DISABLE_TIMING != 0 {
                return Err(Status::INVALID_HANDLE);
            }
            match event.recorded() {
                Recorded::Stream(_, mark) => mark.0.get().copied().ok_or(Status::NOT_READY),
                _ => Err(Status::INVALID_HANDLE),
            }
        };
        let (from, to) = (at(start)?, at(self)?);
        let seconds = match to.checked_duration_since(from) {
            Some(after) => after.as_secs_f64(),
            None => -from.duration_since(to).as_secs_f64(),
        };
        Ok((seconds * 1e3) as f32)
    }
}
