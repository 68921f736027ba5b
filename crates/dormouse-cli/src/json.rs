//! One JSON object on one line.

use serde::Serialize;

use crate::neutralise::escape_json;

/// The value on one line, with its line feed. No part of it can control a terminal.
pub(crate) fn line<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
    let json = serde_json::to_string(value)?;
    Ok(format!("{}\n", escape_json(&json)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::{End, EndLine, Item};

    #[test]
    fn a_line_is_one_object_with_its_type_and_nothing_active_in_it() {
        let item = Item::Notice {
            text: "a\u{1b}[2J\nb\u{7f}\u{9b}\u{202e}".to_owned(),
        };
        assert_eq!(
            line(&item).unwrap(),
            "{\"type\":\"notice\",\"text\":\"a\\u001b[2J\\nb\\u007f\\u009b\\u202e\"}\n"
        );
        let end = Item::End(EndLine {
            reason: End::Settled,
            waiting: 0,
            cause: None,
            open: Vec::new(),
            pause: None,
            clear: String::new(),
        });
        assert_eq!(
            line(&end).unwrap(),
            "{\"type\":\"end\",\"reason\":\"settled\",\"waiting\":0}\n"
        );
    }
}
