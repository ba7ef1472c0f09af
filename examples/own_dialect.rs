//! A wire version of one's own beside 0.3 and 1.0: texts in, texts out, for programs that want no more.
//!
//! ```text
//! cargo run --example own_dialect -- 127.0.0.1:8000
//! curl -s http://127.0.0.1:8000/ -H 'Content-Type: application/json' -H 'A2A-Version: 9.0' \
//!     -d '{"jsonrpc":"2.0","id":1,"method":"say","params":{"text":"hello"}}'
//! ```

use std::{convert::Infallible, env};

use a2a_layers::{
    call::Call,
    dialect::{Dialect, V1_0, read_params, write_json},
    error::{BoxError, Error, ErrorKind},
    operation::{Answer, Operation, OperationKind, OperationRequest, ProtocolVersion, SendMessage, StreamEvent},
    part::Input,
    server::{Mount, serve},
    types::{AgentCard, Event, Json, Message, Part, Task},
};
use http::Request;
use serde::Deserialize;
use serde_json::json;
use tokio::net::TcpListener;
use tower::service_fn;

struct Plain;

#[derive(Deserialize)]
struct Say {
    text: String,
}

impl Dialect for Plain {
    fn version(&self) -> ProtocolVersion {
        ProtocolVersion::new(9, 0)
    }

    fn operation(&self, method: &str) -> Option<OperationKind> {
        match method {
            "say" => Some(OperationKind::SendMessage),
            "tell" => Some(OperationKind::SendStreamingMessage),
            _ => None,
        }
    }

    fn decode(&self, call: &Call) -> Result<Operation, Error> {
        let kind = self.operation(call.method()).ok_or(ErrorKind::MethodNotFound)?;
        let Say { text } = read_params(call)?;
        let send = SendMessage::new(Message::user(text));
        let request = match kind {
            OperationKind::SendMessage => OperationRequest::SendMessage(send),
            _ => OperationRequest::SendStreamingMessage(send),
        };
        Ok(Operation::new(self.version(), call.binding(), request))
    }

    fn encode(&self, answer: &Answer, out: &mut Vec<u8>) -> Result<(), Error> {
        let text = match answer {
            Answer::SentTask(view) => text_of(view.task()),
            Answer::SentMessage(message) => message.text(),
            _ => return Err(ErrorKind::UnsupportedOperation.into()),
        };
        write_json(&json!({ "text": text }), out)
    }

    fn encode_event(&self, event: &StreamEvent, out: &mut Vec<u8>) -> Result<(), Error> {
        let event = match event.to_event() {
            Event::ArtifactUpdate(update) => json!({ "text": text(&update.artifact.parts) }),
            event => json!({ "state": event.state().map(|state| format!("{state:?}")) }),
        };
        write_json(&event, out)
    }

    fn error_data(&self, _: &Error) -> Option<Json> {
        None
    }

    fn encode_card(&self, card: &AgentCard, out: &mut Vec<u8>) -> Result<(), Error> {
        V1_0::new().encode_card(card, out)
    }
}

fn text_of(task: &Task) -> String {
    task.artifacts.iter().map(|artifact| text(&artifact.parts)).collect()
}

fn text(parts: &[Part]) -> String {
    parts.iter().filter_map(Part::as_text).collect()
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let listener = TcpListener::bind(env::args().nth(1).as_deref().unwrap_or("127.0.0.1:8000")).await?;
    let url = format!("http://{}/", listener.local_addr()?);

    let agent = service_fn(|request: Request<Input>| async move {
        Ok::<_, Infallible>(format!("plainly: {}", request.body().text()))
    });
    let service = Mount::new("polyglot", agent).dialect(Plain).url(&url).build()?;

    println!("Serving on {url}");
    serve(listener, service).await?;
    Ok(())
}
