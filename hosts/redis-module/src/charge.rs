//! The maps' memory in Redis's accounting. `maxmemory`, eviction and `INFO` count the memory of Redis's
//! allocator, and a map's nodes are mapped from the system. So the module keeps blocks of Redis's allocator
//! of the same total size as its maps. Nothing is ever written to a block, so it takes address space and no
//! memory.

use redis_module::alloc::RedisAlloc;
use std::alloc::{GlobalAlloc, Layout};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The unit of charging: Redis's accounting lags by less than this.
const BLOCK: Layout = match Layout::from_size_align(64 << 10, 8) {
    Ok(layout) => layout,
    Err(_) => unreachable!(),
};

/// Bytes of all maps.
static HELD: AtomicUsize = AtomicUsize::new(0);
/// How many blocks are kept; changed with [`BLOCKS`] locked.
static KEPT: AtomicUsize = AtomicUsize::new(0);
static BLOCKS: Mutex<Vec<Block>> = Mutex::new(Vec::new());

/// A block of Redis's allocator.
struct Block(NonNull<u8>);

// SAFETY: memory that nothing refers to.
unsafe impl Send for Block {}

impl Block {
    fn new() -> Option<Self> {
        // SAFETY: the block has a size, and Redis's allocator is there once the module is loaded.
        NonNull::new(unsafe { RedisAlloc.alloc(BLOCK) }).map(Self)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: from `new`, with this layout.
        unsafe { RedisAlloc.dealloc(self.0.as_ptr(), BLOCK) };
    }
}

/// The charge for one map, until it is dropped.
#[derive(Default)]
pub struct Charge(AtomicUsize);

impl Charge {
    /// The map holds this many bytes now.
    pub fn set(&self, bytes: usize) {
        let before = self.0.swap(bytes, Ordering::Relaxed);
        HELD.fetch_add(bytes.wrapping_sub(before), Ordering::Relaxed);
        if HELD.load(Ordering::Relaxed) / BLOCK.size() != KEPT.load(Ordering::Relaxed) {
            settle();
        }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.set(0);
    }
}

/// Keeps as many blocks as the maps hold memory for.
#[cold]
fn settle() {
    let mut blocks = BLOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    let wanted = HELD.load(Ordering::Relaxed) / BLOCK.size();
    blocks.truncate(wanted);
    while blocks.len() < wanted
        && let Some(block) = Block::new()
    {
        blocks.push(block);
    }
    KEPT.store(blocks.len(), Ordering::Relaxed);
}
