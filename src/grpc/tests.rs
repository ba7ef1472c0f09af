//! What goes into messages comes out of them.

use std::sync::Arc;

use bytes::Bytes;
use proptest::prelude::*;
use prost::Message as _;

use super::{
    language::Language,
    proto::{v0_3, v1_0},
};
use crate::{
    dialect::testing::{arbitrary_message, task},
    operation::{Answer, ListTasksPage, OperationKind, OperationRequest, SendMessage, StreamEvent, TaskView},
    task::LogEntry,
    types::{
        AgentCard, AgentInterface, AgentSkill, ApiKeyLocation, Event, Json, JsonObject, Message, OAuthFlow,
        OAuthFlowKind, Part, PartContent, PushAuthentication, PushNotificationConfig, SecurityScheme,
        SecuritySchemeKind, TaskArtifactUpdateEvent, TaskState, TaskStatus, TaskStatusUpdateEvent, Timestamp,
    },
};

fn event(language: Language, event: &StreamEvent) -> Bytes {
    Bytes::copy_from_slice(&language.event(event).unwrap())
}

fn answer<M: prost::Message + Default>(language: Language, answer: &Answer) -> M {
    M::decode(&*language.answer(answer).unwrap()).unwrap()
}

fn sent(language: Language, request: &impl prost::Message) -> SendMessage {
    match language.decode(OperationKind::SendMessage, request.encode_to_vec().into()).unwrap().into_request() {
        OperationRequest::SendMessage(send) => send,
        other => panic!("{other:?}"),
    }
}

/// A message as it comes back: numbers are floats.
fn with_floats(mut message: Message) -> Message {
    for part in &mut message.parts {
        if let PartContent::Data(data) = &mut part.content {
            *data = floats(&data.read_as().unwrap()).into();
        }
        part.metadata = part.metadata.as_ref().map(|metadata| object(floats(&metadata.as_json().read_as().unwrap())));
    }
    message
}

fn floats(value: &serde_json::Value) -> serde_json::Value {
    match value {
        serde_json::Value::Number(number) => serde_json::json!(number.as_f64()),
        serde_json::Value::Array(list) => list.iter().map(floats).collect(),
        serde_json::Value::Object(members) => {
            members.iter().map(|(key, value)| (key.clone(), floats(value))).collect::<serde_json::Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

fn object(value: serde_json::Value) -> JsonObject {
    Json::from(value).into_object().unwrap()
}

proptest! {
    #[test]
    fn a_message_of_1_0_comes_back(message in arbitrary_message()) {
        let wire = event(Language::V1_0, &StreamEvent::Message(Arc::new(message.clone())));
        let Some(v1_0::stream_response::Payload::Message(wire)) = v1_0::StreamResponse::decode(wire).unwrap().payload
        else { panic!("no message") };
        let request = v1_0::SendMessageRequest { message: Some(wire), ..Default::default() };
        prop_assert_eq!(with_floats(Message::clone(&sent(Language::V1_0, &request).message)), with_floats(message));
    }

    #[test]
    fn a_message_of_0_3_comes_back_less_what_it_has_no_room_for(message in arbitrary_message()) {
        let wire = event(Language::V0_3, &StreamEvent::Message(Arc::new(message.clone())));
        let Some(v0_3::stream_response::Payload::Msg(wire)) = v0_3::StreamResponse::decode(wire).unwrap().payload
        else { panic!("no message") };
        let request = v0_3::SendMessageRequest { request: Some(wire), ..Default::default() };
        let mut expected = message;
        for part in expected.parts.iter_mut().filter(|part| !part.is_file()) {
            (part.filename, part.media_type) = (None, None);
        }
        prop_assert_eq!(with_floats(Message::clone(&sent(Language::V0_3, &request).message)), with_floats(expected));
    }

    #[test]
    fn files_in_base64_come_back(bytes: Vec<u8>) {
        let message = Message::user(Part::raw(bytes.clone()));
        let wire = event(Language::V0_3Base64, &StreamEvent::Message(Arc::new(message.clone())));
        let Some(v0_3::stream_response::Payload::Msg(wire)) = v0_3::StreamResponse::decode(wire).unwrap().payload
        else { panic!("no message") };
        let Some(v0_3::part::Part::File(file)) = &wire.content[0].part else { panic!("no file") };
        let text = crate::types::InlineBytes::new(bytes).to_base64();
        prop_assert_eq!(&file.file, &Some(v0_3::file_part::File::FileWithBytes(text.into())));
        let request = v0_3::SendMessageRequest { request: Some(wire), ..Default::default() };
        prop_assert_eq!(&*sent(Language::V0_3Base64, &request).message, &message);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
        for kind in OperationKind::ALL {
            let _ = Language::V1_0.decode(kind, bytes.clone().into());
            let _ = Language::V0_3.decode(kind, bytes.clone().into());
        }
    }
}

#[test]
fn a_task_is_whole_in_both() {
    let view = TaskView::new(task());
    let new: v1_0::Task = answer(Language::V1_0, &Answer::Task(view.clone()));
    let old: v0_3::Task = answer(Language::V0_3, &Answer::Task(view.clone()));
    assert_eq!(
        (&*new.id, &*new.context_id, new.status.as_ref().unwrap().state()),
        ("t1", "c1", v1_0::TaskState::Completed)
    );
    assert_eq!((&*old.id, &*old.context_id, old.status.as_ref().unwrap().state), ("t1", "c1", 3));
    assert_eq!((&*new.artifacts[0].name, &*old.artifacts[0].name), ("n", "n"));
    assert_eq!((new.history[0].parts.len(), old.history[0].content.len()), (3, 3));
    let time = new.status.unwrap().timestamp.unwrap();
    assert_eq!((time.seconds, time.nanos), (0, 0));

    let cut = view.clone().with_history_length(Some(0)).without_artifacts();
    let new: v1_0::Task = answer(Language::V1_0, &Answer::Task(cut));
    assert!(new.history.is_empty() && new.artifacts.is_empty());

    let mut page = ListTasksPage::new(vec![view], 7, u64::MAX);
    page.next_page_token = "next".into();
    let list: v1_0::ListTasksResponse = answer(Language::V1_0, &Answer::Tasks(page.clone()));
    assert_eq!((list.tasks.len(), &*list.next_page_token, list.page_size, list.total_size), (1, "next", 7, i32::MAX));
    assert!(Language::V0_3.answer(&Answer::Tasks(page)).is_err());
}

#[test]
fn updates_say_all_that_they_have_to_say() {
    let ids: (Arc<str>, Arc<str>) = ("t".into(), "c".into());
    for state in TaskState::ALL {
        let mut status = TaskStatus::new(state).with_message(Message::agent("so"));
        status.timestamp = Some(Timestamp::from_millis(1_500));
        let mut update = TaskStatusUpdateEvent::new(ids.0.clone(), ids.1.clone(), status);
        update.metadata = Some(object(serde_json::json!({ "n": 1 })));
        let entry = StreamEvent::Logged(LogEntry::new(1, Event::StatusUpdate(update)));
        let Some(v1_0::stream_response::Payload::StatusUpdate(new)) =
            v1_0::StreamResponse::decode(event(Language::V1_0, &entry)).unwrap().payload
        else {
            panic!("no update")
        };
        let Some(v0_3::stream_response::Payload::StatusUpdate(old)) =
            v0_3::StreamResponse::decode(event(Language::V0_3, &entry)).unwrap().payload
        else {
            panic!("no update")
        };
        let is_final = state.is_terminal() || state == TaskState::InputRequired;
        assert_eq!((&*new.task_id, &*old.context_id, old.r#final), ("t", "c", is_final), "{state}");
        assert_eq!(new.metadata, old.metadata);
        let StreamEvent::Logged(entry) = entry else { panic!("no entry") };
        let passed = event(Language::V0_3, &StreamEvent::Passed(entry));
        let Some(v0_3::stream_response::Payload::StatusUpdate(passed)) =
            v0_3::StreamResponse::decode(passed).unwrap().payload
        else {
            panic!("no update")
        };
        assert_eq!(passed, v0_3::TaskStatusUpdateEvent { r#final: state.is_terminal(), ..old.clone() });
        let status = new.status.unwrap();
        assert_eq!((status.state, status.timestamp.unwrap().nanos), (old.status.unwrap().state, 500_000_000));
    }
    let artifact = crate::types::Artifact::new("a", vec![Part::text("x")]).with_description("d");
    let mut update = TaskArtifactUpdateEvent::new(ids.0, ids.1, artifact);
    (update.append, update.last_chunk) = (true, true);
    let entry = StreamEvent::Logged(LogEntry::new(2, Event::ArtifactUpdate(update)));
    let Some(v0_3::stream_response::Payload::ArtifactUpdate(old)) =
        v0_3::StreamResponse::decode(event(Language::V0_3, &entry)).unwrap().payload
    else {
        panic!("no update")
    };
    assert!(old.append && old.last_chunk);
    assert_eq!(old.artifact.unwrap().description, "d");
    // Made once, and then shared by all who read the log.
    let (first, second) = (Language::V0_3.event(&entry).unwrap(), Language::V0_3.event(&entry).unwrap());
    assert_eq!(first.as_ptr(), second.as_ptr());
    assert_ne!(&*first, &*Language::V1_0.event(&entry).unwrap());
}

#[test]
fn webhooks_have_names_in_0_3() {
    let mut config = PushNotificationConfig::new("https://hook.example/");
    (config.id, config.task_id, config.token) = (Some("c".into()), Some("t".into()), Some("secret".into()));
    config.authentication = Some(PushAuthentication::new(vec!["Bearer".into(), "Basic".into()]));
    let old: v0_3::TaskPushNotificationConfig = answer(Language::V0_3, &Answer::PushConfig(Box::new(config.clone())));
    assert_eq!(old.name, "tasks/t/pushNotificationConfigs/c");
    assert_eq!(old.push_notification_config.unwrap().authentication.unwrap().schemes, ["Bearer", "Basic"]);
    let new: v1_0::ListTaskPushNotificationConfigsResponse =
        answer(Language::V1_0, &Answer::PushConfigs(vec![config.clone()]));
    assert_eq!((&*new.configs[0].task_id, &*new.configs[0].authentication.as_ref().unwrap().scheme), ("t", "Bearer"));

    let request = v1_0::TaskPushNotificationConfig { tenant: "x".into(), ..new.configs[0].clone() };
    let operation = Language::V1_0.decode(OperationKind::CreatePushConfig, request.encode_to_vec().into()).unwrap();
    assert_eq!(operation.tenant().map(|tenant| &**tenant), Some("x"));
    let OperationRequest::CreatePushConfig(read) = operation.into_request() else { panic!("no config") };
    assert_eq!((read.id, read.task_id, read.token), (config.id, config.task_id, config.token));
}

#[test]
fn cards_say_what_each_version_knows() {
    let mut card = AgentCard::new("n", "d", "1");
    card.interfaces.push(AgentInterface::new("agents.example:443", "GRPC", "1.0"));
    card.interfaces.push(AgentInterface::new("https://agents.example/", "JSONRPC", "0.3"));
    card.interfaces.push(AgentInterface::new("https://agents.example", "GRPC", "0.3"));
    card.skills.push(AgentSkill::new("s", "S", "does", "tag"));
    let key = SecuritySchemeKind::ApiKey { location: ApiKeyLocation::Header, name: "x-key".into() };
    let flow = OAuthFlow::new(OAuthFlowKind::DeviceCode);
    let oauth = SecuritySchemeKind::OAuth2 { flows: vec![flow], metadata_url: None };
    card.security_schemes.insert("key".into(), SecurityScheme::new(key));
    card.security_schemes.insert("oauth".into(), SecurityScheme::new(oauth));
    card.security_schemes.insert("mtls".into(), SecurityScheme::new(SecuritySchemeKind::MutualTls));
    card.security_requirements.push([("key".to_owned(), vec!["read".to_owned()])].into());
    let whole = Answer::ExtendedAgentCard(card.into());
    let new: v1_0::AgentCard = answer(Language::V1_0, &whole);
    let old: v0_3::AgentCard = answer(Language::V0_3, &whole);
    assert_eq!((new.supported_interfaces.len(), &*new.supported_interfaces[0].url), (3, "agents.example:443"));
    assert_eq!(
        (&*old.url, &*old.preferred_transport, &*old.protocol_version),
        ("https://agents.example/", "JSONRPC", "0.3.0")
    );
    let transports: Vec<_> =
        old.additional_interfaces.iter().map(|interface| (&*interface.url, &*interface.transport)).collect();
    assert_eq!(transports, [("https://agents.example/", "JSONRPC"), ("https://agents.example", "GRPC")]);
    assert_eq!(new.security_requirements[0].schemes["key"].list, ["read"]);
    assert_eq!((&old.security, &old.skills), (&new.security_requirements, &new.skills));
    let flow = |schemes: &std::collections::BTreeMap<String, v1_0::SecurityScheme>| match &schemes["oauth"].scheme {
        Some(v1_0::security_scheme::Scheme::Oauth2SecurityScheme(oauth)) => oauth.flows.clone().unwrap().flow,
        other => panic!("{other:?}"),
    };
    assert!(matches!(flow(&new.security_schemes), Some(v1_0::o_auth_flows::Flow::DeviceCode(_))));
    assert_eq!(flow(&old.security_schemes), None);
}
