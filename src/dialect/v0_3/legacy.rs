//! The two methods of version 0.1 that later servers kept as aliases.

use bytes::Bytes;

use super::{
    decode::{WirePush, history_length},
    message::{Leniency, WireMessage},
};
use crate::{
    call::Call,
    dialect::read::{At, Struct, Text, Whole, object, read_members},
    error::Error,
    operation::{OperationKind, SendMessage},
};

object! {
    struct TaskSendParams<'de> {
        id: Text<'de> = "id",
        session_id: Text<'de> = "sessionId",
        message: WireMessage<'de> = "message",
        history_length: Whole = "historyLength",
        push: WirePush<'de> = "pushNotification",
        metadata: Struct = "metadata",
    }
}

pub(super) fn operation(method: &str) -> Option<OperationKind> {
    match method {
        "tasks/send" => Some(OperationKind::SendMessage),
        "tasks/sendSubscribe" => Some(OperationKind::SendStreamingMessage),
        _ => None,
    }
}

/// The parameters of version 0.1, in which the caller chooses the task's id; `None` if they are not those.
pub(super) fn send(call: &Call, leniency: Leniency) -> Result<Option<SendMessage>, Error> {
    let params: TaskSendParams<'_> = read_members(call)?;
    let Some(id) = params.id else { return Ok(None) };
    let id = At::new("id").filled(Some(id))?.to_arc();
    let at = At::new("message");
    let body = call.params().cloned().unwrap_or_else(Bytes::new);
    // Messages had no ids then.
    let leniency = Leniency { without_id: true, ..leniency };
    let mut message = at.required(params.message)?.into_message(&body, leniency, &at)?;
    if let Some(session) = params.session_id.filter(|session| !session.is_empty()) {
        message.context_id = Some(session.to_arc());
    }
    let mut send = SendMessage::new(message);
    send.new_task_id = Some(id);
    send.configuration.history_length = history_length(params.history_length, &At::new("historyLength"))?;
    send.configuration.push = params.push.map(|push| push.into_config(&At::new("pushNotification"))).transpose()?;
    send.metadata = params.metadata.map(|metadata| metadata.0);
    Ok(Some(send))
}
