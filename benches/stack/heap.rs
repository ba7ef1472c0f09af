//! An allocator that counts, while a row asks it to. At other times it costs one load and a branch that is never taken,
//! for both servers alike.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed},
};

static ON: AtomicBool = AtomicBool::new(false);
static CALLS: AtomicU64 = AtomicU64::new(0);
static LIVE: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);

/// The system's allocator, counted.
pub(crate) struct Counting;

fn count(calls: u64, bytes: i64) {
    CALLS.fetch_add(calls, Relaxed);
    let live = LIVE.fetch_add(bytes, Relaxed) + bytes;
    if bytes > 0 {
        PEAK.fetch_max(live, Relaxed);
    }
}

// SAFETY: every call goes to the system's allocator as it came, and what that one says is what is answered.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if ON.load(Relaxed) {
            count(1, layout.size() as i64);
        }
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if ON.load(Relaxed) {
            count(1, layout.size() as i64);
        }
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if ON.load(Relaxed) {
            count(1, size as i64 - layout.size() as i64);
        }
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if ON.load(Relaxed) {
            count(0, -(layout.size() as i64));
        }
        unsafe { System.dealloc(block, layout) }
    }
}

/// What the heap did since the counting began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heap {
    /// Allocations and reallocations.
    pub(crate) calls: u64,
    /// How many bytes more are held than at the beginning.
    pub(crate) live: i64,
    /// The most that were held at once, beyond those of the beginning.
    pub(crate) peak: i64,
}

/// Counts from here on.
pub(crate) fn start() {
    ON.store(false, Relaxed);
    CALLS.store(0, Relaxed);
    LIVE.store(0, Relaxed);
    PEAK.store(0, Relaxed);
    ON.store(true, Relaxed);
}

/// What has been counted so far.
pub(crate) fn now() -> Heap {
    Heap { calls: CALLS.load(Relaxed), live: LIVE.load(Relaxed), peak: PEAK.load(Relaxed) }
}

/// Counts no more.
pub(crate) fn stop() -> Heap {
    ON.store(false, Relaxed);
    now()
}
