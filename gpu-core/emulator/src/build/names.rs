//! What an assembler refuses before it looks at any instruction: names that mean two things in one scope, and a
//! `.version` or `.target` that there never was.

use std::collections::HashMap;

use crate::module::LoadProblem;
use crate::ptx::tree::{Function, Statement, Tree};

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
pub(super) fn check<'a>(text: &'a str, tree: &Tree<'a>) -> Vec<LoadProblem> {
    let mut check = Check { text, problems: Vec::new() };
    if !tree.version.is_empty() && !version_exists(tree.version) {
        let message = format!("`.version {}` does not exist; the newest that is known is 9.5", tree.version);
        check.problem(message, tree.version);
    }
    if !tree.target.is_empty() && !target_exists(tree.target) {
        let message = format!("`.target {}` does not exist; sm_75 to sm_121a and their like do", tree.target);
        check.problem(message, tree.target);
    }
    let mut module = Scope::default();
    for variable in tree.variables.iter().filter(|variable| !variable.external) {
        check.twice(module.declare(variable.name), variable.name);
    }
    for function in &tree.functions {
        // Any number of declarations may stand beside one definition.
        let known = module.names.get(function.name).copied();
        let variable = tree.variables.iter().any(|variable| variable.name == function.name);
        if function.body.is_some() {
            module.declare(function.name);
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

    fn function(&mut self, function: &Function<'a>) {
        let mut own = Scope::default();
        for param in function.results.iter().chain(&function.params) {
            // Declarations may leave parameters without names.
            if function.body.is_some() && !param.name.is_empty() && param.name != "_" {
                self.twice(own.declare(param.name), param.name);
            }
        }
        let mut scopes = vec![own];
        for statement in function.body.as_deref().unwrap_or_default() {
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

/// Versions of the PTX ISA that there were; of the present major version those to come are read too.
fn version_exists(version: &str) -> bool {
    // A number, as the assembler reads it: 8.00 is 8.0.
    let Some(tenths) = version.parse::<f64>().ok().filter(|_| version.contains('.')).map(|number| number * 10.0) else {
        return false;
    };
    let last = match (tenths / 10.0) as u32 {
        1 => 5,
        2 | 4 => 3,
        3 => 2,
        5 => 1,
        6 => 5,
        7 | 8 => 8,
        9 => 9,
        _ => return false,
    };
    (tenths - tenths.round()).abs() < 1e-6 && tenths.round() as u32 % 10 <= last
}

/// Architectures that an assembler of today knows, old ones among them: their PTX runs on all later ones.
const ARCHITECTURES: [u32; 33] = [
    10, 11, 12, 13, 20, 21, 30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 82, 86, 87, 88, 89, 90, 100, 101,
    103, 107, 110, 120, 121,
];

fn target_exists(target: &str) -> bool {
    let Some(name) = target.strip_prefix("sm_").or_else(|| target.strip_prefix("compute_")) else { return false };
    let digits = name.trim_end_matches(|c: char| !c.is_ascii_digit());
    digits.parse().is_ok_and(|number: u32| match &name[digits.len()..] {
        "" => true,
        "a" => number >= 90,
        "f" => number >= 100,
        _ => false,
    } && ARCHITECTURES.contains(&number))
}
