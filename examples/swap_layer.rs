//! The stack spelled out, with the `part` layer swapped for one of our own, and tower's layers between.
//!
//! ```text
//! cargo run --example swap_layer -- 127.0.0.1:8000
//! ```

use std::{
    convert::Infallible,
    env,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use a2a_layers::{
    ServiceBuilderExt,
    agent_card::{AgentCardBuilder, AgentCardService},
    error::BoxError,
    server::serve,
    task::MemoryTaskStore,
    types::Message,
};
use http::Request;
use tokio::net::TcpListener;
use tower::{Layer, Service, ServiceBuilder};

/// What our agent reads, in the place of the crate's `Input`.
struct Words(Vec<String>);

/// Turns messages into words. Between `task` and an agent, whatever takes a `Request<Arc<Message>>` will do.
#[derive(Clone)]
struct WordsLayer;

#[derive(Clone)]
struct ToWords<S>(S);

impl<S> Layer<S> for WordsLayer {
    type Service = ToWords<S>;

    fn layer(&self, inner: S) -> Self::Service {
        ToWords(inner)
    }
}

impl<S: Service<Request<Words>>> Service<Request<Arc<Message>>> for ToWords<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Arc<Message>>) -> S::Future {
        let words = |message: Arc<Message>| Words(message.text().split_whitespace().map(str::to_owned).collect());
        self.0.call(request.map(words))
    }
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let listener = TcpListener::bind(env::args().nth(1).as_deref().unwrap_or("127.0.0.1:8000")).await?;
    let url = format!("http://{}/", listener.local_addr()?);
    let card = AgentCardBuilder::new("counter").streaming(true).json_rpc(&url).build()?;

    let service = ServiceBuilder::new()
        .agent_card(AgentCardService::new(card.clone())?)
        .sse()
        .body()
        .json_rpc("/")
        .version()
        .capability(&card)
        .extension(&card)
        .task(MemoryTaskStore::new())
        // From here on there are messages alone: a busy agent keeps nobody from looking at a task. It works on four at
        // a time, has a minute to begin each answer, and whoever comes fifth is told to try again later.
        .load_shed()
        .concurrency_limit(4)
        .timeout(Duration::from_secs(60))
        .layer(WordsLayer)
        .service_fn(async |request: Request<Words>| {
            let Words(words) = request.body();
            Ok::<_, Infallible>(format!("{} words, the last is {:?}", words.len(), words.last()))
        });

    println!("Serving on {url}");
    serve(listener, service).await?;
    Ok(())
}
