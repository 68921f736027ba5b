//! Positions in a text, as people count them.

use dormouse_contracts::invariant;
use toml::de::{DeTable, DeValue};

/// Line and column of the byte `at`, or of the end if `at` is beyond it. Both count from 1, columns in characters.
pub(super) fn of(text: &str, at: usize) -> (usize, usize) {
    let before = before(text, at);
    let line = before.matches('\n').count() + 1;
    let begun = before.rsplit_once('\n').map_or(before, |(_, line)| line);
    (line, begun.chars().count() + 1)
}

/// The field that the byte `at` belongs to, as `section.field`, if there is one.
pub(super) fn field(text: &str, at: usize) -> Option<String> {
    let table = DeTable::parse(text).ok();
    let field = table.and_then(|table| field_in(table.get_ref(), at));
    // The head of a section, and a text that is no TOML, have a line at least.
    field.or_else(|| field_of_line(text, at))
}

fn field_in(table: &DeTable<'_>, at: usize) -> Option<String> {
    table.iter().find_map(|(key, value)| {
        let name = key.get_ref();
        let inner = match value.get_ref() {
            DeValue::Table(inner) => field_in(inner, at),
            DeValue::Array(items) => {
                let mut tables = items.iter().filter_map(|item| item.get_ref().as_table());
                tables.find_map(|inner| field_in(inner, at))
            }
            _ => None,
        };
        let is_here = key.span().start <= at && at < value.span().end.max(key.span().end);
        match inner {
            Some(inner) => Some(format!("{name}.{inner}")),
            None => is_here.then(|| name.to_string()),
        }
    })
}

fn field_of_line(text: &str, at: usize) -> Option<String> {
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
    let before = (0..=at).rev().find_map(|end| text.get(..end));
    invariant!(before, "every text begins with an empty one")
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
        for (text, value, expected) in [
            ("limits = { tick_rate = 0 }", "0 }", "limits.tick_rate"),
            ("[limits]\n\"tick_rate\" = 0\n", "0\n", "limits.tick_rate"),
            ("limits.tick_rate = 0\n", "0\n", "limits.tick_rate"),
            (
                "[memory]\nplaces = [\n  1,\n  2,\n]\n",
                "2",
                "memory.places",
            ),
            ("[limits]\ntick_rate = \n", "\n", "limits.tick_rate"),
            ("[[prices]]\nmodel = 5\n", "5", "prices.model"),
        ] {
            let at = text.rfind(value).unwrap();
            assert_eq!(field(text, at).as_deref(), Some(expected), "{text}");
        }
    }
}
