//! Splits the URL of a request.

use dormouse_contracts::invariant;

/// Host and target of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target<'a> {
    /// Host and port, without user and password; empty if the URL starts with the path.
    pub(crate) host: &'a str,
    /// Path and query, without a fragment.
    pub(crate) path_and_query: &'a str,
}

impl<'a> Target<'a> {
    pub(crate) fn of(url: &'a str) -> Self {
        let url = url.split_once('#').map_or(url, |(url, _fragment)| url);
        let Some((_scheme, rest)) = url.split_once("://").filter(|(scheme, _)| {
            // The query may contain another URL.
            scheme
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        }) else {
            return Self {
                host: "",
                path_and_query: url,
            };
        };
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path_and_query) = rest.split_at(end);
        let host = authority
            .rsplit_once('@')
            .map_or(authority, |(_, host)| host);
        let path_and_query = if path_and_query.is_empty() {
            "/"
        } else {
            path_and_query
        };
        Self {
            host,
            path_and_query,
        }
    }

    /// Replaces the host, with or without its port, by `[host]` wherever it is a whole word. Case does not matter.
    pub(crate) fn removed_from(self, text: &str) -> String {
        let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
        let parts = self.host.rsplit_once(':');
        let parts = parts.filter(|(_, port)| is_port(port));
        let name = parts.map_or(self.host, |(name, _)| name);
        let text = without_word(text, self.host);
        without_word(&text, name)
    }
}

/// Replaces this word by `[host]`.
fn without_word(text: &str, word: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '-';
    // Only ASCII letters are folded, so that a position in one text is the same position in the other.
    let (lower, word) = (text.to_ascii_lowercase(), word.to_ascii_lowercase());
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for (at, _) in lower.match_indices(&word).filter(|_| !word.is_empty()) {
        let end = at + word.len();
        let before = invariant!(lower.get(..at), "a match starts at a boundary");
        let behind = invariant!(lower.get(end..), "a match ends at a boundary");
        if at >= copied && !before.ends_with(is_part) && !behind.starts_with(is_part) {
            out.push_str(invariant!(
                text.get(copied..at),
                "a match starts at a boundary"
            ));
            out.push_str("[host]");
            copied = end;
        }
    }
    out.push_str(invariant!(text.get(copied..), "a match ends at a boundary"));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_replaced_as_a_whole_word() {
        for (url, text, expected) in [
            (
                "https://llm.acme.example:8443/v1",
                "error sending request for url (https://llm.acme.example:8443/v1): not valid for name \"LLM.acme.example\"",
                "error sending request for url (https://[host]/v1): not valid for name \"[host]\"",
            ),
            (
                "http://[2001:db8::7]:80/",
                "no route to [2001:db8::7]",
                "no route to [host]",
            ),
            ("http://a/", "a reset, at a.", "[host] reset, at [host]."),
            ("http://on/", "connection closed", "connection closed"),
            ("/v1/x", "connection closed", "connection closed"),
        ] {
            assert_eq!(Target::of(url).removed_from(text), expected, "{url}");
        }
    }

    #[test]
    fn an_address_is_split_without_user_and_password() {
        let target = |host, path_and_query| Target {
            host,
            path_and_query,
        };
        for (url, expected) in [
            (
                "https://alice:pw@api.example.com:8443/v1/a?b=c#d",
                target("api.example.com:8443", "/v1/a?b=c"),
            ),
            ("http://localhost", target("localhost", "/")),
            ("http://localhost?a", target("localhost", "?a")),
            (
                "/v1?next=http://there/x",
                target("", "/v1?next=http://there/x"),
            ),
            ("", target("", "")),
        ] {
            assert_eq!(Target::of(url), expected, "{url}");
        }
    }
}
