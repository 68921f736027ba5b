//! The address of a request, taken apart.

/// Host and target of an address, as they stand in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target<'a> {
    /// Host and port, without user and password; empty if the address begins with the path.
    pub(crate) host: &'a str,
    /// Path and query, without a fragment.
    pub(crate) path_and_query: &'a str,
}

impl<'a> Target<'a> {
    pub(crate) fn of(url: &'a str) -> Self {
        let url = url.split('#').next().unwrap_or_default();
        let Some((_scheme, rest)) = url.split_once("://").filter(|(scheme, _)| {
            // A path may well have an address in its query.
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
        let host = authority.rsplit('@').next().unwrap_or_default();
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

    /// The text with `[host]` for the host: with its port and without, wherever it is a word of its own, in whatever case.
    pub(crate) fn out_of(self, text: &str) -> String {
        let port = self.host.rfind(':').filter(|colon| {
            let port = self.host.get(colon + 1..).unwrap_or_default();
            port.bytes().all(|byte| byte.is_ascii_digit())
        });
        let name = self.host.get(..port.unwrap_or(self.host.len()));
        let text = without_word(text, self.host);
        without_word(&text, name.unwrap_or_default())
    }
}

/// The text with `[host]` for this word.
fn without_word(text: &str, word: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '-';
    // ASCII alone changes its case here, so that every place is the same in both.
    let (lower, word) = (text.to_ascii_lowercase(), word.to_ascii_lowercase());
    let mut out = String::with_capacity(text.len());
    let mut told = 0;
    for (at, _) in lower.match_indices(&word).filter(|_| !word.is_empty()) {
        let end = at + word.len();
        let before = lower.get(..at).unwrap_or_default();
        let behind = lower.get(end..).unwrap_or_default();
        if at >= told && !before.ends_with(is_part) && !behind.starts_with(is_part) {
            out.push_str(text.get(told..at).unwrap_or_default());
            out.push_str("[host]");
            told = end;
        }
    }
    out.push_str(text.get(told..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_taken_out_where_it_is_a_word() {
        for (url, text, told) in [
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
            assert_eq!(Target::of(url).out_of(text), told, "{url}");
        }
    }

    #[test]
    fn an_address_is_taken_apart_and_user_and_password_are_dropped() {
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
