//! How a section of the configuration is declared.

/// Settings that belong together.
pub(super) trait Section: Sized {
    /// The names of its settings, in the order in which they are declared.
    const NAMES: &'static [&'static str];

    /// Takes the value of one setting from another section.
    fn take(&mut self, name: &str, from: Self);
}

/// Declares a section. Each entry describes a setting completely: its sentence, its type with bounds, and its default.
/// Attributes add when a change applies, other names in the reference documents, and what to show if there is no
/// default.
///
/// - `x-when`: `next_tick` if `dormouse config set` may change it, for a section or one setting; otherwise it is read when the
///   program starts.
/// - `x-alias`: its names in the reference documents.
/// - `x-unset`: what happens if there is no value and no default.
/// - `x-example`: a value for the commented example, if there is no default.
/// - `x-may-hold-a-key`: `always` if its value is never printed, `in an address` if only an address without a user's name or a
///   query is.
macro_rules! section {
    ($(#[$attribute:meta])* $visible:vis struct $section:ident {
        $($(#[$of_field:meta])* $field:ident: $type:ty = $default:expr,)+
    }) => {
        #[derive(Clone, Debug, serde::Deserialize, schemars::JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        $(#[$attribute])*
        $visible struct $section { $($(#[$of_field])* $visible $field: $type,)+ }

        impl Default for $section {
            fn default() -> Self {
                Self { $($field: $default,)+ }
            }
        }

        impl $crate::config::section::Section for $section {
            const NAMES: &'static [&'static str] = &[$(stringify!($field)),+];

            fn take(&mut self, name: &str, from: Self) {
                match name {
                    $(stringify!($field) => self.$field = from.$field,)+
                    _ => {}
                }
            }
        }
    };
}

pub(super) use section;
