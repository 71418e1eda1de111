//! A case's arrays as an oracle counts them: buffers, and views decoded.

use crate::device::{Argument, Buffer};
use crate::formats::Stored;
use crate::spec::{Dtype, Resolved, ResolvedBuffer, ResolvedView, Role, Tensor};

/// What a kernel left in one output.
pub(crate) struct Output<'a> {
    pub name: &'a str,
    pub shape: Vec<u64>,
    /// Of a view the type of its codes.
    pub dtype: Dtype,
    pub role: Role,
    /// Decoded, row-major.
    pub values: Vec<f64>,
    pub view: Option<(&'a ResolvedView, Stored)>,
    /// The buffer, or the codes.
    bytes: &'a [u8],
    /// Name of that buffer.
    buffer: &'a str,
    /// Elements of that buffer that nobody wrote, ascending; None where the device cannot tell.
    known: Option<&'a [usize]>,
}

/// Elements of each output that nobody wrote, as far as a device can tell: see [`crate::device::Report::unwritten`].
pub(crate) type Unwritten<'a> = Option<&'a [(String, Vec<usize>)]>;

/// Of one buffer. A device that can tell leaves out buffers that hold something before the run.
pub(crate) fn known_of<'a>(unwritten: Unwritten<'a>, buffer: &str) -> Option<&'a [usize]> {
    let elements = |all: &'a [(String, Vec<usize>)]| all.iter().find(|(name, _)| name == buffer).map(|(_, at)| &at[..]);
    unwritten.map(|all| elements(all).unwrap_or_default())
}

impl<'a> Output<'a> {
    /// Single elements, drawn from an output elsewhere.
    pub fn of_sample(name: &'a str, dtype: Dtype, values: Vec<f64>) -> Self {
        Self {
            name,
            shape: vec![values.len() as u64],
            dtype,
            role: Role::In,
            values,
            view: None,
            bytes: &[],
            buffer: name,
            known: None,
        }
    }

    pub fn elements(&self) -> usize {
        self.values.len()
    }

    /// Whether values are compared as whole numbers.
    pub fn is_whole(&self) -> bool {
        self.view.is_none() && !self.dtype.is_float()
    }

    /// Whether an element still holds what the buffer was filled with before the run.
    pub fn is_unwritten(&self, element: usize) -> bool {
        if self.role != Role::Out {
            return false;
        }
        let poison = self.dtype.poison();
        // By value only where nothing better is known: a right value may be what the buffer was filled with.
        if let Some(known) = self.known {
            let place = |(view, _): &(&ResolvedView, Stored)| view.layout.place_of(element).0 / poison.len();
            return known.binary_search(&self.view.as_ref().map_or(element, place)).is_ok();
        }
        if poison.len() == 1 {
            let byte = self.view.as_ref().map_or(element, |(view, _)| view.layout.place_of(element).0);
            return is_unwritten_byte(self.bytes, byte, poison[0]);
        }
        match &self.view {
            None => self.bytes.get(element * poison.len()..).is_some_and(|rest| rest.starts_with(poison)),
            Some((view, _)) => {
                let byte = view.layout.place_of(element).0;
                self.bytes.get(byte) == Some(&poison[byte % poison.len()])
            }
        }
    }

    /// Whether some element is known to be unwritten, so that also what looks right is to be asked.
    pub fn has_gaps(&self) -> bool {
        self.role == Role::Out && self.known.is_some_and(|known| !known.is_empty())
    }

    /// Row-major index of an element.
    pub fn index_of(&self, element: u64) -> Vec<u64> {
        crate::spec::index_of(&self.shape, element)
    }
}

fn buffer(arguments: &[Argument], param: usize) -> Option<&Buffer> {
    match arguments.get(param) {
        Some(Argument::Buffer(buffer)) => Some(buffer),
        _ => None,
    }
}

/// The bytes of a view's buffers.
pub(crate) fn stored(view: &ResolvedView, arguments: &[Argument]) -> Stored {
    let bytes = |param: Option<usize>| {
        let found = param.and_then(|param| buffer(arguments, param));
        found.map(|buffer| buffer.bytes.clone()).unwrap_or_default()
    };
    Stored {
        codes: bytes(Some(view.codes)),
        scales: bytes(view.scales),
        zero_points: bytes(view.zero_points),
        tensor_scale: bytes(view.tensor_scale),
    }
}

fn values(tensor: &Tensor<'_>, arguments: &[Argument]) -> Vec<f64> {
    match tensor {
        Tensor::Buffer(param, _) => {
            buffer(arguments, *param).map(|buffer| buffer.dtype.decode_all(&buffer.bytes)).unwrap_or_default()
        }
        Tensor::View(view, _) => view.layout.decode(&stored(view, arguments)),
    }
}

/// Whether nobody wrote a byte. A wrong code may well be what a byte is filled with before the run, but hardly beside another
/// such byte; so one alone counts as written.
pub(crate) fn is_unwritten_byte(bytes: &[u8], at: usize, poison: u8) -> bool {
    let holds = |at: usize| bytes.get(at) == Some(&poison);
    holds(at) && (bytes.len() == 1 || holds(at + 1) || at.checked_sub(1).is_some_and(holds))
}

/// What the oracle computes from: the inputs as the kernel sees them, rounded to their types.
pub(crate) fn oracle_inputs(case: &Resolved, arguments: &[Argument]) -> Vec<Vec<f64>> {
    let given = case.tensors().into_iter().filter(|tensor| tensor.role().is_given());
    given.map(|tensor| values(&tensor, arguments)).collect()
}

/// The same, with what is known of elements that nobody wrote.
pub(crate) fn outputs_of<'a>(
    case: &'a Resolved,
    arguments: &'a [Argument],
    unwritten: Unwritten<'a>,
) -> Vec<Output<'a>> {
    let mut all = outputs(case, arguments);
    all.iter_mut().for_each(|output| output.known = known_of(unwritten, output.buffer));
    all
}

/// What the kernel left in its outputs, in the oracle's order.
pub(crate) fn outputs<'a>(case: &'a Resolved, arguments: &'a [Argument]) -> Vec<Output<'a>> {
    let judged = case.tensors().into_iter().filter(|tensor| tensor.role().is_judged());
    let of = |tensor: Tensor<'a>| {
        let (param, name) = match tensor {
            Tensor::Buffer(param, shape) => (param, &shape.name),
            Tensor::View(view, _) => (view.codes, &view.name),
        };
        let bytes = buffer(arguments, param)?;
        Some(Output {
            name,
            shape: tensor.shape(),
            dtype: bytes.dtype,
            role: tensor.role(),
            values: values(&tensor, arguments),
            view: match tensor {
                Tensor::Buffer(..) => None,
                Tensor::View(view, _) => Some((view, stored(view, arguments))),
            },
            bytes: &bytes.bytes,
            buffer: &bytes.name,
            known: None,
        })
    };
    judged.filter_map(of).collect()
}

/// The buffers that hold a view's scales, zero points and the scale of the whole, where the kernel writes them.
pub(crate) fn written_parts<'a>(
    case: &'a Resolved,
    view: &ResolvedView,
    arguments: &'a [Argument],
) -> Vec<(&'a ResolvedBuffer, &'a Buffer)> {
    let parts = [view.scales, view.zero_points, view.tensor_scale].into_iter().flatten();
    let of = |param: usize| {
        let bytes = buffer(arguments, param)?;
        let shape = case.buffers().find(|shape| shape.name == bytes.name)?;
        shape.role.is_judged().then_some((shape, bytes))
    };
    parts.filter_map(of).collect()
}
