//! Faults that happen a given number of times.

/// A fault of kind `K` for the next few calls.
#[derive(Debug)]
pub(crate) struct Fault<K> {
    left: usize,
    kind: Option<K>,
}

impl<K> Default for Fault<K> {
    fn default() -> Self {
        Self {
            left: 0,
            kind: None,
        }
    }
}

impl<K: Copy> Fault<K> {
    /// A fault for the next `count` calls.
    pub(crate) fn next(count: usize, kind: K) -> Self {
        Self {
            left: count,
            kind: Some(kind),
        }
    }

    /// Uses up one fault and returns it as an error. Succeeds if no fault is left.
    pub(crate) fn strike(&mut self) -> Result<(), K> {
        match (self.left.checked_sub(1), self.kind) {
            (Some(left), Some(kind)) => {
                self.left = left;
                Err(kind)
            }
            _ => Ok(()),
        }
    }
}
