//! Parameters in another order, or of another type, than the exercise passes: sizes agree, so a kernel runs, and every line of it
//! reads correctly. Said first where a kernel is wrong, and never of one that is right: names are the learner's own.

use super::declared::{Kernel, Parameter};
use super::signature::{c_param, c_type};
use crate::spec::{Dtype, Param, Spec};
use ptx_emulator::{Fault, FaultKind};

/// What differs, as a sentence that says what to do; None where nothing does, or nothing can be said.
pub fn differ(declared: &[Kernel], spec: &Spec) -> Option<String> {
    // The kernel of a step takes a choice of the parameters, in an order of its own.
    if spec.steps.iter().any(|step| !step.args.is_empty()) {
        return None;
    }
    let kernel = declared.iter().find(|kernel| kernel.is_called(spec.entry()))?;
    if kernel.params.len() != spec.params.len() {
        return None;
    }
    order(kernel, spec).or_else(|| types(kernel, spec))
}

fn order(kernel: &Kernel, spec: &Spec) -> Option<String> {
    let wanted: Vec<&str> = spec.params.iter().map(Param::name).collect();
    // A name of the exercise at another place: the argument that comes there is another one.
    let (index, moved) = kernel
        .params
        .iter()
        .enumerate()
        .find(|(index, parameter)| wanted[*index] != parameter.name && wanted.contains(&parameter.name.as_str()))?;
    let own: Vec<&str> = kernel.params.iter().map(|parameter| parameter.name.as_str()).collect();
    Some(format!(
        "the exercise passes ({}), and `{}` takes ({}): its parameter {}, `{}`, gets what the exercise calls `{}`. Write the \
         parameters in the exercise's order (line {})",
        wanted.join(", "),
        kernel.name,
        own.join(", "),
        index + 1,
        moved.name,
        wanted[index],
        kernel.line
    ))
}

fn types(kernel: &Kernel, spec: &Spec) -> Option<String> {
    let (parameter, param) =
        kernel.params.iter().zip(&spec.params).find(|(parameter, param)| !agrees(parameter, param))?;
    let star = if parameter.is_pointer { "*" } else { "" };
    let constant = if parameter.is_const { "const " } else { "" };
    let bytes = match (Dtype::of_cpp(&parameter.element), param) {
        (Some(own), Param::Buffer { dtype, .. }) if own.bytes() != dtype.bytes() => format!(
            ": its elements have {} bytes here and {} in memory, so element 1 is read where {} is",
            own.bytes(),
            dtype.bytes(),
            if own.bytes() > dtype.bytes() {
                format!("element {}", own.bytes() / dtype.bytes())
            } else {
                "a part of element 0".to_owned()
            }
        ),
        _ => ": the same bytes mean another number".to_owned(),
    };
    Some(format!(
        "`{}` is `{constant}{}{star}` in your kernel, and the exercise passes `{}`{bytes} (line {})",
        parameter.name,
        parameter.element,
        c_param(param),
        parameter.line
    ))
}

/// Whether a parameter may be what the exercise passes. Other whole numbers of the same size are, for they look at the bits;
/// so is every type that is not known here.
fn agrees(parameter: &Parameter, param: &Param) -> bool {
    let (dtype, is_pointer) = match param {
        Param::Buffer { dtype, .. } => (*dtype, true),
        Param::Scalar { dtype, .. } => (*dtype, false),
        Param::TensorMap { .. } | Param::Struct { .. } => return true,
    };
    let Some(own) = Dtype::of_cpp(&parameter.element) else { return true };
    if parameter.is_pointer != is_pointer || own == dtype || c_type(own) == c_type(dtype) {
        return true;
    }
    // Bytes, and whole numbers of the same size, are how packed types are read.
    let looks_at_bits = own.bytes() == dtype.bytes() && !own.is_float();
    looks_at_bits || (is_pointer && (own.bytes() == 1 || dtype.bytes() == 1))
}

/// Bytes of one element of the array that a fault is about.
pub fn element_bytes(fault: &Fault, spec: &Spec) -> Option<u32> {
    let name = &fault.allocation.as_ref()?.name;
    spec.params.iter().find_map(|param| match param {
        Param::Buffer { name: own, dtype, .. } if own == name => Some(dtype.bytes() as u32),
        _ => None,
    })
}

/// What to add to a fault of an access that takes several elements of an array at once; None for single elements.
pub fn wide(fault: &Fault, spec: &Spec) -> Option<String> {
    let name = &fault.allocation.as_ref()?.name;
    let bytes = element_bytes(fault, spec)?;
    let outside = matches!(fault.kind, FaultKind::OutOfBounds | FaultKind::Misaligned);
    let elements = fault.access_bytes / bytes;
    (outside && elements > 1).then(|| {
        format!(
            "Each access takes {elements} elements of `{name}` at once: element i of a pointer to {} bytes begins at \
             `{name}[{elements} * i]`, and there are 1/{elements} as many of them",
            fault.access_bytes
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::declared::kernels;
    use crate::judge::tests_support::empty_spec;
    use crate::spec::{Expr, Role};

    fn spec() -> Spec {
        let buffer = |name: &str, role| Param::Buffer {
            name: name.into(),
            dtype: Dtype::F32,
            shape: vec![Expr::from("n")],
            role,
            max_bytes: None,
            fill: None,
        };
        let scalar = |name: &str| Param::Scalar { name: name.into(), dtype: Dtype::I32, value: name.into() };
        let mut spec = empty_spec("f");
        spec.params = vec![buffer("a", Role::In), buffer("c", Role::Out), scalar("m"), scalar("n")];
        spec
    }

    fn said(parameters: &str) -> Option<String> {
        differ(&kernels(&format!("extern \"C\" __global__ void f({parameters}) {{}}")), &spec())
    }

    #[test]
    fn another_order_is_said_with_both_lists() {
        let found = said("float* c, const float* a, int m, int n").unwrap();
        assert!(
            found.contains("(a, c, m, n)") && found.contains("(c, a, m, n)") && found.contains("`c`, gets"),
            "{found}"
        );
        let found = said("const float* a, float* c, int n, int m").unwrap();
        assert!(found.contains("parameter 3, `n`, gets what the exercise calls `m`"), "{found}");
    }

    #[test]
    fn another_type_is_said_with_its_bytes() {
        let found = said("const double* a, float* c, int m, int n").unwrap();
        assert!(
            found.contains("`const double*`") && found.contains("`const float* a`") && found.contains("8 bytes"),
            "{found}"
        );
        let found = said("const float* a, float* c, int m, float n").unwrap();
        assert!(found.contains("`float` in your kernel") && found.contains("another number"), "{found}");
        let found = said("const __half* a, float* c, int m, int n").unwrap();
        assert!(found.contains("a part of element 0"), "{found}");
    }

    #[test]
    fn what_may_be_meant_is_not_said() {
        for parameters in [
            "const float* a, float* c, int m, int n",
            "const float* x, float* y, int rows, int columns",
            "const unsigned* a, float* c, unsigned m, unsigned n",
            "const float4* a, float4* c, int m, int n",
            "const uint8_t* a, float* c, int m, int n",
            "const float* a",
            "",
        ] {
            assert_eq!(said(parameters), None, "{parameters}");
        }
    }
}
