//! Kernels whose functions call themselves. How deep nobody can say beforehand: the driver gives each thread 1 KiB of stack,
//! and what goes beyond ends the context with an illegal address.

use super::driver::failed;
use crate::device::RunError;
use cudarc::driver::CudaContext;
use cudarc::driver::sys::{self, CUlimit_enum as Limit};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Bytes of stack for each thread of such a kernel: some hundred calls of a few registers each. The driver takes it for all
/// threads that a GPU can hold, 4 GB on one of 132 processors.
const STACK_BYTES: usize = 16 << 10;

/// Gives the threads of kernels that call themselves more stack.
pub fn make_room(context: &Arc<CudaContext>, ptx: &str) -> Result<(), RunError> {
    if !calls_itself(ptx) {
        return Ok(());
    }
    context.bind_to_thread().map_err(|error| failed("binding the context", error))?;
    // SAFETY: plain values. A GPU without so much memory keeps the limit that it has.
    let _ = unsafe { sys::cuCtxSetLimit(Limit::CU_LIMIT_STACK_SIZE, STACK_BYTES) };
    Ok(())
}

/// Whether some function of the module can come to itself by direct calls.
fn calls_itself(ptx: &str) -> bool {
    let calls = calls(ptx);
    calls.keys().any(|start| {
        let (mut seen, mut todo) = (HashSet::new(), vec![*start]);
        while let Some(function) = todo.pop() {
            for callee in calls.get(function).into_iter().flatten() {
                if callee == start {
                    return true;
                }
                if seen.insert(*callee) {
                    todo.push(callee);
                }
            }
        }
        false
    })
}

/// The functions of a module, and which others each one names in its calls.
fn calls(ptx: &str) -> HashMap<&str, HashSet<&str>> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let mut calls: HashMap<&str, HashSet<&str>> = HashMap::new();
    if !ptx.contains(".func") {
        return calls;
    }
    let mut current = None;
    for statement in ptx.split([';', '{', '}']) {
        if let Some(at) = statement.find(".func") {
            // `.func (results) name (parameters)`, the results left out where there are none.
            let rest = statement[at + ".func".len()..].trim_start();
            let rest = if rest.starts_with('(') { rest.split_once(')').map_or("", |(_, rest)| rest) } else { rest };
            current = rest.split(|c| !is_name(c)).find(|word| !word.is_empty());
            if let Some(name) = current {
                calls.entry(name).or_default();
            }
        } else if statement.contains(".entry") {
            current = None;
        } else if let (Some(function), Some(at)) = (current, statement.find("call")) {
            let named = statement[at..].split(|c| !is_name(c)).filter(|word| !word.is_empty());
            calls.entry(function).or_default().extend(named);
        }
    }
    calls
}

#[cfg(test)]
mod tests {
    use super::*;

    const PART: &str = "\n.func part(\n .param .b64 part_param_0\n)\n{\n { // callseq 0, 0\n call.uni \n CALLEE, \n (\n param0\n );\n }\n ret;\n}";

    #[test]
    fn calls_that_come_back_are_found() {
        let kernel =
            ".visible .entry k(\n .param .u64 k_param_0\n)\n{\n call.uni \n part, \n (\n param0\n );\n ret;\n}";
        let of = |callee: &str| format!("{kernel}{}", PART.replace("CALLEE", callee));
        assert!(calls_itself(&of("part")));
        assert!(!calls_itself(&of("vprintf")), "the system's own function");
        let by_way_of = of("other") + &PART.replace("part", "other").replace("CALLEE", "(retval0), \n part");
        assert!(calls_itself(&by_way_of));
        assert!(!calls_itself(kernel));
    }

    #[test]
    fn functions_that_give_something_back_have_names_too() {
        let text = ".func (.param .b32 func_retval0) fib(\n .param .b32 fib_param_0\n)\n{\n call.uni (retval0), \n fib, \n (\n param0\n );\n}";
        assert_eq!(calls(text).keys().copied().collect::<Vec<_>>(), ["fib"]);
        assert!(calls_itself(text));
    }
}
