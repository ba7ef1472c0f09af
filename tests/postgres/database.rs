//! A Postgres for tests, wherever it comes from. Other tests take this file by its path.
//!
//! `A2A_POSTGRES` says which:
//!
//! - a URL (`postgres://user@host/db`): that one, in which each test has a schema of its own;
//! - unset: a cluster that this process starts from the installed binaries, and that goes with it. Without any, the tests
//!   that need one are left out, and say so;
//! - `required`: the same, but without any binaries the tests fail.

use std::{
    env, fs,
    io::{self, Write as _},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    thread::sleep,
    time::{Duration, Instant},
};

/// Where it is said which database to take.
const VARIABLE: &str = "A2A_POSTGRES";
/// How long a cluster may take to be there, on a machine that has other work.
const PATIENCE: Duration = Duration::from_secs(60);

/// Keeps a cluster until the process is gone, however it goes: the shell waits for the end of its input, stops the server
/// at once, and takes the folder away.
const KEEPER: &str = r#"
    dir=$(mktemp -d "${TMPDIR:-/tmp}/a2a-layers-postgres.XXXXXX" || mktemp -d /tmp/a2a-layers-postgres.XXXXXX) || exit 1
    trap 'kill -QUIT "$server" 2>/dev/null; wait; rm -rf "$dir"' EXIT
    "$1/initdb" -D "$dir/data" -U postgres -A trust -E UTF8 --locale=C --no-sync >"$dir/log" 2>&1 || exit 1
    "$1/postgres" -D "$dir/data" -F -p "$2" -c listen_addresses=127.0.0.1 -c unix_socket_directories= \
        -c max_connections=300 -c shared_buffers=64MB >>"$dir/log" 2>&1 &
    server=$!
    cat >/dev/null
"#;

/// The database's URL; `None`, and a word about `what` is left out, if there is none to be had.
pub(crate) fn url(what: &str) -> Option<String> {
    static DATABASE: OnceLock<Result<Database, &str>> = OnceLock::new();
    let found = DATABASE.get_or_init(|| match env::var(VARIABLE) {
        Ok(url) if url != "required" && !url.is_empty() => Ok(Database { url, _keeper: None }),
        chosen => {
            let started = start();
            if let (Ok(_), Err(reason)) = (chosen, &started) {
                panic!("{VARIABLE} asks for a Postgres, and {reason}");
            }
            started
        }
    });
    match found {
        Ok(database) => Some(database.url.clone()),
        Err(reason) => {
            // The macros that print are silent in a test that passes.
            let _ = writeln!(io::stderr(), "left out: {what}, as {reason}; {VARIABLE} may be the URL of a Postgres");
            None
        }
    }
}

/// A schema that nobody else has.
pub(crate) fn schema() -> String {
    static SCHEMAS: AtomicU64 = AtomicU64::new(0);
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_micros());
    format!("test_{now:x}_{}_{}", std::process::id(), SCHEMAS.fetch_add(1, Ordering::Relaxed))
}

struct Database {
    url: String,
    /// Whose end it waits for.
    _keeper: Option<(Child, ChildStdin)>,
}

fn start() -> Result<Database, &'static str> {
    let bin = binaries().ok_or("no Postgres is installed")?;
    // Somebody else may be faster at the port.
    (0..3).find_map(|_| start_at(&bin, free_port())).ok_or("the Postgres that is installed does not start")
}

/// The folder with the server's programs: what is on the path, or the newest of those that Debian has beside it.
pub(crate) fn binaries() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut versions: Vec<_> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|entry| Some((entry.as_ref().ok()?.file_name().to_str()?.parse::<u32>().ok()?, entry.ok()?.path())))
        .collect();
    versions.sort();
    let installed = versions.into_iter().rev().map(|(_, path)| path.join("bin"));
    env::split_paths(&path).chain(installed).find(|bin| bin.join("initdb").is_file() && bin.join("postgres").is_file())
}

pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

/// The server refuses to be root, so there it is the user that came with its package.
pub(crate) fn shell() -> Option<Command> {
    let output = Command::new("id").arg("-u").output().ok()?;
    if output.stdout.trim_ascii() != b"0" {
        return Some(Command::new("sh"));
    }
    let can_be = |program: &str, arguments: &[&str]| {
        let tried =
            Command::new(program).args(arguments).arg("true").stdin(Stdio::null()).stderr(Stdio::null()).status();
        tried.is_ok_and(|status| status.success())
    };
    let ways: [(&str, &[&str]); 2] = [
        ("setpriv", &["--reuid=postgres", "--regid=postgres", "--init-groups", "--"]),
        ("runuser", &["-u", "postgres", "--"]),
    ];
    let (program, arguments) = ways.into_iter().find(|(program, arguments)| can_be(program, arguments))?;
    let mut command = Command::new(program);
    command.args(arguments).arg("sh");
    Some(command)
}

fn start_at(bin: &Path, port: u16) -> Option<Database> {
    let mut command = shell()?;
    // Not where the user that it becomes may not be.
    command.args(["-c", KEEPER, "keeper"]).arg(bin).arg(port.to_string()).current_dir("/");
    // An interrupt from the keyboard is for this process; that one then sees its end.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut keeper = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
    let input = keeper.stdin.take()?;
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE && matches!(keeper.try_wait(), Ok(None)) {
        if answers(port) {
            let url = format!("postgres://postgres@127.0.0.1:{port}/postgres");
            return Some(Database { url, _keeper: Some((keeper, input)) });
        }
        sleep(Duration::from_millis(20));
    }
    None
}

/// True if a server there takes the first message of its protocol: until it is ready it refuses those, in words.
fn answers(port: u16) -> bool {
    let ask = || -> io::Result<u8> {
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        let parameters = b"user\0postgres\0database\0postgres\0\0";
        let mut message = (parameters.len() as u32 + 8).to_be_bytes().to_vec();
        message.extend(196_608_u32.to_be_bytes());
        message.extend(parameters);
        stream.write_all(&message)?;
        let mut kind = [0];
        io::Read::read_exact(&mut stream, &mut kind)?;
        Ok(kind[0])
    };
    ask().is_ok_and(|kind| kind == b'R')
}
