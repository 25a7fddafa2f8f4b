//! Lists in which each thing stands once, in the order in which it first came; they are short, and
//! hold what has no order of its own.

/// Adds what is not there yet.
pub fn add<T: PartialEq>(list: &mut Vec<T>, one: T) {
    if !list.contains(&one) {
        list.push(one);
    }
}

/// Each once.
pub fn distinct<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut list = Vec::new();
    all.into_iter().for_each(|one| add(&mut list, one));
    list
}

/// The first that is meant; where there is none, a new one at the end.
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

/// Each key once, with all that came with it.
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
