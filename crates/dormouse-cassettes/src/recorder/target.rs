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
}

#[cfg(test)]
mod tests {
    use super::*;

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
