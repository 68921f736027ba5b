//! Findings in a handwritten cassette.

use dormouse_cassettes::{
    AcceptedFindings, Body, Cassette, Chunk, Ending, Exchange, Finding, FindingKind, Header, Part,
    RecordedRequest, RecordedResponse, Recorder, RecorderConfig, ScrubRules,
};
use http::HeaderMap;
use proptest::prelude::*;

use crate::support::{post, record};

fn cassette(target: &str, header: (&str, &str), body: &str, chunks: &[&[u8]]) -> Cassette {
    let (name, value) = (header.0.to_owned(), header.1.to_owned());
    let chunks = chunks.iter().map(|bytes| Chunk {
        pause_ms: 0,
        bytes: bytes.to_vec(),
    });
    let exchange = Exchange {
        request: RecordedRequest {
            method: "POST".to_owned(),
            target: target.to_owned(),
            host: None,
            headers: vec![Header { name, value }],
            body: Body::of(body.as_bytes().to_vec()),
            left_out_bytes: 0,
        },
        response: Some(RecordedResponse {
            status: 200,
            waited_ms: 0,
            headers: Vec::new(),
            chunks: chunks.collect(),
            left_out_bytes: 0,
            joined_chunks: 0,
        }),
        ending: Ending::Whole,
        reason: String::new(),
    };
    Cassette {
        exchanges: vec![exchange],
        ..Cassette::default()
    }
}

fn found(cassette: &Cassette) -> Vec<(Part, FindingKind)> {
    let findings = cassette.check().into_iter();
    findings
        .map(|finding| (finding.part, finding.kind))
        .collect()
}

#[test]
fn every_part_is_checked_and_findings_repeat_no_secret() {
    let mut cassette = cassette(
        "/a?key=hunter2",
        ("authorization", "Bearer [secret-1]"),
        r#"{"to":"alice@example.org"}"#,
        &[
            b"data: {\"t\":\"call +49 30 12\"}\n\ndata: {\"t\":\"34567\"}\n\n a8Fk2LmQ9xZt",
            b"4RvB7nYw ",
            b"\xff",
        ],
    );
    cassette.about.note = "seen in /home/alice/x".to_owned();
    cassette.exchanges[0].reason = "reset by 203.0.113.9".to_owned();
    assert_eq!(
        found(&cassette),
        [
            (Part::About, FindingKind::User),
            (Part::Target, FindingKind::Secret),
            (
                Part::RequestHeader("authorization".to_owned()),
                FindingKind::Header
            ),
            (Part::RequestBody, FindingKind::Email),
            (Part::ResponseBody, FindingKind::Unreadable),
            (Part::ResponseBody, FindingKind::Random),
            (Part::ResponseBody, FindingKind::Phone),
            (Part::Reason, FindingKind::IpAddress),
        ]
    );
    let findings = cassette.check();
    assert_eq!(
        findings[3].to_string(),
        "exchange 1, request body, bytes 7..24: an e-mail address"
    );
    assert_eq!(findings[3].bytes, 7..24);
    for shown in findings
        .iter()
        .flat_map(|finding| [finding.to_string(), format!("{finding:?}")])
    {
        for secret in ["hunter2", "alice", "34567", "a8Fk2", "203.0"] {
            assert!(!shown.contains(secret), "{shown}");
        }
    }
}

#[test]
fn accepted_findings_are_not_reported_again() {
    let cassette = cassette(
        "/a",
        ("accept", "x"),
        r#"{"to":"alice@example.org","cc":"bob@example.org"}"#,
        &[],
    );
    let findings = |accepted: &AcceptedFindings| -> usize { cassette.check_except(accepted).len() };
    assert_eq!(findings(&AcceptedFindings::nothing()), 2);
    assert_eq!(
        findings(&AcceptedFindings::nothing().with_text("bob@example.org")),
        1
    );
    assert_eq!(
        findings(&AcceptedFindings::nothing().with_kind(FindingKind::Email)),
        0
    );
    assert_eq!(
        findings(&AcceptedFindings::nothing().with_kind(FindingKind::Phone)),
        2
    );
    assert_eq!(
        findings(&AcceptedFindings::nothing().with_kind_in(FindingKind::Email, Part::RequestBody)),
        0
    );
    assert_eq!(
        findings(&AcceptedFindings::nothing().with_kind_in(FindingKind::Email, Part::ResponseBody)),
        2
    );
    let first: Finding = cassette.check().remove(0);
    assert_eq!(
        findings(&AcceptedFindings::nothing().with_finding(first)),
        1
    );
    assert_eq!(findings(&AcceptedFindings::everything()), 0);
}

#[test]
fn scrubbing_again_with_more_rules_keeps_the_placeholders() {
    let events: [&[u8]; 2] = [
        b"data: {\"t\":\"[email-7] said open se\"}\n\nda",
        b"ta: {\"t\":\"same to bob@example.org\"}\n\n",
    ];
    let cassette = cassette(
        "/a?key=hunter2",
        ("cookie", "a=b"),
        r#"{"to":"[secret-3]"}"#,
        &events,
    );
    let rules = ScrubRules::new().with_secret("open sesame").unwrap();
    let scrubbed = cassette.scrubbed(rules);
    assert_eq!(scrubbed.check(), []);
    let exchange = &scrubbed.exchanges[0];
    assert_eq!(exchange.request.target, "/a?key=[secret-4]");
    assert_eq!(exchange.request.headers, []);
    assert_eq!(exchange.request.body.to_bytes(), br#"{"to":"[secret-3]"}"#);
    let chunks = &exchange.response.as_ref().unwrap().chunks;
    assert_eq!(
        chunks[0].bytes,
        b"data: {\"t\":\"[email-7] said [secret-5]\"}\n\nda"
    );
    assert_eq!(chunks[1].bytes, b"ta: {\"t\":\" to [email-8]\"}\n\n");
}

proptest! {
    #[test]
    fn the_check_finds_only_random_text_in_recordings(
        body in r#"([ -~]{0,20}|alice@example\.org|password=hunter22|\+49 30 1234567|sk-abcdefgh12345|["{}:,]){0,6}"#,
        target in "/[!-~]{0,30}",
        cut in 0_usize..40,
    ) {
        let recorder = Recorder::new(RecorderConfig::default());
        let (first, second) = body.as_bytes().split_at(cut.min(body.len()));
        record(&recorder, post(&target, &HeaderMap::new(), body.as_bytes()), &[first, second]);
        let certain = |finding: &Finding| finding.kind != FindingKind::Random;
        let findings: Vec<Finding> = recorder.cassette().check().into_iter().filter(certain).collect();
        prop_assert!(findings.is_empty(), "{findings:?} in {}", recorder.cassette().to_text());
    }
}
