//! A value that is computed from other fields.

use std::sync::OnceLock;

/// A value that is computed from other fields when it is needed for the first time. It is not a part of the state: two states
/// are equal whether it is computed or not. A change of one of the other fields sets the default again.
#[derive(Clone, Debug)]
pub(super) struct Derived<T>(OnceLock<T>);

impl<T> Derived<T> {
    pub(super) fn get_or_make(&self, make: impl FnOnce() -> T) -> &T {
        self.0.get_or_init(make)
    }
}

impl<T> Default for Derived<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<T> PartialEq for Derived<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
