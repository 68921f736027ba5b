//! Assumptions of the program that are reported when they do not hold.

use std::sync::atomic::{AtomicU64, Ordering};

/// One counter for the whole process, whichever part of the program has the defect.
static BROKEN: AtomicU64 = AtomicU64::new(0);

/// How many [`invariant!`](crate::invariant)s did not hold since the process began. Anything but 0 is a defect.
#[must_use]
pub fn broken_invariants() -> u64 {
    BROKEN.load(Ordering::Relaxed)
}

/// Counts an invariant that does not hold. Called by [`invariant!`](crate::invariant).
///
/// # Panics
///
/// With debug assertions, as in tests.
#[cold]
#[track_caller]
pub fn count_broken_invariant(why: &str) {
    BROKEN.fetch_add(1, Ordering::Relaxed);
    #[expect(
        clippy::panic,
        reason = "a test must fail where the program is wrong; a release goes on with the fallback"
    )]
    if cfg!(debug_assertions) {
        panic!("an invariant does not hold: {why}");
    }
}

/// A value that may be missing: an [`Option`] or a [`Result`].
pub trait MaybeMissing {
    /// The type of the value.
    type Value;

    /// The value, if it is there.
    fn present(self) -> Option<Self::Value>;
}

impl<T> MaybeMissing for Option<T> {
    type Value = T;

    fn present(self) -> Self {
        self
    }
}

impl<T, E> MaybeMissing for Result<T, E> {
    type Value = T;

    fn present(self) -> Option<T> {
        self.ok()
    }
}

/// The value of an `Option` or a `Result` that is always there, by an invariant that the types do not show.
///
/// If the value is missing, the program has a defect. Then this panics with debug assertions, as in tests. A release
/// build counts the defect ([`broken_invariants`](crate::broken_invariants)), logs it at error level, and goes on with
/// the fallback: the third argument, or the default of the type. Use it in place of `unwrap_or_default()` wherever the
/// default would hide a defect; if the value may be missing, `unwrap_or_default()` is right.
///
/// The calling crate needs `tracing` among its dependencies.
///
/// ```
/// use dormouse_contracts::invariant;
///
/// let text = "name: value";
/// let rest = invariant!(text.get(4..), "the name is ASCII");
/// let number = invariant!("7".parse::<u8>(), "the text is a digit", 0);
/// assert_eq!((rest, number), (": value", 7));
/// ```
#[macro_export]
macro_rules! invariant {
    ($value:expr, $why:literal) => {
        $crate::invariant!($value, $why, ::std::default::Default::default())
    };
    ($value:expr, $why:literal, $fallback:expr) => {
        match $crate::MaybeMissing::present($value) {
            ::std::option::Option::Some(value) => value,
            ::std::option::Option::None => {
                ::tracing::error!(
                    invariant = $why,
                    "an invariant does not hold: this is a defect of the program, please report it"
                );
                $crate::count_broken_invariant($why);
                $fallback
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_the_value() {
        assert_eq!(invariant!(Some(7), "seven is there"), 7);
        assert_eq!(invariant!("x".get(..1), "a text of one byte"), "x");
        assert_eq!(invariant!(Err::<u8, _>("no").or(Ok::<_, ()>(1)), "one"), 1);
    }

    #[test]
    fn what_is_missing_is_counted_and_stops_a_test() {
        let before = broken_invariants();
        let went_on = std::panic::catch_unwind(|| invariant!(None, "nothing is there", 3));
        assert_eq!(broken_invariants(), before + 1);
        if cfg!(debug_assertions) {
            assert!(went_on.is_err(), "a debug build panics");
        } else {
            assert_eq!(went_on.ok(), Some(3), "a release goes on with the fallback");
        }
    }
}
