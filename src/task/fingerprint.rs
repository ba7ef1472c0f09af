//! Whether a message that comes again says the same.

use serde_json::Value;

use crate::types::{Json, JsonObject, Message, Part, PartContent};

/// What a message says, as one number: equal for two of the same words, files, data and references, however their JSON was
/// written and whatever binding they came over. The conversation and the task are no part of it: callers learn of them by
/// the first answer.
///
/// It tells mistakes apart, not attacks: whoever can send a message may see its task anyway.
pub(super) fn fingerprint(message: &Message) -> u64 {
    let Message { parts, reference_task_ids, extensions, metadata, .. } = message;
    let mut hash = Fnv::new();
    hash.count(parts.len());
    for part in parts {
        hash.part(part);
    }
    for texts in [reference_task_ids, extensions] {
        hash.count(texts.len());
        for text in texts {
            hash.bytes(text.as_bytes());
        }
    }
    hash.object(metadata.as_ref());
    hash.0
}

/// FNV-1a of 64 bits: the same in every process and every version of the compiler.
struct Fnv(u64);

impl Fnv {
    const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn raw(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn count(&mut self, count: usize) {
        self.raw(&(count as u64).to_le_bytes());
    }

    /// The length first, so that nothing moves from one text to the next unseen.
    fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.raw(bytes);
    }

    fn tag(&mut self, tag: u8) {
        self.raw(&[tag]);
    }

    fn optional(&mut self, text: Option<&str>) {
        self.tag(u8::from(text.is_some()));
        self.bytes(text.unwrap_or_default().as_bytes());
    }

    fn part(&mut self, part: &Part) {
        match &part.content {
            PartContent::Text(text) => {
                self.tag(0);
                self.bytes(text.as_bytes());
            }
            PartContent::Raw(bytes) => {
                self.tag(1);
                // What is no base64 is refused further on.
                self.bytes(&bytes.decode().unwrap_or_default());
            }
            PartContent::Url(url) => {
                self.tag(2);
                self.bytes(url.as_bytes());
            }
            PartContent::Data(data) => {
                self.tag(3);
                self.json(data);
            }
        }
        self.optional(part.filename.as_deref());
        self.optional(part.media_type.as_deref());
        self.object(part.metadata.as_ref());
    }

    /// An empty object says as little as none.
    fn object(&mut self, object: Option<&JsonObject>) {
        match object.filter(|object| !object.is_empty()) {
            Some(object) => self.json(object.as_json()),
            None => self.tag(0),
        }
    }

    fn json(&mut self, json: &Json) {
        match json.read_as() {
            Ok(value) => self.value(&value),
            Err(_) => self.bytes(json.get().as_bytes()),
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.tag(1),
            Value::Bool(value) => self.tag(2 + u8::from(*value)),
            Value::Number(number) => {
                self.tag(4);
                // Protobuf has floats alone: 1 and 1.0 are one number.
                match number.as_f64() {
                    Some(float) => self.raw(&float.to_bits().to_le_bytes()),
                    None => self.bytes(number.to_string().as_bytes()),
                }
            }
            Value::String(text) => {
                self.tag(5);
                self.bytes(text.as_bytes());
            }
            Value::Array(values) => {
                self.tag(6);
                self.count(values.len());
                values.iter().for_each(|value| self.value(value));
            }
            Value::Object(members) => {
                self.tag(7);
                self.count(members.len());
                let mut members: Vec<_> = members.iter().collect();
                members.sort_unstable_by_key(|(name, _)| *name);
                for (name, value) in members {
                    self.bytes(name.as_bytes());
                    self.value(value);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::InlineBytes;

    fn data(text: &str) -> Message {
        Message::user(Json::parse(text).unwrap())
    }

    fn metadata(text: &str) -> Message {
        Message::user("x").with_metadata(Json::parse(text).unwrap().into_object().unwrap())
    }

    #[test]
    fn it_stays_the_same_from_one_release_to_the_next() {
        // Written by an earlier one, and read where processes of several share a store.
        assert_eq!(fingerprint(&Message::user("hello")), 0xdc3f_5c10_7d2c_f2f7);
    }

    #[test]
    fn ids_and_the_way_of_writing_do_not_count() {
        let same = |left: &Message, right: &Message| fingerprint(left) == fingerprint(right);
        assert!(same(
            &Message::user("x").with_message_id("a"),
            &Message::user("x").with_task_id("t").with_context_id("c")
        ));
        assert!(same(&data(r#"{"a":1,"b":[2]}"#), &data(r#"{ "b": [2.0], "a": 1 }"#)));
        assert!(same(&metadata("{}"), &Message::user("x")));
        let (text, bytes) = (InlineBytes::from_base64("aGk"), InlineBytes::new("hi"));
        assert!(same(&Message::user(Part::raw(text)), &Message::user(Part::raw(bytes))));
    }

    #[test]
    fn whatever_else_is_said_counts() {
        let two = |left: &str, right: &str| {
            let mut message = Message::user(left);
            message.parts.push(Part::text(right));
            message
        };
        let mut refers = Message::user("x");
        refers.reference_task_ids.push("t".to_owned());
        let mut extends = Message::user("x");
        extends.extensions.push("t".to_owned());
        let all = [
            Message::user("x"),
            Message::user("y"),
            Message::user(Part::url("x")),
            Message::user(Part::raw(&b"x"[..])),
            Message::user(Part::text("x").with_filename("a")),
            Message::user(Part::text("x").with_media_type("a")),
            two("xy", "z"),
            two("x", "yz"),
            refers,
            extends,
            metadata(r#"{"a":1}"#),
            metadata(r#"{"a":2}"#),
            data(r#"{"a":null}"#),
            data(r#"{"a":false}"#),
            data(r#"{"a":true}"#),
            data(r#"{"a":"null"}"#),
            data(r#"{"a":[]}"#),
            data(r#"{"a":{}}"#),
            data("[1,[2]]"),
            data("[[1],2]"),
        ];
        let mut seen: Vec<_> = all.iter().map(fingerprint).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), all.len());
    }
}
