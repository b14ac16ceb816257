//! Handles: what C has in the place of an object.
//!
//! A handle is a number that is never used twice, so that a handle of something that was destroyed, a null pointer and a handle of another
//! kind are all told from a good one.

use std::any::Any;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

type Object = Arc<dyn Any + Send + Sync>;

/// The objects that handles stand for.
#[derive(Default)]
pub struct Handles {
    objects: RwLock<HashMap<u64, Object>>,
}

/// Not 0, 1 or 2, which CUDA gives to default streams, and no address of anything.
const FIRST: u64 = 0x1000;
/// As far apart as objects would be.
const STEP: u64 = 16;

/// A handle that nothing has had.
pub fn next() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(FIRST);
    NEXT.fetch_add(STEP, Ordering::Relaxed)
}

impl Handles {
    /// Gives an object a handle.
    pub fn add<T: Any + Send + Sync>(&self, object: Arc<T>) -> u64 {
        let handle = next();
        self.set(handle, object);
        handle
    }

    /// Lets a handle of [`next`] stand for an object.
    pub fn set<T: Any + Send + Sync>(&self, handle: u64, object: Arc<T>) {
        self.objects.write().unwrap_or_else(PoisonError::into_inner).insert(handle, object);
    }

    /// The object of a handle, if it is of this type.
    pub fn get<T: Any + Send + Sync>(&self, handle: u64) -> Option<Arc<T>> {
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(objects.get(&handle)?).downcast().ok()
    }

    /// Takes a handle away, whatever it is.
    pub fn forget(&self, handle: u64) {
        self.objects.write().unwrap_or_else(PoisonError::into_inner).remove(&handle);
    }

    /// Takes a handle away.
    pub fn remove<T: Any + Send + Sync>(&self, handle: u64) -> Option<Arc<T>> {
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        let object = objects.get(&handle)?;
        let object = Arc::clone(object).downcast::<T>().ok()?;
        objects.remove(&handle);
        Some(object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_of_one_object_of_one_type() {
        let handles = Handles::default();
        let handle = handles.add(Arc::new(7u32));
        assert_eq!(handles.get::<u32>(handle).as_deref(), Some(&7));
        assert!(handles.get::<u64>(handle).is_none());
        assert!(handles.remove::<u64>(handle).is_none());
        assert!(handles.remove::<u32>(handle).is_some());
        assert!(handles.get::<u32>(handle).is_none());
        assert_ne!(handles.add(Arc::new(8u32)), handle);
    }
}
