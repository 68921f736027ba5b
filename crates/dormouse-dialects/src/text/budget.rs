//! Bounds the work that a text can cause.

/// A bound on the bytes read while a text is scanned, including repeated reads.
///
/// A text that opens a thousand braces and closes none would be read a thousand times to its end. The bound makes the
/// time linear in the length of the text. When the budget is spent, the scan ends.
#[derive(Debug)]
pub(crate) struct ScanBudget {
    spent: usize,
    limit: usize,
}

impl ScanBudget {
    /// How often each byte may be read, on average.
    pub(super) const FACTOR: usize = 16;
    /// How many bytes may be read in addition, so that short texts have enough.
    pub(super) const LEAST: usize = 1_024;

    pub(crate) fn on(text: &str) -> Self {
        let limit = text.len().saturating_mul(Self::FACTOR);
        Self {
            spent: 0,
            limit: limit.saturating_add(Self::LEAST),
        }
    }

    /// Counts bytes as read; `None` if the budget is exceeded.
    pub(super) fn spend(&mut self, bytes: usize) -> Option<()> {
        self.spent = self.spent.saturating_add(bytes);
        (self.spent <= self.limit).then_some(())
    }

    #[cfg(test)]
    pub(super) fn spent(&self) -> usize {
        self.spent
    }

    /// The number of bytes left.
    pub(super) fn left(&self) -> usize {
        self.limit.saturating_sub(self.spent)
    }
}
