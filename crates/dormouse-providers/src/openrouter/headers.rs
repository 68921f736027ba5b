//! In whose name OpenRouter is asked.

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
    let text = text.replace(char::is_control, " ");
    let text = text.trim();
    let end = (0..=LONGEST.min(text.len()))
        .rev()
        .find(|end| text.is_char_boundary(*end));
    let text = text.get(..end?)?;
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
        assert_eq!(sent("a\r\nX-Evil: 1"), Some(b"a  X-Evil: 1".to_vec()));
        assert_eq!(
            sent("Siebenschläfer"),
            Some("Siebenschläfer".as_bytes().to_vec())
        );
        assert_eq!(sent(&"ä".repeat(200)).map(|value| value.len()), Some(256));
        assert_eq!((sent(""), sent(" \n")), (None, None));
    }
}
