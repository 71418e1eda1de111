//! Structures as the source declares them: a kernel may take one by value, and PTX has no more of it than its size.

use super::declared::without_directives;
use super::tokens::{Kind, Token};
use serde::{Deserialize, Serialize};

/// A structure whose members are plain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Struct {
    pub name: String,
    pub members: Vec<Member>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Its type: `float`, `unsigned int`.
    pub element: String,
    pub name: String,
}

/// All structures of a source that have nothing but such members: no arrays, pointers, functions, bases or templates.
pub fn structs(source: &str) -> Vec<Struct> {
    let all = without_directives(source);
    let mut found = Vec::new();
    for at in 0..all.len() {
        let [word, name, open, ..] = &all[at..] else { break };
        let is_template = at.checked_sub(1).is_some_and(|before| all[before].text == ">");
        if word.text != "struct" || name.kind != Kind::Word || open.text != "{" || is_template {
            continue;
        }
        let Some(close) = (at + 3..all.len()).find(|&i| matches!(all[i].text, "{" | "}" | "(")) else { continue };
        if all[close].text == "}"
            && let Some(members) = members(&all[at + 3..close])
        {
            found.push(Struct { name: name.plain(), members });
        }
    }
    found
}

fn members(body: &[Token<'_>]) -> Option<Vec<Member>> {
    let mut found = Vec::new();
    for declaration in body.split(|token| token.text == ";").filter(|declaration| !declaration.is_empty()) {
        let plain = |token: &Token<'_>| token.kind == Kind::Word || token.text == ",";
        if !declaration.iter().all(plain) {
            return None;
        }
        let mut parts = declaration.split(|token| token.text == ",");
        let (last, types) = parts.next()?.split_last()?;
        let element = types.iter().filter(|word| word.text != "const").map(Token::plain).collect::<Vec<_>>().join(" ");
        if element.is_empty() {
            return None;
        }
        found.push(Member { element: element.clone(), name: last.plain() });
        for part in parts {
            let [name] = part else { return None };
            found.push(Member { element: element.clone(), name: name.plain() });
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_members_are_read_and_others_leave_a_structure_out() {
        let found = structs(
            "struct Params { float scale, shift; const unsigned int n; };\nstruct Table { int a[3]; };\nstruct Own { int f() { return 1; } \
             };\ntemplate <typename T> struct Pair { T a; };\nstruct Bare;\nstruct Empty { };\nvoid k(struct Params p) { }\n",
        );
        let shown: Vec<(&str, Vec<(&str, &str)>)> = found
            .iter()
            .map(|one| (one.name.as_str(), one.members.iter().map(|m| (m.element.as_str(), m.name.as_str())).collect()))
            .collect();
        let params = vec![("float", "scale"), ("float", "shift"), ("unsigned int", "n")];
        assert_eq!(shown, [("Params", params), ("Empty", Vec::new())]);
        for odd in ["", "struct", "struct {", "struct A {", "struct A { int", "struct A { ; }", "struct A { int; };"] {
            structs(odd);
        }
    }
}
