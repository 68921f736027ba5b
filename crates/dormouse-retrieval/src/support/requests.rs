//! Requests to remember something that have the form of a question: "Could you remember that ...?"
//!
//! A person who asks for something to be remembered asserts it. Every other question asserts nothing, so a sentence
//! counts as a request only if it begins with a form of polite request, if a verb of noting follows at once, and if a
//! clause follows that.

use dormouse_text::fold_look_alikes;

/// The words of one language by which a request to remember is recognised. Each entry of a list is one or more words,
/// in lower case, without accents and split at apostrophes and hyphens.
struct Forms {
    /// How a request in the form of a question begins.
    openers: &'static [&'static str],
    /// Words that may be between the opener, the verb and the clause.
    fillers: &'static [&'static str],
    /// Verbs that mean to keep something.
    verbs: &'static [&'static str],
    /// Words that begin the clause.
    that: &'static [&'static str],
    /// Words that show that the clause only asks or supposes.
    doubts: &'static [&'static str],
}

/// Words that may precede a request. A name with a comma may precede it, too.
const GREETINGS: &[&str] = &[
    "hello",
    "hi",
    "hey",
    "good",
    "morning",
    "evening",
    "afternoon",
    "day",
    "dear",
    "oh",
    "ah",
    "well",
    "so",
    "ok",
    "okay",
    "and",
    "also",
    "now",
    "please",
    "listen",
    "excuse",
    "me",
    "sorry",
    "thanks",
    "hallo",
    "guten",
    "tag",
    "morgen",
    "abend",
    "bonjour",
    "bonsoir",
    "salut",
    "hola",
    "buenos",
    "buenas",
    "dias",
    "tardes",
    "noches",
    "ciao",
    "buongiorno",
    "buonasera",
    "ola",
    "bom",
    "boa",
    "dia",
    "tarde",
    "noite",
    "goedemorgen",
    "goedenavond",
    "dag",
];
/// How many words may precede a request.
const MOST_BEFORE: usize = 6;

/// Words that make a request of a preceding order: "Remember that ..., will you?"
const REQUEST_TAGS: &[&str] = &[
    "will you",
    "would you",
    "could you",
    "can you",
    "won t you",
    "will you please",
    "would you please",
    "ok",
    "okay",
    "alright",
    "all right",
    "please",
];
/// Words that begin a question.
const ASKS: &[&str] = &[
    "is", "isn", "are", "aren", "am", "was", "wasn", "were", "weren", "do", "don", "does", "doesn",
    "did", "didn", "has", "hasn", "have", "haven", "had", "hadn", "will", "won", "would", "can",
    "could", "should", "what", "who", "why", "how", "whether",
];
/// Further words, in addition to [`ASKS`], that begin a part which doubts the words before it: "..., right?"
const DOUBTS: &[&str] = &[
    "or",
    "right",
    "correct",
    "true",
    "really",
    "seriously",
    "yes",
    "no",
    "yeah",
    "huh",
    "eh",
    "oder",
    "nicht",
    "ja",
    "stimmt",
    "ou",
    "non",
    "oui",
    "vrai",
    "n",
    "o",
    "verdad",
    "si",
    "vero",
    "giusto",
    "of",
    "toch",
    "nao",
    "certo",
];
/// Words that make a clause a mere supposition, at any place in it.
const SUPPOSES: &[&str] = &[
    "whether",
    "if",
    "unless",
    "supposing",
    "ob",
    "falls",
    "wenn",
];
/// Marks that may not precede a request, because the request would be a quotation.
const QUOTES: [char; 12] = [
    '"', '\'', '\u{201c}', '\u{201d}', '\u{201e}', '\u{2018}', '\u{2019}', '\u{ab}', '\u{bb}', '`',
    '>', '|',
];

/// The words with which English speakers begin a clause about themselves. Such a clause needs no "that"; others do:
/// "Can you remember Bob stealing it?" asks for a memory.
const SPEAKER: &[&str] = &["i", "my", "we", "our"];

const ENGLISH: Forms = Forms {
    openers: &[
        "could you",
        "can you",
        "would you",
        "will you",
        "won t you",
        "could we",
        "can we",
        "could i ask you to",
        "can i ask you to",
        "may i ask you to",
        "might i ask you to",
        "could i trouble you to",
        "can i trouble you to",
        "may i trouble you to",
        "would you mind",
        "do you mind",
        "would you be able to",
        "would it be possible to",
        "do you think you could",
        "do you think you can",
        "i wonder if you could",
        "i was wondering if you could",
        "i was wondering whether you could",
    ],
    fillers: &[
        "please",
        "kindly",
        "also",
        "just",
        "perhaps",
        "maybe",
        "possibly",
        "quickly",
        "then",
        "be so kind as to",
        "be so kind and",
        "be so good as to",
        "do me a favour and",
        "do me a favor and",
        "try to",
        "make sure to",
        "be sure to",
        "help me to",
        "help me",
        "for me",
        "for us",
        "for later",
        "this",
        "it",
        "the following",
        "down",
        "somewhere",
    ],
    verbs: &[
        "remember",
        "remembering",
        "note",
        "noting",
        "keep in mind",
        "keeping in mind",
        "bear in mind",
        "bearing in mind",
        "make a note",
        "making a note",
        "take a note",
        "taking a note",
        "make note",
        "take note",
        "write down",
        "write this down",
        "write it down",
        "writing down",
        "writing this down",
        "jot down",
        "jot this down",
        "jotting down",
        "memorise",
        "memorize",
        "memorising",
        "memorizing",
        "record",
        "recording",
        "store",
        "storing",
        "not forget",
        "never forget",
    ],
    that: &["that"],
    doubts: &[
        "whether",
        "if",
        "unless",
        "supposing",
        "who",
        "whom",
        "whose",
        "what",
        "which",
        "when",
        "where",
        "why",
        "how",
    ],
};

const OTHERS: [Forms; 6] = [
    Forms {
        openers: &[
            "konntest du",
            "kannst du",
            "wurdest du",
            "magst du",
            "konnten sie",
            "konnen sie",
            "wurden sie",
            "konntet ihr",
            "konnt ihr",
        ],
        fillers: &[
            "bitte",
            "dir",
            "sich",
            "euch",
            "mal",
            "kurz",
            "auch",
            "fur mich",
            "so nett sein und",
        ],
        verbs: &[
            "merken",
            "notieren",
            "aufschreiben",
            "einpragen",
            "vormerken",
            "im kopf behalten",
            "im gedachtnis behalten",
            "nicht vergessen",
        ],
        that: &["dass"],
        doubts: &[
            "ob", "falls", "wenn", "wer", "was", "wann", "wo", "warum", "wie",
        ],
    },
    Forms {
        openers: &[
            "peux tu",
            "pourrais tu",
            "veux tu",
            "voudrais tu",
            "pouvez vous",
            "pourriez vous",
            "voulez vous",
            "voudriez vous",
            "tu peux",
            "tu pourrais",
            "vous pouvez",
            "vous pourriez",
            "est ce que tu peux",
            "est ce que tu pourrais",
            "est ce que vous pouvez",
            "est ce que vous pourriez",
        ],
        fillers: &[
            "s il te plait",
            "s il vous plait",
            "bien",
            "aussi",
            "te",
            "vous",
            "pour moi",
        ],
        verbs: &[
            "noter",
            "retenir",
            "memoriser",
            "souvenir",
            "enregistrer",
            "garder en tete",
            "garder en memoire",
            "prendre note",
            "ne pas oublier",
        ],
        that: &["que", "qu"],
        doubts: &["si", "qui", "quand", "ou", "pourquoi", "comment"],
    },
    Forms {
        openers: &[
            "puedes",
            "podrias",
            "puede",
            "podria",
            "pueden",
            "podrian",
            "me puedes",
            "me podrias",
            "quieres",
            "te importaria",
        ],
        fillers: &["por favor", "tambien", "me", "tu", "usted", "para mi"],
        verbs: &[
            "recordar",
            "anotar",
            "apuntar",
            "guardar",
            "tomar nota de",
            "tener en cuenta",
            "tener presente",
            "no olvidar",
            "acordarte de",
            "memorizar",
        ],
        that: &["que"],
        doubts: &["si", "quien", "cuando", "donde"],
    },
    Forms {
        openers: &[
            "puoi",
            "potresti",
            "puo",
            "potrebbe",
            "potete",
            "potreste",
            "mi puoi",
            "ti dispiacerebbe",
        ],
        fillers: &[
            "per favore",
            "per piacere",
            "anche",
            "mi",
            "ti",
            "lei",
            "per me",
        ],
        verbs: &[
            "ricordare",
            "ricordarti",
            "annotare",
            "annotarti",
            "segnare",
            "segnarti",
            "appuntare",
            "tenere a mente",
            "tenere presente",
            "prendere nota",
            "non dimenticare",
            "memorizzare",
        ],
        that: &["che", "ch"],
        doubts: &["se", "chi", "quando", "dove"],
    },
    Forms {
        openers: &[
            "pode",
            "poderia",
            "podes",
            "poderias",
            "voce pode",
            "voce poderia",
            "o senhor pode",
            "a senhora pode",
        ],
        fillers: &["por favor", "tambem", "me", "se", "para mim"],
        verbs: &[
            "lembrar",
            "lembrar se de",
            "lembrar de",
            "anotar",
            "registrar",
            "registar",
            "guardar",
            "tomar nota de",
            "tomar nota",
            "memorizar",
            "nao esquecer",
        ],
        that: &["que"],
        doubts: &["caso", "quem", "quando", "onde"],
    },
    Forms {
        openers: &[
            "kun je", "kan je", "kunt u", "kun jij", "kan jij", "wil je", "wilt u", "zou je",
            "zou u", "zou jij",
        ],
        fillers: &[
            "alsjeblieft",
            "alstublieft",
            "aub",
            "ook",
            "even",
            "kunnen",
            "willen",
            "voor mij",
        ],
        verbs: &[
            "onthouden",
            "noteren",
            "opschrijven",
            "niet vergeten",
            "memoriseren",
        ],
        that: &["dat"],
        doubts: &[
            "of", "als", "wie", "wat", "wanneer", "waar", "waarom", "hoe",
        ],
    },
];

/// The part of a sentence that is asserted, although the sentence ends with a question mark: what is to be remembered. `None`
/// if it asserts nothing. Pure.
pub(super) fn to_remember(sentence: &str) -> Option<&str> {
    let words = Sentence::of(sentence);
    for place in 0..=MOST_BEFORE {
        if words.is_quoted(place) {
            return None;
        }
        let forms = [&ENGLISH].into_iter().chain(&OTHERS);
        let mut polite = forms.filter_map(|forms| words.polite(place, forms));
        if let Some(clause) = polite.next().or_else(|| words.order(place)) {
            return Some(clause);
        }
        let is_greeting = words.is_one_of(place, GREETINGS);
        let is_greeted = |greetings| place > 0 && words.is_one_of(place - 1, greetings);
        let is_called = (place == 0 || is_greeted(GREETINGS)) && words.ends_with_comma(place);
        let is_name = words.is_mention(place) || is_called || is_greeted(&["hello", "hey", "hi"]);
        if !(is_greeting || is_name) {
            return None;
        }
    }
    None
}

/// A word as it is compared, and where it is.
struct Placed {
    word: String,
    begins: usize,
    ends: usize,
}

struct Sentence<'a> {
    text: &'a str,
    words: Vec<Placed>,
}

impl<'a> Sentence<'a> {
    fn of(text: &'a str) -> Self {
        let mut words = Vec::new();
        let mut begins = None;
        let end = [(text.len(), ' ')];
        for (at, c) in text.char_indices().chain(end) {
            match (begins, c.is_alphanumeric()) {
                (None, true) => begins = Some(at),
                (Some(from), false) => {
                    let word = text.get(from..at).unwrap_or_default();
                    let word = fold_look_alikes(word).to_lowercase();
                    words.push(Placed {
                        word: crate::words(&word).concat(),
                        begins: from,
                        ends: at,
                    });
                    begins = None;
                }
                (Some(_), true) | (None, false) => {}
            }
        }
        Self { text, words }
    }

    /// A request in the form of a question that begins at this word.
    fn polite(&self, place: usize, forms: &Forms) -> Option<&'a str> {
        let place = self.after_one_of(place, forms.openers)?;
        let place = self.after_all_of(place, forms.fillers);
        let place = self.after_one_of(place, forms.verbs)?;
        self.clause(place, self.words.len(), forms)
    }

    /// An order that begins at this word, and that its last words or "please" make a request.
    fn order(&self, place: usize) -> Option<&'a str> {
        let please = ["please", "kindly"];
        let tag = self.begin_of_tag();
        let is_asked = place
            .checked_sub(1)
            .is_some_and(|before| self.is_one_of(before, &please))
            || self.is_one_of(place, &please);
        if !is_asked && tag.is_none() {
            return None;
        }
        let place = self.after_all_of(place, &please);
        let forms = ["don t forget", "do not forget", "do remember"];
        let never = self.after_one_of(place, &forms);
        let place = never.or_else(|| self.after_one_of(place, ENGLISH.verbs))?;
        self.clause(place, tag.unwrap_or(self.words.len()), &ENGLISH)
    }

    /// The place of the words after the last comma, if they are one of [`REQUEST_TAGS`].
    fn begin_of_tag(&self) -> Option<usize> {
        let comma = (1..self.words.len())
            .rev()
            .find(|place| self.gap(*place).contains(','))?;
        let after = self.after_one_of(comma, REQUEST_TAGS)?;
        (after == self.words.len()).then_some(comma)
    }

    /// The clause after a verb of noting, up to the word `end`, if it asserts something.
    fn clause(&self, after: usize, end: usize, forms: &Forms) -> Option<&'a str> {
        let place = self.after_all_of(after, forms.fillers);
        let that = self.after_one_of(place, forms.that);
        let begin = that.or_else(|| {
            let is_listed = self.gap(place).contains(':');
            (is_listed || self.is_about_the_speaker(place)).then_some(place)
        })?;
        if begin >= end || self.is_doubtful(begin, end, forms) {
            return None;
        }
        let from = self.words.get(begin)?.begins;
        let to = self.words.get(end - 1)?.ends;
        self.text.get(from..to)
    }

    fn is_about_the_speaker(&self, place: usize) -> bool {
        let next = self.words.get(place + 1);
        // "my telling you that ..."
        let is_deed = next.is_some_and(|next| next.word.ends_with("ing"));
        self.is_one_of(place, SPEAKER) && !is_deed
    }

    /// Whether the words in these places ask or suppose something.
    fn is_doubtful(&self, begin: usize, end: usize, forms: &Forms) -> bool {
        // "Remember that time when ...?" asks for a memory.
        let mut first = begin..end.min(begin + 2);
        if self.is_one_of(begin, ASKS) || first.any(|place| self.is_one_of(place, forms.doubts)) {
            return true;
        }
        let asks = |place: usize| {
            let is_apart = self
                .gap(place)
                .contains([',', ';', '-', '\u{2013}', '\u{2014}', '(']);
            let doubts = self.is_one_of(place, ASKS) || self.is_one_of(place, DOUBTS);
            let is_other = self.is_one_of(place, &["not"]) || self.is_one_of(place, ASKS);
            let asks_after_or = self.is_one_of(place - 1, &["or"]) && is_other;
            is_apart && doubts || asks_after_or || self.is_one_of(place, SUPPOSES)
        };
        (begin + 1..end).any(asks)
    }

    /// What is written between this word and the one before it.
    fn gap(&self, place: usize) -> &'a str {
        let before = place
            .checked_sub(1)
            .and_then(|before| self.words.get(before));
        let from = before.map_or(0, |before| before.ends);
        let to = self
            .words
            .get(place)
            .map_or(self.text.len(), |word| word.begins);
        self.text.get(from..to).unwrap_or_default()
    }

    /// Whether somebody else's words may begin here.
    fn is_quoted(&self, place: usize) -> bool {
        self.gap(place).contains(QUOTES)
    }

    fn is_mention(&self, place: usize) -> bool {
        self.gap(place).ends_with('@')
    }

    fn ends_with_comma(&self, place: usize) -> bool {
        place + 1 < self.words.len() && self.gap(place + 1).trim() == ","
    }

    fn is_one_of(&self, place: usize, words: &[&str]) -> bool {
        let word = self.words.get(place);
        word.is_some_and(|word| words.contains(&word.word.as_str()))
    }

    /// The place after the longest of these phrases that begins here.
    fn after_one_of(&self, place: usize, phrases: &[&str]) -> Option<usize> {
        let phrases = phrases
            .iter()
            .filter_map(|phrase| self.after(place, phrase));
        phrases.max()
    }

    /// The place after all of these phrases that follow each other from here.
    fn after_all_of(&self, place: usize, phrases: &[&str]) -> usize {
        let mut place = place;
        while let Some(after) = self.after_one_of(place, phrases) {
            place = after;
        }
        place
    }

    fn after(&self, place: usize, phrase: &str) -> Option<usize> {
        let mut after = place;
        for word in phrase.split(' ') {
            let found = self.words.get(after)?;
            if found.word != word {
                return None;
            }
            after += 1;
        }
        Some(after)
    }
}

#[cfg(test)]
mod tests;
