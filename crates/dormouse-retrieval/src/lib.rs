//! Lexical and hybrid retrieval over conversations and facts, without I/O and without a model.
//!
//! Stability: experimental.
