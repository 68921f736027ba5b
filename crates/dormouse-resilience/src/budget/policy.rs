//! How much a retry budget grows, and how much it holds.

/// The numbers of a retry budget.
///
/// The scheme is that of Finagle's `RetryBudget` and of the retry throttling of gRPC and the AWS SDKs: a bucket of
/// retries, into which every call puts a fraction of one and time puts a few, and which holds only so many. The bucket's
/// size does here what Finagle's time to live does: what a busy hour earned cannot be spent all at once the hour after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BudgetPolicy {
    /// In billionths of a retry.
    per_call: u64,
    /// In billionths of a retry.
    per_second: u64,
    most: u32,
}

/// Why numbers make no retry budget.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BudgetPolicyError {
    /// A call earns between no retry and [`BudgetPolicy::MOST_PER_CALL`].
    #[error(
        "a call cannot earn {per_call} retries: between 0 and {} are possible",
        BudgetPolicy::MOST_PER_CALL
    )]
    PerCall {
        /// What was asked for.
        per_call: f64,
    },
    /// A second earns between no retry and [`BudgetPolicy::MOST_PER_SECOND`].
    #[error(
        "a second cannot earn {per_second} retries: between 0 and {} are possible",
        BudgetPolicy::MOST_PER_SECOND
    )]
    PerSecond {
        /// What was asked for.
        per_second: f64,
    },
    /// A budget holds at least one retry and at most [`BudgetPolicy::MOST_HELD`].
    #[error(
        "a budget cannot hold {most} retries: between 1 and {} are possible",
        BudgetPolicy::MOST_HELD
    )]
    Most {
        /// What was asked for.
        most: u32,
    },
}

impl BudgetPolicy {
    /// The most retries one call may earn.
    pub const MOST_PER_CALL: f64 = 10.0;
    /// The most retries one second may earn.
    pub const MOST_PER_SECOND: f64 = 1000.0;
    /// The most retries a budget may hold.
    pub const MOST_HELD: u32 = 100_000;

    const BILLION: f64 = 1e9;

    /// For a service at the other end of a network that is called a few times a minute up to some times a second: ten
    /// calls earn a retry, two seconds earn one, and it holds ten.
    ///
    /// A tenth is what gRPC's throttling and Google's book on site reliability take (Finagle takes a fifth). The part that
    /// time earns is for whoever calls seldom, and small beside the ten a second of Finagle: these calls take seconds.
    #[must_use]
    pub const fn service() -> Self {
        Self {
            per_call: 100_000_000,
            per_second: 500_000_000,
            most: 10,
        }
    }

    /// A budget that each call lets grow by `per_call` retries and each second by `per_second`, and that holds at most
    /// `most`, as many as at the beginning. Both rates are kept to a billionth.
    ///
    /// # Errors
    ///
    /// [`BudgetPolicyError`], which names the number that is out of its range.
    pub fn try_new(per_call: f64, per_second: f64, most: u32) -> Result<Self, BudgetPolicyError> {
        if !(0.0..=Self::MOST_PER_CALL).contains(&per_call) {
            return Err(BudgetPolicyError::PerCall { per_call });
        }
        if !(0.0..=Self::MOST_PER_SECOND).contains(&per_second) {
            return Err(BudgetPolicyError::PerSecond { per_second });
        }
        if most == 0 || most > Self::MOST_HELD {
            return Err(BudgetPolicyError::Most { most });
        }
        Ok(Self {
            per_call: billionths(per_call),
            per_second: billionths(per_second),
            most,
        })
    }

    /// How many retries it holds at most.
    #[must_use]
    pub fn most(&self) -> u32 {
        self.most
    }

    /// What a call earns, in billionths of a retry.
    pub(super) fn per_call(&self) -> u64 {
        self.per_call
    }

    /// What a second earns, in billionths of a retry.
    pub(super) fn per_second(&self) -> u64 {
        self.per_second
    }
}

impl Default for BudgetPolicy {
    fn default() -> Self {
        Self::service()
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be from 0 to 1000, so a trillion at most"
)]
fn billionths(of: f64) -> u64 {
    (of * BudgetPolicy::BILLION) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_make_no_budget_are_named() {
        let error = |per_call, per_second, most| {
            BudgetPolicy::try_new(per_call, per_second, most)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            error(-0.1, 1.0, 1),
            "a call cannot earn -0.1 retries: between 0 and 10 are possible"
        );
        assert_eq!(
            error(0.1, f64::NAN, 1),
            "a second cannot earn NaN retries: between 0 and 1000 are possible"
        );
        assert_eq!(
            error(0.1, 1.0, 0),
            "a budget cannot hold 0 retries: between 1 and 100000 are possible"
        );
        assert_eq!(
            BudgetPolicy::try_new(0.1, 0.5, 10),
            Ok(BudgetPolicy::service())
        );
    }
}
