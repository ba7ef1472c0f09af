//! The server that is killed.

use std::{convert::Infallible, time::Duration};

use a2a_layers::{
    agent::{Reply, Update},
    part::Input,
    server::{Mount, serve},
    task::SqliteTaskStore,
};
use futures_util::{StreamExt as _, stream};
use http::Request;
use tokio::net::TcpListener;
use tower::service_fn;

use super::{LEASE, Outcome, Random};

pub(crate) async fn serve_on(file: &str, reruns: u32) -> Outcome<()> {
    let store = SqliteTaskStore::builder(file).lease(LEASE).open().await?;
    let agent = service_fn(|request: Request<Input>| async move { Ok::<_, Infallible>(reply(request.body().text())) });
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/", listener.local_addr()?);
    let service =
        Mount::new("mortal", agent).task_store(store).tasks(|tasks| tasks.rerun_lost(reruns)).url(&url).build()?;
    println!("{url}");
    serve(listener, service).await?;
    Ok(())
}

/// As many words as the text says, some at once and some after a pause. Every fifth asks in the end.
fn reply(text: &str) -> Reply {
    let seed: u64 = text.parse().unwrap_or(1);
    let words = stream::iter(0..seed % 60).map(|word| Update::text(format!("{word} ")));
    let end = stream::iter(seed.is_multiple_of(5).then(|| Update::input_required("more?")));
    let mut random = Random(seed | 1);
    Reply::stream(words.chain(end).then(move |word| {
        let pause = Duration::from_millis(random.next() % 8);
        async move {
            if pause > Duration::from_millis(3) {
                tokio::time::sleep(pause).await;
            }
            Ok::<_, Infallible>(word)
        }
    }))
}
