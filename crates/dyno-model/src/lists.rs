//! Lists without duplicates, in the order of first occurrence. They are short, and their elements
//! need not be ordered.

/// Adds the item unless the list already contains it.
pub fn add<T: PartialEq>(list: &mut Vec<T>, one: T) {
    if !list.contains(&one) {
        list.push(one);
    }
}

/// Removes duplicates.
pub fn distinct<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut list = Vec::new();
    all.into_iter().for_each(|one| add(&mut list, one));
    list
}

/// The first matching element; without one, a new element is appended.
pub fn entry<T>(
    list: &mut Vec<T>,
    is_meant: impl Fn(&T) -> bool,
    new: impl FnOnce() -> T,
) -> &mut T {
    let at = list.iter().position(is_meant).unwrap_or_else(|| {
        list.push(new());
        list.len() - 1
    });
    &mut list[at]
}

/// Groups by key: each key once, with all its values.
pub fn grouped<K: PartialEq, V>(all: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in all {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_stand_once_in_the_order_in_which_they_came() {
        assert_eq!(distinct([3, 1, 3, 2, 1]), [3, 1, 2]);
        assert_eq!(grouped([("b", 1), ("a", 2), ("b", 3)]), [("b", vec![1, 3]), ("a", vec![2])]);
        let mut list = vec![(1, "one")];
        entry(&mut list, |it| it.0 == 1, || (1, "new")).1 = "changed";
        entry(&mut list, |it| it.0 == 2, || (2, "new"));
        assert_eq!(list, [(1, "changed"), (2, "new")]);
    }
}
