//! Families of modules between which Rust chooses, from `cuda/modules.txt`: a list of entries for each of their
//! sources, named after the source.

/// A module: its definitions, and its measured figures.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    /// True if it is for single precision, false for double.
    pub(crate) is_float: bool,
    numbers: &'static [(&'static str, f64)],
}

include!(concat!(env!("OUT_DIR"), "/catalogue.rs"));

impl Entry {
    /// Returns a number of the entry. If it is missing, this does not compile.
    pub(crate) const fn number(&self, key: &str) -> f64 {
        match self.find(key) {
            Some(number) => number,
            None => panic!("cuda/modules.txt: a module without a definition or a measurement that its table needs"),
        }
    }

    /// Returns a count of the entry. If it is missing, this does not compile.
    pub(crate) const fn count(&self, key: &str) -> usize {
        self.number(key) as usize
    }

    /// Returns a count of the entry, or the default.
    pub(crate) const fn count_or(&self, key: &str, default: usize) -> usize {
        match self.find(key) {
            Some(number) => number as usize,
            None => default,
        }
    }

    const fn find(&self, key: &str) -> Option<f64> {
        let mut at = 0;
        while at < self.numbers.len() {
            let (name, number) = self.numbers[at];
            if is_same(name.as_bytes(), key.as_bytes()) {
                return Some(number);
            }
            at += 1;
        }
        None
    }
}

/// True if two texts are the same: `==` does not work at compile time.
const fn is_same(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// Defines a static table: the values of a constant function of each entry of a list.
macro_rules! table {
    ($(#[$about:meta])* $table:ident: $module:ty = $new:path, $entries:path) => {
        $(#[$about])*
        pub(super) static $table: [$module; $entries.len()] = {
            let mut modules = [$new(&$entries[0]); $entries.len()];
            let mut at = 1;
            while at < modules.len() {
                modules[at] = $new(&$entries[at]);
                at += 1;
            }
            modules
        };
    };
}
pub(crate) use table;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_their_whole_names() {
        let entry = Entry { name: "", is_float: true, numbers: &[("ROWS", 3.0), ("ROW", 5.0), ("slot", 0.5)] };
        assert_eq!((entry.count("ROWS"), entry.count("ROW"), entry.number("slot")), (3, 5, 0.5));
        assert_eq!(["RO", "ROWSS", "slo", ""].map(|key| entry.count_or(key, 7)), [7; 4]);
    }
}
