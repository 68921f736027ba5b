//! Which tool a model probably meant.

use dormouse_contracts::ToolName;

const MOST: usize = 3;
/// No tool's name is longer, so a longer one is no slip of the pen.
const LONGEST: usize = 64;
/// Fewer letters at the end of a name are common to names that have nothing to do with each other.
const TELLING: usize = 3;

/// Returns up to three of `names` that resemble `name`, the closest first.
///
/// Case and separators do not count, nor does a prefix (`functions.say` resembles `say`); otherwise a third of
/// the letters may differ. Takes time bounded by the number of names.
pub(crate) fn closest<'a>(
    name: &str,
    names: impl Iterator<Item = &'a ToolName>,
) -> Vec<&'a ToolName> {
    if name.len() > LONGEST {
        return Vec::new();
    }
    let wanted = letters(name);
    let mut ranked: Vec<_> = names
        .filter_map(|candidate| {
            distance_if_close(&wanted, &letters(candidate.as_str())).map(|d| (d, candidate))
        })
        .collect();
    ranked.sort_by_key(|(distance, _)| *distance);
    ranked.truncate(MOST);
    ranked.into_iter().map(|(_, candidate)| candidate).collect()
}

fn letters(name: &str) -> Vec<char> {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

fn distance_if_close(wanted: &[char], candidate: &[char]) -> Option<usize> {
    if candidate.is_empty() || wanted.is_empty() {
        return None;
    }
    if wanted == candidate {
        return Some(0);
    }
    let shorter = wanted.len().min(candidate.len());
    if shorter >= TELLING && (wanted.ends_with(candidate) || candidate.ends_with(wanted)) {
        return Some(1);
    }
    let distance = edits(wanted, candidate);
    // Never so many that nothing of the shorter name is left.
    let tolerated = (wanted.len().max(candidate.len()) / 3)
        .max(1)
        .min(shorter - 1);
    (distance <= tolerated).then_some(distance + 1)
}

/// How many letters must be put in, left out or replaced to turn one into the other (Levenshtein's distance).
fn edits(from: &[char], to: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, b) in row.iter_mut().skip(1).zip(to) {
            let replaced = diagonal + usize::from(a != b);
            diagonal = *cell;
            left = replaced.min(left + 1).min(*cell + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(from.len())
}

#[cfg(test)]
mod tests;
