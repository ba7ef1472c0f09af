//! Those who send work until they are cut off, and come back.

use serde_json::{Value, json};
use tokio::time::timeout;

use super::durable::{
    Outcome, Random,
    client::{Connection, Events, PATIENCE, Said, message, state},
};

/// What somebody has seen of one task.
pub(crate) struct Reader {
    pub(crate) id: String,
    /// The number and the content of each event, in the order in which they came.
    pub(crate) events: Vec<(u64, Value)>,
    /// How many came before the crash.
    pub(crate) before: usize,
}

/// A whole answer.
pub(crate) struct Done {
    pub(crate) task: Value,
}

/// One stream after the other, until the connection is cut. Of the last ones, what had come by then.
pub(crate) async fn stream_on(url: String, seed: u64) -> Outcome<Vec<Reader>> {
    let (mut random, mut readers) = (Random::new(seed), Vec::new());
    let Ok(mut connection) = Connection::to(&url).await else { return Ok(readers) };
    loop {
        let work = message(random.below(10_000).to_string());
        let Ok(stream) = connection.events("SendStreamingMessage", work, None).await else { return Ok(readers) };
        let (events, is_whole) = all(stream, false).await?;
        if let Some((_, first)) = events.first() {
            let id = first["task"]["id"].as_str().ok_or("a stream begins with its task")?.to_owned();
            readers.push(Reader { id, before: events.len(), events });
        }
        if !is_whole {
            return Ok(readers);
        }
    }
}

/// One blocking send after the other, until the connection is cut.
pub(crate) async fn send_on(url: String, seed: u64) -> Outcome<Vec<Done>> {
    let (mut random, mut done) = (Random::new(seed), Vec::new());
    let Ok(mut connection) = Connection::to(&url).await else { return Ok(done) };
    loop {
        let sent = connection.answer("SendMessage", message(random.below(20).to_string())).await;
        let Ok(mut answer) = sent else { return Ok(done) };
        if answer["result"]["task"].is_null() {
            return Err(format!("no task in {answer}").into());
        }
        done.push(Done { task: answer["result"]["task"].take() });
    }
}

/// Everyone comes back to where it was, as a client of version 1.0 does: with a cursor the stream begins with the task
/// as of the cursor, under the cursor's number. A task that is over by then has no more streams.
pub(crate) async fn read_on(url: &str, readers: Vec<Reader>) -> Outcome<Vec<Reader>> {
    let coming_back = readers.into_iter().map(|mut reader| async move {
        let last = reader.events.last().map_or(0, |(number, _)| *number);
        let mut connection = Connection::to(url).await?;
        let stream = connection.events("SubscribeToTask", json!({ "id": reader.id }), Some(last)).await?;
        let came = timeout(PATIENCE, all(stream, true)).await;
        let (events, is_whole) = came.map_err(|_| format!("{}: a stream from {last} does not end", reader.id))??;
        if let Some((0, error)) = events.first() {
            if error["code"] != -32004 {
                return Err(format!("{}: {error}", reader.id).into());
            }
            return Ok(reader);
        }
        let mut events = events.into_iter();
        if events.next().map(|(number, _)| number) != Some(last) || !is_whole {
            return Err(format!("{}: a stream from {last} begins there and ends well", reader.id).into());
        }
        reader.events.extend(events);
        Ok(reader)
    });
    futures_util::future::try_join_all(coming_back).await
}

/// The events that came, and whether the stream ended as it should. An error is an event without a number. A task that
/// waits for its caller has nothing more to say, though its stream may stay open.
async fn all(mut stream: Events, may_stay_open: bool) -> Outcome<(Vec<(u64, Value)>, bool)> {
    let mut events = Vec::new();
    loop {
        match stream.next().await? {
            Said::Event(number, event) => {
                let waits = state(&event) == Some("TASK_STATE_INPUT_REQUIRED");
                events.push((number, event));
                if may_stay_open && waits {
                    return Ok((events, true));
                }
            }
            Said::Error(error) => events.push((0, error)),
            Said::End => return Ok((events, true)),
            Said::Cut => return Ok((events, false)),
        }
    }
}
