//! From a vector for each token to one for the text.

use serde::Deserialize;

use crate::{error::LocalEncoderError, folder::File};

/// Which of the tokens speak for the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pooling {
    /// All of them alike.
    Mean = 0,
    /// The first.
    Cls = 1,
}

/// As sentence-transformers writes it.
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

    /// The vector of a text, of length 1, from the vectors of its tokens, which stand one after the other. A vector without
    /// a direction has numbers in it that are none.
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
        // The mean has the direction of the sum, and its length is 1 either way.
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
    fn the_mean_of_the_tokens_or_the_first_of_them_is_brought_to_length_one() {
        let tokens = [3.0, 0.0, 3.0, 8.0];
        assert_eq!(Pooling::Mean.pool(&tokens, 2), [0.6, 0.8]);
        assert_eq!(Pooling::Cls.pool(&tokens, 2), [1.0, 0.0]);
    }

    #[test]
    fn without_a_direction_there_is_no_number() {
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
    fn the_ways_that_are_known_are_read_and_others_refused() {
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
