//! Conversations made by random, the same in every run.

/// How many words there are; drawn by Zipf's law.
const WORDS: usize = 60_000;
/// How many turns a conversation has.
const TURNS: u64 = 30;
/// How many questions are asked.
const QUESTIONS: u64 = 1_000;
/// No stemmer takes words of these for ones with an ending.
const LETTERS: &[u8; 14] = b"bcdfgkmoptuvxz";

/// What was said, and what is asked about it.
pub(crate) struct Speech {
    pub(crate) turns: Vec<Turn>,
    /// Words of turns in it, two of which are common ones.
    pub(crate) questions: Vec<String>,
}

/// One turn.
pub(crate) struct Turn {
    pub(crate) text: String,
    pub(crate) speaker: String,
    pub(crate) thread: String,
    /// In seconds: conversations of thirty turns, a minute apart, two hours between them.
    pub(crate) at: i64,
}

impl Speech {
    pub(crate) fn of(records: u64) -> Self {
        let mut all = Turns::of(records);
        let turns: Vec<Turn> = all.by_ref().collect();
        let questions = all.questions();
        Self { turns, questions }
    }
}

/// The turns of a conversation, generated one by one, so that any number of them needs no memory.
pub(crate) struct Turns {
    zipf: Zipf,
    random: RandomWords,
    made: u64,
    records: u64,
    /// The texts that are asked about.
    asked: Vec<String>,
}

impl Turns {
    pub(crate) fn of(records: u64) -> Self {
        Self {
            zipf: Zipf::new(),
            random: RandomWords(1),
            made: 0,
            records,
            asked: Vec::new(),
        }
    }

    /// What is asked about the turns that were made.
    pub(crate) fn questions(mut self) -> Vec<String> {
        let texts = self.asked.iter();
        texts
            .map(|text| question(text, &self.zipf, &mut self.random))
            .collect()
    }
}

impl Iterator for Turns {
    type Item = Turn;

    fn next(&mut self) -> Option<Turn> {
        if self.made == self.records {
            return None;
        }
        let turn = turn(self.made, &self.zipf, &mut self.random);
        if self.made.is_multiple_of((self.records / QUESTIONS).max(1)) {
            self.asked.push(turn.text.clone());
        }
        self.made += 1;
        Some(turn)
    }
}

fn turn(number: u64, zipf: &Zipf, random: &mut RandomWords) -> Turn {
    let conversation = number / TURNS;
    let words = 8 + random.below(33);
    let words: Vec<String> = (0..words).map(|_| zipf.word(random)).collect();
    Turn {
        text: words.join(" "),
        speaker: format!("Speaker{}", conversation % 50 * 2 + number % 2),
        thread: format!("thread {}", conversation % 100),
        at: i64::try_from(number * 60 + conversation * 7_200).unwrap(),
    }
}

/// Three words of a text and two that are drawn: most questions share a rare word with what they ask for.
fn question(text: &str, zipf: &Zipf, random: &mut RandomWords) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let mut asked: Vec<String> = (0..3)
        .map(|_| words[usize::try_from(random.below(words.len() as u64)).unwrap()].to_owned())
        .collect();
    asked.extend((0..2).map(|_| zipf.word(random)));
    asked.join(" ")
}

/// A small random generator (SplitMix64).
pub(crate) struct RandomWords(pub(crate) u64);

impl RandomWords {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// A number in `-1.0..1.0`.
    pub(crate) fn unit(&mut self) -> f32 {
        (self.next() as f64 / u64::MAX as f64) as f32 * 2.0 - 1.0
    }
}

struct Zipf {
    sums: Vec<f64>,
}

impl Zipf {
    fn new() -> Self {
        let mut sum = 0.0;
        let sums = (1..=WORDS).map(|rank| {
            sum += 1.0 / (rank as f64 + 2.7);
            sum
        });
        Self {
            sums: sums.collect(),
        }
    }

    fn word(&self, random: &mut RandomWords) -> String {
        let whole = *self.sums.last().unwrap();
        let at = (random.next() as f64 / u64::MAX as f64) * whole;
        let mut rank = self.sums.partition_point(|sum| *sum < at);
        let mut word = String::from("w");
        loop {
            word.push(char::from(LETTERS[rank % 14]));
            rank /= 14;
            if rank == 0 {
                return word;
            }
        }
    }
}
