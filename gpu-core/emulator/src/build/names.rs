//! What an assembler refuses before it looks at any instruction: names that mean two things in one scope, and a
//! `.version` or `.target` that there never was, alone or together.

use std::collections::HashMap;

use crate::described::LoadProblem;
use crate::ptx::tree::{Body, Function, Statement, Tree};

/// Names of one scope, each as it stands in the text, and ranges of registers (`%r<8>`) by what is before the number.
#[derive(Default)]
struct Scope<'a> {
    names: HashMap<&'a str, &'a str>,
    ranges: HashMap<&'a str, (u32, &'a str)>,
}

impl<'a> Scope<'a> {
    /// Takes a name; gives where it was declared before, if it was.
    fn declare(&mut self, name: &'a str) -> Option<&'a str> {
        let earlier = self.names.insert(name, name);
        earlier.or_else(|| {
            let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
            (1..=digits).map(|kept| name.len() - kept).find_map(|cut| {
                let (count, range) = self.ranges.get(&name[..cut])?;
                in_range(&name[cut..], *count).then_some(*range)
            })
        })
    }

    /// Takes a range of registers.
    fn declare_range(&mut self, prefix: &'a str, count: u32) -> Option<&'a str> {
        let earlier = self.ranges.insert(prefix, (count, prefix)).map(|(_, earlier)| earlier);
        let inside = |name: &&&str| name.strip_prefix(prefix).is_some_and(|number| in_range(number, count));
        earlier.or_else(|| self.names.keys().find(inside).copied())
    }
}

fn in_range(number: &str, count: u32) -> bool {
    let plain = number.bytes().all(|byte| byte.is_ascii_digit()) && (number == "0" || !number.starts_with('0'));
    plain && number.parse::<u32>().is_ok_and(|number| number < count)
}

struct Check<'a> {
    text: &'a str,
    problems: Vec<LoadProblem>,
}

/// What is wrong with the names of a module and with its head. The tree's names are slices of `text`.
pub(crate) fn check<'a>(text: &'a str, tree: &Tree<'a>) -> Vec<LoadProblem> {
    let mut check = Check { text, problems: Vec::new() };
    let version = version_of(tree.version);
    if !tree.version.is_empty() && version.is_none() {
        let message = format!("`.version {}` does not exist; the newest that is known is 9.5", tree.version);
        check.problem(message, tree.version);
    }
    let needed = first_version(tree.target);
    if !tree.target.is_empty() && needed.is_none() {
        let message = format!("`.target {}` does not exist; sm_75 to sm_121a and their like do", tree.target);
        check.problem(message, tree.target);
    }
    if let (Some(version), Some(needed)) = (version, needed)
        && version < needed
    {
        let (major, minor) = (needed / 10, needed % 10);
        let message = format!("`.version {}` has no `.target {}`: {major}.{minor} does", tree.version, tree.target);
        check.problem(message, tree.target);
    }
    let mut module = Scope::default();
    let mut elsewhere = HashMap::new();
    for variable in &tree.variables {
        if variable.external {
            elsewhere.insert(variable.name, variable.name);
            continue;
        }
        check.twice(module.declare(variable.name), variable.name);
        if !variable.visible {
            check.hidden(elsewhere.get(variable.name).copied(), variable.name);
        }
    }
    elsewhere.clear();
    for function in &tree.functions {
        // Any number of declarations may stand beside one definition.
        let known = module.names.get(function.name).copied();
        let variable = tree.variables.iter().any(|variable| variable.name == function.name);
        if function.body.is_some() {
            module.declare(function.name);
            check.hidden(elsewhere.get(function.name).copied(), function.name);
        } else if function.external {
            elsewhere.insert(function.name, function.name);
        }
        if function.body.is_some() || variable {
            check.twice(known, function.name);
        }
        check.function(function);
    }
    check.problems
}

impl<'a> Check<'a> {
    fn problem(&mut self, message: String, place: &str) {
        let ptx_line = self.line(place);
        self.problems.push(LoadProblem { message, instruction: String::new(), ptx_line, source: None });
    }

    /// The line that a slice of the text stands in.
    fn line(&self, place: &str) -> u32 {
        let at = (place.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize).min(self.text.len());
        1 + self.text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() as u32
    }

    fn twice(&mut self, earlier: Option<&str>, name: &str) {
        if let Some(earlier) = earlier {
            let first = self.line(earlier);
            self.problem(format!("`{name}` is defined twice in one scope; first in line {first}"), name);
        }
    }

    /// What `.extern` says to come from another module can be no function of this one, and no variable that this one keeps
    /// to itself.
    fn hidden(&mut self, external: Option<&str>, name: &str) {
        if let Some(external) = external {
            let first = self.line(external);
            self.problem(format!("`{name}` is said to be `.extern` in line {first} and defined here"), name);
        }
    }

    fn function(&mut self, function: &Function<'a>) {
        let mut own = Scope::default();
        for param in function.results.iter().chain(&function.params) {
            // Declarations may leave parameters without names.
            if function.body.is_some() && !param.name.is_empty() && param.name != "_" {
                self.twice(own.declare(param.name), param.name);
            }
        }
        let mut scopes = vec![own];
        let body = function.body.as_ref().map(Body::statements);
        for statement in body.iter().flat_map(|body| body.iter()) {
            let Some(scope) = scopes.last_mut() else { break };
            let (earlier, name) = match statement {
                Statement::Open => {
                    scopes.push(Scope::default());
                    continue;
                }
                Statement::Close => {
                    if scopes.len() > 1 {
                        scopes.pop();
                    }
                    continue;
                }
                Statement::Register { name, count: Some(count), .. } => (scope.declare_range(name, *count), *name),
                Statement::Label(name)
                | Statement::Register { name, .. }
                | Statement::Targets { label: name, .. }
                | Statement::Prototype(name) => (scope.declare(name), *name),
                Statement::Variable(variable) if variable.external => continue,
                Statement::Variable(variable) => (scope.declare(variable.name), variable.name),
                Statement::Instruction(_) => continue,
            };
            self.twice(earlier, name);
        }
    }
}

/// Ten times the version plus what is behind the point, as the assembler reads it (`8.10` is 9.0 to it); None when there
/// never was such a version of the PTX ISA.
fn version_of(version: &str) -> Option<u32> {
    let (major, minor) = version.split_once('.')?;
    let number = major.parse::<u32>().ok()?.checked_mul(10)?.checked_add(minor.parse().ok()?)?;
    let last = match number / 10 {
        1 => 5,
        2 | 4 => 3,
        3 => 2,
        5 => 1,
        6 => 5,
        7 | 8 => 8,
        // Those to come too.
        9 => 9,
        _ => return None,
    };
    (number % 10 <= last).then_some(number)
}

/// Architectures that an assembler of today knows, old ones among them (their PTX runs on all later ones), each with ten
/// times the first `.version` that has it plain, with an `a` and with an `f`; 0: there is none.
const ARCHITECTURES: [(u32, [u32; 3]); 33] = [
    (10, [10, 0, 0]),
    (11, [10, 0, 0]),
    (12, [12, 0, 0]),
    (13, [12, 0, 0]),
    (20, [20, 0, 0]),
    (21, [20, 0, 0]),
    (30, [30, 0, 0]),
    (32, [40, 0, 0]),
    (35, [31, 0, 0]),
    (37, [41, 0, 0]),
    (50, [40, 0, 0]),
    (52, [41, 0, 0]),
    (53, [42, 0, 0]),
    (60, [50, 0, 0]),
    (61, [50, 0, 0]),
    (62, [50, 0, 0]),
    (70, [51, 0, 0]),
    (72, [61, 0, 0]),
    (75, [63, 0, 0]),
    (80, [70, 0, 0]),
    (82, [62, 0, 0]),
    (86, [71, 0, 0]),
    (87, [74, 0, 0]),
    (88, [90, 0, 0]),
    (89, [78, 0, 0]),
    (90, [78, 80, 0]),
    (100, [86, 86, 88]),
    (101, [86, 86, 88]),
    (103, [88, 88, 88]),
    (107, [94, 94, 94]),
    (110, [90, 90, 90]),
    (120, [87, 87, 88]),
    (121, [88, 88, 88]),
];

/// Ten times the first version that has a target; None when there is no such target.
fn first_version(target: &str) -> Option<u32> {
    let name = target.strip_prefix("sm_").or_else(|| target.strip_prefix("compute_"))?;
    let digits = name.trim_end_matches(|c: char| !c.is_ascii_digit());
    let number: u32 = digits.parse().ok()?;
    let (_, first) = ARCHITECTURES.iter().find(|(known, _)| *known == number)?;
    let first = match &name[digits.len()..] {
        "a" => first[1],
        "f" => first[2],
        // Any other letter means nothing.
        other if other.len() <= 1 && other.bytes().all(|byte| byte.is_ascii_alphabetic()) => first[0],
        _ => 0,
    };
    (first > 0).then_some(first)
}
