use dormouse_contracts::{Audience, Trust};

use super::*;
use crate::{
    SYNTHESIS_TAGS,
    testkit::{hour, importance, journal_of, label},
};

fn review(request: ReviewRequest, hours: i64) -> Result<Review, ReviewError> {
    let journal = journal_of(&["Alice likes tea", "Bob likes tea", "Alice is late"]);
    journal.plan_review(request, hour(hours), &JournalSettings::default())
}

fn saved(review: &Review) -> &JournalEntry {
    let [JournalChange::Added { entry, .. }] = review.changes.as_slice() else {
        panic!("{:?}", review.changes);
    };
    entry
}

#[test]
fn a_review_saves_a_marked_entry_that_is_believed_like_an_inference() {
    let mut request = ReviewRequest::new("Guests of the house like tea");
    request.synthesis.tags = [label("guests")].into();
    request.synthesis.provenance.audience = Audience::Public;
    let review = review(request, 3).unwrap();
    assert_eq!(review.reviewed, [3, 2, 1].map(EntryId), "the newest first");
    let entry = saved(&review);
    assert_eq!(entry.content, "[SYNTHESIS] Guests of the house like tea");
    let tags: BTreeSet<EntryLabel> = SYNTHESIS_TAGS.iter().map(|tag| label(tag)).collect();
    assert!(tags.is_subset(&entry.tags) && entry.tags.contains(&label("guests")));
    assert_eq!(
        (entry.importance, entry.provenance.depth),
        (importance(8), 1)
    );
    assert_eq!(entry.source_trust, Trust::try_new(0.6).unwrap());
}

#[test]
fn a_review_looks_back_so_many_days_and_at_all_of_the_tags() {
    let of_days = |days_back| ReviewRequest {
        days_back,
        ..ReviewRequest::new("Tea is liked")
    };
    assert_eq!(ReviewRequest::new("x").days_back, 7);
    assert_eq!(
        review(of_days(1), 25).unwrap().reviewed,
        [3, 2].map(EntryId)
    );
    let mut tagged = of_days(7);
    tagged.tags = [label("tea")].into();
    tagged.save = SaveSynthesis::No;
    let tagged = review(tagged, 3).unwrap();
    assert!(tagged.reviewed.is_empty() && tagged.changes.is_empty());
    for (days, error) in [
        (0, "days_back is 0; expected 1 to 3650"),
        (3_651, "days_back is 3651; expected 1 to 3650"),
    ] {
        assert_eq!(review(of_days(days), 3).unwrap_err().to_string(), error);
    }
}

#[test]
fn a_conclusion_about_oneself_is_refused_and_the_same_thought_about_the_world_is_not() {
    let of = |text: &str| review(ReviewRequest::new(text), 3);
    assert_eq!(
        of("I should be more patient with guests"),
        Err(ReviewError::AboutItself)
    );
    assert_eq!(
        of("[SYNTHESIS] I will be kind"),
        Err(ReviewError::AboutItself)
    );
    assert!(of("Guests respond better to patient guidance").is_ok());
    assert_eq!(
        of("[SYNTHESIS] Guests like tea").map(|review| saved(&review).content.clone()),
        Ok("[SYNTHESIS] Guests like tea".to_owned())
    );
    assert_eq!(of(" "), Err(ReviewError::Entry(EntryError::Blank)));
}

#[test]
fn nothing_is_concluded_from_conclusions_of_conclusions() {
    let settings = JournalSettings::default();
    let mut journal = journal_of(&["Alice likes tea"]);
    let texts = [
        "Guests like tea",
        "The house is a place of drinks",
        "Drinks bring people together",
    ];
    for (hours, text) in (1..).zip(texts) {
        let review = journal
            .plan_review(ReviewRequest::new(text), hour(hours), &settings)
            .unwrap();
        review
            .changes
            .iter()
            .for_each(|change| drop(journal.apply(change, hour(hours)).unwrap()));
    }
    let depths: Vec<u8> = journal
        .entries()
        .map(|entry| entry.provenance.depth)
        .collect();
    assert_eq!(depths, [0, 1, 2, 2]);
    let review = journal
        .plan_review(ReviewRequest::new("Tea it is"), hour(9), &settings)
        .unwrap();
    assert_eq!(review.reviewed, [2, 1].map(EntryId));
}
