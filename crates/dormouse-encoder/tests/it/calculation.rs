//! The architecture again, in plain loops.

use std::collections::BTreeMap;

use crate::tiny::{HEADS, HIDDEN, LAYERS, Tensor, Tiny};

struct Weights(BTreeMap<String, Tensor>);

impl Weights {
    fn row(&self, name: &str, row: usize) -> &[f32] {
        &self.0[name].numbers[row * HIDDEN..][..HIDDEN]
    }

    fn linear(&self, name: &str, x: &[f32]) -> Vec<f32> {
        let weight = &self.0[&format!("{name}.weight")];
        let bias = &self.0[&format!("{name}.bias")].numbers;
        let rows = weight.numbers.chunks_exact(weight.shape[1]);
        rows.zip(bias)
            .map(|(row, bias)| dot(row, x) + bias)
            .collect()
    }

    fn norm(&self, name: &str, x: &[f32]) -> Vec<f32> {
        let count = x.len() as f32;
        let mean = x.iter().sum::<f32>() / count;
        let spread = (x.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / count).sqrt();
        let weight = &self.0[&format!("{name}.weight")].numbers;
        let bias = &self.0[&format!("{name}.bias")].numbers;
        let part = |n: usize| (x[n] - mean) / spread * weight[n] + bias[n];
        (0..x.len()).map(part).collect()
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// The mean of the tokens' vectors, of length 1.
pub(crate) fn embed(tiny: &Tiny, ids: &[usize]) -> Vec<f32> {
    let weights = Weights(tiny.tensors());
    let kind = weights.row("embeddings.token_type_embeddings.weight", 0);
    let token = |(position, id): (usize, &usize)| {
        let word = weights.row("embeddings.word_embeddings.weight", *id);
        let position = weights.row("embeddings.position_embeddings.weight", position);
        weights.norm("embeddings.LayerNorm", &add(&add(word, kind), position))
    };
    let mut tokens: Vec<Vec<f32>> = ids.iter().enumerate().map(token).collect();
    for layer in 0..LAYERS {
        tokens = self::layer(&weights, &format!("encoder.layer.{layer}"), &tokens);
    }
    let sum = tokens
        .iter()
        .skip(1)
        .fold(tokens[0].clone(), |sum, token| add(&sum, token));
    let length = dot(&sum, &sum).sqrt();
    sum.iter().map(|x| x / length).collect()
}

fn layer(weights: &Weights, name: &str, tokens: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let heeded = attention(weights, &format!("{name}.attention.self"), tokens);
    let each = tokens.iter().zip(heeded).map(|(token, heeded)| {
        let heeded = weights.linear(&format!("{name}.attention.output.dense"), &heeded);
        let token = weights.norm(
            &format!("{name}.attention.output.LayerNorm"),
            &add(&heeded, token),
        );
        let mut inner = weights.linear(&format!("{name}.intermediate.dense"), &token);
        inner.iter_mut().for_each(|x| *x = x.max(0.0));
        let inner = weights.linear(&format!("{name}.output.dense"), &inner);
        weights.norm(&format!("{name}.output.LayerNorm"), &add(&inner, &token))
    });
    each.collect()
}

fn attention(weights: &Weights, name: &str, tokens: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let part = |part: &str| -> Vec<Vec<f32>> {
        let linear = |token: &Vec<f32>| weights.linear(&format!("{name}.{part}"), token);
        tokens.iter().map(linear).collect()
    };
    let (queries, keys, values) = (part("query"), part("key"), part("value"));
    let size = HIDDEN / HEADS;
    let of_head = |token: &[f32], head: usize| token[head * size..][..size].to_vec();
    let one = |query: &Vec<f32>| -> Vec<f32> {
        let heads = (0..HEADS).flat_map(|head| {
            let scale = (size as f32).sqrt();
            let query = of_head(query, head);
            let score = |key: &Vec<f32>| (dot(&query, &of_head(key, head)) / scale).exp();
            let scores: Vec<f32> = keys.iter().map(score).collect();
            let all: f32 = scores.iter().sum();
            let heeded = |n: usize| -> f32 {
                let each = scores.iter().zip(&values);
                each.map(|(score, value)| score / all * of_head(value, head)[n])
                    .sum()
            };
            (0..size).map(heeded).collect::<Vec<_>>()
        });
        heads.collect()
    };
    queries.iter().map(one).collect()
}
