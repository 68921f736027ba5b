//! Suggests the names that a model or a person probably meant.

const MOST: usize = 3;
/// The longest name that gets suggestions, in bytes. A longer name is not a typing error.
const LONGEST: usize = 64;
/// The shortest suffix that counts as a match, in characters. Shorter suffixes are shared by unrelated names.
const MIN_AFFIX_CHARS: usize = 3;

/// Returns up to three of `names` that are similar to `name`, the most similar first.
///
/// Case, separators and a prefix are ignored (`functions.say` matches `say`); otherwise at most a third of the letters
/// may differ. The running time is bounded by the number of names.
#[must_use]
pub fn closest<N: AsRef<str>>(name: &str, names: impl IntoIterator<Item = N>) -> Vec<N> {
    if name.len() > LONGEST {
        return Vec::new();
    }
    let wanted = letters(name);
    let mut ranked: Vec<_> = names
        .into_iter()
        .filter_map(|candidate| {
            let distance = distance_if_close(&wanted, &letters(candidate.as_ref()))?;
            Some((distance, candidate))
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
    if shorter >= MIN_AFFIX_CHARS && (wanted.ends_with(candidate) || candidate.ends_with(wanted)) {
        return Some(1);
    }
    let distance = edits(wanted, candidate);
    // At least one letter of the shorter name must match.
    let tolerated = (wanted.len().max(candidate.len()) / 3)
        .max(1)
        .min(shorter - 1);
    (distance <= tolerated).then_some(distance + 1)
}

/// The Levenshtein distance: insertions, deletions and replacements of letters that turn one name into the other.
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
