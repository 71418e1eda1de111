//! Every dependency has a licence that `deny.toml` allows and comes from crates.io.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Whether an SPDX expression can be satisfied with allowed licences. `/` is the old way to write OR.
fn satisfied(expression: &str, allowed: &dyn Fn(&str) -> bool) -> Result<bool, String> {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = Parser { words: &words, at: 0, allowed };
    let value = parser.any()?;
    if parser.at == words.len() { Ok(value) } else { Err(format!("`{expression}` is no licence expression")) }
}

struct Parser<'a> {
    words: &'a [&'a str],
    at: usize,
    allowed: &'a dyn Fn(&str) -> bool,
}

impl Parser<'_> {
    fn take(&mut self, word: &str) -> bool {
        let found = self.words.get(self.at) == Some(&word);
        self.at += usize::from(found);
        found
    }

    fn any(&mut self) -> Result<bool, String> {
        let mut value = self.all()?;
        while self.take("OR") {
            value |= self.all()?;
        }
        Ok(value)
    }

    fn all(&mut self) -> Result<bool, String> {
        let mut value = self.one()?;
        while self.take("AND") {
            value &= self.one()?;
        }
        Ok(value)
    }

    fn one(&mut self) -> Result<bool, String> {
        if self.take("(") {
            let value = self.any()?;
            return if self.take(")") { Ok(value) } else { Err("a parenthesis is not closed".into()) };
        }
        let name = *self.words.get(self.at).ok_or("the expression ends early")?;
        self.at += 1;
        if self.take("WITH") {
            let exception = *self.words.get(self.at).ok_or("the expression ends after WITH")?;
            self.at += 1;
            return Ok((self.allowed)(&format!("{name} WITH {exception}")));
        }
        Ok((self.allowed)(name))
    }
}

fn strings(value: &toml::Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

#[test]
fn licence_expressions_are_read() {
    let mit = |name: &str| name == "MIT" || name == "Apache-2.0 WITH LLVM-exception";
    for good in ["MIT", "GPL-3.0 OR MIT", "MIT/GPL-3.0", "(GPL-3.0 OR MIT) AND MIT", "Apache-2.0 WITH LLVM-exception"] {
        assert_eq!(satisfied(good, &mit), Ok(true), "{good}");
    }
    for bad in ["GPL-3.0", "MIT AND GPL-3.0", "Apache-2.0 WITH other", "(MIT AND GPL-3.0) OR BSD"] {
        assert_eq!(satisfied(bad, &mit), Ok(false), "{bad}");
    }
    for broken in ["", "MIT AND", "(MIT", "MIT MIT"] {
        assert!(satisfied(broken, &mit).is_err(), "{broken}");
    }
}

#[test]
fn every_dependency_is_allowed_by_deny_toml() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let deny: toml::Value = toml::from_str(&std::fs::read_to_string(root.join("deny.toml")).unwrap()).unwrap();
    let allow = strings(&deny["licenses"]["allow"]);
    let exceptions: BTreeMap<String, Vec<String>> = deny["licenses"]["exceptions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| (e["crate"].as_str().unwrap().to_owned(), strings(&e["allow"])))
        .collect();

    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--locked", "--format-version", "1"])
        .current_dir(&root)
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 100, "cargo listed only {} packages", packages.len());

    let mut problems = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap();
        match package["source"].as_str() {
            None => {} // a member of this workspace
            Some("registry+https://github.com/rust-lang/crates.io-index") => {}
            Some(other) => problems.push(format!("{name} comes from {other}; use a release on crates.io")),
        }
        let extra = exceptions.get(name).cloned().unwrap_or_default();
        let allowed = |licence: &str| allow.iter().chain(&extra).any(|one| one == licence);
        match package["license"].as_str().map(|expression| (expression, satisfied(expression, &allowed))) {
            Some((_, Ok(true))) => {}
            Some((expression, Ok(false))) => problems.push(format!("{name} is under {expression}")),
            Some((_, Err(why))) => problems.push(format!("{name}: {why}")),
            None => problems.push(format!("{name} names no licence")),
        }
    }
    for name in exceptions.keys() {
        if !packages.iter().any(|package| package["name"] == name.as_str()) {
            problems.push(format!("deny.toml has an exception for {name}, which is no dependency any more"));
        }
    }
    assert!(
        problems.is_empty(),
        "replace the dependency, or allow it in deny.toml with the reason:\n{}",
        problems.join("\n")
    );
}
