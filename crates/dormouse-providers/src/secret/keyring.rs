//! Keys in the keyring of the system.

use zeroize::Zeroizing;

use super::{ResolveSecretError, SecretSource};

/// The password of this entry.
#[cfg(feature = "keyring")]
pub(super) fn password(
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
        // These carry what was found, which may be the key.
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

/// The password of this entry, which only a program with the feature can get.
#[cfg(not(feature = "keyring"))]
pub(super) fn password(
    _: &SecretSource,
    _: &str,
    _: &str,
) -> Result<Zeroizing<Vec<u8>>, ResolveSecretError> {
    Err(ResolveSecretError::NotBuiltIn)
}
