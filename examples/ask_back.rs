//! An agent that asks back. Each question interrupts the task; the caller's next message on it is the answer.
//!
//! An order is data, `{"pizza":"margherita","size":"small","address":"Main Street"}`, and may come in pieces.
//!
//! ```text
//! cargo run --example ask_back -- 127.0.0.1:8000
//! ```

use std::env;

use a2a_layers::{
    agent::{RequestExt, Update},
    error::{BoxError, Error},
    part::Input,
    server::{Mount, serve},
    types::Role,
};
use http::Request;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tower::service_fn;

/// An order as far as it is known.
#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Order {
    #[serde(skip_serializing_if = "Option::is_none")]
    pizza: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let listener = TcpListener::bind(env::args().nth(1).as_deref().unwrap_or("127.0.0.1:8000")).await?;
    let url = format!("http://{}/", listener.local_addr()?);

    let agent = service_fn(async |request: Request<Input>| take_order(&request));
    let service = Mount::new("pizzeria", agent).description("Takes orders for pizza").url(&url).build()?;

    println!("Serving on {url}");
    serve(listener, service).await?;
    Ok(())
}

/// Nothing is remembered here: the task's history holds what was ordered before.
///
/// # Errors
/// If the message is no order. The message is then refused, because nothing was awaited, and the task still waits.
fn take_order(request: &Request<Input>) -> Result<Update, Error> {
    let mut order = Order::default();
    let earlier = request.task_context().history().filter(|message| message.role == Role::User);
    for piece in earlier.map(|message| message.read()) {
        order = order.with(piece?);
    }
    order = order.with(request.body().read()?);
    Ok(match &order {
        Order { pizza: None, .. } => Update::input_required("Which pizza?"),
        Order { size: None, .. } => Update::input_required("Which size?"),
        Order { address: None, .. } => Update::input_required("Where to?"),
        complete => Update::data_from(complete).map_err(Error::internal)?,
    })
}

impl Order {
    /// With what is said later.
    fn with(self, later: Self) -> Self {
        Self {
            pizza: later.pizza.or(self.pizza),
            size: later.size.or(self.size),
            address: later.address.or(self.address),
        }
    }
}
