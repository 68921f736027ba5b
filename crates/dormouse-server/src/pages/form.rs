//! Reading a form.

use axum::{
    Form,
    body::Body,
    extract::{FromRequest, Request},
    http::{HeaderMap, HeaderValue, header},
};
use serde::{Deserialize, de::DeserializeOwned};

use crate::{
    extract::read,
    problem::{Problem, ProblemCode},
    service::Shared,
};

/// The fields of a form, within the bounds of every body.
#[derive(Clone, Debug)]
pub(super) struct Fields<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<Shared> for Fields<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, service: &Shared) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let limits = &service.limits;
        let bytes = read(&parts.headers, body, limits.body_bytes, limits.patience).await?;
        let request = Request::from_parts(parts, Body::from(bytes));
        match Form::from_request(request, service).await {
            Ok(Form(fields)) => Ok(Self(fields)),
            Err(error) => Err(ProblemCode::InvalidRequest.because(error.body_text())),
        }
    }
}

/// A form without fields of its own: a button.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Button {
    /// Why, for the log.
    #[serde(default)]
    pub(super) reason: String,
    /// The page from which it was sent.
    #[serde(default)]
    pub(super) back: String,
}

impl Button {
    /// The reason, if there is one.
    pub(super) fn reason(&self) -> Option<String> {
        given(&self.reason)
    }

    /// The page to go back to: a path of this service, or `usual`.
    pub(super) fn back_or(&self, usual: &str) -> String {
        let is_own = self.back.starts_with('/') && !self.back.starts_with("//");
        let is_plain = self
            .back
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        match is_own && is_plain {
            true => self.back.clone(),
            false => usual.to_owned(),
        }
    }
}

/// The header with the etag of the settings that a form shows. With it, the API refuses the change if the settings are
/// different by now.
pub(super) fn if_match(etag: &str) -> Result<HeaderMap, Problem> {
    let unreadable =
        |_| ProblemCode::InvalidRequest.because("the form does not say which settings it changes");
    let etag = HeaderValue::from_str(etag).map_err(unreadable)?;
    Ok(HeaderMap::from_iter([(header::IF_MATCH, etag)]))
}

/// What was written into a field, if anything was. Browsers send line ends as two characters.
pub(super) fn given(field: &str) -> Option<String> {
    let text = field.replace("\r\n", "\n");
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_leads_back_to_pages_of_this_service_only() {
        let back = |back: &str| Button {
            back: back.to_owned(),
            ..Button::default()
        };
        for own in ["/", "/a/hare/?at=7#end"] {
            assert_eq!(back(own).back_or("/x"), own);
        }
        for other in [
            "",
            "//evil.example",
            "https://evil.example",
            "/\\evil.example",
            "/\n/evil",
        ] {
            assert_eq!(back(other).back_or("/x"), "/x", "{other:?}");
        }
    }
}
