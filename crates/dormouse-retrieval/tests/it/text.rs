//! Conversations made of words drawn by Zipf's law, each with words of its own that come up again and again.

use dormouse_contracts::Timestamp;
use dormouse_retrieval::{Config, Index, Unit};

/// A small random generator (SplitMix64).
pub(crate) struct RandomWords(pub(crate) u64);

impl RandomWords {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) % bound
    }

    /// A word of a vocabulary of some thousands, the first of them most often.
    pub(crate) fn word(&mut self) -> String {
        let uniform = self.below(1 << 32) as f64 / (1_u64 << 32) as f64;
        // The inverse of the logarithm that Zipf's law adds up to, without the commonest: those would be stop words.
        let rank = (9.0 * 6_000_f64.powf(uniform)) as usize;
        format!("w{rank}x")
    }

    /// A turn of which every third word belongs to the topic of its conversation.
    pub(crate) fn text(&mut self, topic: u64) -> String {
        let words = 4 + self.below(20);
        let mut text = Vec::new();
        for _ in 0..words {
            text.push(match self.below(3) {
                0 => Self(topic * 97 + self.below(25)).word(),
                _ => self.word(),
            });
        }
        text.join(" ")
    }
}

/// An index of that many turns in conversations of thirty.
pub(crate) fn conversations(turns: u64, config: Config) -> (Index, Vec<String>) {
    let mut random = RandomWords(7);
    let mut index = Index::new(config);
    let mut texts = Vec::new();
    for id in 0..turns {
        let text = random.text(id / 30);
        index.insert(&Unit {
            id,
            text: &text,
            speaker: Some(["Alice", "Bob", "Carol"][(id % 3) as usize].into()),
            thread: Some(&format!("thread {}", id / 30)),
            at: Timestamp::from_micros(i64::try_from(id).unwrap_or(0) * 60_000_000),
        });
        texts.push(text);
    }
    (index, texts)
}
