//! Which messages of a request are those of an earlier one.

/// A digest of a message. Two messages with one digest are equal, so what was made of the one is also true of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MessageDigest(pub [u8; 16]);

/// The digests of a request's messages, in their order, as far as they are known. Each follows from its message, so requests
/// with the same messages are equal whether or not digests are known.
#[derive(Clone, Debug, Default)]
pub struct MessageDigests(Vec<Option<MessageDigest>>);

impl MessageDigests {
    /// Each digest; `None` for a message whose digest is not known, and for every message after the last.
    pub fn each(&self) -> impl Iterator<Item = Option<MessageDigest>> {
        self.0.iter().copied().chain(std::iter::repeat(None))
    }
}

impl FromIterator<Option<MessageDigest>> for MessageDigests {
    fn from_iter<I: IntoIterator<Item = Option<MessageDigest>>>(digests: I) -> Self {
        Self(digests.into_iter().collect())
    }
}

impl PartialEq for MessageDigests {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
