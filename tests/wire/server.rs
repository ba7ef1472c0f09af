use std::{
    net::SocketAddr,
    panic,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use a2a_layers::{
    blob::BlobStore,
    owner::Owner,
    server::{Mount, Serve},
    task::TaskStore,
};
use http::Request;
use hyper::body::Incoming;
use serde_json::{Value, json};
use tokio::{net::TcpListener, runtime::Runtime};
use tower::{ServiceBuilder, util::MapRequestLayer};

use super::{Actor, Answer, Connection, Events, SECRET, Stage, Version, post};

/// What the server's threads are called, which tells their panics from those of the tests.
const THREAD: &str = "server";

static PANICS: AtomicUsize = AtomicUsize::new(0);

/// Where all servers of a test binary run. Clients run on the test's own thread.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let default = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let words = info.payload().downcast_ref::<&str>().copied();
        let words = words.or_else(|| info.payload().downcast_ref::<String>().map(String::as_str)).unwrap_or_default();
        if thread::current().name() == Some(THREAD) {
            if words.contains(SECRET) {
                return;
            }
            PANICS.fetch_add(1, Ordering::SeqCst);
        }
        default(info);
    }));
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name(THREAD)
        .enable_all()
        .build()
        .expect("a runtime")
});

/// A ready-made server with an [`Actor`] in it.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) stage: Arc<Stage>,
}

impl Server {
    /// With the defaults.
    pub(crate) async fn start() -> Self {
        Self::with(|mount| mount).await
    }

    /// With a mount that was changed.
    pub(crate) async fn with<T: TaskStore, St: BlobStore>(
        change: impl FnOnce(Mount<Actor>) -> Mount<Actor, T, St>,
    ) -> Self {
        Self::served_by(Serve::new(), change).await
    }

    /// With other limits on connections.
    pub(crate) async fn served_by<T: TaskStore, St: BlobStore>(
        serve: Serve,
        change: impl FnOnce(Mount<Actor>) -> Mount<Actor, T, St>,
    ) -> Self {
        let stage = Arc::new(Stage::default());
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("a socket that does not block");
        let address = listener.local_addr().expect("an address");
        let mount = change(Mount::messages("actor", Actor::new(Arc::clone(&stage))).url(format!("http://{address}/")));
        let service = mount.build().expect("a mount that is in order");
        let service = ServiceBuilder::new().layer(MapRequestLayer::new(know_owner)).service(service);
        let _guard = RUNTIME.enter();
        let listener = TcpListener::from_std(listener).expect("a listener");
        RUNTIME.spawn(serve.run(listener, service));
        Self { address, stage }
    }

    pub(crate) async fn connect(&self) -> Connection {
        Connection::open(self.address).await
    }

    /// The answer to one request of any bytes, on a connection of its own.
    pub(crate) async fn raw(&self, bytes: &[u8]) -> Option<Answer> {
        let mut connection = self.connect().await;
        connection.write(bytes).await;
        connection.answer().await
    }

    /// The answer to a body.
    pub(crate) async fn body(&self, version: Version, body: impl AsRef<[u8]>) -> Answer {
        self.raw(&post(version.header(), body.as_ref())).await.expect("an answer")
    }

    /// The envelope that answers a call.
    pub(crate) async fn call(&self, version: Version, method: &str, params: Value) -> Value {
        self.call_with(version.header(), method, params).await
    }

    /// The envelope that answers a call with these header lines.
    pub(crate) async fn call_with(&self, headers: &str, method: &str, params: Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let answer = self.raw(&post(headers, body.to_string().as_bytes())).await.expect("an answer");
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.envelope()
    }

    /// The answer to a send that plays a script.
    pub(crate) async fn play(&self, version: Version, script: &str) -> Value {
        self.call(version, version.send(), version.script(script)).await
    }

    /// The stream that answers a call.
    pub(crate) async fn open(&self, version: Version, method: &str, params: Value) -> Events {
        self.open_with(version.header(), method, params).await
    }

    /// The stream that answers a call with these header lines.
    pub(crate) async fn open_with(&self, headers: &str, method: &str, params: Value) -> Events {
        let body = json!({ "jsonrpc": "2.0", "id": "s-1", "method": method, "params": params });
        let mut connection = self.connect().await;
        connection.write(&post(headers, body.to_string().as_bytes())).await;
        Events::begin(connection).await
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if !thread::panicking() {
            assert_eq!(PANICS.load(Ordering::SeqCst), 0, "a server has panicked, and no script says so");
        }
    }
}

/// A caller says who it is; nothing checks that here.
fn know_owner(mut request: Request<Incoming>) -> Request<Incoming> {
    let name = request.headers().get("x-owner").and_then(|value| value.to_str().ok()).map(Owner::new);
    if let Some(owner) = name {
        request.extensions_mut().insert(owner);
    }
    request
}
