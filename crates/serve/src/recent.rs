//! Items under numbers that addresses can carry, of which only the latest are kept.

use std::collections::VecDeque;

/// The latest items, numbered from 1 in the order in which they came.
pub(crate) struct Recent<T> {
    last: u64,
    items: VecDeque<(u64, T)>,
}

impl<T> Default for Recent<T> {
    fn default() -> Recent<T> {
        Recent { last: 0, items: VecDeque::new() }
    }
}

impl<T> Recent<T> {
    /// Returns the number of the next item. No number is given twice.
    pub(crate) fn next_number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Returns how many numbers were given.
    pub(crate) fn numbers(&self) -> u64 {
        self.last
    }

    /// Keeps an item. If there are more than `max` now, removes the oldest that `may_go` and
    /// returns it.
    pub(crate) fn add(
        &mut self,
        number: u64,
        item: T,
        max: usize,
        may_go: impl Fn(&T) -> bool,
    ) -> Option<T> {
        self.items.push_back((number, item));
        if self.items.len() <= max {
            return None;
        }
        let oldest = self.items.iter().position(|(_, item)| may_go(item))?;
        self.items.remove(oldest).map(|(_, item)| item)
    }

    /// Finds an item by its number.
    pub(crate) fn find(&self, number: u64) -> Option<&T> {
        self.iter().find(|(other, _)| *other == number).map(|(_, item)| item)
    }

    /// Returns the items with their numbers, the oldest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, &T)> {
        self.items.iter().map(|(number, item)| (*number, item))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_item_that_may_go_makes_room() {
        let mut recent = Recent::default();
        for item in ["held", "a", "b"] {
            let number = recent.next_number();
            assert_eq!(recent.add(number, item, 3, |_| true), None);
        }
        let number = recent.next_number();
        assert_eq!(recent.add(number, "c", 3, |item| *item != "held"), Some("a"));
        assert_eq!(
            (recent.find(1), recent.find(2), recent.find(4)),
            (Some(&"held"), None, Some(&"c"))
        );
        let number = recent.next_number();
        assert_eq!(recent.add(number, "d", 3, |_| false), None);
        let numbers: Vec<u64> = recent.iter().map(|(number, _)| number).collect();
        assert_eq!(numbers, [1, 3, 4, 5]);
    }
}
