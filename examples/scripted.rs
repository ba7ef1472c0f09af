//! The scripted agent of the executable cases: the first text of a message picks what it does.
//!
//! ```text
//! cargo run --release --example scripted -- --profile full --port 8000 --public-url http://127.0.0.1:8000
//! ```
//!
//! Profiles: `full` (streaming, an extended card, two owners known by the tokens `alice` and `bob`), `strict-push` (the
//! same), `bare` (no streaming, no extended card), `ext-card-unset` (an extended card is declared, none is set),
//! `ext-required` (callers must activate an extension).
//!
//! `--store sqlite:FILE` and `--store postgres://USER@HOST/DATABASE` keep its tasks over restarts.
//!
//! With `--features grpc` it speaks gRPC too, on the same port; `grpc-health` and `grpc-reflection` add those protocols.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use a2a_layers::{
    agent::{ArtifactUpdate, Reply, RequestExt, StatusUpdate, Update},
    agent_card::AgentCardBuilder,
    error::{BoxError, Error, ErrorKind},
    owner::Owner,
    server::{Mount, serve},
    task::{PostgresTaskStore, ReplyMode, SqliteTaskStore},
    types::{AgentCard, AgentExtension, AgentSkill, Artifact, JsonObject, Message, Part, TaskState},
};
use futures_util::{StreamExt, stream};
use http::{Request, header::AUTHORIZATION};
use serde_json::json;
use tokio::{net::TcpListener, time::sleep};
use tower::{ServiceBuilder, service_fn};

/// What the profile `ext-required` demands.
const REQUIRED_EXTENSION: &str = "https://ext.example/required";

/// The side effect of `slow`, which a cancel must prevent.
static TICKS: AtomicU64 = AtomicU64::new(0);

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let Options { profile, port, public_url, store } = Options::from_arguments()?;
    let agent = service_fn(|request: Request<Arc<Message>>| async move { act(&request) });
    let url = format!("{}/", public_url.trim_end_matches('/'));
    let mut mount = Mount::messages("scripted", agent)
        .description("Does what the first text of a message says")
        .skill(AgentSkill::new("script", "Scripts", "Plays one of a few scripts", "test"))
        .reply(ReplyMode::Auto)
        .heartbeat(Some(Duration::from_secs(1)))
        .url(url.clone());
    #[cfg(feature = "grpc")]
    {
        mount = mount.grpc();
    }
    #[cfg(feature = "grpc-health")]
    {
        mount = mount.grpc_health(true);
    }
    #[cfg(feature = "grpc-reflection")]
    {
        mount = mount.grpc_reflection(true);
    }
    mount = match profile.as_str() {
        "full" | "strict-push" => mount.extended_agent_card(extended_card(&url)?),
        "bare" => mount.streaming(false),
        "ext-card-unset" => mount.extended_agent_card_declared(),
        "ext-required" => mount.extension(AgentExtension::required(REQUIRED_EXTENSION)),
        other => return Err(format!("there is no profile {other}").into()),
    };
    let service = match store {
        Some(url) if url.starts_with("postgres") => mount.task_store(PostgresTaskStore::open(url).await?).build()?,
        Some(file) => mount.task_store(SqliteTaskStore::open(file).await?).build()?,
        None => mount.build()?,
    };
    let service = ServiceBuilder::new().map_request(know_owner).service(service);
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let grpc = if cfg!(feature = "grpc") { ", gRPC" } else { "" };
    let rest = if cfg!(feature = "rest") { ", HTTP+JSON" } else { "" };
    println!("{profile} at {public_url}: JSON-RPC{rest}{grpc}");
    serve(listener, service).await?;
    Ok(())
}

struct Options {
    profile: String,
    port: u16,
    public_url: String,
    store: Option<String>,
}

impl Options {
    fn from_arguments() -> Result<Self, BoxError> {
        let mut options = Self { profile: "full".to_owned(), port: 8000, public_url: String::new(), store: None };
        let mut arguments = std::env::args().skip(1);
        while let Some(name) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("{name} wants a value"))?;
            match name.as_str() {
                "--profile" => options.profile = value,
                "--port" => options.port = value.parse()?,
                "--public-url" => options.public_url = value,
                "--store" => options.store = Some(value),
                _ => return Err(format!("there is no option {name}").into()),
            }
        }
        if options.public_url.is_empty() {
            options.public_url = format!("http://127.0.0.1:{}", options.port);
        }
        Ok(options)
    }
}

/// Two callers are known by their tokens; all others share the anonymous owner.
fn know_owner<B>(mut request: Request<B>) -> Request<B> {
    let token = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    if let Some(name @ ("alice" | "bob")) = token {
        let owner = Owner::new(name);
        request.extensions_mut().insert(owner);
    }
    request
}

fn extended_card(url: &str) -> Result<AgentCard, BoxError> {
    let card = AgentCardBuilder::new("scripted, extended")
        .description("What only those who authenticate may know")
        .streaming(true)
        .extended_agent_card(true)
        .json_rpc(url);
    #[cfg(feature = "rest")]
    let card = card.rest(url);
    #[cfg(feature = "grpc")]
    let card = card.grpc(url);
    Ok(card
        .skill(AgentSkill::new("script", "Scripts", "Plays one of a few scripts", "test"))
        .skill(AgentSkill::new("secret", "Secret", "Known to those who authenticate", "test"))
        .build()?)
}

fn act(request: &Request<Arc<Message>>) -> Result<Reply, Error> {
    let script = request.body().parts.iter().find_map(Part::as_text).unwrap_or_default();
    Ok(match script {
        "message" => Reply::message(Message::agent("a direct message")),
        "slow" => slow(request),
        "ask" => Reply::updates(vec![Update::input_required("which?")]),
        "auth" => auth(),
        "chunks" => chunks(),
        "append-orphan" => updates([ArtifactUpdate::new(artifact(["orphan"])).appended().into()]),
        "echo" => echo(request.body()),
        "multiline" => updates([artifact(["line one\nline two\u{2028}still two\r\nlast \"quoted\""]).into()]),
        "silent" => later(Duration::from_secs(3), Vec::new()),
        "panic" => panic!("SECRET-DETAIL"),
        "panic-late" => panic_late(),
        "typed-error" => return Err(ErrorKind::ContentTypeNotSupported.into()),
        _ => updates([artifact(["done"]).into()]),
    })
}

fn artifact<const N: usize>(texts: [&str; N]) -> Artifact {
    Artifact::new("a1", texts.map(Part::from).to_vec())
}

/// Submitted, working, these, completed.
fn updates<const N: usize>(updates: [Update; N]) -> Reply {
    let begin = [Update::from(StatusUpdate::new(TaskState::Submitted)), Update::working()];
    Reply::updates(begin.into_iter().chain(updates).chain([Update::completed()]).collect())
}

/// Working, a pause, these, completed.
fn later(pause: Duration, updates: Vec<Update>) -> Reply {
    let begin = stream::iter([Update::working()]);
    let end = stream::once(sleep(pause)).flat_map(move |()| stream::iter(updates.clone()));
    Reply::stream(begin.chain(end).map(Ok::<_, Infallible>))
}

fn slow(request: &Request<Arc<Message>>) -> Reply {
    let cancellation = request.cancellation().clone();
    let work = async move {
        tokio::select! {
            () = cancellation.canceled() => Vec::new(),
            () = sleep(Duration::from_millis(1500)) => {
                TICKS.fetch_add(1, Ordering::Relaxed);
                vec![artifact(["done"]).into(), Update::completed()]
            }
        }
    };
    let end = stream::once(work).flat_map(stream::iter);
    Reply::stream(stream::iter([Update::working()]).chain(end).map(Ok::<_, Infallible>))
}

fn auth() -> Reply {
    let end = stream::once(sleep(Duration::from_secs(1)))
        .flat_map(|()| stream::iter([artifact(["done"]).into(), Update::completed()]));
    Reply::stream(stream::iter([Update::auth_required("log in, please")]).chain(end).map(Ok::<_, Infallible>))
}

fn chunks() -> Reply {
    let metadata = |value: serde_json::Value| match value {
        serde_json::Value::Object(map) => JsonObject::from(map),
        _ => JsonObject::from(serde_json::Map::new()),
    };
    let first = ArtifactUpdate::new(artifact(["Hello, "]).with_metadata(metadata(json!({ "first": 1 }))));
    let second = ArtifactUpdate::new(artifact(["world <b>&é"])).appended();
    let third =
        ArtifactUpdate::new(artifact(["漢字\nend"]).with_metadata(metadata(json!({ "last": 3 })))).appended().last();
    updates([first.into(), second.into(), third.into()])
}

fn echo(message: &Message) -> Reply {
    let parts: Vec<Part> = message.parts.iter().skip(1).cloned().collect();
    if parts.is_empty() { updates([]) } else { updates([Artifact::new("a1", parts).into()]) }
}

fn panic_late() -> Reply {
    let begin = stream::iter([Update::working()]);
    let end = stream::once(async {
        tokio::task::yield_now().await;
        panic!("SECRET-DETAIL")
    });
    Reply::stream(begin.chain(end).map(Ok::<_, Infallible>))
}
