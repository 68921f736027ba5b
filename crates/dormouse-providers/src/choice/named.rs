//! A model on a server, as `MODEL` or `MODEL@URL`.

use dormouse_contracts::{IdError, ModelName};

/// Why a text names no model.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NamedError {
    /// There is no name, or there is an address in its place.
    NoModel,
    /// What should be the name is not one.
    Model(IdError),
    /// What should be the address is not one.
    Address,
}

/// Model and address. A name may itself begin with an @, but there is none within it.
pub(crate) fn named(text: &str) -> Result<(ModelName, Option<String>), NamedError> {
    let at = text.char_indices().skip(1).find(|(_, c)| *c == '@');
    let (model, base_url) = match at.and_then(|(at, _)| text.split_at_checked(at)) {
        None => (text, None),
        Some((model, url)) => (model, url.strip_prefix('@')),
    };
    // A server that is named without a model.
    let is_only_address = model.starts_with("@http:") || model.starts_with("@https:");
    if model.is_empty() || is_only_address || (model == "@" && base_url.is_none()) {
        return Err(NamedError::NoModel);
    }
    let is_address = |url: &str| url.starts_with("http://") || url.starts_with("https://");
    if !base_url.is_none_or(is_address) {
        return Err(NamedError::Address);
    }
    let model = ModelName::try_new(model).map_err(NamedError::Model)?;
    Ok((model, base_url.map(str::to_owned)))
}
