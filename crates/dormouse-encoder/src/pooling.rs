//! Combines the vectors of the tokens into one for the text.

use serde::Deserialize;

use crate::{error::LocalEncoderError, file::File};

/// How the vectors of the tokens are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pooling {
    /// Their mean.
    Mean = 0,
    /// The first one.
    Cls = 1,
}

/// The pooling configuration of sentence-transformers.
#[derive(Deserialize)]
#[serde(default)]
struct Modes {
    pooling_mode_cls_token: bool,
    pooling_mode_mean_tokens: bool,
    pooling_mode_max_tokens: bool,
    pooling_mode_mean_sqrt_len_tokens: bool,
    pooling_mode_weightedmean_tokens: bool,
    pooling_mode_lasttoken: bool,
}

impl Default for Modes {
    fn default() -> Self {
        Self {
            pooling_mode_cls_token: false,
            pooling_mode_mean_tokens: true,
            pooling_mode_max_tokens: false,
            pooling_mode_mean_sqrt_len_tokens: false,
            pooling_mode_weightedmean_tokens: false,
            pooling_mode_lasttoken: false,
        }
    }
}

impl Pooling {
    pub(crate) fn read(file: &File) -> Result<Self, LocalEncoderError> {
        let modes: Modes = file.parse()?;
        let other = modes.pooling_mode_max_tokens
            || modes.pooling_mode_mean_sqrt_len_tokens
            || modes.pooling_mode_weightedmean_tokens
            || modes.pooling_mode_lasttoken;
        match (
            modes.pooling_mode_mean_tokens,
            modes.pooling_mode_cls_token,
            other,
        ) {
            (true, false, false) => Ok(Self::Mean),
            (false, true, false) => Ok(Self::Cls),
            _ => Err(LocalEncoderError::Pooling {
                path: file.path.clone(),
            }),
        }
    }

    /// Returns the vector of a text, of length 1, from the concatenated vectors of its tokens. A vector of length zero
    /// becomes NaN.
    pub(crate) fn pool(self, tokens: &[f32], dimensions: usize) -> Vec<f32> {
        let mut pooled = vec![0.0_f32; dimensions];
        let speaking = match self {
            Self::Mean => usize::MAX,
            Self::Cls => 1,
        };
        for token in tokens.chunks_exact(dimensions).take(speaking) {
            for (sum, number) in pooled.iter_mut().zip(token) {
                *sum += number;
            }
        }
        // The mean has the direction of the sum, and the length is normalised anyway.
        let length = pooled.iter().map(|x| x * x).sum::<f32>().sqrt();
        for number in &mut pooled {
            *number /= length;
        }
        pooled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(json: &str) -> File {
        File {
            path: "1_Pooling/config.json".into(),
            bytes: json.into(),
        }
    }

    #[test]
    fn mean_and_first_token_pooling_normalise_to_length_one() {
        let tokens = [3.0, 0.0, 3.0, 8.0];
        assert_eq!(Pooling::Mean.pool(&tokens, 2), [0.6, 0.8]);
        assert_eq!(Pooling::Cls.pool(&tokens, 2), [1.0, 0.0]);
    }

    #[test]
    fn a_vector_without_direction_is_not_a_number() {
        let pooled = Pooling::Mean.pool(&[1.0, -1.0], 1);
        assert!(pooled.iter().all(|number| number.is_nan()));
        assert!(
            Pooling::Cls
                .pool(&[f32::NAN, 1.0], 2)
                .iter()
                .all(|x| x.is_nan())
        );
    }

    #[test]
    fn known_pooling_modes_are_read_and_others_rejected() {
        let read = |json| Pooling::read(&file(json)).ok();
        assert_eq!(read("{}"), Some(Pooling::Mean));
        let cls = r#"{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}"#;
        assert_eq!(read(cls), Some(Pooling::Cls));
        for json in [
            r#"{"pooling_mode_cls_token": true}"#,
            r#"{"pooling_mode_max_tokens": true, "pooling_mode_mean_tokens": false}"#,
            r#"{"pooling_mode_mean_tokens": false}"#,
        ] {
            assert_eq!(read(json), None, "{json}");
        }
    }
}
