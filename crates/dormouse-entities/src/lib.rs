//! Whom an assistant knows: profiles, relationships, running conversations, and their place in the prompt.
//!
//! Stability: experimental.
