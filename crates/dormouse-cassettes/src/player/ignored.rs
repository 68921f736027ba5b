//! Paths of JSON members that are not compared.

use std::str::FromStr;

/// A JSON path that is not compared: a pointer such as `/metadata/user_id`, in which `*` matches any one member or
/// item. The value below it may differ or be missing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IgnoredPath {
    parts: Vec<String>,
}

/// Why a text is not a valid path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IgnoredPathError {
    /// It does not start with a slash; an empty path would ignore the whole body.
    #[error("expected a path that starts with `/`, as in `/seed` or `/messages/*/id`")]
    NoSlash,
}

impl IgnoredPath {
    /// Parses a path, such as `/messages/*/id`. In a name, `~1` means a slash and `~0` a tilde.
    ///
    /// # Errors
    ///
    /// - [`IgnoredPathError::NoSlash`]: it does not start with a slash.
    pub fn try_new(path: &str) -> Result<Self, IgnoredPathError> {
        let path = path.strip_prefix('/').ok_or(IgnoredPathError::NoSlash)?;
        let parts = path.split('/');
        let parts = parts.map(|part| part.replace("~1", "/").replace("~0", "~"));
        Ok(Self {
            parts: parts.collect(),
        })
    }

    pub(super) fn covers(&self, place: &[String]) -> bool {
        let same = |(ignored, part): (&String, &String)| ignored == "*" || ignored == part;
        place.len() == self.parts.len() && self.parts.iter().zip(place).all(same)
    }
}

impl FromStr for IgnoredPath {
    type Err = IgnoredPathError;

    fn from_str(path: &str) -> Result<Self, Self::Err> {
        Self::try_new(path)
    }
}
