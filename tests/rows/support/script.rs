//! An agent whose first text says what it does, and which remembers what it was given.

use std::sync::{Arc, Mutex};

use a2a_layers::{
    agent::{IntoReply, Reply, RequestExt, Update},
    error::BoxError,
    part::Input,
    types::Part,
};
use futures_util::{StreamExt, stream};
use http::Request;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tower::{Service, service_fn};

/// What no answer may ever contain.
pub(crate) const SECRET: &str = "SECRET-DETAIL";

#[derive(Clone)]
pub(crate) struct Script {
    seen: Arc<Mutex<Vec<Seen>>>,
    /// What the agent waits for before each step.
    steps: Arc<Semaphore>,
}

/// What an agent was given.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) input: Value,
    pub(crate) prompt: String,
    pub(crate) task_id: String,
    pub(crate) context_id: String,
    /// How many messages came before.
    pub(crate) history: usize,
    pub(crate) referenced: Vec<String>,
    pub(crate) accepted_output_modes: Vec<String>,
    pub(crate) metadata: Option<String>,
    pub(crate) extensions: Vec<String>,
}

impl Script {
    pub(crate) fn new() -> Self {
        Self { seen: Arc::default(), steps: Arc::new(Semaphore::new(0)) }
    }

    /// Lets the agent go on by so many steps.
    pub(crate) fn step(&self, count: usize) {
        self.steps.add_permits(count);
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// What the agent was given last.
    pub(crate) fn last(&self) -> Seen {
        self.seen().pop().expect("the agent was not called")
    }

    /// What the agent was given last, as JSON.
    pub(crate) fn input(&self) -> Value {
        self.last().input
    }

    pub(crate) fn agent(
        &self,
    ) -> impl Service<Request<Input>, Response = Reply, Error = BoxError, Future: Send> + Clone + Send + Sync + 'static
    {
        let script = self.clone();
        service_fn(move |request: Request<Input>| {
            let reply = script.act(&request);
            async move { reply }
        })
    }

    fn act(&self, request: &Request<Input>) -> Result<Reply, BoxError> {
        let input = request.body();
        let context = request.task_context();
        self.seen.lock().unwrap().push(Seen {
            input: serde_json::to_value(input)?,
            prompt: input.to_prompt().into_owned(),
            task_id: context.task_id().to_string(),
            context_id: context.context_id().to_string(),
            history: context.history().count(),
            referenced: context.referenced_tasks().iter().map(|task| task.id.to_string()).collect(),
            accepted_output_modes: context.accepted_output_modes().to_vec(),
            metadata: context.metadata().map(|metadata| metadata.get().to_owned()),
            extensions: context.extensions().iter().map(ToString::to_string).collect(),
        });
        Ok(match input.text() {
            "chunks" => texts(["one ", "two ", "three"]),
            "steps" => self.steps(),
            "file steps" => self.file_steps(),
            "wait" => self.wait(request.cancellation().canceled_owned()),
            "stubborn" => self.wait(std::future::pending()),
            "fail" => return Err(SECRET.into()),
            "fail late" => Reply::stream(stream::iter([Ok("half "), Err(BoxError::from(SECRET))])),
            "panic" => panic!("{SECRET}"),
            "ask" => vec![Update::input_required("which?")].into_reply(),
            "ask slowly" => self.ask_slowly(),
            "auth" => vec![Update::auth_required("log in")].into_reply(),
            "reject" => vec![Update::rejected("no")].into_reply(),
            "cancel" => vec![Update::canceled()].into_reply(),
            "silent" => Reply::stream(stream::pending::<Result<Update, BoxError>>()),
            "data" => vec![Update::data(json!({ "answer": 42 }))].into_reply(),
            "files" => files(),
            "mixed files" => {
                vec![Update::text("before"), file("https://f.example/9.png"), Update::text(", after")].into_reply()
            }
            "file output" => vec![Update::text("explained"), output("s3://bucket/report")].into_reply(),
            "inline file" => vec![Update::file(Part::raw(&b"\x89PNG"[..]).with_media_type("image/png"))].into_reply(),
            "empty" => Vec::<Update>::new().into_reply(),
            text => vec![Update::text(format!("you said: {text}"))].into_reply(),
        })
    }

    /// Three pieces of text, each after a step.
    fn steps(&self) -> Reply {
        let steps = Arc::clone(&self.steps);
        Reply::stream(stream::iter(["one ", "two ", "three"]).then(move |text| {
            let steps = Arc::clone(&steps);
            async move {
                step(&steps).await;
                Ok::<_, BoxError>(text)
            }
        }))
    }

    /// An inline file after a step, and a text after another.
    fn file_steps(&self) -> Reply {
        let steps = Arc::clone(&self.steps);
        let file = Update::file(Part::raw(&b"\x89PNG"[..]).with_media_type("image/png"));
        Reply::stream(stream::iter([file, Update::text("words")]).then(move |update| {
            let steps = Arc::clone(&steps);
            async move {
                step(&steps).await;
                Ok::<_, BoxError>(update)
            }
        }))
    }

    /// Ends after a step, or when it is stopped, whichever comes first.
    fn wait(&self, stopped: impl Future<Output = ()> + Send + 'static) -> Reply {
        let steps = Arc::clone(&self.steps);
        Reply::stream(stream::once(async move {
            tokio::select! {
                () = stopped => Err(BoxError::from("stopped")),
                () = step(&steps) => Ok("done"),
            }
        }))
    }

    /// Asks back after a step.
    fn ask_slowly(&self) -> Reply {
        let steps = Arc::clone(&self.steps);
        Reply::stream(stream::once(async move {
            step(&steps).await;
            Ok::<_, BoxError>(Update::input_required("which?"))
        }))
    }
}

async fn step(steps: &Semaphore) {
    steps.acquire().await.expect("never closed").forget();
}

fn texts<const N: usize>(texts: [&'static str; N]) -> Reply {
    Reply::stream(stream::iter(texts.map(Ok::<_, BoxError>)))
}

fn file(url: &str) -> Update {
    Update::file(Part::url(url).with_media_type("image/png").with_filename("picture.png"))
}

/// A file as a tool names it.
fn output(uri: &str) -> Update {
    Update::data(json!({ "kind": "file", "uri": uri, "mimeType": "text/csv", "name": "report.csv" }))
}

/// Two files that a model made, and what it says about them.
fn files() -> Reply {
    vec![file("https://f.example/1.png"), file("https://f.example/2.png"), Update::text("explained")].into_reply()
}
