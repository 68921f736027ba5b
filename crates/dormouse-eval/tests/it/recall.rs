//! Measuring recall.

use std::{fs, io::Read, process::Stdio};

use dormouse_testing::embedding_server;

use crate::program::{Folder, command, run};

/// A conversation in the form of LoCoMo: the evidence is in one turn, among others.
fn talk() -> String {
    let turn = |session: usize, turn: usize| {
        let text = match (session, turn) {
            (1, 5) => "I put the kettle into the blue tin.".to_owned(),
            (3, 10) => "My sister plays the trombone.".to_owned(),
            _ => format!("Something about the weather of day {session}, part {turn}."),
        };
        serde_json::json!({
            "speaker": if turn.is_multiple_of(2) { "Alice" } else { "Bob" },
            "dia_id": format!("D{session}:{turn}"),
            "text": text,
            "blip_caption": ((session, turn) == (3, 10)).then_some("a photo of a lighthouse"),
        })
    };
    let session = |session| (1..=20).map(|n| turn(session, n)).collect::<Vec<_>>();
    serde_json::json!([
        {
            "sample_id": "tea",
            "conversation": {
                "speaker_a": "Alice",
                "speaker_b": "Bob",
                "session_1_date_time": "1:56 pm on 1 May, 2023",
                "session_1": session(1),
                "session_2_date_time": "1:56 pm on 2 May, 2023",
                "session_2": session(2),
                "session_3_date_time": "1:56 pm on 3 May, 2023",
                "session_3": session(3),
            },
            "qa": [
                {"question": "Where is the kettle?", "evidence": ["D1:5"], "category": 4},
                {"question": "Who plays the trombone?", "evidence": ["D3:10"], "category": 4},
                {"question": "Which picture shows a lighthouse?", "evidence": ["D3:10"], "category": 1},
                {"question": "Never known?", "evidence": [], "category": 5},
            ],
        },
        {"sample_id": "silent", "conversation": {"session_1": []}, "qa": []},
    ])
    .to_string()
}

#[test]
fn the_table_compares_with_plain_bm25_and_no_file_is_written() {
    let folder = Folder::new();
    let file = folder.write("talk.json", &talk());
    let run = run(&folder, &["recall", file.to_str().unwrap()]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    for part in [
        "3 questions about 2 conversations of 60 turns; unit: turn",
        "1 questions have no evidence in the dataset",
        "Plain BM25",
        "Dormouse, by words\n",
        "any@10",
        "single-hop",
        "silent",
        "time per query: p50",
    ] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn json_and_receipts_agree() {
    let folder = Folder::new();
    let file = folder.write("talk.json", &talk());
    let receipts = folder.file("receipts.jsonl");
    let args = ["recall", file.to_str().unwrap(), "--json", "--limit", "10"];
    let args = [&args[..], &["--receipts", receipts.to_str().unwrap()]].concat();
    let run = run(&folder, &args);
    assert_eq!(run.code, Some(0), "{}", run.err);
    let report = run.report();
    assert_eq!(report["type"], "evaluation");
    let words = &report["rankings"][1];
    assert_eq!(words["ranking"], "words");
    assert_eq!(words["total"]["questions"], 3);
    assert_eq!(words["total"]["any_at_10"], 1.0);
    assert_eq!(words["categories"][0]["name"], "multi-hop");

    let receipts = fs::read_to_string(receipts).unwrap();
    let receipts: Vec<serde_json::Value> = receipts
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(receipts.len(), 6);
    for ranking in ["plain_bm25", "words"] {
        let of = receipts.iter().filter(|r| r["ranking"] == ranking);
        let reciprocal = of.map(|receipt| {
            let ranked = receipt["ranked"].as_array().unwrap();
            assert!(ranked.len() <= 10);
            let first = ranked
                .iter()
                .position(|r| receipt["gold"].as_array().unwrap().contains(&r["id"]));
            first.map_or(0.0, |first| 1.0 / (first as f64 + 1.0))
        });
        let mrr = reciprocal.sum::<f64>() / 3.0;
        let blocks = report["rankings"].as_array().unwrap();
        let block = blocks.iter().find(|b| b["ranking"] == ranking).unwrap();
        let reported = block["total"]["mrr"].as_f64().unwrap();
        assert!(
            (mrr - reported).abs() < 1e-9,
            "{ranking}: {mrr} and {reported}"
        );
    }
}

#[test]
fn a_file_that_cannot_be_used_is_refused_with_the_reason() {
    let folder = Folder::new();
    let refused = |text: &str, reason: &str| {
        let file = folder.write("talk.json", text);
        let run = run(&folder, &["recall", file.to_str().unwrap()]);
        assert_eq!(run.code, Some(1), "{}", run.out);
        assert!(run.err.contains(reason), "{}", run.err);
    };
    refused("", "is empty");
    refused("{", "is not valid JSON; was the download complete?");
    refused("[{\"other\": 1}]", "--format");
    refused(
        r#"[{"conversation": {"session_1": [{}]}}]"#,
        "conversation 1, session_1, entry 1",
    );
    let run = run(&folder, &["recall", "no/such/file"]);
    assert_eq!(run.code, Some(1));
    assert!(run.err.contains("no/such/file could not be read"));
}

#[test]
fn receipts_never_replace_the_data() {
    let folder = Folder::new();
    let file = folder.write("talk.json", &talk());
    let file = file.to_str().unwrap();
    let run = run(&folder, &["recall", file, "--receipts", file]);
    assert_eq!(run.code, Some(2), "{}", run.err);
    assert_eq!(fs::read_to_string(file).unwrap(), talk());
}

#[test]
fn words_with_vectors_are_measured_next_to_words_alone() {
    let folder = Folder::new();
    let talk = serde_json::json!([{
        "conversation": {"session_1": [
            {"speaker": "Alice", "dia_id": "D1:1", "text": "The kettle is in the blue tin."},
            {"speaker": "Bob", "dia_id": "D1:2", "text": "I lost my umbrella."},
        ]},
        "qa": [{"question": "Where is the kettle?", "evidence": ["D1:1"], "category": 4}],
    }]);
    folder.write("talk.json", &talk.to_string());
    let small = format!("ollama:small@{}", embedding_server());
    let args = ["recall", "talk.json", "--json", "--embedder", &small];
    let run = run(&folder, &args);
    assert_eq!(run.code, Some(0), "{}", run.err);
    let report = run.report();
    assert_eq!(report["encoder"]["model"], "small");
    let rankings = report["rankings"].as_array().unwrap().iter();
    let rankings: Vec<_> = rankings.map(|block| block["ranking"].clone()).collect();
    assert_eq!(rankings, ["plain_bm25", "words", "words_and_vectors"]);
}

#[test]
fn a_closed_output_is_not_a_failure() {
    let folder = Folder::new();
    folder.write("talk.json", &talk());
    let mut child = command(&folder, &["recall", "talk.json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut err = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut err)
        .unwrap();
    assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""));
}

#[cfg(not(feature = "encoder"))]
#[test]
fn an_encoder_that_is_not_built_in_names_its_feature() {
    let folder = Folder::new();
    let args = ["recall", "talk.json", "--embedder", "folder:model"];
    let run = run(&folder, &args);
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("--features encoder"), "{}", run.err);
}
