//! Lua states with their own memory: small blocks without headers, in chunks that belong to one
//! state.
//!
//! A state with a script holds some 2,500 objects of 16 to 100 bytes, and there is a state per
//! thread. A general allocator adds 8 bytes to each of them, rounds up to 16 bytes and keeps freed
//! ones per thread. Lua passes the size when it frees a block, so none of this is needed here: a
//! block is found by size in a list of free blocks, cut from a larger one, or taken from the end of
//! the chunk. The few larger blocks stay with the allocator of the crate mlua.
//!
//! This is the only module of this crate with unsafe code: it opens Lua's unsafe libraries for
//! scripts, and it is an allocator.
#![expect(
    unsafe_code,
    reason = "an allocator hands out raw memory; and scripts rely on ffi, debug and C modules, \
              whose use mlua cannot check"
)]

use mlua::ffi::{lua_Alloc, lua_getallocf, lua_setallocf};
use mlua::{Lua, LuaOptions, StdLib};
use std::alloc::{Layout, alloc, dealloc};
use std::ffi::c_void;
use std::ops::Deref;
use std::ptr::{self, NonNull};

/// Sizes and addresses of blocks are multiples of this, as in LuaJIT's own allocator.
const GRAIN: usize = 8;

/// Minimum block size: a free block holds the address of the next one.
const SMALL_MIN: usize = 16;

/// Maximum size of a block from a chunk: its list is the last of 128.
const SMALL_MAX: usize = 127 * GRAIN;

/// Size of the first chunk; each further one is twice as large, up to [`CHUNK_MAX`]. Untouched
/// memory is not resident.
const CHUNK_MIN: usize = 64 << 10;
const CHUNK_MAX: usize = 1 << 20;

/// A Lua state whose small blocks are in its own chunks.
pub(crate) struct OwnLua {
    // Closed before its memory is freed.
    lua: Lua,
    _heap: Heap,
}

impl OwnLua {
    /// A state with all libraries, including the unsafe ones.
    pub(crate) fn new() -> mlua::Result<Self> {
        Self::with(Heap::new())
    }

    fn with(heap: Heap) -> mlua::Result<Self> {
        // Lua's own pcall and xpcall are kept: in mlua's replacements coroutines cannot yield, and
        // recursion ends the process. SAFETY: what a script does with the FFI, the debug library or
        // C modules is its own responsibility, as in sysbench: it runs with the user's privileges.
        // The prelude only casts addresses of our own functions, to their declared types.
        let lua = unsafe {
            Lua::unsafe_new_with(StdLib::NONE, LuaOptions::new().catch_rust_panics(true))
        };
        // From here on both belong together: on every error the state is closed before its memory
        // is freed.
        let own = Self { lua, _heap: heap };
        own._heap.install(&own.lua)?;
        own.lua.load_std_libs(StdLib::ALL)?;
        Ok(own)
    }
}

impl Deref for OwnLua {
    type Target = Lua;

    fn deref(&self) -> &Lua {
        &self.lua
    }
}

/// Owns the memory of a state. If blocks are still in use when it is dropped, because a clone of
/// the [`Lua`] exists, the memory is leaked.
struct Heap(NonNull<Pools>);

impl Heap {
    fn new() -> Self {
        Self(NonNull::from(Box::leak(Box::new(Pools::new()))))
    }

    /// From now on the state takes its small blocks from this heap, which must outlive it. Existing
    /// blocks stay where they are.
    fn install(&self, lua: &Lua) -> mlua::Result<()> {
        let place = self.0.as_ptr();
        // SAFETY: `allocate` has the signature and semantics of a Lua allocator, with `place` as
        // its data. The pools live until none of their blocks is in use, see `drop`. The former
        // allocator and its data remain valid as long as the state: mlua frees the data, if at all,
        // after closing it. (It does so only for its own allocator, so 32 bytes per state are
        // leaked.)
        unsafe {
            lua.exec_raw::<()>((), |state| {
                let mut data = ptr::null_mut();
                let former = lua_getallocf(state, &raw mut data);
                (*place).former = Some((former, data));
                lua_setallocf(state, allocate, place.cast());
            })
        }
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        // SAFETY: the pools were created in a box. Nobody else drops them, and the state no longer
        // calls `allocate` after freeing all its blocks, because it does so only when it is closed.
        unsafe {
            if self.0.as_ref().used == 0 {
                Pools::release(self.0);
            }
        }
    }
}

impl Pools {
    /// Frees pools that were created in a box.
    ///
    /// # Safety
    /// Nobody may use them any more.
    #[cfg(not(test))]
    unsafe fn release(pools: NonNull<Self>) {
        // SAFETY: as above.
        drop(unsafe { Box::from_raw(pools.as_ptr()) });
    }

    /// In tests they are kept, so that later uses are detected.
    #[cfg(test)]
    unsafe fn release(mut pools: NonNull<Self>) {
        // SAFETY: as above.
        unsafe { pools.as_mut() }.is_gone = true;
    }
}

/// A free block.
struct Free {
    next: *mut Free,
}

/// A piece of memory from which blocks are cut.
struct Chunk {
    start: NonNull<u8>,
    layout: Layout,
}

impl Drop for Chunk {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout by `Pools::grow`.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

/// Chunks with their free blocks.
struct Pools {
    /// Allocator of large blocks and of earlier ones, with its data.
    former: Option<(lua_Alloc, *mut c_void)>,
    /// Lists of free blocks by their size in grains.
    lists: [*mut Free; 128],
    /// One bit for each list that is not empty.
    filled: u128,
    /// The unused end of the newest chunk.
    rest: *mut u8,
    rest_size: usize,
    /// Sorted by address.
    chunks: Vec<Chunk>,
    chunk_next: usize,
    /// Total bytes of blocks in use, and of all chunks.
    used: usize,
    total: usize,
    /// The owner has dropped it.
    #[cfg(test)]
    is_gone: bool,
}

/// Size of a block in grains.
fn grains(size: usize) -> usize {
    size.max(SMALL_MIN).div_ceil(GRAIN)
}

impl Pools {
    fn new() -> Self {
        Self {
            former: None,
            lists: [ptr::null_mut(); 128],
            filled: 0,
            rest: ptr::null_mut(),
            rest_size: 0,
            chunks: Vec::new(),
            chunk_next: CHUNK_MIN,
            used: 0,
            total: 0,
            #[cfg(test)]
            is_gone: false,
        }
    }

    /// Whether an address is in a chunk.
    fn owns(&self, block: *mut u8) -> bool {
        let after = self.chunks.partition_point(|chunk| chunk.start.as_ptr() <= block);
        let chunk = after.checked_sub(1).and_then(|at| self.chunks.get(at));
        chunk.is_some_and(|chunk| block.addr() - chunk.start.addr().get() < chunk.layout.size())
    }

    /// A block of that many grains, from 2 to 127; null when out of memory.
    fn take(&mut self, grains: usize) -> *mut u8 {
        let block = self.find(grains);
        if !block.is_null() {
            self.used += grains * GRAIN;
        }
        block
    }

    /// A block that is not counted as used yet.
    fn find(&mut self, grains: usize) -> *mut u8 {
        if let Some(block) = self.take_free(grains) {
            return block;
        }
        if self.rest_size < grains * GRAIN {
            // Free blocks that are too small may be adjacent.
            let free = self.total - self.used - self.rest_size;
            if free > self.total / 4 {
                self.join();
                if let Some(block) = self.take_free(grains) {
                    return block;
                }
            }
            if !self.grow() {
                return ptr::null_mut();
            }
        }
        let block = self.rest;
        // SAFETY: the rest has at least this many bytes.
        self.rest = unsafe { self.rest.add(grains * GRAIN) };
        self.rest_size -= grains * GRAIN;
        block
    }

    /// A free block of this size, or the beginning of a larger one.
    fn take_free(&mut self, grains: usize) -> Option<*mut u8> {
        if !self.lists[grains].is_null() {
            return Some(self.pop(grains));
        }
        // The remainder must be a block, too.
        let large_enough = u128::MAX.checked_shl(grains as u32 + 2).unwrap_or(0);
        let found = (self.filled & large_enough).trailing_zeros() as usize;
        if found == 128 {
            return None;
        }
        let block = self.pop(found);
        // SAFETY: the block has `found` grains, which is at least 2 more.
        unsafe { self.put(block.add(grains * GRAIN), found - grains) };
        Some(block)
    }

    fn pop(&mut self, grains: usize) -> *mut u8 {
        let block = self.lists[grains];
        // SAFETY: only called for a list that is not empty; blocks in lists are free blocks.
        self.lists[grains] = unsafe { (*block).next };
        if self.lists[grains].is_null() {
            self.filled &= !(1 << grains);
        }
        block.cast()
    }

    /// Adds a free block to its list.
    ///
    /// # Safety
    /// The block must have this many grains (2 to 127) of a chunk, be aligned to a grain, and be
    /// unused.
    unsafe fn put(&mut self, block: *mut u8, grains: usize) {
        let block: *mut Free = block.cast();
        // SAFETY: the block is unused, large enough for a pointer and aligned for one.
        unsafe { block.write(Free { next: self.lists[grains] }) };
        self.lists[grains] = block;
        self.filled |= 1 << grains;
    }

    /// Joins adjacent free blocks. Does nothing when there is no memory for sorting them.
    fn join(&mut self) {
        let mut blocks: Vec<(*mut u8, usize)> = Vec::new();
        if blocks.try_reserve_exact(self.free_blocks()).is_err() {
            return;
        }
        for grains in 0..self.lists.len() {
            while !self.lists[grains].is_null() {
                blocks.push((self.pop(grains), grains));
            }
        }
        blocks.sort_unstable_by_key(|(block, _)| block.addr());
        blocks.dedup_by(|(block, grains), (before, size)| {
            // Chunks may be adjacent, but are freed separately.
            let is_neighbour = before.addr() + *size * GRAIN == block.addr()
                && self
                    .chunks
                    .binary_search_by_key(&block.addr(), |chunk| chunk.start.addr().get())
                    .is_err();
            *size += if is_neighbour { *grains } else { 0 };
            is_neighbour
        });
        for (mut block, mut left) in blocks {
            while left > 0 {
                // No single grain may remain.
                let size = if left == 128 { 126 } else { left.min(127) };
                // SAFETY: adjacent free blocks, or a part of them.
                unsafe {
                    self.put(block, size);
                    block = block.add(size * GRAIN);
                }
                left -= size;
            }
        }
    }

    /// Number of blocks in the lists.
    fn free_blocks(&self) -> usize {
        let length = |first: &*mut Free| {
            // SAFETY: blocks in lists are free blocks, and the last one is followed by null.
            std::iter::successors(NonNull::new(*first), |block| {
                NonNull::new(unsafe { block.as_ref().next })
            })
            .count()
        };
        self.lists.iter().map(length).sum()
    }

    /// Shrinks a block of this heap in place: Lua requires that this cannot fail. The remainder
    /// becomes a free block; a single grain is too small for one and is unusable until the chunk is
    /// freed.
    ///
    /// # Safety
    /// The block must have `old` grains of a chunk and be in use; `new` must be less, but at least
    /// 2.
    unsafe fn shrink(&mut self, block: *mut u8, old: usize, new: usize) {
        self.used -= (old - new) * GRAIN;
        if old - new >= SMALL_MIN / GRAIN {
            // SAFETY: the end of the block, which is no longer used.
            unsafe { self.put(block.add(new * GRAIN), old - new) };
        }
    }

    /// Starts a new chunk. The rest of the last one becomes a free block. Returns false and changes
    /// nothing when out of memory: a script then gets Lua's error "not enough memory".
    fn grow(&mut self) -> bool {
        let layout = Layout::from_size_align(self.chunk_next, 16).expect("a power of two");
        if self.chunks.try_reserve(1).is_err() {
            return false;
        }
        // SAFETY: the size is not 0.
        let Some(start) = NonNull::new(unsafe { alloc(layout) }) else { return false };
        let left = self.rest_size / GRAIN;
        if left >= SMALL_MIN / GRAIN {
            // SAFETY: never used, and smaller than the block that did not fit.
            unsafe { self.put(self.rest, left) };
        }
        self.chunk_next = (self.chunk_next * 2).min(CHUNK_MAX);
        let at = self.chunks.partition_point(|chunk| chunk.start < start);
        self.chunks.insert(at, Chunk { start, layout });
        self.total += layout.size();
        (self.rest, self.rest_size) = (start.as_ptr(), layout.size());
        true
    }
}

/// The Lua allocator: `size` bytes in place of `old_size` at `block`.
///
/// # Safety
/// `data` must be installed pools; `block` must be null or a block of the state with this size.
unsafe extern "C" fn allocate(
    data: *mut c_void,
    block: *mut c_void,
    old_size: usize,
    size: usize,
) -> *mut c_void {
    let pools_at: *mut Pools = data.cast();
    // SAFETY: the pools exist as long as the state, which one thread uses at a time and which is
    // not reentered from here: no allocator calls Lua.
    let pools = unsafe { &mut *pools_at };
    #[cfg(test)]
    assert!(!pools.is_gone, "the state uses memory that is gone");
    let is_own = !block.is_null() && old_size <= SMALL_MAX && pools.owns(block.cast());
    let is_small = (1..=SMALL_MAX).contains(&size);
    if !is_own && !is_small {
        // SAFETY: neither the old nor the new block belongs to the pools.
        return unsafe { pools.former(block, old_size, size) };
    }
    if is_own && is_small && grains(size) == grains(old_size) {
        return block;
    }
    let new: *mut c_void = match size {
        0 => ptr::null_mut(),
        1..=SMALL_MAX => pools.take(grains(size)).cast(),
        // SAFETY: a new block.
        _ => unsafe { pools.former(ptr::null_mut(), 0, size) },
    };
    if block.is_null() || size > old_size && new.is_null() {
        return new;
    }
    if size > 0 && new.is_null() {
        // No memory for a smaller block: the old one is shrunk in place. SAFETY: both are blocks of
        // these sizes. A foreign block stays with its allocator, whatever its size.
        return unsafe {
            if is_own {
                pools.shrink(block.cast(), grains(old_size), grains(size));
                block
            } else {
                pools.former(block, old_size, size)
            }
        };
    }
    // SAFETY: both blocks have at least this many bytes, and Lua no longer uses the old one.
    unsafe {
        if !new.is_null() {
            ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast(), old_size.min(size));
        }
        if is_own {
            pools.used -= grains(old_size) * GRAIN;
            pools.put(block.cast(), grains(old_size));
        } else {
            pools.former(block, old_size, 0);
        }
    }
    new
}

impl Pools {
    /// Calls the former allocator. It ends the process when out of memory, so growing a block is
    /// tried first.
    ///
    /// # Safety
    /// As for `allocate`, for its own blocks.
    unsafe fn former(&mut self, block: *mut c_void, old_size: usize, size: usize) -> *mut c_void {
        if size > old_size && !is_to_be_had(size) {
            return ptr::null_mut();
        }
        match self.former {
            // SAFETY: the state's own allocator with its own data.
            Some((former, data)) => unsafe { former(data, block, old_size, size) },
            None => ptr::null_mut(),
        }
    }
}

/// Whether there is memory for a block of this size now.
fn is_to_be_had(size: usize) -> bool {
    let Ok(layout) = Layout::from_size_align(size, 16) else { return false };
    // SAFETY: the size is not 0 because it exceeds another one; the memory is freed with the same
    // layout.
    unsafe {
        let probe = std::hint::black_box(alloc(layout));
        let is_there = !probe.is_null();
        if is_there {
            dealloc(probe, layout);
        }
        is_there
    }
}

#[cfg(test)]
mod tests;
