//! The text of a frame for a web page, without its markup.

/// Undoes what the server does to text for a browser: tags are removed, line breaks and entities become characters.
pub(crate) fn plain(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find(['<', '&']) {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        let end = from.find(if from.starts_with('<') { '>' } else { ';' });
        let Some((mark, after)) = end.and_then(|end| from.split_at_checked(end + 1)) else {
            text.push_str(from);
            return text;
        };
        if from.starts_with('<') {
            if mark.starts_with("<br") {
                text.push('\n');
            }
            rest = after;
        } else if let Some(character) = entity(mark) {
            text.push(character);
            rest = after;
        } else {
            text.push('&');
            rest = from.get(1..).unwrap_or_default();
        }
    }
    text.push_str(rest);
    text
}

fn entity(mark: &str) -> Option<char> {
    Some(match mark {
        "&lt;" => '<',
        "&gt;" => '>',
        "&amp;" => '&',
        "&quot;" => '"',
        "&#x27;" | "&#39;" => '\'',
        "&nbsp;" => ' ',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_of_the_web_client_is_undone() {
        for (html, expected) in [
            (
                "alice says, \"Hello &lt;b&gt;bob&lt;/b&gt; &amp; co\"",
                "alice says, \"Hello <b>bob</b> & co\"",
            ),
            (
                "<br>You become <span class=\"color-014\">bob</span>.<br>",
                "\nYou become bob.\n",
            ),
            ("a & b; c < d", "a & b; c < d"),
            ("&amp;lt;", "&lt;"),
            ("it&#x27;s", "it's"),
        ] {
            assert_eq!(plain(html), expected);
        }
    }
}
