//! How fast a retry budget grows, and its size.

/// The policy of a retry budget.
///
/// The scheme is that of Finagle's `RetryBudget` and of the retry throttling in gRPC and the AWS SDKs: a bucket of
/// retries with a maximum, to which every call adds a fraction of a retry and time adds a few. The bucket's size
/// replaces Finagle's time to live: the credit of a busy hour cannot be spent all at once in the next hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BudgetPolicy {
    /// In billionths of a retry.
    per_call: u64,
    /// In billionths of a retry.
    per_second: u64,
    most: u32,
}

/// Why numbers are not a valid retry budget.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BudgetPolicyError {
    /// The credit per call is negative or more than [`BudgetPolicy::MOST_PER_CALL`].
    #[error(
        "a call earns {per_call} retries; expected 0 to {}",
        BudgetPolicy::MOST_PER_CALL
    )]
    PerCall {
        /// The given number.
        per_call: f64,
    },
    /// The credit per second is negative or more than [`BudgetPolicy::MOST_PER_SECOND`].
    #[error(
        "a second earns {per_second} retries; expected 0 to {}",
        BudgetPolicy::MOST_PER_SECOND
    )]
    PerSecond {
        /// The given number.
        per_second: f64,
    },
    /// The size is zero or more than [`BudgetPolicy::MOST_HELD`].
    #[error(
        "the budget contains {most} retries; expected 1..={}",
        BudgetPolicy::MOST_HELD
    )]
    Most {
        /// The given number.
        most: u32,
    },
}

impl BudgetPolicy {
    /// The largest credit per call, in retries.
    pub const MOST_PER_CALL: f64 = 10.0;
    /// The largest credit per second, in retries.
    pub const MOST_PER_SECOND: f64 = 1000.0;
    /// The largest size, in retries.
    pub const MOST_HELD: u32 = 100_000;

    const BILLION: f64 = 1e9;

    /// For a network service with between a few calls per minute and a few per second. Ten calls earn one retry, two
    /// seconds earn one, and the size is ten.
    ///
    /// gRPC's throttling and Google's book on site reliability use a tenth per call (Finagle a fifth). The credit for
    /// time lets programs retry even if they call rarely. It is smaller than Finagle's ten per second, because calls to
    /// a model take seconds.
    #[must_use]
    pub const fn service() -> Self {
        Self {
            per_call: 100_000_000,
            per_second: 500_000_000,
            most: 10,
        }
    }

    /// A full budget that grows by `per_call` retries with each call and by `per_second` each second, up to `most`.
    /// Both rates are rounded down to a billionth of a retry.
    ///
    /// # Errors
    ///
    /// [`BudgetPolicyError`] with the number that is out of range.
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

    /// The size, in retries.
    #[must_use]
    pub fn most(&self) -> u32 {
        self.most
    }

    /// The credit per call, in billionths of a retry.
    pub(super) fn per_call(&self) -> u64 {
        self.per_call
    }

    /// The credit per second, in billionths of a retry.
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
    fn invalid_budget_numbers_are_named() {
        let error = |per_call, per_second, most| {
            BudgetPolicy::try_new(per_call, per_second, most)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            error(-0.1, 1.0, 1),
            "a call earns -0.1 retries; expected 0 to 10"
        );
        assert_eq!(
            error(0.1, f64::NAN, 1),
            "a second earns NaN retries; expected 0 to 1000"
        );
        assert_eq!(
            error(0.1, 1.0, 0),
            "the budget contains 0 retries; expected 1..=100000"
        );
        assert_eq!(
            BudgetPolicy::try_new(0.1, 0.5, 10),
            Ok(BudgetPolicy::service())
        );
    }
}
