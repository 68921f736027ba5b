use std::env;

/// The variable that makes the tests quick, set by `cargo xtask test` and not by `cargo xtask ci`.
const QUICK: &str = "DORMOUSE_QUICK_TESTS";

/// How many cases a property test draws, or how often a program is killed: `thorough`, or an eighth of it (but at least
/// eight) if the environment variable `DORMOUSE_QUICK_TESTS` is set.
///
/// Use it for tests that take seconds and grow with this number. Other tests set their number themselves.
#[must_use]
pub fn effort(thorough: u32) -> u32 {
    if env::var_os(QUICK).is_some() {
        (thorough / 8).max(8).min(thorough)
    } else {
        thorough
    }
}
