//! A program as an agent: it reads the message on its standard input, and callers get its standard output, line by line.
//!
//! ```text
//! cargo run --example command_agent -- 127.0.0.1:8000 tr a-z A-Z
//! ```

use std::{env, io, process::Stdio};

use a2a_layers::{
    agent::{Cancellation, Reply, RequestExt, Update},
    error::BoxError,
    part::Input,
    server::{Mount, serve},
};
use futures_util::stream;
use http::Request;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpListener,
    process::{Child, ChildStdout, Command},
};
use tower::service_fn;

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let mut arguments = env::args().skip(1);
    let listener = TcpListener::bind(arguments.next().as_deref().unwrap_or("127.0.0.1:8000")).await?;
    let url = format!("http://{}/", listener.local_addr()?);
    let mut command: Vec<String> = arguments.collect();
    if command.is_empty() {
        command = ["tr", "a-z", "A-Z"].map(str::to_owned).to_vec();
    }

    let description = format!("Runs {}", command.join(" "));
    let agent = service_fn(move |request: Request<Input>| {
        let run = Run::start(&command, &request);
        async { run.map(|run| Reply::stream(stream::try_unfold(run, Run::next))) }
    });
    let service = Mount::new("command", agent).description(description).url(&url).build()?;

    println!("Serving on {url}");
    serve(listener, service).await?;
    Ok(())
}

/// One run of the program. The child is killed when this is dropped, which is what happens if the run takes too long.
struct Run {
    child: Child,
    stdout: BufReader<ChildStdout>,
    cancellation: Cancellation,
    is_over: bool,
}

impl Run {
    fn start(command: &[String], request: &Request<Input>) -> io::Result<Self> {
        let mut child = Command::new(&command[0])
            .args(&command[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (Some(mut stdin), Some(stdout)) = (stdin, stdout) else { return Err(io::ErrorKind::BrokenPipe.into()) };
        let text = request.body().text().to_owned();
        // On its own, because a program may well begin to answer before it has read everything.
        tokio::spawn(async move { stdin.write_all(text.as_bytes()).await });
        let cancellation = request.cancellation().clone();
        Ok(Self { child, stdout: BufReader::new(stdout), cancellation, is_over: false })
    }

    async fn next(mut self) -> io::Result<Option<(Update, Self)>> {
        if self.is_over {
            return Ok(None);
        }
        let mut line = Vec::new();
        tokio::select! {
            read = self.stdout.read_until(b'\n', &mut line) => read?,
            () = self.cancellation.canceled() => {
                self.child.kill().await?;
                return Ok(Some((Update::canceled(), Self { is_over: true, ..self })));
            }
        };
        if !line.is_empty() {
            return Ok(Some((Update::text(String::from_utf8_lossy(&line)), self)));
        }
        let status = self.child.wait().await?;
        let end =
            if status.success() { Update::completed() } else { Update::failed(format!("it ended with {status}")) };
        Ok(Some((end, Self { is_over: true, ..self })))
    }
}
