//! A text as clauses of words.

/// Words between two marks that end a clause.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Clause {
    /// In lower case. Each comma and each "'s" is a word of its own.
    pub(super) words: Vec<String>,
    /// Whether it is in quotation marks.
    pub(super) is_quoted: bool,
}

/// The clauses of a text. If the whole text is in quotation marks, they are ignored, because nobody is quoted. So is a
/// mark that is never closed.
pub(super) fn clauses(text: &str) -> Vec<Clause> {
    let text: Vec<char> = text.chars().map(plain).collect();
    let piece = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let mut all = Vec::new();
    let (mut start, mut at) = (0, 0);
    let mut before = ' ';
    // Marks without an end. Searching for it again at each such mark would take quadratic time.
    let mut never_closed = Vec::new();
    while let Some(&mark) = text.get(at) {
        let opens = mark == '"' || mark == '\'' && !before.is_alphanumeric();
        if opens && !never_closed.contains(&mark) {
            match end(&text, at) {
                Some(end) => {
                    cut(piece(start, at), false, &mut all);
                    cut(piece(at + 1, end), true, &mut all);
                    (start, at) = (end + 1, end);
                }
                None => never_closed.push(mark),
            }
        }
        before = mark;
        at += 1;
    }
    cut(piece(start, text.len()), false, &mut all);
    if all.iter().all(|clause| clause.is_quoted) {
        all.iter_mut().for_each(|clause| clause.is_quoted = false);
    }
    all
}

/// The words of a name.
pub(super) fn words(name: &str) -> Vec<String> {
    let clauses = clauses(name).into_iter();
    clauses.flat_map(|clause| clause.words).collect()
}

/// Where the quotation that begins here ends.
fn end(text: &[char], begin: usize) -> Option<usize> {
    let mark = text.get(begin)?;
    let closes = |at: &usize| {
        let next = text.get(at + 1);
        // An apostrophe is followed by a letter.
        text.get(*at) == Some(mark)
            && (*mark == '"' || next.is_none_or(|next| !next.is_alphanumeric()))
    };
    (begin + 1..text.len()).find(closes)
}

fn plain(letter: char) -> char {
    match letter {
        '‘' | '’' | '‚' => '\'',
        '“' | '”' | '„' | '«' | '»' => '"',
        letter => letter,
    }
}

/// Adds the clauses of a piece of text.
fn cut(piece: &[char], is_quoted: bool, all: &mut Vec<Clause>) {
    for clause in piece.split(|letter| {
        matches!(
            letter,
            '.' | '!' | '?' | ':' | ';' | '\n' | '(' | ')' | '[' | ']'
        )
    }) {
        let mut words = Vec::new();
        let mut word = String::new();
        for letter in clause {
            match letter {
                letter if letter.is_alphanumeric() || *letter == '\'' => {
                    word.extend(letter.to_lowercase());
                }
                letter => {
                    push(&mut words, &word);
                    word.clear();
                    if *letter == ',' {
                        words.push(",".to_owned());
                    }
                }
            }
        }
        push(&mut words, &word);
        if words.iter().any(|word| word != ",") {
            all.push(Clause { words, is_quoted });
        }
    }
}

fn push(words: &mut Vec<String>, word: &str) {
    let word = word.trim_matches('\'');
    match word.strip_suffix("'s") {
        Some(owner) if !owner.is_empty() => words.extend([owner.to_owned(), "'s".to_owned()]),
        _ if word.is_empty() => {}
        _ => words.push(word.to_owned()),
    }
}
