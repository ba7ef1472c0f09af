//! Holds `rows.md` to what it says.

use std::{collections::BTreeSet, fs, path::Path};

const TABLE: &str = include_str!("rows.md");
const OTHER_WORK: &str = "other work: push issue";

/// A line of the table: the row, its tests, and the note.
fn lines() -> Vec<(&'static str, Vec<&'static str>, &'static str)> {
    let cells = TABLE.lines().filter_map(|line| {
        let cells: Vec<_> = line.strip_prefix("| ")?.strip_suffix('|')?.split(" |").map(str::trim).collect();
        let [row, tests, note] = cells[..] else { return None };
        row.ends_with(|last: char| last.is_ascii_digit()).then_some((row, tests, note))
    });
    cells.map(|(row, tests, note)| (row, tests.split('`').skip(1).step_by(2).collect(), note)).collect()
}

fn all_rows() -> Vec<String> {
    let rows = |letter: char, count: u32, width: usize| (1..=count).map(move |at| format!("{letter}{at:0width$}"));
    rows('B', 134, 3).chain(rows('V', 95, 3)).chain(rows('C', 21, 2)).chain(rows('S', 18, 2)).collect()
}

/// The names of all tests in a folder.
fn collect(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, names);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            names.extend(tests_of(&fs::read_to_string(path).unwrap()));
        }
    }
}

/// The functions that have a test attribute right above them, and the lines of `mirrors!`.
fn tests_of(source: &str) -> Vec<String> {
    let (mut names, mut attribute, mut mirrors) = (Vec::new(), false, false);
    for line in source.lines().map(str::trim) {
        if line.starts_with("#[test") || line.starts_with("#[tokio::test") {
            attribute = true;
        } else if line == "mirrors! {" {
            mirrors = true;
        } else if let (true, Some((name, _))) = (mirrors, line.split_once(": ")) {
            names.push(name.to_owned());
        } else if !line.starts_with("#[") {
            let function = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ");
            if let (true, Some((name, _))) = (attribute, function.and_then(|rest| rest.split_once('('))) {
                names.push(name.to_owned());
            }
            (attribute, mirrors) = (false, mirrors && line != "}");
        }
    }
    names
}

#[test]
fn every_row_is_in_the_table_once_and_in_order() {
    let listed: Vec<_> = lines().into_iter().map(|(row, ..)| row.to_owned()).collect();
    assert_eq!(listed, all_rows());
}

#[test]
fn every_row_has_a_test_or_is_the_work_of_others() {
    for (row, tests, note) in lines() {
        assert!(!tests.is_empty() || note.starts_with(OTHER_WORK), "{row} has neither");
    }
    let others: Vec<_> = lines().into_iter().filter(|(_, tests, _)| tests.is_empty()).map(|(row, ..)| row).collect();
    assert_eq!(others, ["B129"]);
}

#[test]
fn every_test_that_is_named_exists_and_begins_with_its_row() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut names = BTreeSet::new();
    for folder in ["src", "tests"] {
        collect(&root.join(folder), &mut names);
    }
    for (row, tests, _) in lines() {
        for test in tests {
            assert!(names.contains(test), "{row}: there is no test {test}");
            let row = row.to_lowercase();
            let is_row = |word: &&str| word.len() > 2 && word[1..].bytes().all(|byte| byte.is_ascii_digit());
            assert!(test.split('_').take_while(is_row).any(|word| word == row), "{test} is not named after {row}");
        }
    }
}

#[test]
fn tests_are_told_from_other_functions() {
    let source =
        "#[test]\nfn a() {}\nfn b() {}\n#[tokio::test(start_paused = true)]\n#[cfg(x)]\nasync fn c() {\n}\n// fn d()\n";
    assert_eq!(tests_of(source), ["a", "c"]);
}
