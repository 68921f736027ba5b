//! Why a folder has no usable model.

use std::{io, path::PathBuf};

use dormouse_contracts::BoxError;

/// Why a folder has no usable model: the fault, its location, and advice.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LocalEncoderError {
    /// The path is missing, or not a folder.
    #[error(
        "there is no folder {}; name one that holds config.json, tokenizer.json and model.safetensors of a sentence-transformers model",
        .folder.display()
    )]
    NoFolder {
        /// The path.
        folder: PathBuf,
    },
    /// A required file is missing.
    #[error(
        "the file {} is missing; a model's folder holds config.json, tokenizer.json and model.safetensors (weights in other formats, such as pytorch_model.bin or ONNX, cannot be read)",
        .path.display()
    )]
    NoFile {
        /// The file.
        path: PathBuf,
    },
    /// A file cannot be read.
    #[error("the file {} cannot be read; check its permissions", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file has the wrong content.
    #[error("the file {} has invalid content; fetch the model again", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The fault.
        source: BoxError,
    },
    /// The numbers of the configuration are inconsistent.
    #[error(
        "the file {} describes an impossible model: {what} is out of range; fetch the model again",
        .path.display()
    )]
    Impossible {
        /// The file.
        path: PathBuf,
        /// The number.
        what: &'static str,
    },
    /// The model has an unsupported architecture.
    #[error(
        "the file {} describes a model of the type {kind:?}, but only \"bert\" is supported; take a BERT model, such as all-MiniLM-L6-v2 or bge-small-en",
        .path.display()
    )]
    Architecture {
        /// The file.
        path: PathBuf,
        /// The architecture, at most 64 characters; empty if the file has none.
        kind: Box<str>,
    },
    /// The vectors need a step that this crate does not support.
    #[error(
        "the file {} requires a step that is not supported; take a model that needs only mean or CLS pooling and normalising",
        .path.display()
    )]
    Pooling {
        /// The file.
        path: PathBuf,
    },
    /// The weights are damaged, or belong to another model.
    #[error(
        "the weights in {} are broken or do not belong to config.json; fetch both files again",
        .path.display()
    )]
    Weights {
        /// The file.
        path: PathBuf,
        /// The fault.
        source: BoxError,
    },
    /// The model was loaded, but does not work.
    #[error(
        "the model in {} does not work; its weights are damaged, or its tokenizer belongs to another model: fetch all files again",
        .folder.display()
    )]
    Damaged {
        /// The folder.
        folder: PathBuf,
        /// The error of the test.
        source: BoxError,
    },
}
