//! What is not asked for is not there: the dependencies of the crate without features.

use std::{env, process::Command};

/// The names of all crates that a build with these features has, without those of tests and benches.
fn dependencies(features: &str) -> Vec<String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "--offline", "--edges", "normal", "--prefix", "none", "--format", "{p}", "--features", features])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

#[test]
fn grpc_and_http2_cost_nothing_unless_they_are_asked_for() {
    let heavy = ["tonic", "tonic-prost", "tonic-types", "tonic-health", "tonic-reflection", "prost", "h2"];
    let plain = dependencies("");
    assert!(plain.contains(&"hyper".to_owned()), "{plain:?}");
    for name in heavy {
        assert!(!plain.contains(&name.to_owned()), "{name} is always there");
    }
    let http2 = dependencies("http2");
    assert!(http2.contains(&"h2".to_owned()) && !http2.contains(&"tonic".to_owned()), "{http2:?}");
    let grpc = dependencies("grpc");
    assert!(["tonic", "prost", "h2"].iter().all(|name| grpc.contains(&(*name).to_owned())), "{grpc:?}");
    // Tonic's own server and router are for those who use them.
    assert!(!["axum", "tonic-health", "tonic-reflection"].iter().any(|name| grpc.contains(&(*name).to_owned())));
}

#[test]
fn a_database_is_there_only_for_those_who_keep_tasks_in_one() {
    let is_sql = |name: &String| name.starts_with("sqlx") || name.starts_with("libsqlite3");
    assert!(!dependencies("testing").iter().any(is_sql), "what tests have is for tests");
    let sqlite = dependencies("sqlite");
    assert!(sqlite.contains(&"sqlx-sqlite".to_owned()), "{sqlite:?}");
    assert!(!sqlite.iter().any(|name| ["sqlx-macros", "sqlx-postgres", "sqlx-mysql"].contains(&&**name)), "{sqlite:?}");
    let postgres = dependencies("postgres");
    assert!(postgres.contains(&"sqlx-postgres".to_owned()), "{postgres:?}");
    let others = ["sqlx-macros", "sqlx-sqlite", "sqlx-mysql", "rustls"];
    assert!(!postgres.iter().any(|name| others.contains(&&**name)), "{postgres:?}");
    let tls = dependencies("postgres-tls");
    assert!(tls.contains(&"rustls".to_owned()) && !tls.iter().any(|name| name.starts_with("aws-lc")), "{tls:?}");
}
