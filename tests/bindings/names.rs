//! What differs from one answer to the next though they say the same: ids, times, tokens, and how numbers are written.

use serde_json::Value;

/// The ids that were seen, in their order.
#[derive(Default)]
pub(crate) struct Names(Vec<String>);

impl Names {
    /// The answer with a plain name for each id.
    pub(crate) fn replace(&mut self, value: &Value) -> Value {
        match value {
            Value::Object(members) => {
                let members = members.iter().map(|(name, inner)| {
                    let inner = match (&**name, inner) {
                        ("timestamp", Value::String(time)) => {
                            assert!(time.ends_with('Z') && time.parse::<jiff::Timestamp>().is_ok(), "{time}");
                            "a time".into()
                        }
                        ("nextPageToken", Value::String(token)) if !token.is_empty() => "a token".into(),
                        _ => self.replace(inner),
                    };
                    (name.clone(), inner)
                });
                Value::Object(members.collect())
            }
            Value::Array(elements) => elements.iter().map(|inner| self.replace(inner)).collect(),
            Value::String(text) if uuid::Uuid::parse_str(text).is_ok() => {
                let place = self.0.iter().position(|known| known == text).unwrap_or_else(|| {
                    self.0.push(text.clone());
                    self.0.len() - 1
                });
                format!("id {place}").into()
            }
            Value::Number(number) => match number.as_f64() {
                #[allow(clippy::cast_possible_truncation)]
                Some(float) if float.fract() == 0.0 && float.abs() < 1e15 => (float as i64).into(),
                _ => value.clone(),
            },
            other => other.clone(),
        }
    }
}
