//! Values that are kept for later calls.

/// The `MOST` most recently used values, by their keys.
#[derive(Debug)]
pub(super) struct Recent<K, V, const MOST: usize>(Vec<(K, V)>);

impl<K, V, const MOST: usize> Default for Recent<K, V, MOST> {
    fn default() -> Self {
        Recent::new()
    }
}

impl<K, V, const MOST: usize> Recent<K, V, MOST> {
    pub(super) const fn new() -> Self {
        Recent(Vec::new())
    }

    /// Returns the value of the key that fits.
    pub(super) fn find(&mut self, fits: impl Fn(&K) -> bool) -> Option<&mut V> {
        let found = self.0.iter().rposition(|(key, _)| fits(key))?;
        self.0[found..].rotate_left(1);
        self.0.last_mut().map(|(_, value)| value)
    }

    /// Adds a value; the least recently used one goes if there are too many.
    pub(super) fn insert(&mut self, key: K, value: V) -> &mut V {
        if self.0.len() == MOST {
            self.0.remove(0);
        }
        let at = self.0.len();
        self.0.push((key, value));
        &mut self.0[at].1
    }

    /// Returns the value of a key, made if it is new.
    pub(super) fn get(&mut self, key: K, make: impl FnOnce(&K) -> V) -> &mut V
    where
        K: PartialEq,
    {
        // A borrow that is returned from one branch alone would last for both.
        if self.find(|known| *known == key).is_some() {
            return self.0.last_mut().map(|(_, value)| value).expect("it was found");
        }
        let value = make(&key);
        self.insert(key, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_goes() {
        let mut recent = Recent::<_, _, 2>::new();
        assert_eq!([*recent.get(1, |key| 10 * key), *recent.get(2, |key| 10 * key)], [10, 20]);
        assert_eq!(*recent.get(1, |_| 0), 10);
        recent.insert(3, 30);
        assert_eq!([1, 2, 3].map(|key| recent.find(|known| *known == key).copied()), [Some(10), None, Some(30)]);
    }
}
