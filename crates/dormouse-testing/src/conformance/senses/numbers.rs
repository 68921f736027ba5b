//! Checks numbers, order and pages, and that each observer has a feed of its own.

use dormouse_contracts::PERCEPTIONS_PAGE;
use futures_util::future::join_all;

use super::{Checked, MANY, numbers_of};

impl Checked<'_> {
    pub(super) async fn deliveries_are_numbered_in_order(&self) {
        let before = self.last().await;
        for nth in 1..=4 {
            self.happens(&format!("ordered {nth}")).await;
        }
        let new = self.read(before, usize::MAX).await;
        assert_eq!(
            numbers_of(&new),
            (before + 1..=before + 4).collect::<Vec<_>>(),
            "deliveries are numbered one after the other, without gaps and repetitions"
        );
        assert_eq!(
            self.read(before, usize::MAX).await,
            new,
            "reading changes nothing"
        );
        assert_eq!(
            self.last().await,
            before + 4,
            "the last delivery is the newest one"
        );
        for (perception, nth) in new.iter().zip(1..) {
            let words = perception.words.as_claimed();
            assert!(
                words.contains(&format!("ordered {nth}")),
                "deliveries are in the order in which things happened: {words:?} is number {nth}"
            );
        }
        assert!(
            (new.iter()).all(|it| it.attested.delivery.world == *self.senses.id()),
            "each delivery names its world"
        );
    }

    pub(super) async fn a_feed_is_read_from_any_number(&self) {
        let last = self.last().await;
        assert_eq!(
            numbers_of(&self.read(last - 3, 10).await),
            [last - 2, last - 1, last],
            "everything after the number is returned, oldest first"
        );
        assert_eq!(
            self.read(u64::MAX, 10).await,
            [],
            "nothing comes after the largest number"
        );
    }

    pub(super) async fn pages_are_bounded_and_follow_each_other(&self) {
        let before = self.last().await;
        let texts: Vec<_> = (0..MANY).map(|nth| format!("many {nth}")).collect();
        join_all(texts.iter().map(|text| self.happens(text))).await;
        assert_eq!(
            numbers_of(&self.read(before, 2).await),
            [before + 1, before + 2],
            "a page has as many entries as asked for, the oldest ones"
        );
        assert_eq!(
            self.read(before, 0).await,
            [],
            "a limit of 0 returns nothing"
        );
        let page = self.read(before, usize::MAX).await;
        assert_eq!(
            page.len(),
            PERCEPTIONS_PAGE,
            "a page has at most {PERCEPTIONS_PAGE} entries, and that many if there are more"
        );
        let awaited = self.awaited(before).await;
        assert!(
            awaited.is_none_or(|it| it.len() <= PERCEPTIONS_PAGE),
            "a wait returns at most {PERCEPTIONS_PAGE} entries"
        );
        assert_eq!(
            numbers_of(&self.all().await),
            (1..=before + MANY as u64).collect::<Vec<_>>(),
            "pages follow each other from number 1 on, without gaps and repetitions"
        );
    }

    pub(super) async fn feeds_are_apart(&self) {
        let another = &self.fixture.another;
        let (mine, theirs) = (self.last().await, self.last_of(another).await);
        self.happens_to(another, "for another").await;
        assert_eq!(
            self.read(mine, 10).await,
            [],
            "an observer perceives nothing that only another perceives"
        );
        self.happens("for the observer").await;
        assert_eq!(
            numbers_of(&self.read(mine, 10).await),
            [mine + 1],
            "each observer has its own numbers"
        );
        let read = self.read_of(another, theirs, 10).await;
        assert_eq!(
            numbers_of(&read),
            [theirs + 1],
            "each observer has its own numbers"
        );
        let found = read.iter().map(|it| it.words.as_claimed());
        assert!(
            found.clone().all(|words| words.contains("for another")),
            "an observer perceives what happens to it: {:?}",
            found.collect::<Vec<_>>()
        );
    }
}
