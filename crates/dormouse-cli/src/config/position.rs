//! Where in a file something stands, as people count.

/// Line and column of the byte `at`, both counted from 1; of the end if that is past it. Columns are characters.
pub(super) fn of(text: &str, at: usize) -> (usize, usize) {
    let before = before(text, at);
    let line = before.matches('\n').count() + 1;
    let begun = before.rsplit('\n').next().unwrap_or_default();
    (line, begun.chars().count() + 1)
}

/// The field that the byte `at` is about, as `section.field`, if the line tells.
pub(super) fn field(text: &str, at: usize) -> Option<String> {
    let start = before(text, at).rfind('\n').map_or(0, |end| end + 1);
    let line = text.get(start..)?.lines().next()?.trim();
    if let Some(section) = header(line) {
        return Some(section.to_owned());
    }
    let (name, _) = line.split_once('=')?;
    let name = name.trim();
    let section = text
        .get(..start)?
        .lines()
        .rev()
        .find_map(|line| header(line.trim()));
    Some(match section {
        Some(section) => format!("{section}.{name}"),
        None => name.to_owned(),
    })
}

fn before(text: &str, at: usize) -> &str {
    let at = at.min(text.len());
    (0..=at)
        .rev()
        .find_map(|end| text.get(..end))
        .unwrap_or_default()
}

fn header(line: &str) -> Option<&str> {
    let name = line.strip_prefix('[')?.split(']').next()?;
    Some(name.trim_start_matches('[').trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a = 1\n[limits]\nmax_history = 500\n";

    #[test]
    fn positions_are_counted_from_one_and_in_characters() {
        assert_eq!(of(TEXT, 0), (1, 1));
        assert_eq!(of(TEXT, TEXT.find("500").unwrap()), (3, 15));
        assert_eq!(of("é = 1", 2), (1, 2));
        assert_eq!(of("é", 1), (1, 1), "inside a character");
        assert_eq!(of(TEXT, 10_000), (4, 1));
    }

    #[test]
    fn a_field_is_named_with_its_section() {
        assert_eq!(
            field(TEXT, TEXT.find("500").unwrap()).as_deref(),
            Some("limits.max_history")
        );
        assert_eq!(field(TEXT, 4).as_deref(), Some("a"));
        assert_eq!(field(TEXT, 8).as_deref(), Some("limits"));
        assert_eq!(field("", 0), None);
    }
}
