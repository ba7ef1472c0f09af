use std::{collections::BTreeMap, fmt, sync::Arc};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

/// Any JSON value, kept as the text it came in.
///
/// Numbers keep their digits and objects their order; nothing is parsed until somebody asks. Cloning shares the text.
#[derive(Clone)]
pub struct Json(Arc<RawValue>);

/// Why a text cannot be a [`Json`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonError {
    /// Not well-formed JSON, or a string holds half a surrogate pair.
    Malformed,
    /// Nested deeper than [`Json::MAX_DEPTH`].
    TooDeep,
    /// An object was wanted.
    NotAnObject,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => f.write_str("is not well-formed JSON"),
            Self::TooDeep => write!(f, "is nested deeper than {} levels", Json::MAX_DEPTH),
            Self::NotAnObject => f.write_str("must be an object"),
        }
    }
}

impl std::error::Error for JsonError {}

impl Json {
    /// How deep arrays and objects may nest: 100 levels. Common JSON readers follow 127 at least, and what comes in goes
    /// out again inside of an answer that has some levels of its own.
    pub const MAX_DEPTH: usize = 100;

    /// Takes a value out of a document that is being read.
    ///
    /// # Errors
    /// If the value nests too deeply, or one of its strings holds half a surrogate pair.
    pub fn from_raw(raw: &RawValue) -> Result<Self, JsonError> {
        check(raw.get())?;
        Ok(Self(Arc::from(raw.to_owned())))
    }

    /// Reads a JSON text.
    ///
    /// # Errors
    /// If the text is not one well-formed JSON value, or nests too deeply.
    pub fn parse(text: &str) -> Result<Self, JsonError> {
        let raw = serde_json::from_str::<&RawValue>(text).map_err(|_| JsonError::Malformed)?;
        Self::from_raw(raw)
    }

    /// Turns any serialisable value into JSON.
    ///
    /// # Errors
    /// If the value cannot be written as JSON, such as a map with keys that are no strings.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        Ok(Self(Arc::from(serde_json::value::to_raw_value(value)?)))
    }

    /// The JSON text.
    #[must_use]
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// The text as `serde_json` embeds it in a larger document.
    #[must_use]
    pub fn as_raw(&self) -> &RawValue {
        &self.0
    }

    /// Reads the value into a type of your own.
    ///
    /// # Errors
    /// If the value has another shape.
    pub fn read_as<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.get())
    }

    /// True if the value is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.get().starts_with('{')
    }

    /// The value as an object.
    ///
    /// # Errors
    /// If it is none.
    pub fn into_object(self) -> Result<JsonObject, JsonError> {
        if self.is_object() { Ok(JsonObject(self)) } else { Err(JsonError::NotAnObject) }
    }
}

/// Looks at what `serde_json` lets pass in a raw value: depth, and unpaired surrogate escapes.
fn check(text: &str) -> Result<(), JsonError> {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0_usize, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'{' | b'[' => {
                depth += 1;
                if depth > Json::MAX_DEPTH {
                    return Err(JsonError::TooDeep);
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => at = check_string(bytes, at + 1)?,
            _ => {}
        }
        at += 1;
    }
    Ok(())
}

/// Gives the place of the quote that ends the string.
fn check_string(bytes: &[u8], mut at: usize) -> Result<usize, JsonError> {
    while at < bytes.len() && bytes[at] != b'"' {
        if bytes[at] != b'\\' {
            at += 1;
        } else if bytes.get(at + 1) != Some(&b'u') {
            at += 2;
        } else {
            at += match escape(bytes, at) {
                Some(0xD800..=0xDBFF) if matches!(escape(bytes, at + 6), Some(0xDC00..=0xDFFF)) => 12,
                Some(0xD800..=0xDFFF) | None => return Err(JsonError::Malformed),
                Some(_) => 6,
            };
        }
    }
    Ok(at)
}

/// The code unit of a `\uXXXX` at this place.
fn escape(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

/// Equal if both read the same: white space and the order of members do not count.
impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
            || matches!(
                (self.read_as::<serde_json::Value>(), other.read_as::<serde_json::Value>()),
                (Ok(left), Ok(right)) if left == right
            )
    }
}

impl Serialize for Json {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_raw().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        check(raw.get()).map_err(serde::de::Error::custom)?;
        Ok(Self(Arc::from(raw)))
    }
}

impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Self {
        // A `Value` prints as JSON whatever it holds.
        Self(RawValue::from_string(value.to_string()).map_or_else(|_| Arc::from(RawValue::NULL.to_owned()), Arc::from))
    }
}

/// A JSON object, kept as the text it came in: metadata, and the parameters of extensions.
#[derive(Clone, PartialEq)]
pub struct JsonObject(Json);

impl JsonObject {
    /// The object as a JSON value.
    #[must_use]
    pub const fn as_json(&self) -> &Json {
        &self.0
    }

    /// The JSON text.
    #[must_use]
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// One member, read into a type of your own; `None` if it is missing or has another shape.
    #[must_use]
    pub fn member<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_str(self.members().get(name)?.get()).ok()
    }

    /// True if it has no members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members().is_empty()
    }

    /// This object with the members of another laid over it.
    #[must_use]
    pub fn merged(&self, over: &Self) -> Self {
        let (mut members, over) = (self.members(), over.members());
        members.extend(over);
        Json::from_serialize(&members).map_or_else(|_| self.clone(), Self)
    }

    fn members(&self) -> BTreeMap<String, &RawValue> {
        serde_json::from_str(self.get()).unwrap_or_default()
    }
}

impl fmt::Debug for JsonObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<JsonObject> for Json {
    fn from(object: JsonObject) -> Self {
        object.0
    }
}

impl TryFrom<Json> for JsonObject {
    type Error = JsonError;

    fn try_from(json: Json) -> Result<Self, JsonError> {
        json.into_object()
    }
}

impl From<serde_json::Map<String, serde_json::Value>> for JsonObject {
    fn from(map: serde_json::Map<String, serde_json::Value>) -> Self {
        Self(serde_json::Value::Object(map).into())
    }
}

impl Serialize for JsonObject {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for JsonObject {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Json::deserialize(deserializer)?.into_object().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_limited_at_the_edge() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(Json::parse(&nested(Json::MAX_DEPTH)).is_ok());
        for depth in [Json::MAX_DEPTH + 1, 200, 100_000] {
            assert_eq!(Json::parse(&nested(depth)), Err(JsonError::TooDeep));
        }
        assert!(Json::parse(&format!("\"{}\"", "[".repeat(1000))).is_ok(), "brackets in a string do not nest");
    }

    #[test]
    fn half_surrogates_are_refused_anywhere() {
        for text in [r#""\ud800""#, r#"{"a":"\udc00"}"#, r#"{"\ud800x":1}"#, r#""\ud83d\u0041""#] {
            assert_eq!(Json::parse(text), Err(JsonError::Malformed), "{text}");
        }
        for text in [r#""\ud83d\ude00""#, r#""\\ud800""#, r#""\u0041\"""#] {
            assert!(Json::parse(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn digits_are_kept() {
        let json = Json::parse("123456789012345678901234567890.5").unwrap();
        assert_eq!(json.get(), "123456789012345678901234567890.5");
    }

    #[test]
    fn merging_lays_one_over_the_other() {
        let object = |text: &str| Json::parse(text).unwrap().into_object().unwrap();
        let merged = object(r#"{"a":1,"b":2}"#).merged(&object(r#"{"b":3,"c":null}"#));
        assert_eq!(merged, object(r#"{"a":1,"b":3,"c":null}"#));
        assert_eq!(merged.member::<u8>("b"), Some(3));
    }

    #[test]
    fn values_always_become_json() {
        let json = Json::from(serde_json::json!({"a": [1, null, "x"]}));
        assert_eq!(json.get(), r#"{"a":[1,null,"x"]}"#);
    }
}
