//! From the place of a key to the key.

use std::{
    ffi::OsString,
    fs::{self, File, Metadata},
    io::{self, Read},
    path::{Path, PathBuf},
};

use dormouse_contracts::BoxError;
use zeroize::Zeroizing;

use super::{Secret, SecretError, SecretSource, keyring};

/// What is read of a file, in bytes: the longest key, and room for the white space around it.
const FILE_LIMIT: u64 = 2 * Secret::LIMIT as u64;

/// Why a key cannot be had from its place. None of it tells the key, whole or in part.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveSecretError {
    /// The variable is not set, or empty.
    #[error("the environment variable {name} is not set")]
    NotSet {
        /// Which.
        name: String,
    },
    /// What is there is no text.
    #[error("what is in {place} is no UTF-8 text")]
    NotText {
        /// Where.
        place: SecretSource,
    },
    /// What is there is no key.
    #[error("{place} holds no usable key")]
    NoKey {
        /// Where.
        place: SecretSource,
        /// Why not.
        source: SecretError,
    },
    /// The file cannot be read.
    #[error("the file {} with the key cannot be read", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It is a folder, a pipe or a device.
    #[error("{} is not a regular file", path.display())]
    NoFile {
        /// Which.
        path: PathBuf,
    },
    /// Others of this machine can read the file, or change it.
    #[error(
        "the file {} with the key can be read or changed by others on this machine (its mode is {mode:03o}): run chmod 600 on it, \
         and replace the key if others use the machine", path.display()
    )]
    Exposed {
        /// Which.
        path: PathBuf,
        /// Its permissions, as `chmod` takes them.
        mode: u32,
    },
    /// The keyring has nothing of this name.
    #[error("the system's keyring has no {place}")]
    NotInKeyring {
        /// Where it was looked for.
        place: SecretSource,
    },
    /// There is no keyring, it is locked, or it failed.
    #[error("the system's keyring cannot be used")]
    Keyring(#[source] BoxError),
    /// The program cannot use keyrings.
    #[error(
        "this program was built without the feature `keyring`, which keyring: needs; build it again with --features keyring, or use env: or file:"
    )]
    NotBuiltIn,
}

impl SecretSource {
    /// Gets the key from where it lies. White space around it, such as a line's end, does not count.
    ///
    /// The environment is what `environment` says of a variable; a program passes `std::env::var_os`. A file must be a
    /// regular one (a link to one counts), of which at most 8 KiB are read; on Unix nobody but its owner and its group may read it, and
    /// nobody but its owner change it, as systemd and `chmod 600` leave it. A keyring may ask the user to unlock it, and waits.
    /// Blocks meanwhile: in a runtime, call it where blocking is allowed.
    ///
    /// # Errors
    ///
    /// [`ResolveSecretError`], which says what helps and never tells the key.
    pub fn resolve(
        &self,
        environment: impl FnOnce(&str) -> Option<OsString>,
    ) -> Result<Secret, ResolveSecretError> {
        let text = match self {
            Self::Environment(name) => {
                let value = environment(name).filter(|value| !value.is_empty());
                let value =
                    value.ok_or_else(|| ResolveSecretError::NotSet { name: name.clone() })?;
                Zeroizing::new(value.into_encoded_bytes())
            }
            Self::File(path) => read(path)?,
            Self::Keyring { service, user } => keyring::password(self, service, user)?,
        };
        let text = str::from_utf8(&text);
        // Its error would tell how long the text is up to there, and nothing that helps.
        let text = text.map_err(|_told| ResolveSecretError::NotText {
            place: self.clone(),
        })?;
        Secret::try_new(text).map_err(|source| ResolveSecretError::NoKey {
            place: self.clone(),
            source,
        })
    }
}

fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, ResolveSecretError> {
    let failed = |source| ResolveSecretError::File {
        path: path.to_owned(),
        source,
    };
    // A pipe would be waited for when it is opened, so it is looked at before. What counts is what was opened in the end.
    check(path, &fs::metadata(path).map_err(failed)?)?;
    let file = File::open(path).map_err(failed)?;
    check(path, &file.metadata().map_err(failed)?)?;
    // With all the room that it can need: growing would leave copies behind.
    let mut text = Zeroizing::new(Vec::with_capacity(2 * Secret::LIMIT + 1));
    let mut limited = file.take(FILE_LIMIT);
    limited.read_to_end(&mut text).map_err(failed)?;
    Ok(text)
}

fn check(path: &Path, metadata: &Metadata) -> Result<(), ResolveSecretError> {
    if !metadata.is_file() {
        return Err(ResolveSecretError::NoFile {
            path: path.to_owned(),
        });
    }
    match exposed(metadata) {
        Some(mode) => Err(ResolveSecretError::Exposed {
            path: path.to_owned(),
            mode,
        }),
        None => Ok(()),
    }
}

/// The permissions of a file that too many can get at.
#[cfg(unix)]
fn exposed(metadata: &Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    let mode = metadata.permissions().mode() & 0o777;
    (mode & 0o027 != 0).then_some(mode)
}

/// Elsewhere the folder of the user is the protection.
#[cfg(not(unix))]
fn exposed(_: &Metadata) -> Option<u32> {
    None
}

#[cfg(test)]
mod tests;
