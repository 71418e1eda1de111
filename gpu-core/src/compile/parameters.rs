//! Parameters in another order, or of another type, than the exercise passes: sizes agree, so a kernel runs, and every line of it
//! reads correctly. Said first where a kernel is wrong, and never of one that is right: names are the learner's own.

use super::declared::{Kernel, Parameter};
use super::signature::{c_param, c_type};
use crate::spec::{Dtype, Param, Spec};
use crate::words::grouped;
use ptx_emulator::{AccessKind, AllocationRef, Fault, FaultKind};

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

/// What to add to a fault of an access that takes several elements of an array at once, such as one through a `float4` pointer;
/// None for single elements, for copies that threads only order, and for bytes that are taken as one word.
pub fn wide(fault: &Fault, spec: &Spec) -> Option<String> {
    const LEAST_OF_BYTES: u32 = 8;
    let array = fault.allocation.as_ref()?;
    let name = &array.name;
    let bytes = element_bytes(fault, spec)?;
    let elements = fault.access_bytes / bytes;
    let is_copy = fault.access == Some(AccessKind::AsyncCopy) || fault.instruction.contains("cp.");
    if elements < 2 || is_copy || bytes == 1 && fault.access_bytes < LEAST_OF_BYTES {
        return None;
    }
    let (wide, size) = (fault.access_bytes, u64::from(fault.access_bytes));
    let every = format!(
        "Each access takes {elements} elements of `{name}` at once: element i of a pointer to {wide} bytes begins at \
         `{name}[{elements} * i]`, and there are 1/{elements} as many of them"
    );
    match fault.kind {
        FaultKind::Misaligned => Some(misaligned(fault, array, bytes)),
        FaultKind::OutOfBounds => {
            let all = array.bytes / u64::from(bytes);
            let left = all % u64::from(elements);
            let begins_inside = u64::try_from(array.offset).is_ok_and(|offset| offset < array.bytes);
            // The last group has fewer elements than the access takes: the tail.
            Some(match (begins_inside && (array.offset as u64).is_multiple_of(size), all - left) {
                (false, _) => every,
                (true, 0) => format!(
                    "`{name}` has {all} element{} and no whole group of {elements}: elements that no group holds are for single \
                     loads and stores, so take a group only while its last element, {elements} * i + {}, is inside, and the rest one \
                     by one",
                    if all == 1 { "" } else { "s" },
                    elements - 1
                ),
                (true, whole) => format!(
                    "`{name}` has {} elements: after {} whole groups of {elements}, {left} are left over from `{name}[{whole}]` on. Take \
                     a group only while its last element, {elements} * i + {}, is inside, and these {left} one by one",
                    grouped(all),
                    grouped(whole / u64::from(elements)),
                    elements - 1
                ),
            })
        }
        _ => None,
    }
}

/// Which pointer, where it begins, and where an access of so many bytes may begin.
fn misaligned(fault: &Fault, array: &AllocationRef, bytes: u32) -> String {
    let (name, wide) = (&array.name, fault.access_bytes);
    let elements = wide / bytes;
    let offset = array.offset.max(0) as u64;
    let at = |offset: u64| match offset % u64::from(bytes) {
        0 => format!("`{name}[{}]`", offset / u64::from(bytes)),
        within => format!("byte {within} of `{name}[{}]`", offset / u64::from(bytes)),
    };
    // The largest power of two that this place is a multiple of.
    let has = 1_u64 << (array.base + offset).trailing_zeros().min(8);
    let places = match array.base % u64::from(wide) {
        0 => {
            let fits: Vec<String> = (0..3).map(|group| format!("`{name}[{}]`", group * elements)).collect();
            format!("`{name}` itself begins at one, so an access can begin only at {}, …", fits.join(", "))
        }
        beyond => format!(
            "`{name}` itself begins {beyond} bytes behind one: align the array, or take its elements one by one"
        ),
    };
    format!(
        "It points to {}, whose address is a multiple of {has} bytes and no more; an access of {wide} bytes ({elements} elements at \
         once, as a `float4` takes four floats) needs a multiple of {wide}. {places} Where a row's length is no multiple of \
         {elements}, later rows begin elsewhere: take those elements one by one",
        at(offset)
    )
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

    fn fault(kind: FaultKind, access_bytes: u32, bytes: u64, offset: i64) -> Fault {
        Fault {
            kind,
            message: String::new(),
            kernel: String::new(),
            launch: None,
            source: None,
            inlined_at: None,
            instruction: "ld.global.v4.f32".to_owned(),
            thread: None,
            space: None,
            access: Some(AccessKind::Read),
            address: None,
            access_bytes,
            allocation: Some(AllocationRef { name: "a".to_owned(), base: 0x1000, bytes, offset }),
            other: None,
            occurrences: 1,
        }
    }

    #[test]
    fn the_tail_of_wide_accesses_is_told_from_a_wrong_index() {
        use FaultKind::OutOfBounds;
        let tail = wide(&fault(OutOfBounds, 16, 4 * 1003, 4000), &spec()).unwrap();
        assert!(
            tail.contains("1,003 elements: after 250 whole groups of 4, 3 are left over from `a[1000]` on")
                && tail.contains("4 * i + 3, is inside"),
            "{tail}"
        );
        let none = wide(&fault(OutOfBounds, 16, 12, 0), &spec()).unwrap();
        assert!(none.contains("3 elements and no whole group of 4"), "{none}");
        let beyond = wide(&fault(OutOfBounds, 16, 4000, 4000), &spec()).unwrap();
        assert!(beyond.contains("begins at `a[4 * i]`"), "{beyond}");
    }

    #[test]
    fn a_misaligned_access_is_told_with_pointer_alignment_and_need() {
        let said = wide(&fault(FaultKind::Misaligned, 16, 4000, 4), &spec()).unwrap();
        for part in [
            "points to `a[1]`",
            "a multiple of 4 bytes and no more",
            "needs a multiple of 16",
            "`a[0]`, `a[4]`, `a[8]`",
        ] {
            assert!(said.contains(part), "`{part}` is not in: {said}");
        }
        let said = wide(&fault(FaultKind::Misaligned, 8, 4000, 12), &spec()).unwrap();
        assert!(said.contains("points to `a[3]`") && said.contains("`a[0]`, `a[2]`, `a[4]`"), "{said}");
    }

    /// Copies are ordered by other rules, and words of bytes have no groups.
    #[test]
    fn advice_on_wide_accesses_is_for_loads_and_stores_alone() {
        let outside = || fault(FaultKind::OutOfBounds, 16, 4000, 4000);
        assert!(wide(&outside(), &spec()).is_some());
        let ordered = Fault { access: Some(AccessKind::AsyncCopy), ..outside() };
        assert_eq!(wide(&ordered, &spec()), None);
        let ordered = Fault { instruction: "cp.async.cg.shared.global [%r1], [%rd1], 16".to_owned(), ..outside() };
        assert_eq!(wide(&ordered, &spec()), None);
        assert_eq!(wide(&fault(FaultKind::OutOfBounds, 4, 4000, 4000), &spec()), None, "one element");
        let mut bytes = spec();
        if let Param::Buffer { dtype, .. } = &mut bytes.params[0] {
            *dtype = Dtype::U8;
        }
        assert_eq!(wide(&fault(FaultKind::OutOfBounds, 4, 4000, 4000), &bytes), None, "four codes in a word");
        assert!(wide(&outside(), &bytes).is_some(), "sixteen of them");
    }
}
