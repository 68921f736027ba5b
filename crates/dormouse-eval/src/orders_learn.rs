//! Learns which features of a message make it a standing order: a logistic regression over what
//! [`order_features`] finds in messages with a known answer and in ordinary talk.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
};

use dormouse_entities::order_features;

use crate::{
    args::{Half, OrdersLearn},
    error::EvalError,
    orders::read_half,
    seeded::Seeded,
};

/// How many parts of each file are left out in turn, to see how well the rest judges them. In `orders-4.txt` each part is a writer.
const PARTS: usize = 6;
/// How many turns of several remarks are put together from the ordinary talk: people who talk say more than one sentence at once.
const PUT_TOGETHER: usize = 6_000;
/// How often the regression goes through all messages.
const ROUNDS: usize = 20;
/// How far one message moves the weights.
const STEP: f32 = 0.1;
/// By how much weights shrink in a round, for each message.
const SHRINK: f32 = 1e-5;
/// In how many messages a feature must occur to get a weight.
const LEAST_OFTEN: u32 = 3;
/// All random choices follow from this, so the same files give the same weights.
const SEED: u64 = 1;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Order,
    /// A message that only looks like an order, or another message to an assistant.
    Other,
    /// Ordinary talk, which decides from which sum on a message counts.
    Talk,
    /// Ordinary talk that was put together; it is only learnt from.
    PutTogether,
}

/// A message, as the regression sees it.
#[derive(Debug)]
struct Example {
    sort: Sort,
    /// The part that it is left out with.
    part: usize,
    features: Vec<usize>,
}

/// The learnt weights, and how well weights that were learnt without a part judge it.
#[derive(Debug)]
pub(crate) struct OrderWeights {
    weights: BTreeMap<String, f32>,
    coverage: f64,
    precision: f64,
    talk: f64,
}

impl OrderWeights {
    pub(crate) fn learn(asked: &OrdersLearn) -> Result<Self, EvalError> {
        let mut messages = Vec::new();
        let learnt = asked.files.iter().map(|file| (file, Half::Learn));
        let kept = asked.kept_too.iter().map(|file| (file, Half::Kept));
        for (file, half) in learnt.chain(kept) {
            let of_file = read_half(file, half)?;
            let count = of_file.len();
            let each = of_file.into_iter().enumerate();
            messages.extend(each.map(|(place, (is_order, text))| {
                let sort = if is_order { Sort::Order } else { Sort::Other };
                (sort, place * PARTS / count, text)
            }));
        }
        let talk = read_half(&asked.talk, Half::Learn)?;
        let talk: Vec<_> = talk.into_iter().map(|(_, text)| text).collect();
        let seeded = Seeded::new(SEED);
        let of_part = |part| {
            let of_part = talk.iter().enumerate();
            let of_part = of_part.filter(move |(place, _)| place % PARTS == part);
            of_part.map(|(_, text)| text.as_str()).collect::<Vec<_>>()
        };
        for part in 0..PARTS {
            // Turns are put together from remarks of one part, so that leaving a part out leaves all of it out.
            let remarks = of_part(part);
            let single = remarks.iter().map(|text| (*text).to_owned());
            messages.extend(single.map(|text| (Sort::Talk, part, text)));
            let turns = (0..PUT_TOGETHER / PARTS).map(|_| put_together(&remarks, &seeded));
            messages.extend(turns.map(|text| (Sort::PutTogether, part, text)));
        }
        let mut names = Vec::new();
        let mut numbers = HashMap::new();
        let examples: Vec<_> = messages
            .into_iter()
            .map(|(sort, part, text)| {
                let features = order_features(&text).into_iter().map(|name| {
                    *numbers.entry(name.clone()).or_insert_with(|| {
                        names.push(name);
                        names.len() - 1
                    })
                });
                Example {
                    sort,
                    part,
                    features: features.collect(),
                }
            })
            .collect();
        Ok(Self::of(&examples, &names, asked))
    }

    fn of(examples: &[Example], names: &[String], asked: &OrdersLearn) -> Self {
        let mut sums = Vec::new();
        for part in 0..PARTS {
            let rest: Vec<_> = examples
                .iter()
                .filter(|example| example.part != part)
                .collect();
            let weights = fit(&rest, names.len(), asked.features);
            let left_out = examples.iter().filter(|it| it.part == part);
            sums.extend(left_out.map(|example| (sum(&weights, example), example)));
        }
        let mut of_talk: Vec<_> = sums
            .iter()
            .filter(|(_, example)| example.sort == Sort::Talk)
            .collect();
        of_talk.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let allowed = (of_talk.len() as f64 * asked.most_talk / 100.0) as usize;
        let least = of_talk.get(allowed).map_or(0.0, |(sum, _)| *sum);
        let count = |sort| {
            let of_sort = sums.iter().filter(|(_, example)| example.sort == sort);
            let taken = of_sort.clone().filter(|(sum, _)| *sum > least).count();
            (taken as f64, of_sort.count().max(1) as f64)
        };
        let (found, orders) = count(Sort::Order);
        let (mistaken, _) = count(Sort::Other);
        let (of_talk, talk) = count(Sort::Talk);
        let all: Vec<_> = examples.iter().collect();
        let mut weights = fit(&all, names.len(), asked.features);
        // Every message has the bias, so a message counts from a sum of 0 on.
        if let Some(bias) = names.iter().position(|name| name == "bias")
            && let Some(weight) = weights.get_mut(bias)
        {
            *weight -= least;
        }
        let named = names.iter().cloned().zip(weights);
        Self {
            weights: named.filter(|(_, weight)| weight.abs() >= 0.005).collect(),
            coverage: 100.0 * found / orders,
            precision: 100.0 * found / (found + mistaken).max(1.0),
            talk: 100.0 * of_talk / talk,
        }
    }
}

/// Two to four remarks as one turn.
fn put_together(remarks: &[&str], seeded: &Seeded) -> String {
    let mut turn = String::new();
    for _ in 0..2 + seeded.place(3) {
        let Some(remark) = remarks.get(seeded.place(remarks.len())) else {
            continue;
        };
        if !turn.is_empty() {
            turn.push(' ');
        }
        turn.push_str(remark);
        if !remark.ends_with(['.', '!', '?', ']']) {
            turn.push('.');
        }
    }
    turn
}

/// Weights for at most this many features.
fn fit(examples: &[&Example], count: usize, most: usize) -> Vec<f32> {
    let mut often = vec![0_u32; count];
    for feature in examples.iter().flat_map(|example| &example.features) {
        if let Some(often) = often.get_mut(*feature) {
            *often += 1;
        }
    }
    let mut is_used: Vec<_> = often.iter().map(|often| *often >= LEAST_OFTEN).collect();
    let weights = regression(examples, &is_used);
    // The features that change most judgements stay, and are learnt once more without the others.
    let worth = |feature: usize| {
        let weight = weights.get(feature).copied().unwrap_or_default();
        let often = often.get(feature).copied().unwrap_or_default();
        f64::from(weight.abs()) * f64::from(often).powf(0.3)
    };
    let mut order: Vec<_> = (0..count).collect();
    order.sort_by(|a, b| worth(*b).total_cmp(&worth(*a)));
    for feature in order.into_iter().skip(most) {
        if let Some(is_used) = is_used.get_mut(feature) {
            *is_used = false;
        }
    }
    regression(examples, &is_used)
}

/// A logistic regression by gradient descent, one message at a time; steps get smaller for features that occur often.
fn regression(examples: &[&Example], is_used: &[bool]) -> Vec<f32> {
    let seeded = Seeded::new(SEED);
    let mut weights = vec![0_f32; is_used.len()];
    let mut squares = vec![1_f32; is_used.len()];
    let mut order: Vec<_> = (0..examples.len()).collect();
    for _ in 0..ROUNDS {
        for place in (1..order.len()).rev() {
            order.swap(place, seeded.place(place + 1));
        }
        for example in order.iter().filter_map(|place| examples.get(*place)) {
            let likely = 1.0 / (1.0 + (-sum(&weights, example)).exp());
            let error = likely - f32::from(u8::from(example.sort == Sort::Order));
            for feature in &example.features {
                let Some(true) = is_used.get(*feature) else {
                    continue;
                };
                if let Some(weight) = weights.get_mut(*feature)
                    && let Some(square) = squares.get_mut(*feature)
                {
                    *square += error * error;
                    *weight -= STEP * error / square.sqrt();
                }
            }
        }
        for weight in &mut weights {
            *weight *= 1.0 - SHRINK * examples.len() as f32;
        }
    }
    weights
}

fn sum(weights: &[f32], example: &Example) -> f32 {
    let weights = example.features.iter().map(|it| weights.get(*it));
    weights.flatten().sum()
}

impl fmt::Display for OrderWeights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "# Made by dormouse-eval orders-learn. Each sixth judged by the rest: {:.1} % of the orders found, {:.1} % precision, {:.1} % of talk taken.",
            self.coverage, self.precision, self.talk
        )?;
        for (feature, weight) in &self.weights {
            writeln!(f, "{feature}\t{weight:.2}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_tells_orders_from_talk_gets_a_weight_and_the_same_files_give_the_same_weights() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, of: &dyn Fn(usize) -> String| {
            let path = folder.path().join(name);
            let lines: String = (0..24).map(of).collect();
            fs::write(&path, lines).unwrap();
            path
        };
        let things = [
            "lamps", "shoes", "boats", "coats", "maps", "keys", "pans", "hats",
        ];
        let thing = |place: usize| things[place % things.len()];
        let messages = file("messages.txt", &|place| match place % 2 {
            0 => format!("learn + We own no {}. What could we try?\n", thing(place)),
            _ => format!("learn - Which {} are good?\n", thing(place)),
        });
        let talk = file("talk.txt", &|place| {
            format!("learn - I saw {}!\n", thing(place))
        });
        let asked = OrdersLearn {
            files: vec![messages],
            kept_too: Vec::new(),
            talk,
            most_talk: 10.0,
            features: 400,
        };
        let learnt = OrderWeights::learn(&asked).unwrap();
        let weight = |feature| learnt.weights.get(feature).copied();
        assert!(weight("own") > Some(0.0) && weight("saw") < Some(0.0));
        // The bound follows from the talk alone, so precision is not promised.
        assert!(learnt.coverage > 90.0, "{learnt:?}");
        assert!(learnt.talk <= 10.0);
        let again = OrderWeights::learn(&asked).unwrap();
        assert_eq!(learnt.to_string(), again.to_string());
        let lines = learnt.to_string();
        assert!(lines.lines().skip(1).all(|line| line.contains('\t')));
    }
}
