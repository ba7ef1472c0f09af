//! Where tasks are kept, and for how long.

use std::{
    env,
    path::PathBuf,
    sync::atomic::{AtomicU32, Ordering},
};

use super::{Outcome, database};

/// Which of them to play with; all that there are, if it does not say.
const VARIABLE: &str = "A2A_STORES";

/// A place where tasks are.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// In this file.
    Sqlite(PathBuf),
    /// In this database, in this schema.
    Postgres { url: String, schema: String },
}

impl Place {
    /// One of each kind, without tasks. Where there is no Postgres, it is said what is left out.
    pub(crate) fn all(what: &str) -> Outcome<Vec<Self>> {
        Self::all_with(|| Ok(database::url(what)))
    }

    /// The same with a Postgres from elsewhere.
    pub(crate) fn all_with(mut postgres: impl FnMut() -> Outcome<Option<String>>) -> Outcome<Vec<Self>> {
        let wanted = env::var(VARIABLE).unwrap_or_else(|_| "sqlite,postgres".to_owned());
        let mut places = Vec::new();
        for kind in wanted.split(',') {
            match kind {
                "sqlite" => places.push(Self::sqlite()),
                "postgres" => places.extend(postgres()?.map(Self::postgres)),
                _ => return Err(format!("{VARIABLE} is sqlite, postgres or sqlite,postgres, not {wanted}").into()),
            }
        }
        Ok(places)
    }

    pub(crate) fn sqlite() -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let (process, made) = (std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        Self::Sqlite(env::temp_dir().join(format!("a2a-layers-{process}-{made}.db")))
    }

    pub(crate) fn postgres(url: String) -> Self {
        Self::Postgres { url, schema: database::schema() }
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "SQLite",
            Self::Postgres { .. } => "Postgres",
        }
    }

    pub(crate) fn to_text(&self) -> String {
        match self {
            Self::Sqlite(file) => file.display().to_string(),
            Self::Postgres { url, schema } => format!("{schema} {url}"),
        }
    }

    pub(crate) fn from_text(text: &str) -> Self {
        match text.split_once(' ') {
            Some((schema, url)) if url.starts_with("postgres") => {
                Self::Postgres { url: url.to_owned(), schema: schema.to_owned() }
            }
            _ => Self::Sqlite(text.into()),
        }
    }

    /// Nobody needs the tasks any more. A database is as a rule one that was made for this.
    pub(crate) fn clear(&self) {
        if let Self::Sqlite(file) = self {
            for end in ["", "-wal", "-shm"] {
                let _ = std::fs::remove_file(format!("{}{end}", file.display()));
            }
        }
    }
}

/// Begins to open the store of a place, and goes on with that, whatever its type is.
macro_rules! with_store {
    ($place:expr, |$builder:ident| $then:expr) => {
        match $place {
            $crate::durable::place::Place::Sqlite(file) => {
                let $builder = a2a_layers::task::SqliteTaskStore::builder(file.to_string_lossy());
                $then
            }
            $crate::durable::place::Place::Postgres { url, schema } => {
                let $builder = a2a_layers::task::PostgresTaskStore::builder(&**url).schema(&**schema);
                $then
            }
        }
    };
}

pub(crate) use with_store;
