//! Finds the lines of standard input that are most similar to a question: `similar_lines FOLDER QUESTION < LINES`. The
//! folder contains a BERT model in the format of sentence-transformers, such as all-MiniLM-L6-v2.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::{error::Error, io};

use dormouse_contracts::Embedder;
use dormouse_encoder::LocalEncoder;
use tokio::time::Instant;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(question)) = (arguments.next(), arguments.next()) else {
        return Err("usage: similar_lines FOLDER QUESTION < LINES".into());
    };
    let lines: Vec<String> = io::stdin().lines().collect::<Result<_, _>>()?;
    let begun = Instant::now();
    let encoder = LocalEncoder::open(folder.as_ref())?;
    println!("{} opened in {:?}", encoder.info().model, begun.elapsed());

    let begun = Instant::now();
    let vectors = encoder.embed(&lines).await?;
    println!("{} lines in {:?}", lines.len(), begun.elapsed());

    let begun = Instant::now();
    let asked = encoder.embed(&[question]).await?.concat();
    println!("the question in {:?}", begun.elapsed());

    let similarity =
        |vector: &[f32]| -> f32 { vector.iter().zip(&asked).map(|(a, b)| a * b).sum() };
    let mut ranked: Vec<_> = vectors.iter().map(|v| similarity(v)).zip(lines).collect();
    ranked.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    for (similarity, line) in ranked.iter().take(5) {
        println!("{similarity:.3} {line}");
    }
    Ok(())
}
