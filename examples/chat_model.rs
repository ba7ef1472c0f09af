//! A chat model as an agent: any server that speaks OpenAI's `/chat/completions`, streamed word by word.
//!
//! ```text
//! OPENAI_BASE_URL=http://127.0.0.1:11434/v1 OPENAI_MODEL=qwen3 cargo run --example chat_model -- 127.0.0.1:8000
//! ```
//!
//! The client here speaks plain HTTP, which is right for a model on your machine or behind a gateway. For `https` give
//! the client the connector of the crate `hyper-rustls` in the place of `HttpConnector`; nothing else changes.

use std::{env, future::ready, io, sync::Arc};

use a2a_layers::{
    agent::{Reply, RequestExt},
    error::BoxError,
    part::Input,
    server::{Mount, serve},
    types::{Part, Role},
};
use bytes::Bytes;
use futures_util::{AsyncBufReadExt, StreamExt, TryStreamExt};
use http::{Request, header};
use http_body_util::{BodyExt, Full};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tower::service_fn;

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let listener = TcpListener::bind(env::args().nth(1).as_deref().unwrap_or("127.0.0.1:8000")).await?;
    let url = format!("http://{}/", listener.local_addr()?);

    let model = Arc::new(ChatModel::from_env());
    let description = format!("Talks, by means of {}", model.name);
    let agent = service_fn(move |request: Request<Input>| {
        let model = Arc::clone(&model);
        async move { model.answer(&request).await }
    });
    let service = Mount::new("chat", agent).description(description).url(&url).build()?;

    println!("Serving on {url}");
    serve(listener, service).await?;
    Ok(())
}

struct ChatModel {
    client: Client<HttpConnector, Full<Bytes>>,
    url: String,
    name: String,
    key: Option<String>,
}

impl ChatModel {
    fn from_env() -> Self {
        let base = env::var("OPENAI_BASE_URL").unwrap_or_else(|_| "http://127.0.0.1:11434/v1".to_owned());
        Self {
            client: Client::builder(TokioExecutor::new()).build_http(),
            url: format!("{}/chat/completions", base.trim_end_matches('/')),
            name: env::var("OPENAI_MODEL").unwrap_or_else(|_| "qwen3".to_owned()),
            key: env::var("OPENAI_API_KEY").ok(),
        }
    }

    async fn answer(&self, request: &Request<Input>) -> Result<Reply, BoxError> {
        let mut messages = Vec::new();
        // A message that goes on with what was said before refers to the tasks in which it was said.
        for task in request.task_context().referenced_tasks() {
            messages.extend(task.history.iter().map(|message| turn(message.role, &message.text())));
            let parts = task.artifacts.iter().flat_map(|artifact| &artifact.parts);
            messages.push(turn(Role::Agent, &parts.filter_map(Part::as_text).collect::<String>()));
        }
        messages.push(turn(Role::User, &request.body().to_prompt()));
        let body = json!({ "model": self.name, "stream": true, "messages": messages });

        let mut call = Request::post(&self.url).header(header::CONTENT_TYPE, "application/json");
        if let Some(key) = &self.key {
            call = call.header(header::AUTHORIZATION, format!("Bearer {key}"));
        }
        let response = self.client.request(call.body(Full::from(body.to_string()))?).await?;
        if !response.status().is_success() {
            // It goes to the log; callers are told no more than that the work has failed.
            return Err(format!("the model answered with {}", response.status()).into());
        }
        let lines = response.into_body().into_data_stream().map_err(io::Error::other).into_async_read().lines();
        let words = lines.try_filter_map(|line| ready(delta(&line)));
        // When the stream goes, so does the connection, and the model stops.
        Ok(Reply::stream(words.take_until(request.cancellation().canceled_owned())))
    }
}

fn turn(role: Role, text: &str) -> Value {
    json!({ "role": if role == Role::User { "user" } else { "assistant" }, "content": text })
}

/// The words of one line of the model's stream, if there are any.
fn delta(line: &str) -> io::Result<Option<String>> {
    let Some(data) = line.strip_prefix("data:").map(str::trim).filter(|data| *data != "[DONE]") else {
        return Ok(None);
    };
    let chunk: Value = serde_json::from_str(data)?;
    match chunk.get("error") {
        Some(error) => Err(io::Error::other(error.to_string())),
        None => Ok(chunk["choices"][0]["delta"]["content"].as_str().map(str::to_owned)),
    }
}
