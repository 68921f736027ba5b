//! What is not compared.

use std::str::FromStr;

/// A place in JSON that is not compared: a pointer such as `/metadata/user_id`, in which `*` stands for any one member or
/// item. What is below it is not compared either, nor whether it is there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IgnoredPath {
    parts: Vec<String>,
}

/// Why a text is no path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IgnoredPathError {
    /// The whole body would be ignored, or a name without a place.
    #[error("a path begins with `/`: `/seed`, `/messages/*/id`")]
    NoSlash,
}

impl IgnoredPath {
    /// Reads a path: `/`, a name, and so on; `~1` is a slash in a name and `~0` a tilde.
    ///
    /// # Errors
    ///
    /// - [`IgnoredPathError::NoSlash`]: it does not begin with a slash.
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
