//! In whose name OpenRouter is asked.

use dormouse_text::{beginning_bytes, one_line};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue, REFERER};

use super::OpenRouterConfig;

/// The longest value that is sent, in bytes.
const LONGEST: usize = 256;

/// The headers that name the application.
pub(super) fn headers(config: &OpenRouterConfig) -> HeaderMap {
    let named = [
        (HeaderName::from_static("x-title"), &config.app_name),
        (REFERER, &config.site_url),
        (HeaderName::from_static("http-referer"), &config.site_url),
    ];
    let values = named
        .into_iter()
        .filter_map(|(name, text)| Some((name, value(text)?)));
    values.collect()
}

/// The text as a header has it; nothing where there is none.
fn value(text: &str) -> Option<HeaderValue> {
    let line = one_line(text);
    let text = beginning_bytes(&line, LONGEST);
    HeaderValue::from_bytes(text.as_bytes())
        .ok()
        .filter(|_| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_travels_whatever_is_in_it() {
        let sent = |text: &str| value(text).map(|value| value.as_bytes().to_vec());
        assert_eq!(sent("Dormouse"), Some(b"Dormouse".to_vec()));
        assert_eq!(
            sent("a\r\nX-\u{200b}Evil: 1"),
            Some(b"a X-Evil: 1".to_vec())
        );
        assert_eq!(
            sent("Siebenschläfer"),
            Some("Siebenschläfer".as_bytes().to_vec())
        );
        assert_eq!(sent(&"ä".repeat(200)).map(|value| value.len()), Some(256));
        assert_eq!((sent(""), sent(" \n")), (None, None));
    }
}
