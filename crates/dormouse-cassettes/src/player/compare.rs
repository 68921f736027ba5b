//! Compares requests and finds their first difference.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{Difference, IgnoredPath, no_match::Shown};
use crate::exchange::{Body, RecordedRequest};

/// Returns the first difference and the number of differences; `None` if the requests are equal.
pub(super) fn difference(
    recorded: &RecordedRequest,
    asked: &RecordedRequest,
    ignored: &[IgnoredPath],
) -> Option<(Difference, usize)> {
    /// A different address counts as this many differences. It outweighs any difference between bodies.
    const FAR: usize = usize::MAX;
    if recorded.method != asked.method {
        let (recorded, asked) = (recorded.method.clone(), asked.method.clone());
        return Some((Difference::Method { recorded, asked }, FAR));
    }
    if unnumbered(&recorded.target) != unnumbered(&asked.target) {
        let shown = |request: &RecordedRequest| Shown::text(&request.target, 0);
        let (recorded, asked) = (shown(recorded), shown(asked));
        return Some((Difference::Target { recorded, asked }, FAR - 1));
    }
    if recorded.left_out_bytes > 0 {
        return None;
    }
    bodies(&recorded.body, &asked.body, ignored)
}

fn bodies(recorded: &Body, asked: &Body, ignored: &[IgnoredPath]) -> Option<(Difference, usize)> {
    if let (Body::Json(recorded), Body::Json(asked)) = (recorded, asked) {
        let mut walk = Walk {
            ignored,
            place: Vec::new(),
            first: None,
            count: 0,
        };
        walk.values(Some(recorded), Some(asked));
        let count = walk.count;
        return walk.first.map(|first| (first, count));
    }
    let (recorded, asked) = (recorded.to_bytes(), asked.to_bytes());
    let recorded = unnumbered(&String::from_utf8_lossy(&recorded));
    let asked = unnumbered(&String::from_utf8_lossy(&asked));
    if recorded == asked {
        return None;
    }
    let same = recorded
        .bytes()
        .zip(asked.bytes())
        .take_while(|(a, b)| a == b);
    let offset = same.count();
    let difference = Difference::Body {
        pointer: String::new(),
        recorded: Shown::text(&recorded, offset),
        asked: Shown::text(&asked, offset),
    };
    Some((difference, FAR_BODY))
}

/// Two bodies that are not both JSON count as this many differences. This outweighs differences in some members.
const FAR_BODY: usize = usize::MAX - 2;

struct Walk<'a> {
    ignored: &'a [IgnoredPath],
    /// The names and indices on the path to the difference.
    place: Vec<String>,
    first: Option<Difference>,
    count: usize,
}

impl Walk<'_> {
    fn values(&mut self, recorded: Option<&Value>, asked: Option<&Value>) {
        if self.ignored.iter().any(|path| path.covers(&self.place)) {
            return;
        }
        match (recorded, asked) {
            (Some(Value::Object(recorded)), Some(Value::Object(asked))) => {
                self.members(recorded, asked);
            }
            (Some(Value::Array(recorded)), Some(Value::Array(asked))) => {
                for at in 0..recorded.len().max(asked.len()) {
                    self.below(at.to_string(), recorded.get(at), asked.get(at));
                }
            }
            (Some(Value::String(recorded)), Some(Value::String(asked))) => {
                if unnumbered(recorded) != unnumbered(asked) {
                    let same = recorded
                        .bytes()
                        .zip(asked.bytes())
                        .take_while(|(a, b)| a == b);
                    let offset = same.count();
                    self.differ(Shown::text(recorded, offset), Shown::text(asked, offset));
                }
            }
            (Some(Value::Number(recorded)), Some(Value::Number(asked))) => {
                // 1 and 1.0 are equal.
                let same = recorded == asked || recorded.as_f64() == asked.as_f64();
                if !same {
                    self.differ(Shown::json(recorded), Shown::json(asked));
                }
            }
            (recorded, asked) if recorded == asked => {}
            (recorded, asked) => {
                let shown = |value: Option<&Value>| value.map_or(Shown::nothing(), Shown::json);
                self.differ(shown(recorded), shown(asked));
            }
        }
    }

    fn members(&mut self, recorded: &Map<String, Value>, asked: &Map<String, Value>) {
        let names: BTreeSet<&String> = recorded.keys().chain(asked.keys()).collect();
        for name in names {
            self.below(name.clone(), recorded.get(name), asked.get(name));
        }
    }

    fn below(&mut self, name: String, recorded: Option<&Value>, asked: Option<&Value>) {
        self.place.push(name);
        self.values(recorded, asked);
        self.place.pop();
    }

    fn differ(&mut self, recorded: Shown, asked: Shown) {
        self.count += 1;
        if self.first.is_none() {
            let escaped = self
                .place
                .iter()
                .map(|part| part.replace('~', "~0").replace('/', "~1"));
            let pointer = escaped.map(|part| format!("/{part}")).collect();
            self.first = Some(Difference::Body {
                pointer,
                recorded,
                asked,
            });
        }
    }
}

/// Removes the numbers of placeholders: `[email]` for `[email-3]`.
pub(super) fn unnumbered(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let (before, from) = rest.split_at(open + 1);
        out.push_str(before);
        rest = from;
        if let Some((kind, after)) = placeholder(from) {
            out.push_str(kind);
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

/// Returns the kind of the placeholder at the start, and the text after its number.
fn placeholder(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|letter: char| !letter.is_ascii_lowercase())?;
    let (kind, rest) = text.split_at(end);
    let number = rest.strip_prefix('-')?;
    let after = number.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let is_one = !kind.is_empty() && after.len() < number.len() && after.starts_with(']');
    is_one.then_some((kind, after))
}
