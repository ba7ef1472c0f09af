use std::{collections::BTreeSet, fs, path::Path};

const TABLE: &str = include_str!("faults.md");

/// How many faults there are.
const FAULTS: usize = 124;

/// Names of test functions in all files below a folder.
fn names_below(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            names_below(&path, names);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("text");
            let functions =
                text.lines().filter_map(|line| line.trim_start().trim_start_matches("async ").strip_prefix("fn "));
            names.extend(functions.filter_map(|rest| rest.split_once('(')).map(|(name, _)| name.to_owned()));
        }
    }
}

/// The rows: a fault, and what the last cell says of it.
fn rows() -> Vec<(&'static str, &'static str)> {
    let rows = TABLE.lines().filter_map(|line| line.strip_prefix("| F")?.split_once(" | "));
    let rows = rows.filter(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit()));
    rows.map(|(number, rest)| (number, rest.split_once(" | ").expect("three cells").1)).collect()
}

/// What stands between backquotes.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

#[test]
fn every_fault_has_one_row_in_order() {
    let expected: Vec<String> = (1..=FAULTS).map(|number| format!("{number:02}")).collect();
    let found: Vec<&str> = rows().into_iter().map(|(number, _)| number).collect();
    assert_eq!(found, expected);
}

#[test]
fn every_named_test_is_there_and_every_row_has_one_or_says_whose_it_is() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut names = BTreeSet::new();
    names_below(&root.join("src"), &mut names);
    names_below(&root.join("tests"), &mut names);
    for (number, rest) in rows() {
        let mut tests = quoted(rest).peekable();
        assert!(tests.peek().is_some() || rest.contains("left to"), "F{number} has neither a test nor a place");
        for test in tests {
            assert!(names.contains(test), "F{number} names {test}, which is nowhere");
        }
    }
}

#[test]
fn every_test_that_names_a_fault_is_in_its_row() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut names = BTreeSet::new();
    names_below(&root.join("tests/faults"), &mut names);
    names_below(&root.join("tests/sockets"), &mut names);
    let rows = rows();
    for name in &names {
        let words = name.split('_').map_while(|word| word.strip_prefix('f')?.parse::<usize>().ok());
        for number in words {
            let (_, rest) = rows[number - 1];
            assert!(quoted(rest).any(|test| test == name), "F{number:02} does not name {name}");
        }
    }
}
