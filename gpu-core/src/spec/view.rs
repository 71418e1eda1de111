//! What stored bytes mean: `[[view]]`, read and resolved, and a case's arrays as an oracle counts them.

use super::read::{read_expression, read_expressions, read_identifier};
use super::toml_reader::{Item, Reader, Section, join};
use super::{Dtype, Expr, Param, Resolved, ResolvedBuffer, ResolvedParam, Role, Size};
use crate::formats::{Axis, Format, Layout, Packing, Part};
use crate::oracle::{Signature, TensorShape};
use serde::{Deserialize, Serialize};

/// How buffers of codes and scales are one tensor of numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// As the learner reads it in messages.
    pub name: String,
    /// Names of parameters.
    pub codes: String,
    pub scales: Option<String>,
    pub zero_points: Option<String>,
    pub tensor_scale: Option<String>,
    pub format: Format,
    /// Decoded, row-major.
    pub shape: Vec<Expr>,
    /// Elements that share a scale; None: all of them, or as many as the format says.
    pub group: Option<Expr>,
    pub group_axis: Axis,
    pub packing: Packing,
    /// Codes and scales must be those of the oracle, bit by bit.
    pub is_exact: bool,
}

impl View {
    /// Names of all buffers that it is made of, codes first.
    pub fn parts(&self) -> impl Iterator<Item = &String> {
        [Some(&self.codes), self.scales.as_ref(), self.zero_points.as_ref(), self.tensor_scale.as_ref()]
            .into_iter()
            .flatten()
    }
}

/// A view at one size. Numbers are indices of the case's parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedView {
    pub name: String,
    pub codes: usize,
    pub scales: Option<usize>,
    pub zero_points: Option<usize>,
    pub tensor_scale: Option<usize>,
    pub layout: Layout,
}

impl ResolvedView {
    /// Whether a parameter is one of its buffers.
    pub fn is_made_of(&self, param: usize) -> bool {
        [Some(self.codes), self.scales, self.zero_points, self.tensor_scale].contains(&Some(param))
    }

    /// Row-major index of an element in the decoded shape.
    pub fn index_of(&self, element: u64) -> Vec<u64> {
        let mut rest = element;
        let extents = self.layout.shape.iter().rev().map(|extent| (*extent).max(1) as u64);
        let mut index: Vec<u64> = extents.map(|extent| (rest % extent, rest /= extent).0).collect();
        index.reverse();
        index
    }
}

/// An array as an oracle counts it: a buffer, or a view of several.
#[derive(Clone, Copy, Debug)]
pub enum Tensor<'a> {
    /// The number of its parameter, too.
    Buffer(usize, &'a ResolvedBuffer),
    View(&'a ResolvedView, Role),
}

impl Tensor<'_> {
    pub fn name(&self) -> &str {
        match self {
            Tensor::Buffer(_, buffer) => &buffer.name,
            Tensor::View(view, _) => &view.name,
        }
    }

    pub fn role(&self) -> Role {
        match self {
            Tensor::Buffer(_, buffer) => buffer.role,
            Tensor::View(_, role) => *role,
        }
    }

    pub fn shape(&self) -> Vec<u64> {
        match self {
            Tensor::Buffer(_, buffer) => buffer.shape.clone(),
            Tensor::View(view, _) => view.layout.shape.iter().map(|extent| *extent as u64).collect(),
        }
    }
}

impl Resolved {
    fn buffer(&self, param: usize) -> Option<&ResolvedBuffer> {
        match self.params.get(param) {
            Some(ResolvedParam::Buffer(buffer)) => Some(buffer),
            _ => None,
        }
    }

    /// The case's arrays in the order of the parameters; a view stands where its codes stand. Scales that the view of
    /// an output is given are inputs of their own beside it.
    pub fn tensors(&self) -> Vec<Tensor<'_>> {
        let of = |index: usize| {
            let buffer = self.buffer(index)?;
            let Some(view) = self.views.iter().find(|view| view.is_made_of(index)) else {
                return Some(Tensor::Buffer(index, buffer));
            };
            if view.codes == index {
                return Some(Tensor::View(view, buffer.role));
            }
            let is_given_to_an_output = buffer.role == Role::In && !self.buffer(view.codes)?.role.is_given();
            is_given_to_an_output.then_some(Tensor::Buffer(index, buffer))
        };
        (0..self.params.len()).filter_map(of).collect()
    }

    /// What an oracle is given for this case.
    pub fn signature(&self) -> Signature {
        let shapes = |wanted: fn(Role) -> bool| {
            let of = |tensor: Tensor<'_>| TensorShape {
                name: tensor.name().to_owned(),
                shape: tensor.shape().iter().map(|extent| *extent as usize).collect(),
                dtype: match tensor {
                    Tensor::Buffer(_, buffer) => buffer.dtype,
                    Tensor::View(view, _) => self.buffer(view.codes).map_or(Dtype::U8, |buffer| buffer.dtype),
                },
                layout: match tensor {
                    Tensor::Buffer(..) => None,
                    Tensor::View(view, _) => Some(view.layout.clone()),
                },
            };
            self.tensors().into_iter().filter(|tensor| wanted(tensor.role())).map(of).collect()
        };
        let scalars = self.params.iter().filter_map(|param| match param {
            ResolvedParam::Scalar(scalar) if !scalar.varies => Some((scalar.name.clone(), scalar.value)),
            _ => None,
        });
        Signature { inputs: shapes(Role::is_given), outputs: shapes(Role::is_judged), scalars: scalars.collect() }
    }

    /// The buffer, its first byte and how many bytes hold an element of a buffer or a view, by row-major index.
    pub fn place_of(&self, name: &str, index: &[u64]) -> Option<(&str, u64, u64)> {
        let element = |shape: &[u64]| index.iter().zip(shape).fold(0, |at, (index, extent)| at * extent + index);
        if let Some(view) = self.views.iter().find(|view| view.name == name) {
            let shape: Vec<u64> = view.layout.shape.iter().map(|extent| *extent as u64).collect();
            let byte = view.layout.place_of(element(&shape) as usize).0 as u64;
            return Some((&self.buffer(view.codes)?.name, byte, 1));
        }
        let buffer = self.buffers().find(|buffer| buffer.name == name)?;
        let size = buffer.dtype.bytes() as u64;
        Some((&buffer.name, element(&buffer.shape) * size, size))
    }
}

/// One `[[view]]`.
pub(super) fn read_view(r: &mut Reader<'_>, mut section: Section<'_>, params: &[Param]) -> Option<View> {
    let name = read_identifier(r, &mut section, "name", "the view's name in messages, a C identifier");
    let formats: Vec<(&'static str, Format)> = Format::ALL.to_vec();
    let format = r
        .item(&mut section, "format", Some("how a code is read"))
        .and_then(|item| r.choice(item, &join(&section.at, "format"), "a format", &formats))?;
    let codes = read_part(r, &mut section, "codes", params, true);
    let scales = read_part(r, &mut section, "scales", params, false);
    let zero_points = read_part(r, &mut section, "zero_points", params, false);
    let tensor_scale = read_part(r, &mut section, "tensor_scale", params, false);
    let shape = read_expressions(r, &mut section, "shape", "1 to 4 extents of the decoded tensor", 4);
    let group_at = join(&section.at, "group");
    let group = match r.item(&mut section, "group", None) {
        None => None,
        Some(item) => Some(read_expression(r, item, &group_at)?),
    };
    let group_axis = match r.item(&mut section, "group_axis", None) {
        None => Axis::Last,
        Some(item) => read_axis(r, item, &join(&section.at, "group_axis"), shape.as_ref().map_or(1, Vec::len))?,
    };
    let packing = match r.item(&mut section, "packing", None) {
        None => Packing::LowFirst,
        Some(item) => {
            let choices = [("low_first", Packing::LowFirst), ("high_first", Packing::HighFirst)];
            r.choice(item, &join(&section.at, "packing"), "which nibble holds the even column", &choices)?
        }
    };
    let is_exact = match r.item(&mut section, "compare", None) {
        None => false,
        Some(item) => {
            let choices = [("value", false), ("bits", true)];
            r.choice(item, &join(&section.at, "compare"), "what is compared", &choices)?
        }
    };
    let (at, span) = (section.at.clone(), section.span.clone());
    r.finish(section);
    let view = View {
        name: name?,
        codes: codes?,
        scales: scales?,
        zero_points: zero_points?,
        tensor_scale: tensor_scale?,
        format,
        shape: shape?,
        group,
        group_axis,
        packing,
        is_exact,
    };
    if let Err((key, expected, found)) = fits(&view, params) {
        r.problem(&join(&at, key), span, expected, found);
        return None;
    }
    Some(view)
}

fn read_axis(r: &mut Reader<'_>, item: Item<'_>, at: &str, rank: usize) -> Option<Axis> {
    match r.as_integer(item, at)? {
        0 if rank > 1 => Some(Axis::First),
        last if last == rank as i64 - 1 => Some(Axis::Last),
        _ => {
            r.problem(at, item.span(), format!("0 for the first axis or {} for the last", rank - 1), item.describe());
            None
        }
    }
}

/// Names that an optional or needed key holds. Outer None: a problem.
fn read_part<T: FromName>(
    r: &mut Reader<'_>,
    section: &mut Section<'_>,
    key: &'static str,
    params: &[Param],
    is_needed: bool,
) -> Option<T> {
    let what = "the name of a buffer parameter";
    let Some(item) = r.item(section, key, is_needed.then_some(what)) else { return T::absent() };
    let at = join(&section.at, key);
    let name = r.as_string(item, &at)?;
    let buffers = params.iter().filter(|param| matches!(param, Param::Buffer { .. })).map(Param::name);
    if buffers.clone().any(|known| known == name) {
        return Some(T::present(name));
    }
    let expected = format!("{what} ({})", buffers.collect::<Vec<_>>().join(", "));
    r.problem(&at, item.span(), expected, item.describe());
    None
}

/// A needed or an optional name.
trait FromName: Sized {
    fn present(name: String) -> Self;
    fn absent() -> Option<Self>;
}

impl FromName for String {
    fn present(name: String) -> Self {
        name
    }

    fn absent() -> Option<Self> {
        None
    }
}

impl FromName for Option<String> {
    fn present(name: String) -> Self {
        Some(name)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

fn buffer_of<'p>(params: &'p [Param], wanted: &str) -> Option<(Dtype, Role, &'p [Expr])> {
    params.iter().find_map(|param| match param {
        Param::Buffer { name, dtype, role, shape, .. } if name == wanted => Some((*dtype, *role, shape.as_slice())),
        _ => None,
    })
}

/// Whether types and roles of a view's buffers go together; else the key, what is expected and what was found.
fn fits(view: &View, params: &[Param]) -> Result<(), (&'static str, String, String)> {
    let (dtype, role, _) = buffer_of(params, &view.codes).unwrap_or((Dtype::U8, Role::In, &[]));
    let types: &[Dtype] = match view.format {
        Format::E4m3 => &[Dtype::E4m3, Dtype::U8, Dtype::U32],
        Format::E5m2 => &[Dtype::E5m2, Dtype::U8, Dtype::U32],
        Format::Int8 => &[Dtype::I8, Dtype::U8, Dtype::I32, Dtype::U32],
        Format::Int4 | Format::Uint4 | Format::Nvfp4 | Format::Mxfp4 => &[Dtype::U8, Dtype::U32],
    };
    let names = |types: &[Dtype]| types.iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join(", ");
    if !types.contains(&dtype) {
        let expected = format!("codes of {} in a buffer of {}", view.format.name(), names(types));
        return Err(("codes", expected, format!("`{}` of {}", view.codes, dtype.name())));
    }
    if role == Role::Scratch {
        return Err((
            "codes",
            "a buffer that is given or judged".to_owned(),
            format!("scratch memory `{}`", view.codes),
        ));
    }
    for (key, part) in
        [("scales", &view.scales), ("zero_points", &view.zero_points), ("tensor_scale", &view.tensor_scale)]
    {
        let Some((_, other, _)) = part.as_ref().and_then(|name| buffer_of(params, name)) else { continue };
        let is_given_to_an_output = other == Role::In && role.is_judged() && !role.is_given();
        if other != role && !is_given_to_an_output {
            let expected = format!("a buffer with the role of `{}`, or \"in\" where those are an output", view.codes);
            return Err((key, expected, format!("`{}`", part.as_deref().unwrap_or_default())));
        }
    }
    if let Some((dtype, ..)) = view.scales.as_ref().and_then(|name| buffer_of(params, name))
        && view.format.scale_type(dtype).is_none()
    {
        let expected = match view.format {
            Format::Nvfp4 => "e4m3 scales, in a buffer of e4m3 or u8",
            Format::Mxfp4 => "ue8m0 scales, in a buffer of u8",
            _ => "scales of f32, f16 or bf16",
        };
        return Err(("scales", expected.to_owned(), format!("a buffer of {}", dtype.name())));
    }
    if let (Some(block), None) = (view.format.block(), &view.scales) {
        let expected = format!("scales, one for each {block} elements of {}", view.format.name());
        return Err(("scales", expected, "none".to_owned()));
    }
    if view.group.is_some() && view.scales.is_none() {
        return Err(("group", "a group only where there are `scales`".to_owned(), "no scales".to_owned()));
    }
    if let Some((dtype, ..)) = view.zero_points.as_ref().and_then(|name| buffer_of(params, name)) {
        if !view.format.may_have_zero_points() || view.scales.is_none() {
            let expected = "zero points only of int8, int4 or uint4 with `scales`".to_owned();
            return Err(("zero_points", expected, view.format.name().to_owned()));
        }
        if dtype.integer_range().is_none() && dtype != Dtype::F32 {
            let expected = "zero points of a type for whole numbers, or f32".to_owned();
            return Err(("zero_points", expected, format!("a buffer of {}", dtype.name())));
        }
    }
    if let Some((dtype, ..)) = view.tensor_scale.as_ref().and_then(|name| buffer_of(params, name))
        && dtype != Dtype::F32
    {
        return Err(("tensor_scale", "an f32 of one element".to_owned(), format!("a buffer of {}", dtype.name())));
    }
    if view.is_exact && !role.is_judged() {
        let expected = "`compare` only of an output: inputs are not judged".to_owned();
        return Err(("compare", expected, format!("an input, `{}`", view.codes)));
    }
    Ok(())
}

impl View {
    /// The view at a size. `at` is its key; `buffers` are the case's with the numbers of their parameters.
    ///
    /// # Errors
    /// The key at fault and one sentence.
    pub(super) fn resolve(
        &self,
        at: &str,
        size: &Size,
        buffers: &[(usize, &ResolvedBuffer)],
    ) -> Result<ResolvedView, (String, String)> {
        let find = |name: &String| buffers.iter().find(|(_, buffer)| buffer.name == *name).copied();
        let part = |name: &Option<String>| name.as_ref().and_then(find);
        let mut shape = Vec::with_capacity(self.shape.len());
        for (axis, extent) in self.shape.iter().enumerate() {
            let key = format!("{at}.shape[{axis}]");
            let value = extent.eval(size).map_err(|error| (key.clone(), error.0))?;
            let least = format!("an extent of at least 0 is needed, not {value}");
            shape.push(usize::try_from(value).map_err(|_| (key, least))?);
        }
        let key = |name: &str| format!("{at}.{name}");
        let Some((codes_at, codes)) = find(&self.codes) else {
            return Err((key("codes"), format!("there is no buffer `{}`", self.codes)));
        };
        let group = match &self.group {
            None => self.format.block(),
            Some(group) => {
                let value = group.eval(size).map_err(|error| (key("group"), error.0))?;
                let group = usize::try_from(value).ok().filter(|group| *group > 0);
                Some(group.ok_or_else(|| (key("group"), format!("a group of at least 1 is needed, not {value}")))?)
            }
        };
        if let (Some(group), Some(block)) = (group, self.format.block())
            && group != block
        {
            let message = format!("{} has {block} elements to a scale, not {group}", self.format.name());
            return Err((key("group"), message));
        }
        let scales = part(&self.scales);
        let (zero_points, tensor_scale) = (part(&self.zero_points), part(&self.tensor_scale));
        let is_given = |buffer: &ResolvedBuffer| buffer.role == Role::In;
        let mut layout = Layout {
            format: self.format,
            row_bytes: 0,
            packing: self.packing,
            group: group.unwrap_or(1),
            axis: group.map(|_| self.group_axis),
            scales: scales.and_then(|(_, buffer)| {
                let kind = self.format.scale_type(buffer.dtype)?;
                Some(Part { name: buffer.name.clone(), kind, is_given: is_given(buffer) })
            }),
            zero_points: zero_points.map(|(_, buffer)| Part {
                name: buffer.name.clone(),
                kind: buffer.dtype,
                is_given: is_given(buffer),
            }),
            tensor_scale: tensor_scale.map(|(_, buffer)| Part {
                name: buffer.name.clone(),
                kind: (),
                is_given: is_given(buffer),
            }),
            is_exact: self.is_exact,
            shape,
        };
        let (rows, columns) = (layout.rows() as u64, layout.columns());
        let least = Layout::least_row_bytes(self.format, columns) as u64;
        let bytes = codes.bytes();
        let row_bytes = bytes.checked_div(rows).unwrap_or(least);
        if row_bytes < least || row_bytes * rows != bytes {
            let message = format!(
                "{rows} rows of {columns} codes of {} bits need {least} bytes a row, padding allowed; `{}` has {bytes} \
                 bytes in all",
                self.format.element().bits(),
                codes.name
            );
            return Err((key("codes"), message));
        }
        layout.row_bytes = row_bytes as usize;
        let groups = layout.groups() as u64;
        for (name, part) in [("scales", scales), ("zero_points", zero_points)] {
            if let Some((_, buffer)) = part.filter(|(_, buffer)| buffer.elements != groups) {
                let message = format!("{groups} are needed, `{}` has {} elements", buffer.name, buffer.elements);
                return Err((key(name), message));
            }
        }
        if let Some((_, buffer)) = tensor_scale.filter(|(_, buffer)| buffer.elements != 1) {
            let message = format!("one element is needed, `{}` has {}", buffer.name, buffer.elements);
            return Err((key("tensor_scale"), message));
        }
        Ok(ResolvedView {
            name: self.name.clone(),
            codes: codes_at,
            scales: scales.map(|(index, _)| index),
            zero_points: zero_points.map(|(index, _)| index),
            tensor_scale: tensor_scale.map(|(index, _)| index),
            layout,
        })
    }
}
