//! Numbers that stand for things of Rust in Lua.

/// Things by number. A number is a whole number below 2^52, so that a Lua number holds it exactly,
/// and is never given out twice: what has gone is not confused with what came after it.
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

/// Bits of a number that are the place; the others are the generation.
const PLACE_BITS: u32 = 22;
const GENERATION_MAX: u32 = (1 << (52 - PLACE_BITS)) - 1;

impl<T> Default for Handles<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), free: Vec::new() }
    }
}

impl<T> Handles<T> {
    /// Takes a thing in; its number is above 0.
    pub(crate) fn insert(&mut self, value: T) -> f64 {
        let place = self.free.pop().unwrap_or_else(|| {
            // Grows by a quarter, not to the double: every thread has such lists, and keeps them.
            if self.entries.len() == self.entries.capacity() {
                self.entries.reserve_exact(1 + self.entries.len() / 4);
            }
            self.entries.push(Entry { generation: 0, value: None });
            u32::try_from(self.entries.len() - 1).expect("memory ends before 2^32 entries")
        });
        let entry = &mut self.entries[place as usize];
        entry.generation += 1;
        entry.value = Some(value);
        (u64::from(entry.generation) << PLACE_BITS | u64::from(place)) as f64
    }

    fn entry(&self, number: f64) -> Option<(usize, u32)> {
        // What is no whole number in range becomes some other number, which is none of ours.
        let number = number as u64;
        let place = (number & ((1 << PLACE_BITS) - 1)) as usize;
        let generation = (number >> PLACE_BITS) as u32;
        (generation > 0 && self.entries.get(place)?.generation == generation)
            .then_some((place, generation))
    }

    #[inline]
    pub(crate) fn get(&self, number: f64) -> Option<&T> {
        let (place, _) = self.entry(number)?;
        self.entries[place].value.as_ref()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, number: f64) -> Option<&mut T> {
        let (place, _) = self.entry(number)?;
        self.entries[place].value.as_mut()
    }

    pub(crate) fn remove(&mut self, number: f64) -> Option<T> {
        let (place, generation) = self.entry(number)?;
        let value = self.entries[place].value.take();
        // A place that has been used too often is left alone for ever.
        if value.is_some() && generation < GENERATION_MAX {
            self.free.push(place as u32);
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
    fn a_number_is_never_given_out_twice() {
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
    fn a_list_takes_little_more_room_than_it_needs() {
        let mut handles = Handles::default();
        for count in 1..200 {
            handles.insert('a');
            let room = handles.entries.capacity();
            assert!(room <= count + 1 + count / 4, "{room} places for {count}");
        }
    }

    #[test]
    fn what_is_no_number_of_ours_is_nothing() {
        let mut handles = Handles::default();
        handles.insert('a');
        for number in [0.0, -1.0, 0.5, 1.0, 1e300, f64::NAN, f64::INFINITY] {
            assert_eq!(handles.get_mut(number), None, "{number}");
        }
    }
}
