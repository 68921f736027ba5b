//! Unique identities of files.

use std::hash::{BuildHasher, RandomState};

/// Returns a new file identity: 128 random bits as 32 hexadecimal digits. Store it in the file.
///
/// The identity is drawn here and not passed in, because a file with another file's identity could replace that file.
/// No decision depends on its value.
#[must_use]
pub fn unique_id() -> String {
    // The operating system supplies the random key of each `RandomState`.
    let key = RandomState::new();
    format!("{:016x}{:016x}", key.hash_one(0_u8), key.hash_one(1_u8))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_identities_are_the_same() {
        let drawn: BTreeSet<String> = (0..1_000).map(|_| unique_id()).collect();
        assert_eq!(drawn.len(), 1_000);
        let is_hex = |id: &String| id.len() == 32 && id.chars().all(|c| c.is_ascii_hexdigit());
        assert!(drawn.iter().all(is_hex));
    }
}
