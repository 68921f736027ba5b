//! Finds an assistant's key as an @mention in the words of a message.

use dormouse_contracts::{AssistantId, Words};
use serde::{Deserialize, Serialize};

/// Whether the words of a message contain the assistant's key as an @mention. This is a claim of the text, not a fact
/// from the server: it may wake an assistant, and never raises trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mention {
    /// The words contain an @mention.
    Addressed,
    /// The words do not contain an @mention.
    NotAddressed,
}

/// Looks for `@key` as a whole word in `words`.
///
/// ASCII case is ignored. No other folding takes place, so look-alike letters and the full-width `＠` do not match. The
/// word ends where a key cannot continue: `@dormouse,` and `@dormouse.` at the end of a sentence mention `dormouse`,
/// although keys may contain `.` and `-`. `@dormouse-x`, `@dormouse.x`, `@dormouse_` and `@dormouse2` are other names.
/// An e-mail address or handle (`x@dormouse`, `@dormouse@example.org`) and a doubled `@@dormouse` are not mentions.
///
/// Runs in time linear in the length of the words and allocates nothing.
///
/// ```
/// # use dormouse_classify::{find_mention, Mention};
/// # use dormouse_contracts::{AssistantId, Words};
/// let key = AssistantId::try_new("dormouse")?;
/// let mention = |text: &str| Words::try_new(text).map(|words| find_mention(&words, &key));
/// assert_eq!(mention("Wake up, @Dormouse."), Ok(Mention::Addressed));
/// assert_eq!(mention("Write to x@dormouse."), Ok(Mention::NotAddressed));
/// # Ok::<(), dormouse_contracts::IdError>(())
/// ```
#[must_use]
pub fn find_mention(words: &Words, key: &AssistantId) -> Mention {
    let text = words.as_claimed();
    let found = text.match_indices('@').any(|(at, sign)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + sign.len()..).unwrap_or_default();
        may_begin_after(before) && begins_with_word(after, key.as_str())
    });
    if found {
        Mention::Addressed
    } else {
        Mention::NotAddressed
    }
}

/// Whether an `@` after `before` starts a word. Otherwise it is part of an address or of another word.
///
/// An address may have these signs before its `@`, but then a letter, digit or dot precedes them; a dash or underscore
/// on its own is punctuation or markup. The signs do not include `@`, so all calls for one text together visit each
/// character at most once.
fn may_begin_after(before: &str) -> bool {
    let name = before.trim_end_matches(['_', '-', '+', '%']);
    let signs = before.len() > name.len();
    match name.chars().next_back() {
        None => true,
        Some('@') => signs,
        Some('.') => !signs,
        Some(last) => !continues_word(last),
    }
}

/// Whether `text` starts with `key` and the word ends there.
fn begins_with_word(text: &str, key: &str) -> bool {
    let Some((head, tail)) = text.split_at_checked(key.len()) else {
        return false;
    };
    head.eq_ignore_ascii_case(key) && word_ends_before(tail)
}

/// A dot or dash may continue a name or end a sentence; the character after it decides.
fn word_ends_before(tail: &str) -> bool {
    let rest = tail.trim_start_matches(['.', '-']);
    match rest.chars().next() {
        None => true,
        Some('@') => rest.len() < tail.len(),
        Some(next) => !continues_word(next),
    }
}

/// Letters and digits of any script, the underscore, and combining marks.
fn continues_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || matches!(c, '\u{300}'..='\u{36f}')
}

#[cfg(test)]
mod tests;
