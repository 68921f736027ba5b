//! Vector indexes behind one port: an exact scan in process, a Qdrant server, and Qdrant edge.
//!
//! Stability: experimental.
