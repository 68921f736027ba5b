//! Words that say nothing by themselves, and words that deny, in seven languages.
//!
//! In a language that is not here every word counts as one that says something. A paraphrase in it is then believed
//! less, never more.

use std::{collections::HashMap, sync::LazyLock};

/// The small words of one language. All are in lower case and without accents.
struct Lists {
    /// Articles, pronouns, prepositions, forms of "to be" and "to have", and words that only report that somebody said
    /// something.
    function: &'static str,
    /// Words that deny. A note that denies says something else than one that does not.
    denials: &'static str,
    /// The words by which speakers mean themselves.
    myself: &'static str,
    /// Whether a capital letter distinguishes a name.
    names_are_capital: bool,
}

/// The languages in which a word has each meaning: one bit for each language of [`ALL`].
#[derive(Clone, Copy, Default)]
struct Meanings {
    function: u8,
    denials: u8,
    myself: u8,
}

/// Every small word of every language, to be found with one look.
static SMALL_WORDS: LazyLock<HashMap<&'static str, Meanings>> = LazyLock::new(|| {
    let mut words: HashMap<&'static str, Meanings> = HashMap::new();
    for (number, lists) in ALL.iter().enumerate() {
        let bit = 1 << number;
        let of = |list: &'static str| list.split_ascii_whitespace();
        of(lists.function).for_each(|word| words.entry(word).or_default().function |= bit);
        of(lists.denials).for_each(|word| words.entry(word).or_default().denials |= bit);
        of(lists.myself).for_each(|word| words.entry(word).or_default().myself |= bit);
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
    /// The language of a text, by its small words. English if there are none or if it is a draw.
    pub(super) fn of(words: &[String]) -> Self {
        let mut hits = [0_usize; ALL.len()];
        for word in words {
            let languages = meanings(word).any();
            for (number, hits) in hits.iter_mut().enumerate() {
                *hits += usize::from(languages >> number & 1);
            }
        }
        // `max_by_key` takes the last of several that are equal.
        let best = hits.iter().enumerate().rev().max_by_key(|(_, hits)| **hits);
        let number = best.map_or(0, |(number, _)| number);
        Self { number }
    }

    pub(super) fn is_function(self, word: &str) -> bool {
        self.is_in(meanings(word).function)
    }

    pub(super) fn denies(self, word: &str) -> bool {
        self.is_in(meanings(word).denials)
    }

    pub(super) fn is_myself(self, word: &str) -> bool {
        self.is_in(meanings(word).myself)
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
    /// The languages in which the word is a small one.
    fn any(self) -> u8 {
        self.function | self.denials | self.myself
    }
}

fn meanings(word: &str) -> Meanings {
    SMALL_WORDS.get(word).copied().unwrap_or_default()
}

/// Whether a word, in lower case and without accents, says nothing by itself in one of the languages.
#[must_use]
pub fn is_small_word(word: &str) -> bool {
    meanings(word).any() != 0
}

const ALL: [Lists; 7] = [ENGLISH, GERMAN, DUTCH, FRENCH, SPANISH, PORTUGUESE, ITALIAN];

const ENGLISH: Lists = Lists {
    function: "a about after again all also am an and another any are as at away back be because been before being both but by \
        came can come comes could did do does doing done each ever every for from get gets go goes going got had has \
        have having he her here hers herself him himself his how however if in into is it its itself just like ll m \
        made make makes may might more most much must need needs now of off on once onto or other our ours out over own re s \
        shall she should since so some such than that the their theirs them themselves then there these they this \
        those through to too u up upon us ve very want wanted wants was we were what when where whether which while who whom whose why \
        will with would yes yet you your yours yourself please \
        say says said saying tell tells told telling ask asks asked asking mention mentions mentioned call calls \
        called name names named know knows knew known remember remembers remembered note noted according claims \
        claimed stated states reports reported think thinks thought someone somebody something thing things",
    denials: "not no never none nobody nothing nowhere neither nor cannot without hardly",
    myself: "i my me mine myself we",
    names_are_capital: true,
};

const GERMAN: Lists = Lists {
    function: "aber alle als also am an auch auf aus bei beim bin bis bist da damit dann das dass dem den denn der des \
        die dies diese dieser dieses doch dort du durch ein eine einem einen einer eines er es etwas euch euer fur \
        gern gerne habe haben hast hat hatte hatten hier ihm ihn ihnen ihr ihre ihrem ihren ihrer im immer in ins ist \
        ja jede jeden jeder jetzt kann konnen man mehr mit mochte muss nach noch nun nur ob oder ohne schon sehr sein \
        seine seinem seinen seiner seit sich sie sind so soll sollte uber um und uns unser unter vom von vor war waren \
        warum was weil wenn wer werde werden wie wieder will wir wird wo wurde zu zum zur zwischen \
        sagt sagte gesagt heisst heissen hiess erzahlt erzahlte fragt fragte bittet bat nennt name namen weiss bitte laut",
    denials: "nicht kein keine keinen keinem keiner nie niemals niemand nichts nirgends",
    myself: "ich mein meine meinen meinem meiner meines mich mir",
    names_are_capital: false,
};

const DUTCH: Lists = Lists {
    function: "aan al alle als altijd bij daar dan dat de den der deze die dit door dus een en er geweest had hadden \
        heb hebben heeft het hem hen hier hij hoe hun iets in is ja je jij jouw jullie kan kunnen maar met moet na naar \
        nog nu of om ook op over te tegen toch toen tot u uit uw van veel voor waar waren was wat we werd wie wij wil \
        worden wordt zal ze zich zij zijn zo zou zegt zei gezegd heet heten vertelde vraagt vroeg",
    denials: "niet geen nooit niemand niets nergens",
    myself: "ik mijn mij me",
    names_are_capital: true,
};

const FRENCH: Lists = Lists {
    function: "a ai au aussi aux avait avec avoir c ce cela ces cet cette chez comme d dans de depuis des deux donc du \
        elle elles en encore entre es est et etait ete etre eu eux fait il ils j l la le les leur leurs lui m mais meme \
        n ne nos notre nous on ont ou par parce peu peut plus pour qu quand que quel quelle qui s sa sans se ses si \
        sont son sur t ta te tes toi ton tous tout toute toutes tres tu un une vers votre vous y \
        dit disait appelle appelles nomme demande raconte selon",
    denials: "pas jamais rien aucun aucune personne nul",
    myself: "je moi mon ma mes me",
    names_are_capital: true,
};

const SPANISH: Lists = Lists {
    function: "a al algo ante antes aqui asi aun cada como con cual cuando de del desde donde durante e el ella ellas \
        ellos en entre era eran es esa ese eso esta estaba estan estar este esto estos fue ha han hasta hay la las le \
        les lo los mas muy ni o os otra otro para pero por porque pues que quien se sea ser si sin sobre son su sus \
        tambien tan te tiene tienen todo todos tu tus un una unas uno unos usted y ya \
        dice dijo llama llamado llamada pide cuenta segun",
    denials: "no nunca jamas nadie nada ninguno ninguna ningun tampoco",
    myself: "yo mi mis mio mia me",
    names_are_capital: true,
};

const PORTUGUESE: Lists = Lists {
    function: "a ao aos as ate cada com como da das de dela dele deles depois do dos e ela elas ele eles em entre era \
        essa esse esta estava este eu foi ha isso isto ja la lhe mais mas muito na nas nem no nos o os ou para pela \
        pelo por porque qual quando que quem se sem ser seu seus sua suas so sobre tambem te tem tinha todo todos tu \
        um uma umas uns voce disse diz chama chamado pede segundo",
    denials: "nao nunca jamais ninguem nada nenhum nenhuma tampouco",
    myself: "eu meu minha meus minhas mim me",
    names_are_capital: true,
};

const ITALIAN: Lists = Lists {
    function: "a abbia ad agli ai al alla alle allo anche c che chi ci come con cui da dagli dai dal dalla dalle dei \
        degli del della delle dello di dove e ed era essere fra gli ha hanno ho i il in io l la le lei li lo loro lui \
        ma nei nel nella nelle ne o per perche piu poi qual quale quando quello questa questo qui se si sia siamo sono \
        su sua sue sugli sul sulla suo suoi tra tu tuo tutti tutto un una uno vi voi dice ha detto chiama chiede secondo",
    denials: "non mai nessuno niente nulla nessuna",
    myself: "io mio mia miei mie me mi",
    names_are_capital: true,
};

#[cfg(test)]
mod tests {
    use super::*;

    fn language(text: &str) -> Language {
        Language::of(&crate::words(text))
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
            assert!(language(text).denies(denial), "{text}");
        }
        // "war" and "die" say something in English.
        assert!(!language("there will be a war and kings die").is_function("war"));
    }

    #[test]
    fn every_small_word_is_written_as_texts_are_read() {
        for language in &ALL {
            for list in [language.function, language.denials, language.myself] {
                for word in list.split_ascii_whitespace() {
                    assert_eq!(crate::words(word), [word]);
                }
            }
        }
    }
}
