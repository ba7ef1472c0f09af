use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::value::RawValue;

use super::names;
use crate::{
    dialect::read::{At, List, Optional, Struct, Text, object, parts},
    error::Error,
    types::{Json, JsonObject, Message, Part, PartContent, Role, fresh_id},
};

/// In a part's metadata, says that its data stands in the member `value` because it is no object.
pub(in crate::dialect) const WRAPPED: &str = "data_part_compat";

object! {
    pub(super) struct WireMessage<'de> {
        kind: Text<'de> = "kind",
        message_id: Text<'de> = "messageId",
        role: Text<'de> = "role",
        parts: List<WirePart<'de>> = "parts",
        context_id: Text<'de> = "contextId",
        task_id: Text<'de> = "taskId",
        reference_task_ids: List<Text<'de>> = "referenceTaskIds",
        extensions: List<Text<'de>> = "extensions",
        metadata: Struct = "metadata",
    }
}

object! {
    struct WirePart<'de> {
        kind: Text<'de> = "kind",
        // Means something in version 0.1 alone; elsewhere it may be anything.
        legacy_kind: &'de RawValue = "type",
        text: Text<'de> = "text",
        file: WireFile<'de> = "file",
        data: &'de RawValue = "data",
        metadata: Struct = "metadata",
    }
}

object! {
    struct WireFile<'de> {
        bytes: Text<'de> = "bytes" | "fileWithBytes",
        uri: Text<'de> = "uri" | "fileWithUri",
        mime_type: Text<'de> = "mimeType",
        name: Text<'de> = "name",
    }
}

/// What a message may lack or say otherwise.
#[derive(Clone, Copy, Default)]
pub(super) struct Leniency {
    /// No id.
    pub(super) without_id: bool,
    /// No role.
    pub(super) without_role: bool,
    /// `type` in a part, where `kind` belongs.
    pub(super) legacy_kind: bool,
}

impl WireMessage<'_> {
    pub(super) fn into_message(self, params: &Bytes, leniency: Leniency, at: &At<'_>) -> Result<Message, Error> {
        if self.kind.is_some_and(|kind| &*kind != "message") {
            return Err(at.field("kind").invalid("must be message"));
        }
        let message_id = match self.message_id.filter(|id| !leniency.without_id || !id.is_empty()) {
            None if leniency.without_id => fresh_id(),
            id => at.field("messageId").filled(id)?.into_string(),
        };
        let role_at = at.field("role");
        let role = match self.role {
            None if leniency.without_role => Role::User,
            role => names::read_role(&role_at.required(role)?, &role_at)?,
        };
        let parts = parts(self.parts, &at.field("parts"), |part, at| part.into_part(params, leniency, at))?;
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
    fn into_part(self, params: &Bytes, leniency: Leniency, at: &At<'_>) -> Result<Part, Error> {
        let kind_at = at.field("kind");
        let legacy_kind = self.legacy_kind.filter(|_| leniency.legacy_kind && self.kind.is_none());
        let kind = match legacy_kind.and_then(|raw| serde_json::from_str(raw.get()).ok()) {
            Some(kind) => kind,
            None => kind_at.required(self.kind)?,
        };
        let mut part = match &*kind {
            "text" => Part::text(at.field("text").required(self.text)?.into_string()),
            "file" => {
                let at = at.field("file");
                File::from(at.required(self.file)?).into_part(params, &at)?
            }
            "data" => {
                let at = at.field("data");
                let data = at.required(self.data)?;
                if !data.get().starts_with('{') {
                    return Err(at.invalid("must be an object"));
                }
                Part::data(Json::from_raw(data).map_err(|error| at.invalid(error.to_string()))?)
            }
            _ => return Err(kind_at.invalid("must be text, file or data")),
        };
        part.metadata = self.metadata.map(|metadata| metadata.0);
        unwrap_data(&mut part);
        Ok(part)
    }
}

/// What a file is made of, by whatever names it came.
pub(in crate::dialect) struct File<'de> {
    pub(in crate::dialect) bytes: Option<Text<'de>>,
    pub(in crate::dialect) uri: Option<Text<'de>>,
    pub(in crate::dialect) mime_type: Option<Text<'de>>,
    pub(in crate::dialect) name: Option<Text<'de>>,
}

impl<'de> From<WireFile<'de>> for File<'de> {
    fn from(wire: WireFile<'de>) -> Self {
        Self { bytes: wire.bytes, uri: wire.uri, mime_type: wire.mime_type, name: wire.name }
    }
}

impl File<'_> {
    pub(in crate::dialect) fn into_part(mut self, params: &Bytes, at: &At<'_>) -> Result<Part, Error> {
        // Some writers fill the member that does not count with an empty string.
        if self.bytes.is_some() && self.uri.is_some() {
            self.bytes.take_if(|bytes| bytes.is_empty());
            self.uri.take_if(|uri| uri.is_empty());
        }
        let mut part = match (self.bytes, self.uri) {
            (Some(bytes), None) => Part::raw(bytes.into_inline(params, &at.field("bytes"))?),
            (None, Some(uri)) => Part::url(at.field("uri").filled(Some(uri))?.into_string()),
            _ => return Err(at.invalid("must have either bytes or uri")),
        };
        part.media_type = self.mime_type.filter(|kind| !kind.is_empty()).map(Text::into_string);
        part.filename = self.name.filter(|name| !name.is_empty()).map(Text::into_string);
        Ok(part)
    }
}

/// Undoes what was done to data that is no object.
pub(crate) fn unwrap_data(part: &mut Part) {
    let (PartContent::Data(data), Some(metadata)) = (&mut part.content, &mut part.metadata) else { return };
    if !metadata.get().contains(WRAPPED) || metadata.member::<bool>(WRAPPED) != Some(true) {
        return;
    }
    let value = serde_json::from_str::<BTreeMap<String, &RawValue>>(data.get())
        .ok()
        .filter(|members| members.len() == 1)
        .and_then(|members| Json::from_raw(members.get("value")?).ok());
    let Some(value) = value else { return };
    *data = value;
    let mut members = serde_json::from_str::<BTreeMap<String, &RawValue>>(metadata.get()).unwrap_or_default();
    members.remove(WRAPPED);
    let rest: Option<JsonObject> = Json::from_serialize(&members).ok().and_then(|json| json.into_object().ok());
    part.metadata = rest.filter(|_| !members.is_empty());
}
