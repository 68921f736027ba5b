//! A part of a sentence.

use super::sentence::Word;

/// Consecutive words of a sentence.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clause<'a> {
    /// The words in lower case.
    pub(super) words: &'a [&'a str],
    /// The same words as they are written.
    written: &'a [Word],
}

/// How many parts of a clause are looked at, so that a long list costs little.
const MOST_PARTS: usize = 30;

/// Words that may precede what a clause says.
const FILLERS: [&str; 11] = [
    "please",
    "just",
    "also",
    "kindly",
    "simply",
    "then",
    "so",
    "and",
    "but",
    "absolutely",
    "definitely",
];

impl<'a> Clause<'a> {
    /// All words of a sentence; both slices have the same length.
    pub(super) fn new(words: &'a [&'a str], written: &'a [Word]) -> Self {
        Self { words, written }
    }

    /// The clause without its first words.
    pub(super) fn without(self, count: usize) -> Self {
        Self {
            words: self.words.get(count..).unwrap_or_default(),
            written: self.written.get(count..).unwrap_or_default(),
        }
    }

    /// Only the first words of the clause.
    pub(super) fn first(self, count: usize) -> Self {
        Self {
            words: self.words.get(..count).unwrap_or(self.words),
            written: self.written.get(..count).unwrap_or(self.written),
        }
    }

    /// The clause without "please" and the like at its beginning.
    pub(super) fn without_fillers(self) -> Self {
        let fillers = self.words.iter();
        self.without(fillers.take_while(|word| FILLERS.contains(word)).count())
    }

    /// The clause after the first pause.
    pub(super) fn after_pause(self) -> Option<Self> {
        let pause = self.written.iter().position(|word| word.has_pause)?;
        let rest = self.without(pause + 1);
        (!rest.words.is_empty()).then_some(rest)
    }

    /// The clause up to the first pause.
    pub(super) fn before_pause(self) -> Self {
        let pause = self.written.iter().position(|word| word.has_pause);
        self.first(pause.map_or(self.words.len(), |pause| pause + 1))
    }

    /// What precedes the first colon, and what follows it.
    pub(super) fn around_colon(self) -> Option<(Self, Self)> {
        let colon = self.written.iter().position(|word| word.has_colon)?;
        let rest = self.without(colon + 1);
        (!rest.words.is_empty()).then(|| (self.first(colon + 1), rest))
    }

    /// Each later part of the clause, which follows a pause or begins with "so", and what precedes it.
    pub(super) fn parts(self) -> impl Iterator<Item = (Self, Self)> {
        let places = 1..self.words.len();
        let parts = places.filter_map(move |place| {
            let joins = matches!(
                self.words.get(place..)?,
                ["so", ..]
                    | ["but", "i" | "i'd", "prefer" | "rather" | "go", ..]
                    | [
                        "but" | "and",
                        "please" | "don't" | "never" | "always" | "stop" | "from",
                        ..
                    ]
            );
            let is_part = self.written.get(place - 1)?.has_pause || joins;
            is_part.then(|| (self.first(place), self.without(place)))
        });
        parts.take(MOST_PARTS)
    }

    /// Whether the word at this place is written with a capital letter.
    pub(super) fn is_name(self, place: usize) -> bool {
        self.written.get(place).is_some_and(|word| word.is_capital)
    }

    /// Where the clause ends in the text of its sentence, in bytes.
    pub(super) fn end(self) -> usize {
        self.written.last().map_or(0, |word| word.end)
    }
}
