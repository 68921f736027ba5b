//! A column of values, one per slot.

/// Values by slot. A slot that was never set reads as the default, so no slot is out of bounds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Column<T>(Vec<T>);

impl<T: Copy + Default> Column<T> {
    /// The value at `place`.
    #[inline]
    pub(crate) fn at(&self, place: u32) -> T {
        self.0.get(place as usize).copied().unwrap_or_default()
    }

    /// Sets the value at `place`, growing as far as needed.
    pub(crate) fn set(&mut self, place: u32, value: T) {
        let place = place as usize;
        if place >= self.0.len() {
            self.0.resize(place + 1, T::default());
        }
        if let Some(old) = self.0.get_mut(place) {
            *old = value;
        }
    }

    /// The value at `place`, mutable; `None` if the column is shorter.
    #[inline]
    pub(crate) fn at_mut(&mut self, place: u32) -> Option<&mut T> {
        self.0.get_mut(place as usize)
    }

    /// Grows the column to at least `len` places.
    pub(crate) fn reach(&mut self, len: usize) {
        if self.0.len() < len {
            self.0.resize(len, T::default());
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<T>()
    }
}
