//! Parses the address of a server.

use dormouse_contracts::{BoxError, invariant};
use reqwest::Url;

/// Why a configuration cannot be used. The user's text is not repeated: it may be a key in the wrong field.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerConfigError {
    /// The base URL is not a URL.
    #[error("the base URL is not a URL; expected one like http://127.0.0.1:8080/v1")]
    InvalidUrl(#[source] BoxError),
    /// The base URL is not the address of a web server.
    #[error(
        "the base URL must begin with http:// or https:// and name a host, as in http://127.0.0.1:8080/v1"
    )]
    NotHttp,
    /// The base URL has parts that a base cannot have, and that would end up in logs.
    #[error(
        "the base URL must not contain a user, a password, a query or a fragment; configure the key separately"
    )]
    NotOnlyAddress,
    /// The HTTP client cannot be created, for example on a machine without certificates.
    #[error("the HTTP client could not be created")]
    Client(#[source] BoxError),
}

/// Checks the base URL of a server without connecting.
///
/// # Errors
///
/// [`ServerConfigError`] if the base URL is invalid.
pub fn check_base_url(text: &str) -> Result<(), ServerConfigError> {
    checked(text).map(drop)
}

/// Returns the URL below which `/chat/completions` and `/embeddings` are, without a slash at the end.
///
/// If no segment of the path is a version (`v1`, `v1beta`, `v4`), `/v1` is added. The path of a method is removed, since
/// users often copy it too.
pub(crate) fn base(text: &str) -> Result<Url, ServerConfigError> {
    let mut url = checked(text)?;
    let path = url.path().trim_end_matches('/');
    let path = without(
        path,
        &[
            "/chat/completions",
            "/responses",
            "/messages",
            "/embeddings",
        ],
    );
    let versioned = path.split('/').any(is_version);
    let path = format!("{path}{}", if versioned { "" } else { "/v1" });
    url.set_path(&path);
    Ok(url)
}

/// Returns the URL below which `/api/embed` is, without a slash at the end. Method paths and the version of the
/// OpenAI-compatible API are removed, since users often copy them too.
pub(crate) fn root(text: &str) -> Result<Url, ServerConfigError> {
    let mut url = checked(text)?;
    let path = url.path().trim_end_matches('/');
    let methods = ["/api/chat", "/api/embed", "/api/embeddings", "/api", "/v1"];
    let path = without(path, &methods).to_owned();
    url.set_path(&path);
    Ok(url)
}

/// Returns the URL of a method below a base.
pub(crate) fn below(base: &Url, method: &str) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}{method}", base.path().trim_end_matches('/')));
    url
}

fn without<'a>(path: &'a str, ends: &[&str]) -> &'a str {
    let mut ends = ends.iter();
    ends.find_map(|end| path.strip_suffix(end)).unwrap_or(path)
}

fn checked(text: &str) -> Result<Url, ServerConfigError> {
    let url =
        Url::parse(text.trim()).map_err(|error| ServerConfigError::InvalidUrl(Box::new(error)))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(ServerConfigError::NotHttp);
    }
    let more = !url.username().is_empty()
        || url.password().is_some()
        || url.query().is_some()
        || url.fragment().is_some();
    if more {
        return Err(ServerConfigError::NotOnlyAddress);
    }
    Ok(url)
}

/// Whether the server is on this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = invariant!(url.host_str(), "the URL of a web server has a host");
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || address
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

fn is_version(segment: &str) -> bool {
    let digits = segment.strip_prefix('v').unwrap_or_default();
    digits.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_adds_a_missing_version_and_removes_method_paths() {
        for (written, base_url) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1"),
            (" http://127.0.0.1:8080/ ", "http://127.0.0.1:8080/v1"),
            ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
            (
                "http://127.0.0.1:8080/v1/chat/completions",
                "http://127.0.0.1:8080/v1",
            ),
            (
                "http://127.0.0.1:8080/v1/responses",
                "http://127.0.0.1:8080/v1",
            ),
            (
                "http://127.0.0.1:8080/v1/embeddings/",
                "http://127.0.0.1:8080/v1",
            ),
            ("https://openrouter.ai/api", "https://openrouter.ai/api/v1"),
            (
                "https://openrouter.ai/api/v1/",
                "https://openrouter.ai/api/v1",
            ),
            (
                "https://example.com/v1beta/openai",
                "https://example.com/v1beta/openai",
            ),
            ("http://[::1]:80/value", "http://[::1]/value/v1"),
        ] {
            assert_eq!(base(written).unwrap().as_str(), base_url, "{written}");
        }
    }

    #[test]
    fn root_removes_method_paths() {
        for (written, method) in [
            ("http://127.0.0.1:11434", "http://127.0.0.1:11434/api/embed"),
            (
                "http://127.0.0.1:11434/api/embed",
                "http://127.0.0.1:11434/api/embed",
            ),
            (
                "http://127.0.0.1:11434/v1/",
                "http://127.0.0.1:11434/api/embed",
            ),
            (
                "https://example.com/ollama/api",
                "https://example.com/ollama/api/embed",
            ),
        ] {
            let url = below(&root(written).unwrap(), "/api/embed");
            assert_eq!(url.as_str(), method, "{written}");
        }
        assert!(root("sk-secret").is_err());
    }

    #[test]
    fn an_invalid_address_is_rejected_and_not_printed() {
        for written in [
            "",
            "sk-secret",
            "127.0.0.1:8080",
            "http://",
            "localhost:8080",
            "file:///sk-secret",
            "ftp://sk-secret",
        ] {
            let error = base(written).unwrap_err();
            let shown = format!("{error} {error:?}");
            assert!(
                shown.contains("http://127.0.0.1:8080/v1") && !shown.contains("sk-secret"),
                "{shown}"
            );
        }
        for written in [
            "http://sk-secret@host",
            "http://a:sk-secret@host",
            "http://host/?key=sk-secret",
            "http://host/#x",
        ] {
            assert!(
                matches!(base(written), Err(ServerConfigError::NotOnlyAddress)),
                "{written}"
            );
        }
    }

    #[test]
    fn only_this_machine_is_loopback() {
        let is_local = |url| is_loopback(&Url::parse(url).unwrap());
        assert!(
            is_local("http://localhost")
                && is_local("http://127.0.0.2:1")
                && is_local("http://[::1]:1")
        );
        assert!(!is_local("http://localhost.example") && !is_local("http://10.0.0.1"));
    }
}
