//! Fixed-width little-endian fields, read from the front of a slice without ever running past its end.

/// What is left to read of a slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.0
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, tail) = self.0.split_first_chunk::<N>()?;
        self.0 = tail;
        Some(*head)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(u8::from_le_bytes)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn i64(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }

    /// The next `length` bytes as text.
    pub(crate) fn text(&mut self, length: usize) -> Option<&'a str> {
        let (head, tail) = self.0.split_at_checked(length)?;
        self.0 = tail;
        std::str::from_utf8(head).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_in_order_and_never_past_the_end() {
        let mut fields = Fields::of(&[1, 2, 0, b'a', b'b', 9]);
        assert_eq!(fields.u8(), Some(1));
        assert_eq!(fields.u16(), Some(2));
        assert_eq!(fields.text(2), Some("ab"));
        assert_eq!(fields.u16(), None);
        assert_eq!(fields.rest(), [9], "a failed read takes nothing");
    }
}
