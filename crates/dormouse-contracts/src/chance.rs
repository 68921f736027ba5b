//! The port that draws random numbers.

/// The port that draws random numbers. Draws that influence an assistant's state are written into its log;
/// the jitter of a retry influences only when a call is made, and is not.
pub trait Chance: Send + Sync {
    /// A number drawn evenly from `0.0..1.0`.
    fn unit(&self) -> f64;
}
