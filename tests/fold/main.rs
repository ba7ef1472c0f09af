//! What a task is after its events: the pure function that everything else about tasks rests on.

use std::sync::Arc;

use a2a_layers::{
    task::{FoldError, fold},
    types::{
        Artifact, Event, JsonObject, Message, Part, PartContent, StateKind, Task, TaskArtifactUpdateEvent, TaskState,
        TaskStatus, TaskStatusUpdateEvent,
    },
};
use proptest::prelude::*;
use serde_json::json;

fn task() -> Task {
    Task::new("t", "c", TaskState::Working)
}

fn object(value: serde_json::Value) -> JsonObject {
    value.as_object().unwrap().clone().into()
}

fn status(state: TaskState) -> Event {
    Event::StatusUpdate(TaskStatusUpdateEvent::new("t".into(), "c".into(), TaskStatus::new(state)))
}

fn says(state: TaskState, message: &Arc<Message>) -> Event {
    let status = TaskStatus::new(state).with_message(Arc::clone(message));
    Event::StatusUpdate(TaskStatusUpdateEvent::new("t".into(), "c".into(), status))
}

fn artifact(artifact: Artifact, append: bool) -> Event {
    let mut update = TaskArtifactUpdateEvent::new("t".into(), "c".into(), artifact);
    update.append = append;
    Event::ArtifactUpdate(update)
}

fn chunk(id: &str, text: &str) -> Event {
    artifact(Artifact::new(id, vec![Part::text(text)]), true)
}

fn folded(mut task: Task, events: impl IntoIterator<Item = Event>) -> Task {
    for event in events {
        fold(&mut task, &event).unwrap();
    }
    task
}

fn texts(task: &Task, index: usize) -> Vec<&str> {
    task.artifacts[index].parts.iter().map(|part| part.as_text().unwrap()).collect()
}

#[test]
fn a_task_event_replaces_the_task() {
    let mut other = Task::new("t", "c", TaskState::InputRequired);
    other.history.push(Arc::new(Message::user("hi")));
    let before = folded(task(), [chunk("a", "x")]);
    assert_eq!(folded(before, [Event::Task(Arc::new(other.clone()))]), other);
}

#[test]
fn artifacts_stand_in_the_order_of_their_first_mention() {
    let task = folded(task(), [chunk("b", "1"), chunk("a", "2"), chunk("b", "3")]);
    let ids: Vec<_> = task.artifacts.iter().map(|artifact| &*artifact.artifact_id).collect();
    assert_eq!(ids, ["b", "a"]);
    assert_eq!((texts(&task, 0), texts(&task, 1)), (vec!["13"], vec!["2"]));
}

#[test]
fn an_artifact_without_append_replaces_the_one_of_its_id() {
    let old = Artifact::new("a", vec![Part::text("old"), Part::url("u")])
        .with_name("n")
        .with_metadata(object(json!({"k": 1})));
    let new = Artifact::new("a", vec![Part::text("new")]);
    let task = folded(task(), [artifact(old, false), chunk("b", "beside"), artifact(new.clone(), false)]);
    assert_eq!(*task.artifacts[0], new, "nothing of the old one stays");
    assert_eq!(texts(&task, 1), ["beside"]);
}

#[test]
fn f71_appended_pieces_are_one_artifact() {
    let pieces = [Part::url("1"), Part::data(json!(2)), Part::url("3")];
    let events = pieces.clone().map(|part| artifact(Artifact::new("a", vec![part]), true));
    let task = folded(task(), events);
    assert_eq!(task.artifacts.len(), 1);
    assert_eq!(task.artifacts[0].parts, pieces);
}

#[test]
fn f71_what_pieces_say_about_the_artifact_is_laid_over() {
    let piece = |metadata| Artifact::new("a", vec![Part::url("u")]).with_metadata(object(metadata));
    let mut last = piece(json!({"b": 3, "c": 4})).with_name("second").with_description("words");
    last.extensions = vec!["x:1".into(), "x:2".into()];
    let mut first = piece(json!({"a": 1, "b": 2})).with_name("first");
    first.extensions = vec!["x:1".into()];
    let silent = Artifact::new("a", vec![]);
    let task = folded(task(), [artifact(first, false), artifact(last, true), artifact(silent, true)]);
    let artifact = &task.artifacts[0];
    assert_eq!(artifact.metadata, Some(object(json!({"a": 1, "b": 3, "c": 4}))));
    assert_eq!((artifact.name.as_deref(), artifact.description.as_deref()), (Some("second"), Some("words")));
    assert_eq!(artifact.extensions, ["x:1", "x:2"]);
}

#[test]
fn f72_a_piece_of_an_unknown_artifact_begins_one() {
    let task = folded(task(), [chunk("a", "begun")]);
    assert_eq!(texts(&task, 0), ["begun"]);
}

#[test]
fn v030_text_deltas_join_into_one_part() {
    let task = folded(task(), ["The ", "whole", " answer"].map(|text| chunk("a", text)));
    assert_eq!(texts(&task, 0), ["The whole answer"]);
}

#[test]
fn v030_texts_that_say_more_stay_apart() {
    let special = [
        Part::text("m").with_metadata(object(json!({"k": 1}))),
        Part::text("f").with_filename("f.txt"),
        Part::text("t").with_media_type("text/markdown"),
    ];
    for part in special {
        let special = artifact(Artifact::new("a", vec![part.clone()]), true);
        let task = folded(task(), [chunk("a", "1"), special, chunk("a", "2"), chunk("a", "3")]);
        assert_eq!(task.artifacts[0].parts, [Part::text("1"), part, Part::text("23")]);
    }
}

#[test]
fn parts_of_a_whole_artifact_are_left_as_they_are() {
    let whole = Artifact::new("a", vec![Part::text("1"), Part::text("2")]);
    let task = folded(task(), [artifact(whole, false)]);
    assert_eq!(texts(&task, 0), ["1", "2"]);
}

#[test]
fn folding_leaves_earlier_snapshots_alone() {
    let before = folded(task(), [chunk("a", "1")]);
    let after = folded(before.clone(), [chunk("a", "2")]);
    assert_eq!((texts(&before, 0), texts(&after, 0)), (vec!["1"], vec!["12"]));
}

#[test]
fn f70_history_holds_every_turn_once() {
    let [first, question, answer, done] = ["hi", "which?", "that", "there"].map(|text| Arc::new(Message::user(text)));
    let mut task = task();
    task.history.push(Arc::clone(&first));
    let asks = says(TaskState::InputRequired, &question);
    let task = folded(task, [asks, Event::Message(Arc::clone(&answer)), status(TaskState::Working)]);
    assert_eq!(task.history, [first.clone(), question.clone(), answer.clone()]);
    assert_eq!(task.status.message, None);
    let task = folded(task, [says(TaskState::Completed, &done)]);
    assert_eq!(task.history, [first, question, answer], "what the status says is not in the history as well");
    assert_eq!(task.status.message, Some(done));
}

#[test]
fn f70_words_of_an_old_status_join_the_history() {
    let [one, two] = ["10 %", "20 %"].map(|text| Arc::new(Message::agent(text)));
    let task = folded(task(), [says(TaskState::Working, &one), says(TaskState::Working, &two)]);
    assert_eq!((task.history, task.status.message), (vec![one].into(), Some(two)));
}

#[test]
fn metadata_of_a_status_joins_that_of_the_task() {
    let with = |value| {
        let mut update = TaskStatusUpdateEvent::new("t".into(), "c".into(), TaskStatus::new(TaskState::Working));
        update.metadata = Some(object(value));
        Event::StatusUpdate(update)
    };
    let task = folded(task(), [with(json!({"a": 1, "b": 1})), status(TaskState::Working), with(json!({"b": 2}))]);
    assert_eq!(task.metadata, Some(object(json!({"a": 1, "b": 2}))));
}

#[test]
fn terminal_states_are_final() {
    for state in TaskState::ALL {
        let mut task = folded(task(), [status(state)]);
        let before = task.clone();
        for event in any_events() {
            let result = fold(&mut task, &event);
            if state.kind() == StateKind::Terminal {
                assert_eq!((result, &task), (Err(FoldError::Terminal), &before), "{state}");
            } else {
                assert_eq!(result, Ok(()), "{state}");
                task = before.clone();
            }
        }
    }
}

fn any_events() -> Vec<Event> {
    vec![
        Event::Task(Arc::new(task())),
        Event::Message(Arc::new(Message::user("hi"))),
        status(TaskState::Working),
        status(TaskState::Canceled),
        chunk("a", "x"),
    ]
}

/// A piece of text: under which id, what it says, whether it has a media type of its own.
fn piece() -> impl Strategy<Value = (u8, String, bool)> {
    (0..3_u8, ".{0,8}", prop::bool::weighted(0.2))
}

proptest! {
    #[test]
    fn v030_nothing_of_an_appended_text_is_lost(pieces in prop::collection::vec(piece(), 0..30)) {
        let events = pieces.iter().map(|(id, text, apart)| {
            let mut part = Part::text(text);
            part.media_type = apart.then(|| "text/markdown".to_owned());
            artifact(Artifact::new(id.to_string(), vec![part]), true)
        });
        let task = folded(task(), events);
        for artifact in &task.artifacts {
            let expected: String = pieces
                .iter()
                .filter(|(id, ..)| id.to_string() == *artifact.artifact_id)
                .map(|(_, text, _)| &**text)
                .collect();
            let found: String = artifact.parts.iter().filter_map(Part::as_text).collect();
            prop_assert_eq!(found, expected);
            let plain_neighbours = artifact.parts.windows(2).any(|two| two.iter().all(Part::is_plain_text));
            prop_assert!(!plain_neighbours, "plain texts that meet are one");
        }
    }

    #[test]
    fn f70_every_message_is_somewhere_just_once(turns in prop::collection::vec(any::<bool>(), 0..30)) {
        let mut said = Vec::new();
        let events: Vec<_> = turns.iter().enumerate().map(|(number, by_agent)| {
            let message = Arc::new(Message::user("x").with_message_id(number.to_string()));
            said.push(Arc::clone(&message));
            if *by_agent { says(TaskState::Working, &message) } else { Event::Message(message) }
        }).collect();
        let task = folded(task(), events);
        let found: Vec<_> = task.history.iter().chain(task.status.message.as_ref()).cloned().collect();
        prop_assert_eq!(found, said);
    }

    #[test]
    fn folding_in_two_halves_is_folding_at_once(ids in prop::collection::vec((0..3_u8, any::<bool>()), 0..20), at in 0..20_usize) {
        let events: Vec<_> = ids
            .iter()
            .map(|(id, append)| artifact(Artifact::new(id.to_string(), vec![Part::text("x"), Part::url("u")]), *append))
            .collect();
        let (first, second) = events.split_at(at.min(events.len()));
        let start = task();
        let whole = folded(start.clone(), events.clone());
        // A snapshot that went through a store in between is the same.
        let halfway = Event::Task(Arc::new(folded(start.clone(), first.to_vec())));
        prop_assert_eq!(&folded(start, [halfway].into_iter().chain(second.to_vec())), &whole);
        prop_assert!(whole.artifacts.iter().all(|artifact| matches!(artifact.parts[0].content, PartContent::Text(_))));
    }
}
