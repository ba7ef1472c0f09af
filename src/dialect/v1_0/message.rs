use bytes::Bytes;
use serde_json::value::RawValue;

use super::names;
use crate::{
    dialect::read::{At, EnumValue, List, Optional, Struct, Text, object, parts},
    error::Error,
    types::{Json, Message, Part, PartContent},
};

object! {
    pub(super) struct WireMessage<'de> {
        message_id: Text<'de> = "messageId" | "message_id",
        context_id: Text<'de> = "contextId" | "context_id",
        task_id: Text<'de> = "taskId" | "task_id",
        role: EnumValue<'de> = "role",
        parts: List<PartText<'de>> = "parts",
        metadata: Struct = "metadata",
        extensions: List<Text<'de>> = "extensions",
        reference_task_ids: List<Text<'de>> = "referenceTaskIds" | "reference_task_ids",
    }
}

object! {
    struct PartText<'de> {
        text: Text<'de> = "text",
        raw: Text<'de> = "raw",
        url: Text<'de> = "url",
        metadata: Struct = "metadata",
        filename: Text<'de> = "filename",
        media_type: Text<'de> = "mediaType" | "media_type",
    }
    nullable {
        data: &'de RawValue = "data",
    }
}

impl WireMessage<'_> {
    pub(super) fn into_message(self, params: &Bytes, at: &At<'_>) -> Result<Message, Error> {
        let message_id = at.field("messageId").filled(self.message_id)?.into_string();
        let role_at = at.field("role");
        let role = names::read_role(&role_at.required(self.role)?, &role_at)?;
        let parts = parts(self.parts, &at.field("parts"), |part, at| part.into_part(params, at))?;
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

const ONE_CONTENT: &str = "must have exactly one of text, raw, url and data";

impl PartText<'_> {
    fn into_part(mut self, params: &Bytes, at: &At<'_>) -> Result<Part, Error> {
        let texts = [&self.text, &self.raw, &self.url];
        let full = texts.iter().filter(|text| text.as_ref().is_some_and(|text| !text.is_empty())).count();
        let given = texts.iter().filter(|text| text.is_some()).count();
        let full = full + usize::from(self.data.is_some());
        // Some writers fill the members that do not count with empty strings.
        if full == 1 && given > 0 {
            for text in [&mut self.text, &mut self.raw, &mut self.url] {
                text.take_if(|text| text.is_empty());
            }
        } else if full > 1 || given > 1 {
            return Err(at.invalid(ONE_CONTENT));
        }
        let content = match (self.text, self.raw, self.url, self.data) {
            (Some(text), ..) => PartContent::Text(text.into_string()),
            (_, Some(raw), ..) => PartContent::Raw(raw.into_inline(params, &at.field("raw"))?),
            (.., Some(url), _) => PartContent::Url(at.field("url").filled(Some(url))?.into_string()),
            (.., Some(data)) => {
                PartContent::Data(Json::from_raw(data).map_err(|error| at.field("data").invalid(error.to_string()))?)
            }
            (None, None, None, None) => return Err(at.invalid(ONE_CONTENT)),
        };
        let mut part = Part::new(content);
        part.metadata = self.metadata.map(|metadata| metadata.0);
        part.filename = self.filename.filter(|name| !name.is_empty()).map(Text::into_string);
        part.media_type = self.media_type.filter(|kind| !kind.is_empty()).map(Text::into_string);
        Ok(part)
    }
}
