//! Checks which perceptions are gone after an acknowledgement, and which are kept.

use super::{Checked, number, numbers_of};

impl Checked<'_> {
    pub(super) async fn acknowledged_deliveries_are_gone_and_the_others_stay(&self) {
        let another = &self.fixture.another;
        let theirs = self.read_of(another, 0, 10).await;
        let last = self.last().await;
        let kept = self.read(last - 3, 10).await;
        self.acknowledge(last - 3).await;
        let all = self.all().await;
        assert!(
            all.iter().all(|it| number(it) > last - 3),
            "what was acknowledged is not delivered again"
        );
        assert_eq!(all, kept, "what was not acknowledged is kept, as it was");
        self.acknowledge(1).await;
        assert_eq!(
            self.all().await,
            kept,
            "an acknowledgement is not taken back by an earlier number"
        );
        assert_eq!(
            self.last().await,
            last,
            "the last delivery counts those that were acknowledged"
        );
        assert_eq!(
            self.read_of(another, 0, 10).await,
            theirs,
            "an acknowledgement affects only its own observer"
        );
        // A number past the end counts as the last number.
        self.acknowledge(u64::MAX).await;
        assert_eq!(
            self.all().await,
            [],
            "what was acknowledged is not delivered again"
        );
        self.happens("after an acknowledgement").await;
        assert_eq!(
            numbers_of(&self.all().await),
            [last + 1],
            "what happens after an acknowledgement is delivered, with the next number"
        );
    }
}
