//! An echo agent that streams its answer word by word, served over A2A on 127.0.0.1:8000.
//!
//! ```text
//! cargo run --example quickstart
//! ```
//!
//! With `--features grpc` it speaks gRPC too, on the same port; `grpc-health` and `grpc-reflection` add those protocols. With a
//! store it keeps its tasks over restarts, in a file or in Postgres:
//!
//! ```text
//! cargo run --example quickstart -- --store sqlite:./tasks.db
//! cargo run --example quickstart -- --store postgres://user@localhost/db
//! ```

use std::{convert::Infallible, time::Duration};

use a2a_layers::{
    agent::Reply,
    error::BoxError,
    part::Input,
    server::{Mount, serve},
    task::{PostgresTaskStore, SqliteTaskStore},
    types::AgentSkill,
};
use futures_util::{StreamExt, stream};
use http::Request;
use tokio::net::TcpListener;
use tower::service_fn;

const ADDRESS: &str = "127.0.0.1:8000";
/// A pause between words, so that one can watch the stream and come back to it in time.
const PAUSE: Duration = Duration::from_millis(300);

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    // Callers are never told why a run failed; this shows it here.
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let agent = service_fn(|request: Request<Input>| async move { Ok::<_, Infallible>(echo(request.body().text())) });

    let mount = Mount::new("echo", agent)
        .description("Says what you say, word by word")
        .skill(AgentSkill::new("echo", "Echo", "Says what you say", "echo"))
        .url(format!("http://{ADDRESS}/"));
    #[cfg(feature = "grpc")]
    let mount = mount.grpc();
    #[cfg(feature = "grpc-health")]
    let mount = mount.grpc_health(true);
    #[cfg(feature = "grpc-reflection")]
    let mount = mount.grpc_reflection(true);
    let service = match store()? {
        Some(url) if url.starts_with("postgres") => mount.task_store(PostgresTaskStore::open(url).await?).build()?,
        Some(file) => mount.task_store(SqliteTaskStore::open(file).await?).build()?,
        None => mount.build()?,
    };

    let listener = TcpListener::bind(ADDRESS).await?;
    println!("{}", greeting());
    serve(listener, service).await?;
    Ok(())
}

/// Where tasks go; without it they stay in memory.
fn store() -> Result<Option<String>, BoxError> {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (None, _) => Ok(None),
        (Some("--store"), Some(place)) if place.starts_with("sqlite:") || place.starts_with("postgres") => {
            Ok(Some(place))
        }
        _ => Err("usage: quickstart [--store sqlite:FILE|postgres://USER@HOST/DATABASE]".into()),
    }
}

fn echo(text: &str) -> Reply {
    let words: Vec<String> = format!("You said: {text}").split_inclusive(' ').map(str::to_owned).collect();
    Reply::stream(stream::iter(words).then(|word| async move {
        tokio::time::sleep(PAUSE).await;
        Ok::<_, Infallible>(word)
    }))
}

fn greeting() -> String {
    let message = |role: &str, kind: &str, text: &str| {
        format!(r#""message":{{"messageId":"m1","role":"{role}","parts":[{{{kind}"text":"{text}"}}]}}"#)
    };
    let curl = |version: &str, method: &str, params: &str| {
        format!(
            "curl -sN -w '\\n' http://{ADDRESS}/ -H 'Content-Type: application/json' -H 'A2A-Version: {version}' \\\n    \
             -d '{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{method}\",\"params\":{{{params}}}}}'"
        )
    };
    let (new, old) = (message("ROLE_USER", "", "hello world"), message("user", r#""kind":"text","#, "hello world"));
    // So many words, each with a pause before it.
    let start = |words: u32| {
        let long = message("ROLE_USER", "", &format!("'\"$(seq -s ' ' {words})\"'"));
        let params = format!(r#"{long},"configuration":{{"returnImmediately":true}}"#);
        let id = r#"sed 's/.*"task":{"id":"\([^"]*\)".*/\1/'"#;
        format!("ID=$({} \\\n    | {id}); echo $ID", curl("1.0", "SendMessage", &params))
    };
    let rest = |prefix: &str, version: &str, parts: &str| {
        let message =
            format!(r#""message":{{"messageId":"m1","role":"ROLE_USER","{parts}":[{{"text":"hello world"}}]}}"#);
        format!(
            "curl -sN -w '\\n' http://{ADDRESS}{prefix} -H 'Content-Type: application/json'{version} \\\n    -d '{{{message}}}'"
        )
    };
    // Without reflection a caller has to have the messages.
    let protos =
        if cfg!(feature = "grpc-reflection") { "" } else { "-import-path src/grpc/proto -proto lf/a2a/v1/a2a.proto " };
    let grpc = format!(
        "grpcurl -plaintext {protos}\\\n    -d '{{{new}}}' {ADDRESS} lf.a2a.v1.A2AService/SendStreamingMessage"
    );
    let rest_new = rest("/message:send", " -H 'A2A-Version: 1.0'", "parts");
    let rest_old = rest("/v1/message:stream", "", "content");
    let task = r#""id":"'$ID'""#;
    let (get, old_get) = (curl("1.0", "GetTask", task), curl("0.3", "tasks/get", task));
    let (follow, old_follow) = (curl("1.0", "SubscribeToTask", task), curl("0.3", "tasks/resubscribe", task));
    let resume = format!("sleep 2; {follow} \\\n    -m 3 -H 'Last-Event-ID: 5'");
    let cancel = curl("1.0", "CancelTask", task);
    let bindings = [("JSON-RPC", true), ("HTTP+JSON", cfg!(feature = "rest")), ("gRPC", cfg!(feature = "grpc"))];
    let served: Vec<_> = bindings.iter().filter(|(_, served)| *served).map(|(name, _)| *name).collect();
    [
        format!("Serving {} on http://{ADDRESS}/, in protocol 1.0 and 0.3", served.join(", ")),
        format!("Agent card: http://{ADDRESS}/.well-known/agent-card.json\n"),
        format!(
            "# Send, protocol 1.0 and 0.3\n{}\n{}\n",
            curl("1.0", "SendMessage", &new),
            curl("0.3", "message/send", &old)
        ),
        format!("# Stream\n{}\n{}\n", curl("1.0", "SendStreamingMessage", &new), curl("0.3", "message/stream", &old)),
        if cfg!(feature = "rest") {
            format!("# Send over HTTP+JSON in protocol 1.0, stream in 0.3\n{rest_new}\n{rest_old}\n")
        } else {
            String::new()
        },
        if cfg!(feature = "grpc") { format!("# Stream over gRPC\n{grpc}\n") } else { String::new() },
        format!("# Start something long, look at it, follow it to its end\n{}\n{get}\n{follow}\n", start(40)),
        format!("# The same, looked at and followed in protocol 0.3\n{}\n{old_get}\n{old_follow}\n", start(40)),
        "# Start something longer, read three seconds of what comes after the fifth event, cancel it".to_owned(),
        format!("{}\n{resume}\n{cancel}", start(200)),
    ]
    .join("\n")
}
