//! Kernels that belong to no exercise: what they are run with is guessed from their parameters, as `lockstep run` does.

use crate::guess::{self, Guessed};
use crate::loadable::Loadable;
use curriculum::store::TextSlot;
use gpu_core::compile::declared;
use gpu_core::spec::Size;
use gpu_core::verdict::RunReport;

/// The text that the sandbox starts from.
pub const SCAFFOLD: &str = "#include \"lab.cuh\"\n\n// A kernel of your own. The pane beside it guesses its inputs from the parameters:\n\
    // pointers are arrays, whole numbers are their sizes.\nextern \"C\" __global__ void scale(const float* x, float* y, int n)\n\
    {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) y[i] = 2.0f * x[i];\n}\n";

/// Largest size of a slider: the emulator runs it in a moment.
pub const MOST_SIZE: i64 = 65_536;

/// What the sandbox is set to, and what its last run found.
#[derive(Clone, Debug, Default)]
pub struct Sandbox {
    /// The kernel that is run, where a text has several.
    pub kernel: Option<String>,
    /// Sizes that were chosen by name.
    pub size: Size,
    pub ran: Loadable<RunReport>,
}

/// Whether a text belongs to no exercise.
pub fn is_free(slot: &TextSlot) -> bool {
    *slot == TextSlot::free()
}

/// Names of the kernels that a text declares.
pub fn kernels(text: &str) -> Vec<String> {
    declared::kernels(text).into_iter().map(|kernel| kernel.name).collect()
}

/// What the kernel is run with.
///
/// # Errors
/// There is no kernel, or a parameter has no counterpart; one sentence.
pub fn guess(text: &str, sandbox: &Sandbox) -> Result<Guessed, String> {
    let kernels = declared::kernels(text);
    let wanted = |kernel: &&declared::Kernel| sandbox.kernel.as_ref().is_none_or(|name| kernel.name == *name);
    let kernel = kernels.iter().find(wanted).or(kernels.first());
    let kernel = kernel.ok_or("there is no kernel in this text: one begins with `__global__ void name(…)`")?;
    let guessed = guess::guess(kernel, text, None, &Size::new())?;
    // Names for an earlier text mean nothing here.
    let size: Size = guessed
        .size()
        .into_iter()
        .map(|(name, usual)| {
            let chosen = sandbox.size.get(&name).copied().unwrap_or(usual);
            (name, chosen)
        })
        .collect();
    guess::guess(kernel, text, None, &size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_the_kernel_are_what_was_chosen() {
        let mut sandbox = Sandbox::default();
        let guessed = guess(SCAFFOLD, &sandbox).unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(guessed.size().get("n"), Some(&1000));
        sandbox.size.insert("n".to_owned(), 77);
        sandbox.size.insert("of_another_text".to_owned(), 5);
        let guessed = guess(SCAFFOLD, &sandbox).unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(guessed.size().into_iter().collect::<Vec<_>>(), [("n".to_owned(), 77)]);
        assert!(guess("int main() {}", &sandbox).is_err_and(|why| why.contains("no kernel")));
        assert_eq!(kernels(SCAFFOLD), ["scale"]);
    }
}
