//! An agent that asks back. Each question interrupts the task; the caller's next message on it is the answer.
//!
//! ```text
//! cargo run --example ask_back -- 127.0.0.1:8000
//! ```

use std::{convert::Infallible, env};

use a2a_layers::{
    agent::{RequestExt, Update},
    error::BoxError,
    part::Input,
    server::{Mount, serve},
    types::Role,
};
use http::Request;
use tokio::net::TcpListener;
use tower::service_fn;

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let listener = TcpListener::bind(env::args().nth(1).as_deref().unwrap_or("127.0.0.1:8000")).await?;
    let url = format!("http://{}/", listener.local_addr()?);

    let agent = service_fn(|request: Request<Input>| async move { Ok::<_, Infallible>(take_order(&request)) });
    let service = Mount::new("pizzeria", agent).description("Takes orders for pizza").url(&url).build()?;

    println!("Serving on {url}");
    serve(listener, service).await?;
    Ok(())
}

/// Nothing is remembered here: the task's history holds what was said before.
fn take_order(request: &Request<Input>) -> Update {
    let earlier = request.task_context().history().filter(|message| message.role == Role::User);
    let mut said: Vec<String> = earlier.map(|message| message.text()).collect();
    said.push(request.body().text().to_owned());
    match &said[..] {
        [_] => Update::input_required("Which size?"),
        [_, _] => Update::input_required("Where to?"),
        [pizza, size, address, ..] => Update::text(format!("{size} {pizza}, on its way to {address}")),
        [] => Update::rejected("nothing was ordered"),
    }
}
