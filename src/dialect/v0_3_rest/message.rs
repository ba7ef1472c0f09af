use bytes::Bytes;
use serde_json::value::RawValue;

use super::names;
use crate::{
    dialect::{
        read::{At, EnumValue, List, Optional, Struct, Text, object, parts},
        v0_3::message::{File, unwrap_data},
    },
    error::Error,
    types::{InlineBytes, Json, Message, Part, PartContent, Role},
};

object! {
    pub(super) struct WireMessage<'de> {
        message_id: Text<'de> = "messageId" | "message_id",
        context_id: Text<'de> = "contextId" | "context_id",
        task_id: Text<'de> = "taskId" | "task_id",
        role: EnumValue<'de> = "role",
        content: List<WirePart<'de>> = "content" | "parts",
        metadata: Struct = "metadata",
        extensions: List<Text<'de>> = "extensions",
        reference_task_ids: List<Text<'de>> = "referenceTaskIds" | "reference_task_ids",
    }
}

object! {
    struct WirePart<'de> {
        // Tells the grammars apart where they would contradict each other; elsewhere it may be anything.
        kind: &'de RawValue = "kind",
        text: Text<'de> = "text",
        file: WireFile<'de> = "file",
        data: &'de RawValue = "data",
        metadata: Struct = "metadata",
    }
}

object! {
    struct WireFile<'de> {
        bytes: Text<'de> = "fileWithBytes" | "file_with_bytes" | "bytes",
        uri: Text<'de> = "fileWithUri" | "file_with_uri" | "uri",
        mime_type: Text<'de> = "mimeType" | "mime_type",
        name: Text<'de> = "name",
    }
}

object! {
    struct DataPart<'de> {
        data: &'de RawValue = "data",
    }
}

impl WireMessage<'_> {
    pub(super) fn into_message(self, params: &Bytes, generated: bool, at: &At<'_>) -> Result<Message, Error> {
        let message_id = match self.message_id.filter(|id| !generated || !id.is_empty()) {
            None if generated => uuid::Uuid::new_v4().to_string(),
            id => at.field("messageId").filled(id)?.into_string(),
        };
        let role_at = at.field("role");
        let role = match self.role {
            None if generated => Role::User,
            role => names::read_role(&role_at.required(role)?, &role_at)?,
        };
        let parts = parts(self.content, &at.field("content"), |part, at| part.into_part(params, at))?;
        let optional = Optional {
            context_id: self.context_id,
            task_id: self.task_id,
            reference_task_ids: self.reference_task_ids,
            extensions: self.extensions,
            metadata: self.metadata,
        };
        Ok(optional.message(message_id, role, parts))
    }
}

impl WirePart<'_> {
    fn into_part(mut self, params: &Bytes, at: &At<'_>) -> Result<Part, Error> {
        // Some writers fill the member that does not count with an empty string.
        if self.file.is_some() || self.data.is_some() {
            self.text.take_if(|text| text.is_empty());
        }
        let mut part = match (self.text, self.file, self.data) {
            (Some(text), None, None) => Part::text(text.into_string()),
            (None, Some(file), None) => file.into_part(params, &at.field("file"))?,
            (None, None, Some(data)) => {
                let of_schema = self.kind.is_some_and(|kind| kind.get() == r#""data""#);
                let at = at.field("data");
                let data = if of_schema { data } else { inner_data(data).unwrap_or(data) };
                if !data.get().starts_with('{') {
                    return Err(at.invalid("must be an object"));
                }
                Part::data(Json::from_raw(data).map_err(|error| at.invalid(error.to_string()))?)
            }
            _ => return Err(at.invalid("must have exactly one of text, file and data")),
        };
        part.metadata = self.metadata.map(|metadata| metadata.0);
        unwrap_data(&mut part);
        Ok(part)
    }
}

/// What a `DataPart` of the proto holds; `None` if it is none, but the data itself, as in the schema.
fn inner_data(text: &RawValue) -> Option<&RawValue> {
    let DataPart { data, .. } = serde_json::from_str(text.get()).ok()?;
    // With anything beside it, it is a member like others.
    let alone = || {
        serde_json::from_str::<std::collections::BTreeMap<&str, &RawValue>>(text.get()).is_ok_and(|map| map.len() == 1)
    };
    data.filter(|data| data.get().starts_with('{') && alone())
}

impl WireFile<'_> {
    fn into_part(self, params: &Bytes, at: &At<'_>) -> Result<Part, Error> {
        let file = File { bytes: self.bytes, uri: self.uri, mime_type: self.mime_type, name: self.name };
        let mut part = file.into_part(params, at)?;
        if let PartContent::Raw(bytes) = &mut part.content
            && let Some(once_more) = decoded_again(bytes)
        {
            *bytes = once_more;
        }
        Ok(part)
    }
}

/// The bytes behind the base64 of base64; `None` if they are encoded once.
fn decoded_again(bytes: &InlineBytes) -> Option<InlineBytes> {
    let text = bytes.decode().filter(|text| !text.is_empty() && text.len().is_multiple_of(4))?;
    let again = InlineBytes::checked_base64(text.clone())?;
    // Whoever encodes twice writes one form of it, so anything else is what it is.
    (again.to_base64().as_bytes() == text).then_some(again)
}
