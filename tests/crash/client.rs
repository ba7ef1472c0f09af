//! Those who send work, are cut off, and come back.

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper::{
    body::Incoming,
    client::conn::http1::{self, SendRequest},
};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{net::TcpStream, time::timeout};

use super::{Outcome, Random};

const PATIENCE: Duration = Duration::from_secs(30);

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
    let (mut random, mut readers) = (Random(seed | 1), Vec::new());
    let Ok(mut connection) = connect(&url).await else { return Ok(readers) };
    loop {
        let message = message(random.next());
        let Ok(body) = call(&mut connection, "SendStreamingMessage", message, None).await else { return Ok(readers) };
        let (events, is_whole) = events(body, false).await?;
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
    let (mut random, mut done) = (Random(seed | 1), Vec::new());
    let Ok(mut connection) = connect(&url).await else { return Ok(done) };
    loop {
        let Ok(body) = call(&mut connection, "SendMessage", message(random.next() % 20), None).await else {
            return Ok(done);
        };
        let Ok(body) = body.collect().await else { return Ok(done) };
        let mut answer: Value = serde_json::from_slice(&body.to_bytes())?;
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
        let mut connection = connect(url).await?;
        let body = call(&mut connection, "SubscribeToTask", json!({ "id": reader.id }), Some(last)).await?;
        let came = timeout(PATIENCE, events(body, true)).await;
        let (events, is_whole) = came.map_err(|_| format!("{}: a stream from {last} does not end", reader.id))??;
        if let Some(error) = events.first().map(|(_, event)| &event["error"]).filter(|error| !error.is_null()) {
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

/// The result of a method.
pub(crate) async fn result(url: &str, method: &str, params: Value) -> Outcome<Value> {
    let mut connection = connect(url).await?;
    let body = call(&mut connection, method, params, None).await?.collect().await?.to_bytes();
    let mut answer: Value = serde_json::from_slice(&body)?;
    if answer["result"].is_null() { Err(answer.to_string().into()) } else { Ok(answer["result"].take()) }
}

fn message(seed: u64) -> Value {
    json!({ "message": { "messageId": "m", "role": "ROLE_USER", "parts": [{ "text": (seed % 10_000).to_string() }] } })
}

async fn connect(url: &str) -> Outcome<SendRequest<Full<Bytes>>> {
    let authority = url.trim_start_matches("http://").trim_end_matches('/');
    let stream = TcpStream::connect(authority).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(sender)
}

async fn call(
    connection: &mut SendRequest<Full<Bytes>>,
    method: &str,
    params: Value,
    last: Option<u64>,
) -> Outcome<Incoming> {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let mut request = Request::post("/").header("host", "localhost").header("content-type", "application/json");
    request = request.header("a2a-version", "1.0");
    if let Some(last) = last {
        request = request.header("last-event-id", last);
    }
    connection.ready().await?;
    Ok(timeout(PATIENCE, connection.send_request(request.body(Full::from(body))?)).await??.into_body())
}

/// The events that came, and whether the stream ended as it should. An error is an event without a number. A task that
/// waits for its caller has nothing more to say, though its stream may stay open.
async fn events(mut body: Incoming, may_stay_open: bool) -> Outcome<(Vec<(u64, Value)>, bool)> {
    let (mut events, mut text) = (Vec::new(), String::new());
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return Ok((events, false)) };
        text += std::str::from_utf8(frame.data_ref().ok_or("no data")?)?;
        while let Some((event, rest)) = text.split_once("\n\n") {
            let line = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
            if let Some(data) = line("data: ") {
                let mut envelope: Value = serde_json::from_str(data)?;
                let waits = |event: &Value| {
                    let states = [&event["task"]["status"]["state"], &event["statusUpdate"]["status"]["state"]];
                    states.iter().any(|state| **state == "TASK_STATE_INPUT_REQUIRED")
                };
                match line("id: ") {
                    Some(number) => events.push((number.parse()?, envelope["result"].take())),
                    None => events.push((0, envelope)),
                }
                if may_stay_open && events.last().is_some_and(|(_, event)| waits(event)) {
                    return Ok((events, true));
                }
            }
            text = rest.to_owned();
        }
        // An error that came before the first event is a plain answer.
        if events.is_empty() && text.starts_with('{') {
            events.push((0, serde_json::from_str(&text)?));
        }
    }
    Ok((events, true))
}
