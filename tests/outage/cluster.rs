//! A Postgres that can be stopped, started and made to stand still.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Stdio},
};

use super::durable::{Outcome, database};

/// Does what it reads, line by line, says so, and clears up at the end of its input, however that comes about.
const KEEPER: &str = r#"
    bin=$1 port=$2
    dir=$(mktemp -d /tmp/a2a-layers-outage.XXXXXX) || exit 1
    processes() { pid=$(head -n 1 "$dir/data/postmaster.pid") && echo "$pid" $(cat "/proc/$pid/task/$pid/children"); }
    resume() { kill -CONT $(processes); }
    pause() { kill -STOP $(processes); }
    control() { "$bin/pg_ctl" -D "$dir/data" -l "$dir/log" -w -m immediate "$@" </dev/null >>"$dir/log" 2>&1; }
    start() {
        control -o "-F -p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=100" start
    }
    stop() { control stop; }
    restart() { control restart; }
    trap 'resume 2>/dev/null; stop; rm -rf "$dir"' EXIT
    "$bin/initdb" -D "$dir/data" -U postgres -A trust -E UTF8 --locale=C --no-sync >"$dir/log" 2>&1 || exit 1
    while read -r order; do
        if "$order" 2>/dev/null; then echo done; else echo failed; fi
    done
"#;

/// It goes with this.
#[derive(Debug)]
pub(crate) struct Cluster {
    keeper: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    url: String,
}

impl Cluster {
    /// `None` if no Postgres is installed.
    pub(crate) fn start() -> Outcome<Option<Self>> {
        let (Some(bin), Some(mut shell)) = (database::binaries(), database::shell()) else { return Ok(None) };
        let port = database::free_port();
        shell.args(["-c", KEEPER, "keeper"]).arg(bin).arg(port.to_string()).current_dir("/");
        let mut keeper = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (orders, answers) = (keeper.stdin.take(), keeper.stdout.take().ok_or("no output")?);
        let url = format!("postgres://postgres@127.0.0.1:{port}/postgres");
        let mut cluster = Self { keeper, orders, answers: BufReader::new(answers), url };
        cluster.order("start")?;
        Ok(Some(cluster))
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Does one of the keeper's functions, and waits until it is done.
    pub(crate) fn order(&mut self, order: &str) -> Outcome<()> {
        let mut answer = String::new();
        writeln!(self.orders.as_mut().ok_or("no input")?, "{order}")?;
        self.answers.read_line(&mut answer)?;
        if answer == "done\n" { Ok(()) } else { Err(format!("Postgres: {order} fails").into()) }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.orders = None;
        let _ = self.keeper.wait();
    }
}
