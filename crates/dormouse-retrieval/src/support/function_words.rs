//! Words that say nothing by themselves, and words that deny, in seven languages.
//!
//! In a language that is not listed, every word counts as one that says something. So a paraphrase in it gets less
//! trust, never more.

use std::{collections::HashMap, sync::LazyLock};

/// The small words of one language. All are in lower case and without accents.
struct Lists {
    /// Articles, pronouns, auxiliaries, the plainest connecting words, and words that only report that somebody said
    /// something.
    function: &'static str,
    /// Other frequent words. They say something ("off", "before", "must", "all"), and also help to recognise the
    /// language of a text.
    common: &'static str,
    /// Words that deny. A note that denies says something else than one that does not.
    denials: &'static str,
    /// The words with which speakers refer to themselves.
    myself: &'static str,
    /// Whether a capital letter distinguishes a name.
    names_are_capital: bool,
}

/// The languages in which a word has each meaning: one bit for each language of [`ALL`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Meanings {
    function: u8,
    common: u8,
    denials: u8,
    myself: u8,
    /// Whether it denies in texts of every language.
    denies_anywhere: bool,
}

/// Every small word of every language, so that one look-up is enough.
static SMALL_WORDS: LazyLock<HashMap<&'static str, Meanings>> = LazyLock::new(|| {
    let mut words: HashMap<&'static str, Meanings> = HashMap::new();
    for (number, lists) in ALL.iter().enumerate() {
        let bit = 1 << number;
        let of = |list: &'static str| list.split_ascii_whitespace();
        of(lists.function).for_each(|word| words.entry(word).or_default().function |= bit);
        of(lists.common).for_each(|word| words.entry(word).or_default().common |= bit);
        of(lists.denials).for_each(|word| words.entry(word).or_default().denials |= bit);
        of(lists.myself).for_each(|word| words.entry(word).or_default().myself |= bit);
    }
    for (word, meanings) in &mut words {
        meanings.denies_anywhere = meanings.denials != 0
            && meanings.function | meanings.common | meanings.myself == 0
            && !DENIES_IN_ONE.contains(word);
    }
    words
});

/// The language of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Language {
    /// Its place in [`ALL`].
    number: usize,
}

impl Language {
    /// The language of a text, by its small words. Without small words it is English. Of several languages with equally many, it is the first
    /// of [`ALL`].
    pub(super) fn of(words: impl IntoIterator<Item = Meanings>) -> Self {
        let mut hits = [0_usize; ALL.len()];
        for meanings in words {
            let languages = meanings.any();
            for (number, hits) in hits.iter_mut().enumerate() {
                *hits += usize::from(languages >> number & 1);
            }
        }
        // `max_by_key` takes the last of several that are equal.
        let best = hits.iter().enumerate().rev().max_by_key(|(_, hits)| **hits);
        let number = best.map_or(0, |(number, _)| number);
        Self { number }
    }

    /// Its number, below [`LANGUAGES`].
    pub(super) fn number(self) -> usize {
        self.number
    }

    pub(super) fn is_function(self, word: Meanings) -> bool {
        self.is_in(word.function)
    }

    /// Whether the word denies in texts of this language. A word that denies in another language counts here, too, if it has no
    /// other meaning in any language.
    pub(super) fn denies(self, word: Meanings) -> bool {
        self.is_in(word.denials) || word.denies_anywhere
    }

    pub(super) fn is_myself(self, word: Meanings) -> bool {
        self.is_in(word.myself)
    }

    /// Whether a capital letter distinguishes a name.
    pub(super) fn names_are_capital(self) -> bool {
        ALL.get(self.number)
            .is_some_and(|lists| lists.names_are_capital)
    }

    fn is_in(self, languages: u8) -> bool {
        languages >> self.number & 1 == 1
    }
}

impl Meanings {
    /// The languages in which the word is a frequent one.
    fn any(self) -> u8 {
        self.function | self.common | self.denials | self.myself
    }
}

/// What a word, in lower case and without accents, means as a small word.
pub(super) fn meanings(word: &str) -> Meanings {
    SMALL_WORDS.get(word).copied().unwrap_or_default()
}

/// Whether a word, in lower case and without accents, is one of the most frequent of one of the languages.
#[must_use]
pub fn is_small_word(word: &str) -> bool {
    meanings(word).any() != 0
}

/// Words that deny in one language and mean something else in another.
const DENIES_IN_ONE: [&str; 7] = ["mai", "no", "nul", "nulle", "pas", "personne", "sin"];

/// How many languages there are.
pub(super) const LANGUAGES: usize = 7;

const ALL: [Lists; LANGUAGES] = [ENGLISH, GERMAN, DUTCH, FRENCH, SPANISH, PORTUGUESE, ITALIAN];

const ENGLISH: Lists = Lists {
    function: "a also am an and any are as at be because been being but by can could did do does doing for had has have having he her \
        hers herself him himself his how in is it its itself ll m of our ours re s she so some than that the their theirs \
        them themselves there these they this those to us ve was were what when where whether which while who whom \
        whose will with would you your yours yourself please say says said saying tell tells told telling ask asks \
        asked asking mention mentions mentioned call calls called name named names note noted according claims claimed \
        stated states reports reported think thinks thought remember someone somebody something thing things",
    common: "about after again all another away back before both came come comes done each ever every from \
        get gets go goes going got here however if into just like made make makes may might more most much must need \
        needs now off on once onto or other out over own shall should since such then through too u up upon very \
        want wanted wants why yes yet know knows knew known remembers remembered",
    denials: "not no never none nobody nothing nowhere neither nor cannot without hardly",
    myself: "i my me mine myself we",
    names_are_capital: true,
};

const GERMAN: Lists = Lists {
    function: "als am an auch bei beim bin bist da das dass dem den denn der des die dies diese dieser dieses du durch ein \
        eine einem einen einer eines er es etwas euch euer fur habe haben hast hat hatte hatten ihm ihn ihnen ihr ihre \
        ihrem ihren ihrer im in ins ist man mit sein seine seinem seinen seiner sich sie sind so um und uns unser war \
        waren was weil wenn wer werde werden wie wir wird wo wurde zu zum zur sagt sagte gesagt heisst heissen hiess \
        erzahlt erzahlte fragt fragte bittet bat nennt name namen bitte von vom",
    common: "aber alle also auf aus bis damit dann doch dort gern gerne hier immer ja jede jeden jeder jetzt kann konnen \
        mehr mochte muss nach noch nun nur ob oder schon sehr seit soll sollte uber unter vor warum wieder \
        will zwischen weiss laut",
    denials: "nicht weder kein keine keinen keinem keiner nie niemals niemand nichts nirgends ohne",
    myself: "ich mein meine meinen meinem meiner meines mich mir",
    names_are_capital: false,
};

const DUTCH: Lists = Lists {
    function: "aan als bij daar dan dat de den der deze die dit door een en er geweest had hadden heb hebben heeft het hem \
        hen hij hoe hun iets in is je jij jouw jullie maar met om ook te u uw van voor waar waren was wat we werd wie \
        wij worden wordt zal ze zich zij zijn zo zou zegt zei gezegd heet heten vertelde vraagt vroeg",
    common: "al alle altijd dus hier ja kan kunnen moet na naar nog nu of op over tegen toch toen tot uit veel wil",
    denials: "niet geen nooit niemand niets nergens zonder",
    myself: "ik mijn mij me",
    names_are_capital: true,
};

const FRENCH: Lists = Lists {
    function: "a ai au aussi aux avait avec avoir c ce cela ces cet cette chez comme d dans de des du elle elles en est et \
        etait ete etre eu eux il ils j l la le les leur leurs lui m mais n ne nos notre nous on ont par parce \
        pour qu quand que quel quelle qui s sa se ses sont son t ta te tes toi ton tu un une votre vous y dit disait \
        appelle appelles nomme demande raconte selon",
    common: "depuis deux donc encore entre es meme ou peu peut plus si sur tous tout toute toutes tres vers fait",
    denials: "pas jamais rien aucun aucune personne nul sans nulle ni",
    myself: "je moi mon ma mes me",
    names_are_capital: true,
};

const SPANISH: Lists = Lists {
    function: "a al algo como con cual cuando de del donde e el ella ellas ellos en era eran es esa ese eso esta estaba estan \
        estar este esto estos fue ha han hay la las le les lo los os para pero por porque pues que quien se sea ser \
        son su sus tambien te tiene tienen tu tus un una unas uno unos usted y dice dijo llama llamado llamada pide \
        cuenta segun",
    common: "ante antes aqui asi aun cada desde durante entre hasta mas muy o otra otro si sobre tan todo todos ya",
    denials: "no nunca jamas nadie nada ninguno ninguna ningun tampoco sin ni",
    myself: "yo mi mis mio mia me",
    names_are_capital: true,
};

const PORTUGUESE: Lists = Lists {
    function: "a ao aos as com como da das de dela dele deles do dos e ela elas ele eles em era essa esse esta estava este \
        foi ha isso isto la lhe mas na nas no nos o os ou para pela pelo por porque qual quando que quem se ser seu \
        seus sua suas tambem te tem tinha tu um uma umas uns voce disse diz chama chamado pede segundo",
    common: "ate cada depois entre ja mais muito so sobre todo todos",
    denials: "nao nunca jamais ninguem nada nenhum nenhuma tampouco sem nem",
    myself: "eu meu minha meus minhas mim me",
    names_are_capital: true,
};

const ITALIAN: Lists = Lists {
    function: "a abbia ad agli ai al alla alle allo anche c che chi ci come con cui da dagli dai dal dalla dalle dei degli \
        del della delle dello di dove e ed era essere gli ha hanno ho i il in l la le lei li lo loro lui ma nei nel \
        nella nelle ne per perche qual quale quando quello questa questo si sia siamo sono sua sue suo suoi tu tuo un \
        uno una vi voi dice detto chiama chiede secondo",
    common: "fra o piu poi qui se su sugli sul sulla tra tutti tutto",
    denials: "non mai nessuno niente nulla nessuna senza nessun",
    myself: "io mio mia miei mie me mi",
    names_are_capital: true,
};

#[cfg(test)]
mod tests {
    use super::*;

    fn language(text: &str) -> Language {
        Language::of(crate::words(text).iter().map(|word| meanings(word)))
    }

    #[test]
    fn a_language_is_known_by_its_small_words() {
        for (text, denial) in [
            ("the horse is called Star", "never"),
            ("das Pferd heißt Stern und gehört mir", "niemand"),
            ("het paard heeft een naam", "niemand"),
            ("le cheval de ma sœur est noir", "jamais"),
            ("el caballo de su hermana es negro", "nadie"),
            ("o cavalo dela não tem nome", "ninguem"),
            ("il cavallo della sorella non è nero", "nessuno"),
            ("horse", "never"),
        ] {
            let language = language(text);
            assert!(language.is_in(meanings(denial).denials), "{text}");
        }
        // "war" and "die" say something in English.
        assert!(!language("there will be a war and kings die").is_function(meanings("war")));
    }

    #[test]
    fn every_small_word_is_written_as_texts_are_read() {
        for language in &ALL {
            for list in [
                language.function,
                language.common,
                language.denials,
                language.myself,
            ] {
                for word in list.split_ascii_whitespace() {
                    assert_eq!(crate::words(word), [word]);
                }
            }
        }
    }
}
