//! How much work a text may cause.

/// A bound on the bytes that are looked at while a text is searched, repeats included.
///
/// Text that opens a thousand braces and closes none would be read a thousand times to its end. The bound makes the
/// time proportional to the length of the text, whatever is in it; behind it nothing more is found.
#[derive(Debug)]
pub(crate) struct Effort {
    spent: usize,
    limit: usize,
}

impl Effort {
    /// How often each byte may be looked at, on average.
    pub(super) const FACTOR: usize = 16;
    /// What even the shortest text may cause.
    pub(super) const LEAST: usize = 1_024;

    pub(crate) fn on(text: &str) -> Self {
        let limit = text.len().saturating_mul(Self::FACTOR);
        Self {
            spent: 0,
            limit: limit.saturating_add(Self::LEAST),
        }
    }

    /// Notes that so many bytes are looked at; `None` once there were too many.
    pub(super) fn spend(&mut self, bytes: usize) -> Option<()> {
        self.spent = self.spent.saturating_add(bytes);
        (self.spent <= self.limit).then_some(())
    }

    #[cfg(test)]
    pub(super) fn spent(&self) -> usize {
        self.spent
    }

    /// How many bytes may still be looked at.
    pub(super) fn left(&self) -> usize {
        self.limit.saturating_sub(self.spent)
    }
}
