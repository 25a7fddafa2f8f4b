//! Tests of the heap: random operations of Lua on blocks with checked content, and states without
//! memory.

use super::*;

/// Large blocks from the program's allocator.
unsafe extern "C" fn plain(
    _: *mut c_void,
    block: *mut c_void,
    old_size: usize,
    size: usize,
) -> *mut c_void {
    let layout = |size| Layout::from_size_align(size, 8).unwrap();
    // SAFETY: called like `allocate`.
    unsafe {
        match (block.is_null(), size) {
            (true, 0) => ptr::null_mut(),
            (true, _) => alloc(layout(size)).cast(),
            (false, 0) => {
                dealloc(block.cast(), layout(old_size));
                ptr::null_mut()
            }
            (false, _) => std::alloc::realloc(block.cast(), layout(old_size), size).cast(),
        }
    }
}

fn pools() -> Pools {
    Pools { former: Some((plain, ptr::null_mut())), ..Pools::new() }
}

/// A block with known content.
struct Block {
    place: *mut u8,
    size: usize,
    mark: u8,
}

impl Block {
    fn new(pools: &mut Pools, size: usize, mark: u8) -> Self {
        let mut block = Self { place: ptr::null_mut(), size: 0, mark };
        block.resize(pools, size);
        block
    }

    fn resize(&mut self, pools: &mut Pools, size: usize) {
        self.check();
        let data: *mut Pools = pools;
        // SAFETY: the pools are alive, the block belongs to them and has this size.
        unsafe {
            self.place = allocate(data.cast(), self.place.cast(), self.size, size).cast();
            let kept = self.size.min(size);
            for at in 0..kept {
                assert_eq!(*self.place.add(at), self.mark);
            }
            for at in kept..size {
                self.place.add(at).write(self.mark);
            }
        }
        self.size = size;
    }

    fn check(&self) {
        assert!(self.place.addr().is_multiple_of(GRAIN));
        for at in 0..self.size {
            // SAFETY: the block has this size and was filled.
            assert_eq!(unsafe { *self.place.add(at) }, self.mark);
        }
    }
}

#[test]
fn blocks_keep_their_content_through_any_order_of_operations() {
    let (mut pools, mut blocks, mut seed) = (pools(), Vec::new(), 1u64);
    for step in 0..40_000u32 {
        // Knuth's generator for 64 bits.
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (choice, number) = ((seed >> 60) as usize, (seed >> 33) as usize);
        let size = match number % 8 {
            0 => 1 + number / 8 % (2 * SMALL_MAX),
            1 => SMALL_MAX - 8 + number / 8 % 16,
            _ => 1 + number / 8 % 120,
        };
        // More is freed than allocated in the second half.
        match choice {
            0..3 if !blocks.is_empty() => {
                let at = number % blocks.len();
                let block: &mut Block = &mut blocks[at];
                block.resize(&mut pools, size);
            }
            3..8 if !blocks.is_empty() => {
                blocks.swap_remove(number % blocks.len()).resize(&mut pools, 0);
            }
            8..11 if step > 20_000 && !blocks.is_empty() => {
                blocks.swap_remove(number % blocks.len()).resize(&mut pools, 0);
            }
            _ => blocks.push(Block::new(&mut pools, size, step as u8)),
        }
    }
    assert!(pools.chunks.len() > 1, "the test is too small");
    blocks.iter_mut().for_each(|block| block.resize(&mut pools, 0));
    assert_eq!(pools.used, 0);
}

#[test]
fn memory_freed_in_small_pieces_is_reused_for_larger_blocks() {
    let mut pools = pools();
    let mut fill = |size: usize, count: usize| {
        let mut blocks: Vec<Block> = (0..count).map(|_| Block::new(&mut pools, size, 7)).collect();
        blocks.iter_mut().for_each(|block| block.resize(&mut pools, 0));
        (pools.total, pools.used)
    };
    let (total, _) = fill(16, 20_000);
    assert_eq!(fill(1000, 300), (total, 0));
    assert_eq!(fill(16, 20_000), (total, 0));
}

#[test]
fn out_of_memory_is_an_error_in_lua_and_does_not_end_the_process() {
    let own = OwnLua::new().unwrap();
    // SAFETY: nobody else uses the pools meanwhile.
    unsafe {
        // No machine has an exbibyte.
        assert!((*own._heap.0.as_ptr()).former(ptr::null_mut(), 0, 1 << 60).is_null());
        (*own._heap.0.as_ptr()).chunk_next = 1 << 60;
    }
    let error = own.load("local t = {} for i = 1, 1e6 do t[i] = {i} end").exec().unwrap_err();
    assert!(error.to_string().contains("not enough memory"), "{error}");
    let mut pools = pools();
    pools.chunk_next = 1 << 60;
    assert!(pools.take(4).is_null());
    assert_eq!((pools.used, pools.total), (0, 0));
    pools.chunk_next = CHUNK_MIN;
    assert!(!pools.take(4).is_null());
}

#[test]
fn a_state_that_runs_out_of_memory_while_it_is_created_is_closed_before_its_memory_is_freed() {
    let heap = Heap::new();
    // SAFETY: nobody else uses the pools meanwhile. No machine has an exbibyte.
    unsafe { (*heap.0.as_ptr()).chunk_next = 1 << 60 };
    let Err(error) = OwnLua::with(heap) else { panic!("a state without memory") };
    assert!(error.to_string().contains("not enough memory"), "{error}");
}

#[test]
fn a_block_can_be_shrunk_when_out_of_memory() {
    let mut pools = pools();
    // A chunk full of blocks, and one block that is too large for it.
    let mut blocks = vec![Block::new(&mut pools, 2_000, 1)];
    pools.chunk_next = CHUNK_MIN;
    while pools.chunks.is_empty() || pools.rest_size >= SMALL_MAX {
        blocks.push(Block::new(&mut pools, SMALL_MAX, 2));
    }
    while pools.rest_size >= SMALL_MIN {
        blocks.push(Block::new(&mut pools, SMALL_MIN, 3));
    }
    pools.chunk_next = 1 << 60;
    assert!(pools.take(2).is_null());
    // From the allocator of large blocks; by one grain, by more, and to the minimum.
    for (at, size) in [(0, 1_000), (0, 16), (1, SMALL_MAX - GRAIN), (2, 900), (3, 1), (4, 24)] {
        blocks[at].resize(&mut pools, size);
        assert!(!blocks[at].place.is_null());
    }
    assert!(!pools.take(2).is_null(), "what was left over can be taken");
    pools.used -= SMALL_MIN;
    blocks.iter_mut().for_each(|block| block.resize(&mut pools, 0));
    assert_eq!(pools.used, 0);
}

#[test]
fn a_state_frees_all_its_blocks_when_it_is_closed() {
    let OwnLua { lua, _heap: heap } = OwnLua::new().unwrap();
    lua.load("t = {} for i = 1, 2000 do t[i] = { tostring(i), function() return i end } end")
        .exec()
        .unwrap();
    lua.load("for i = 1, 2000, 2 do t[i] = ('x'):rep(i) end collectgarbage()").exec().unwrap();
    // SAFETY: nobody else uses the pools meanwhile.
    let used = || unsafe { heap.0.as_ref().used };
    assert!(used() > 100_000);
    drop(lua);
    assert_eq!(used(), 0);
}

#[test]
fn the_memory_of_a_state_with_a_remaining_clone_is_kept() {
    let own = OwnLua::new().unwrap();
    let kept = (*own).clone();
    drop(own);
    let text: String = kept
        .load("local t = {} for i = 1, 100 do t[i] = 'n' .. i end return t[100]")
        .call(())
        .unwrap();
    assert_eq!(text, "n100");
}
