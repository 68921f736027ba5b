//! The port that draws random numbers.

/// The port that draws random numbers. Draws that influence an assistant's state are recorded in its log. The jitter of a
/// retry only influences the time of a call, and is not recorded.
pub trait Random: Send + Sync {
    /// A number from `0.0..1.0`, uniformly distributed.
    fn unit(&self) -> f64;
}
