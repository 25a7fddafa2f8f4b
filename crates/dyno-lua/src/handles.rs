//! Handles: numbers that stand for Rust objects in Lua.

/// Objects by handle. A handle is an integer below 2^52, which a Lua number holds exactly, and is
/// never reused: a removed object is not confused with a later one.
#[derive(Debug)]
pub(crate) struct Handles<T> {
    entries: Vec<Entry<T>>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Entry<T> {
    generation: u32,
    value: Option<T>,
}

/// Bits of a handle for the index; the others are the generation.
const INDEX_BITS: u32 = 22;
const GENERATION_MAX: u32 = (1 << (52 - INDEX_BITS)) - 1;

impl<T> Default for Handles<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), free: Vec::new() }
    }
}

impl<T> Handles<T> {
    /// Stores an object; its handle is above 0.
    pub(crate) fn insert(&mut self, value: T) -> f64 {
        let index = self.free.pop().unwrap_or_else(|| {
            // Grows by a quarter instead of doubling: every thread has and keeps such lists.
            if self.entries.len() == self.entries.capacity() {
                self.entries.reserve_exact(1 + self.entries.len() / 4);
            }
            self.entries.push(Entry { generation: 0, value: None });
            u32::try_from(self.entries.len() - 1).expect("memory ends before 2^32 entries")
        });
        let entry = &mut self.entries[index as usize];
        entry.generation += 1;
        entry.value = Some(value);
        (u64::from(entry.generation) << INDEX_BITS | u64::from(index)) as f64
    }

    fn entry(&self, handle: f64) -> Option<(usize, u32)> {
        // A number out of range becomes some other number, which is not a handle.
        let number = handle as u64;
        let index = (number & ((1 << INDEX_BITS) - 1)) as usize;
        let generation = (number >> INDEX_BITS) as u32;
        (generation > 0 && self.entries.get(index)?.generation == generation)
            .then_some((index, generation))
    }

    #[inline]
    pub(crate) fn get(&self, handle: f64) -> Option<&T> {
        let (index, _) = self.entry(handle)?;
        self.entries[index].value.as_ref()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, handle: f64) -> Option<&mut T> {
        let (index, _) = self.entry(handle)?;
        self.entries[index].value.as_mut()
    }

    pub(crate) fn remove(&mut self, handle: f64) -> Option<T> {
        let (index, generation) = self.entry(handle)?;
        let value = self.entries[index].value.take();
        // An index that has been used too often is never used again.
        if value.is_some() && generation < GENERATION_MAX {
            self.free.push(index as u32);
        }
        value
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.entries.iter_mut().filter_map(|entry| entry.value.as_mut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_never_reused() {
        let mut handles = Handles::default();
        let first = handles.insert('a');
        assert_eq!(handles.remove(first), Some('a'));
        let second = handles.insert('b');
        assert_ne!(first, second);
        assert_eq!(handles.get(first), None);
        assert_eq!(handles.remove(first), None);
        assert_eq!(handles.get(second), Some(&'b'));
    }

    #[test]
    fn a_list_takes_little_more_memory_than_it_needs() {
        let mut handles = Handles::default();
        for count in 1..200 {
            handles.insert('a');
            let room = handles.entries.capacity();
            assert!(room <= count + 1 + count / 4, "{room} places for {count}");
        }
    }

    #[test]
    fn invalid_handles_refer_to_nothing() {
        let mut handles = Handles::default();
        handles.insert('a');
        for number in [0.0, -1.0, 0.5, 1.0, 1e300, f64::NAN, f64::INFINITY] {
            assert_eq!(handles.get_mut(number), None, "{number}");
        }
    }
}
