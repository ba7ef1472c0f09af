use proptest::{collection::vec, option, prelude::*};

use super::*;
use crate::types::{
    InlineBytes, Json, JsonObject, Message, Part, PartContent, Role, TaskArtifactUpdateEvent, TaskState, TaskStatus,
    TaskStatusUpdateEvent, Timestamp,
};

fn name() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[a-c]{1,2}", any::<String>()]
}

fn json() -> impl Strategy<Value = Json> {
    prop::sample::select(vec![
        "null",
        "true",
        "0.10",
        "123456789012345678901234567890",
        "\"a\\u2028\"",
        "[1, {\"b\" : null}]",
        "{\n  \"z\": 1,\n  \"a\": 2\n}",
    ])
    .prop_map(|text| Json::parse(text).unwrap())
}

fn object() -> impl Strategy<Value = JsonObject> {
    prop::sample::select(vec!["{}", "{\"a\":\n1}", "{\"k\":{\"v\":[]}}"])
        .prop_map(|text| Json::parse(text).unwrap().into_object().unwrap())
}

fn part() -> impl Strategy<Value = Part> {
    let content = prop_oneof![
        4 => name().prop_map(PartContent::Text),
        1 => vec(any::<u8>(), 0..8).prop_map(|bytes| PartContent::Raw(InlineBytes::new(bytes))),
        1 => name().prop_map(PartContent::Url),
        1 => json().prop_map(PartContent::Data),
    ];
    let rest = (option::weighted(0.2, object()), option::weighted(0.2, name()), option::weighted(0.2, name()));
    (content, rest).prop_map(|(content, (metadata, filename, media_type))| Part {
        content,
        metadata,
        filename,
        media_type,
    })
}

fn message() -> impl Strategy<Value = Message> {
    let ids = (name(), option::of(name()), option::of(name()));
    let rest = (vec(name(), 0..3), vec(name(), 0..3), option::of(object()));
    (ids, any::<bool>(), vec(part(), 0..3), rest).prop_map(|(ids, agent, parts, rest)| Message {
        message_id: ids.0,
        role: if agent { Role::Agent } else { Role::User },
        parts: parts.into(),
        context_id: ids.1.map(Arc::from),
        task_id: ids.2.map(Arc::from),
        reference_task_ids: rest.0,
        extensions: rest.1,
        metadata: rest.2,
    })
}

fn artifact() -> impl Strategy<Value = Artifact> {
    let rest = (option::weighted(0.2, name()), option::weighted(0.2, name()), vec(name(), 0..2));
    (name(), rest, vec(part(), 0..3), option::weighted(0.2, object())).prop_map(
        |(id, (name, description, extensions), parts, metadata)| Artifact {
            artifact_id: Arc::from(id),
            name,
            description,
            parts: parts.into(),
            extensions,
            metadata,
        },
    )
}

fn status() -> impl Strategy<Value = TaskStatus> {
    let state = prop::sample::select([&TaskState::ALL[..], &[TaskState::Unspecified]].concat());
    (state, option::of(message()), option::of(any::<i64>())).prop_map(|(state, message, at)| TaskStatus {
        state,
        message: message.map(Arc::new),
        timestamp: at.map(Timestamp::from_millis),
    })
}

fn task() -> impl Strategy<Value = Task> {
    let said = (vec(artifact(), 0..3), vec(message(), 0..3));
    (name(), name(), status(), said, option::of(object())).prop_map(|(id, context_id, status, said, metadata)| Task {
        id: Arc::from(id),
        context_id: Arc::from(context_id),
        status,
        artifacts: said.0.into_iter().map(Arc::new).collect(),
        history: said.1.into_iter().map(Arc::new).collect(),
        metadata,
    })
}

fn event() -> impl Strategy<Value = Event> {
    let ids = || prop_oneof![3 => Just(("t".to_owned(), "c".to_owned())), 1 => (name(), name())];
    let updated = (ids(), artifact(), any::<bool>(), any::<bool>(), option::weighted(0.1, object()));
    prop_oneof![
        1 => task().prop_map(|task| Event::Task(Arc::new(task))),
        1 => message().prop_map(|message| Event::Message(Arc::new(message))),
        1 => (ids(), status(), option::of(object())).prop_map(|(ids, status, metadata)| {
            let ids = (Arc::from(ids.0), Arc::from(ids.1));
            Event::StatusUpdate(TaskStatusUpdateEvent { task_id: ids.0, context_id: ids.1, status, metadata })
        }),
        1 => updated.prop_map(|(ids, artifact, append, last_chunk, metadata)| {
            Event::ArtifactUpdate(TaskArtifactUpdateEvent {
                task_id: Arc::from(ids.0),
                context_id: Arc::from(ids.1),
                artifact: Arc::new(artifact),
                append,
                last_chunk,
                metadata,
            })
        }),
        4 => ("[ab]", name()).prop_map(|(id, text)| delta(&id, &text)),
    ]
}

fn delta(id: &str, text: &str) -> Event {
    let artifact = Artifact::new(id, vec![Part::text(text)]);
    let mut update = TaskArtifactUpdateEvent::new("t".into(), "c".into(), artifact);
    update.append = true;
    Event::ArtifactUpdate(update)
}

proptest! {
    #[test]
    fn a_task_comes_back_as_it_was(task in task()) {
        let text = write_task(&task);
        prop_assert_eq!(read_task(&text).unwrap(), task);
    }

    #[test]
    fn events_come_back_as_they_were(events in vec(event(), 0..8)) {
        let text = write_events("t", "c", &events);
        prop_assert_eq!(read_events("t", "c", &text).unwrap(), events);
    }

    #[test]
    fn what_is_no_such_text_is_an_error(text: String) {
        let _ = read_task(&text);
        let _ = read_events("t", "c", &text);
    }
}

#[test]
fn the_form_stays_what_it_is() {
    let mut task = Task::new("t", "c", TaskState::InputRequired);
    task.status.timestamp = Some(Timestamp::from_millis(5));
    task.status.message = Some(Arc::new(Message::agent("?").with_message_id("m")));
    task.artifacts.push(Arc::new(Artifact::new("a", vec![Part::raw(vec![0xff]).with_filename("f")])));
    let text = r#"{"id":"t","contextId":"c","status":{"state":"input-required","message":{"id":"m","agent":true,"parts":[{"text":"?"}]},"at":5},"artifacts":[{"id":"a","parts":[{"raw":"/w==","filename":"f"}]}]}"#;
    assert_eq!(write_task(&task), text);
    // What a later process may have added.
    let longer = text.replacen('{', r#"{"mood":{"good":[true]},"#, 1);
    assert_eq!(read_task(&longer).unwrap(), task);
    assert_eq!(read_task(&text.replacen('{', r#"{"v":1,"#, 1)).unwrap(), task);
    let later = read_task(&text.replacen('{', r#"{"v":2,"#, 1)).unwrap_err();
    assert_eq!(later.to_string(), "cannot read what was stored: it is of a later form");
    assert!(read_task(&text.replace("input-required", "bored")).is_err());
}

#[test]
fn f86_a_word_takes_little_more_than_its_letters() {
    let events: Vec<_> = (0..1_000).map(|_| delta("artifact-1", "word ")).collect();
    let text = write_events("t", "c", &events);
    assert!(text.len() < 1_000 * 8 + 100, "{}", text.len());
    assert_eq!(read_events("t", "c", &text).unwrap(), events);
}
