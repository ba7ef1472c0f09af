//! Servers that can be killed: this very program, started once more.

use std::{env, process::Stdio, time::Duration};

use a2a_layers::{
    server::{Mount, Serve},
    task::TaskStore,
};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    net::TcpListener,
    process::{Child, Command},
    signal::unix::{SignalKind, signal},
    time::timeout,
};
use tower::service_fn;

use super::{
    Outcome,
    agent::reply,
    place::{Place, with_store},
};

/// Tells a process that it is to be a server, and how: the fields of [`Orders`].
const ORDERS: &str = "DURABLE_SERVER";
/// How long a server that was told to stop lets connections, and then runs, go on.
const STOPPING: Duration = Duration::from_millis(200);
/// How long one may take to start, and to stop.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a server is to do.
#[derive(Clone, Debug)]
pub(crate) struct Orders {
    /// Where its tasks are.
    pub(crate) place: Place,
    pub(crate) lease: Duration,
    /// How long the store may be away before callers are told.
    pub(crate) patience: Duration,
    /// How often it may begin a lost run again.
    pub(crate) reruns: u32,
}

impl Orders {
    pub(crate) fn new(place: &Place, lease: Duration) -> Self {
        Self { place: place.clone(), lease, patience: Duration::from_secs(15), reruns: 0 }
    }

    pub(crate) fn of_this_process() -> Outcome<Option<Self>> {
        let Ok(orders) = env::var(ORDERS) else { return Ok(None) };
        let mut words = orders.splitn(4, ' ');
        let mut number = || Outcome::Ok(words.next().ok_or("too few orders")?.parse()?);
        let (lease, patience, reruns) = (number()?, number()?, number()?);
        let place = Place::from_text(words.next().ok_or("no place")?);
        let millis = Duration::from_millis;
        Ok(Some(Self { place, lease: millis(lease), patience: millis(patience), reruns: reruns.try_into()? }))
    }

    fn text(&self) -> String {
        format!("{} {} {} {}", self.lease.as_millis(), self.patience.as_millis(), self.reruns, self.place.to_text())
    }
}

/// Serves until it is told to stop, and then ends in good order.
pub(crate) async fn serve(orders: &Orders) -> Outcome<()> {
    if env::var_os("DURABLE_LOG").is_some() {
        tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    }
    let Orders { place, lease, patience, reruns } = orders;
    with_store!(place, |builder| serve_on(builder.lease(*lease).patience(*patience).open().await?, *reruns).await)
}

async fn serve_on<T: TaskStore>(store: T, reruns: u32) -> Outcome<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/", listener.local_addr()?);
    let mount = Mount::new("mortal", service_fn(reply))
        .task_store(store)
        .tasks(|tasks| tasks.rerun_lost(reruns).cancel_grace(Duration::from_millis(200)))
        .url(&url);
    #[cfg(feature = "grpc")]
    let mount = mount.grpc();
    let service = mount.build()?;
    let mut told_to_stop = signal(SignalKind::terminate())?;
    println!("{url}");
    let serve = Serve::new().with_shutdown(told_to_stop.recv()).shutdown_deadline(STOPPING);
    serve.run(listener, service.clone()).await?;
    service.shutdown(STOPPING).await;
    Ok(())
}

/// A server process. It is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    process: Child,
    /// Where it serves.
    pub(crate) url: String,
}

impl Server {
    pub(crate) async fn start(orders: &Orders) -> Outcome<Self> {
        // A disk that is full is played by a limit on the size of files, which has a signal that ends a process.
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' XFSZ; exec \"$0\""]).arg(env::current_exe()?).env(ORDERS, orders.text());
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
        let stdout = process.stdout.take().ok_or("no output")?;
        let line = timeout(PATIENCE, BufReader::new(stdout).lines().next_line()).await;
        let url = line.map_err(|_| "the server does not start")??.ok_or("the server did not start")?;
        Ok(Self { process, url })
    }

    pub(crate) fn pid(&self) -> Outcome<u32> {
        Ok(self.process.id().ok_or("the server has ended")?)
    }

    /// At once, whatever it is doing.
    pub(crate) async fn kill(&mut self) -> Outcome<()> {
        Ok(self.process.kill().await?)
    }

    /// In good order.
    pub(crate) async fn stop(&mut self) -> Outcome<()> {
        if !Command::new("kill").args(["-TERM", &self.pid()?.to_string()]).status().await?.success() {
            return Err("the server cannot be told to stop".into());
        }
        let status = timeout(PATIENCE, self.process.wait()).await.map_err(|_| "the server does not stop")??;
        if status.success() { Ok(()) } else { Err(format!("the server stopped with {status}").into()) }
    }
}
