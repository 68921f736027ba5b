//! Where the server is, from what a user wrote.

use dormouse_contracts::BoxError;
use reqwest::Url;

/// Why no client of a server can be made from a configuration. What the user wrote is not repeated: it may be a key that went into
/// the wrong field.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerConfigError {
    /// It cannot be read as a URL.
    #[error("the base URL is no URL; expected one like http://127.0.0.1:8080/v1")]
    NoUrl(#[source] BoxError),
    /// It names no web server.
    #[error(
        "the base URL must begin with http:// or https:// and name a host, as in http://127.0.0.1:8080/v1"
    )]
    NotHttp,
    /// Parts of a URL that a base cannot have, and that would end up in logs.
    #[error(
        "the base URL must not contain a user, a password, a query or a fragment; a key is configured apart from it"
    )]
    MoreThanAnAddress,
    /// The HTTP client could not be made; on a machine without certificates, for instance.
    #[error("no HTTP client could be made")]
    Client(#[source] BoxError),
}

/// Checks the base URL of a server. Connects to nothing.
///
/// # Errors
///
/// [`ServerConfigError`] if it cannot be one.
pub fn check_base_url(text: &str) -> Result<(), ServerConfigError> {
    checked(text).map(drop)
}

/// The URL below which `/chat/completions` and `/embeddings` are, without a slash at its end.
///
/// Where no segment of the path is a version (`v1`, `v1beta`, `v4`), `/v1` is added; the path of the method itself is
/// removed, since it is often copied along.
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

/// The URL below which `/api/embed` is, without a slash at its end. What is below it, and the version of the other
/// API that such servers speak, is removed, since it is often copied along.
pub(crate) fn root(text: &str) -> Result<Url, ServerConfigError> {
    let mut url = checked(text)?;
    let path = url.path().trim_end_matches('/');
    let methods = ["/api/chat", "/api/embed", "/api/embeddings", "/api", "/v1"];
    let path = without(path, &methods).to_owned();
    url.set_path(&path);
    Ok(url)
}

/// The URL of a method below a base.
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
    let url = Url::parse(text.trim()).map_err(|error| ServerConfigError::NoUrl(Box::new(error)))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(ServerConfigError::NotHttp);
    }
    let more = !url.username().is_empty()
        || url.password().is_some()
        || url.query().is_some()
        || url.fragment().is_some();
    if more {
        return Err(ServerConfigError::MoreThanAnAddress);
    }
    Ok(url)
}

/// Is the server on this machine?
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
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
    fn a_base_is_the_same_with_and_without_its_version() {
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
    fn a_root_is_the_same_with_and_without_what_is_below_it() {
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
    fn what_is_no_address_is_refused_without_repeating_it() {
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
            let told = format!("{error} {error:?}");
            assert!(
                told.contains("http://127.0.0.1:8080/v1") && !told.contains("sk-secret"),
                "{told}"
            );
        }
        for written in [
            "http://sk-secret@host",
            "http://a:sk-secret@host",
            "http://host/?key=sk-secret",
            "http://host/#x",
        ] {
            assert!(
                matches!(base(written), Err(ServerConfigError::MoreThanAnAddress)),
                "{written}"
            );
        }
    }

    #[test]
    fn only_this_machine_is_loopback() {
        let told = |url| is_loopback(&Url::parse(url).unwrap());
        assert!(told("http://localhost") && told("http://127.0.0.2:1") && told("http://[::1]:1"));
        assert!(!told("http://localhost.example") && !told("http://10.0.0.1"));
    }
}
