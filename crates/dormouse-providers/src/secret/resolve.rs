//! Reads a key from its source.

use std::{
    ffi::OsString,
    fs::{self, File, Metadata},
    io::{self, Read},
    path::{Path, PathBuf},
};

use dormouse_contracts::BoxError;
use zeroize::Zeroizing;

use super::{Secret, SecretError, SecretSource};

/// How much of a file is read, in bytes: the longest key, with some white space around it.
const FILE_LIMIT: u64 = 2 * Secret::LIMIT as u64;

/// Why a key cannot be read. No message contains any part of the key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveSecretError {
    /// The variable is not set, or empty.
    #[error("the environment variable {name} is not set")]
    NotSet {
        /// The variable.
        name: String,
    },
    /// The content is not UTF-8 text.
    #[error("{place} is not UTF-8 text")]
    NotText {
        /// The source.
        place: SecretSource,
    },
    /// The content is not a valid key.
    #[error("{place} has no valid key")]
    NoKey {
        /// The source.
        place: SecretSource,
        /// Why the content is not a valid key.
        source: SecretError,
    },
    /// The file cannot be read.
    #[error("the file {} with the key cannot be read", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The path is a folder, a pipe or a device.
    #[error("{} is not a regular file", path.display())]
    NoFile {
        /// The path.
        path: PathBuf,
    },
    /// Other users can read or change the file.
    #[error(
        "the file {} with the key can be read or changed by others on this machine (its mode is {mode:03o}): run chmod 600 on it, \
         and replace the key if others use the machine", path.display()
    )]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permissions, in octal.
        mode: u32,
    },
    /// The keyring has no such entry.
    #[error("the system's keyring has no {place}")]
    NotInKeyring {
        /// The source.
        place: SecretSource,
    },
    /// There is no keyring, it is locked, or it failed.
    #[error("the system's keyring cannot be used")]
    Keyring(#[source] BoxError),
    /// This program was built without keyrings.
    #[error(
        "this program was built without the feature `keyring`, which keyring: needs; build it again with --features keyring, or use env: or file:"
    )]
    NotBuiltIn,
}

impl SecretSource {
    /// Reads the key. White space around it, such as a newline, is ignored.
    ///
    /// Environment variables are read through `environment`; a program passes `std::env::var_os`. A file must be regular (a
    /// link to one is accepted), and at most 8 KiB are read; on Unix only its owner and group may read it, and only its owner
    /// may change it, as systemd and `chmod 600` set it. A keyring may ask the user to unlock it. This function blocks:
    /// in an async runtime, call it where blocking is allowed.
    ///
    /// # Errors
    ///
    /// [`ResolveSecretError`], with advice and without the key.
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
            Self::Keyring { service, user } => password_in_keyring(self, service, user)?,
        };
        let text = str::from_utf8(&text);
        // The error's position would reveal part of the key's length, and does not help.
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
    // Opening a pipe would block, so the path is checked first. The open file is checked again, because the file at the
    // path may have been replaced in between.
    check(path, &fs::metadata(path).map_err(failed)?)?;
    let file = File::open(path).map_err(failed)?;
    check(path, &file.metadata().map_err(failed)?)?;
    // Full capacity from the start: growing would leave copies of the key in memory.
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

/// Returns the file's permissions if its group may change it, or other users may access it.
#[cfg(unix)]
fn exposed(metadata: &Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    let mode = metadata.permissions().mode() & 0o777;
    (mode & 0o027 != 0).then_some(mode)
}

/// On other systems the user's folder protects the file.
#[cfg(not(unix))]
fn exposed(_: &Metadata) -> Option<u32> {
    None
}

/// Returns the password of this entry.
#[cfg(feature = "keyring")]
fn password_in_keyring(
    place: &SecretSource,
    service: &str,
    user: &str,
) -> Result<Zeroizing<Vec<u8>>, ResolveSecretError> {
    use ::keyring::{Entry, Error};

    let secret = Entry::new(service, user).and_then(|entry| entry.get_secret());
    secret.map(Zeroizing::new).map_err(|error| match error {
        Error::NoEntry => ResolveSecretError::NotInKeyring {
            place: place.clone(),
        },
        // The sources of these errors contain the stored bytes, which may be the key.
        Error::BadEncoding(_) | Error::BadDataFormat(..) => ResolveSecretError::NotText {
            place: place.clone(),
        },
        Error::NoDefaultStore => match Entry::store_status() {
            Err(why) => ResolveSecretError::Keyring(Box::new(why)),
            Ok(()) => ResolveSecretError::Keyring(Box::new(Error::NoDefaultStore)),
        },
        other => ResolveSecretError::Keyring(Box::new(other)),
    })
}

/// Always fails: keyrings need the feature.
#[cfg(not(feature = "keyring"))]
fn password_in_keyring(
    _: &SecretSource,
    _: &str,
    _: &str,
) -> Result<Zeroizing<Vec<u8>>, ResolveSecretError> {
    Err(ResolveSecretError::NotBuiltIn)
}

#[cfg(test)]
mod tests;
