//! How a tensor of codes lies in memory, with its scales, zero points and the scale of the whole.

use super::Dtype;
use super::element::{Element, ue8m0_value};
use serde::{Deserialize, Serialize};

/// Formats of a `[[view]]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Format {
    E4m3,
    E5m2,
    Int8,
    Int4,
    Uint4,
    /// e2m1 with an e4m3 scale for each 16.
    Nvfp4,
    /// e2m1 with a ue8m0 scale for each 32.
    Mxfp4,
}

impl Format {
    /// All formats with their names in exercise files.
    pub const ALL: [(&'static str, Format); 7] = [
        ("e4m3", Format::E4m3),
        ("e5m2", Format::E5m2),
        ("int8", Format::Int8),
        ("int4", Format::Int4),
        ("uint4", Format::Uint4),
        ("nvfp4", Format::Nvfp4),
        ("mxfp4", Format::Mxfp4),
    ];

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, format)| *format == self).map_or("", |(name, _)| name)
    }

    pub fn element(self) -> Element {
        match self {
            Format::E4m3 => Element::E4m3,
            Format::E5m2 => Element::E5m2,
            Format::Int8 => Element::Int8,
            Format::Int4 => Element::Int4,
            Format::Uint4 => Element::Uint4,
            Format::Nvfp4 | Format::Mxfp4 => Element::E2m1,
        }
    }

    /// Elements that share a scale, where the format says it.
    pub fn block(self) -> Option<usize> {
        match self {
            Format::Nvfp4 => Some(16),
            Format::Mxfp4 => Some(32),
            _ => None,
        }
    }

    /// How a scale is stored, in a buffer of this type; None when it cannot be.
    pub fn scale_type(self, buffer: Dtype) -> Option<ScaleType> {
        match (self, buffer) {
            (Format::Nvfp4, Dtype::E4m3 | Dtype::U8) => Some(ScaleType::E4m3),
            (Format::Mxfp4, Dtype::U8) => Some(ScaleType::Ue8m0),
            (Format::Nvfp4 | Format::Mxfp4, _) => None,
            (_, Dtype::F32) => Some(ScaleType::F32),
            (_, Dtype::F16) => Some(ScaleType::F16),
            (_, Dtype::Bf16) => Some(ScaleType::Bf16),
            _ => None,
        }
    }

    /// Whether codes have a zero point when the view names one.
    pub fn may_have_zero_points(self) -> bool {
        matches!(self, Format::Int8 | Format::Int4 | Format::Uint4)
    }
}

/// Which of two codes of four bits lies in the low half of a byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Packing {
    /// That of the even column.
    #[default]
    LowFirst,
    HighFirst,
}

/// Along which axis elements share a scale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Axis {
    First,
    #[default]
    Last,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScaleType {
    E4m3,
    Ue8m0,
    F32,
    F16,
    Bf16,
}

impl ScaleType {
    pub fn bytes(self) -> usize {
        match self {
            ScaleType::E4m3 | ScaleType::Ue8m0 => 1,
            ScaleType::F32 => 4,
            ScaleType::F16 | ScaleType::Bf16 => 2,
        }
    }

    fn dtype(self) -> Option<Dtype> {
        match self {
            ScaleType::E4m3 => Some(Dtype::E4m3),
            ScaleType::Ue8m0 => None,
            ScaleType::F32 => Some(Dtype::F32),
            ScaleType::F16 => Some(Dtype::F16),
            ScaleType::Bf16 => Some(Dtype::Bf16),
        }
    }

    pub fn decode(self, bytes: &[u8]) -> f64 {
        self.dtype().map_or_else(|| ue8m0_value(bytes[0]), |dtype| dtype.decode(bytes))
    }

    /// Appends a scale, rounded to nearest even; of ue8m0 a power of two is expected.
    pub(super) fn push(self, value: f64, out: &mut Vec<u8>) {
        let at = out.len();
        out.resize(at + self.bytes(), 0);
        match self.dtype() {
            Some(dtype) => dtype.encode(value, &mut out[at..]),
            None if value.is_nan() => out[at] = 255,
            None => out[at] = (value.log2().round() as i32 + 127).clamp(0, 254) as u8,
        }
    }
}

/// A buffer that belongs to a view beside its codes.
#[derive(Clone, Debug, PartialEq)]
pub struct Part<T> {
    /// Name of the parameter.
    pub name: String,
    pub kind: T,
    /// An input: a kernel and the reference take it as it is.
    pub is_given: bool,
}

/// A tensor of codes at one size.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    pub format: Format,
    /// Decoded, row-major.
    pub shape: Vec<usize>,
    /// Bytes from one row of codes to the next, padding included.
    pub row_bytes: usize,
    pub packing: Packing,
    /// Elements that share a scale, and along which axis; all of them when `axis` is None.
    pub group: usize,
    pub axis: Option<Axis>,
    pub scales: Option<Part<ScaleType>>,
    pub zero_points: Option<Part<Dtype>>,
    /// An f32.
    pub tensor_scale: Option<Part<()>>,
    /// Judged bit by bit.
    pub is_exact: bool,
}

/// The bytes of a view's buffers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    pub codes: Vec<u8>,
    pub scales: Vec<u8>,
    pub zero_points: Vec<u8>,
    pub tensor_scale: Vec<u8>,
}

impl Layout {
    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    pub fn columns(&self) -> usize {
        self.shape.last().copied().unwrap_or(1)
    }

    pub fn rows(&self) -> usize {
        self.shape.iter().rev().skip(1).product()
    }

    /// Least bytes of a row of codes.
    pub fn least_row_bytes(format: Format, columns: usize) -> usize {
        (columns * format.element().bits()).div_ceil(8)
    }

    /// How many scales there are.
    pub fn groups(&self) -> usize {
        let group = self.group.max(1);
        match self.axis {
            None => 1,
            Some(Axis::Last) => self.rows() * self.columns().div_ceil(group),
            Some(Axis::First) => {
                let first = self.shape.first().copied().unwrap_or(1);
                first.div_ceil(group) * self.behind_first()
            }
        }
    }

    /// Elements behind one index of the first axis.
    fn behind_first(&self) -> usize {
        self.shape.iter().skip(1).product()
    }

    /// Number of an element's scale.
    pub fn group_of(&self, element: usize) -> usize {
        let group = self.group.max(1);
        match self.axis {
            None => 0,
            Some(Axis::Last) => {
                let columns = self.columns().max(1);
                element / columns * columns.div_ceil(group) + element % columns / group
            }
            Some(Axis::First) => {
                let behind = self.behind_first().max(1);
                element / behind / group * behind + element % behind
            }
        }
    }

    /// Byte of an element's code, and how far its lowest bit is above the byte's.
    pub fn place_of(&self, element: usize) -> (usize, u32) {
        let columns = self.columns().max(1);
        let (row, column) = (element / columns, element % columns);
        if self.format.element().bits() == 8 {
            return (row * self.row_bytes + column, 0);
        }
        let high = (column % 2 == 1) == (self.packing == Packing::LowFirst);
        (row * self.row_bytes + column / 2, if high { 4 } else { 0 })
    }

    /// An element's code. Buffers may hold less than the whole and are then taken to repeat.
    pub fn code_at(&self, stored: &Stored, element: usize) -> u8 {
        let (byte, shift) = self.place_of(element);
        let Some(len) = Some(stored.codes.len()).filter(|len| *len > 0) else { return 0 };
        let byte = stored.codes[byte % len] >> shift;
        if self.format.element().bits() == 4 { byte & 15 } else { byte }
    }

    pub fn scale_at(&self, stored: &Stored, group: usize) -> f64 {
        match &self.scales {
            Some(part) => part.kind.decode(repeated(&stored.scales, group, part.kind.bytes())),
            None => 1.0,
        }
    }

    pub fn zero_point_at(&self, stored: &Stored, group: usize) -> f64 {
        match &self.zero_points {
            Some(part) => part.kind.decode(repeated(&stored.zero_points, group, part.kind.bytes())),
            None => 0.0,
        }
    }

    pub fn tensor_scale(&self, stored: &Stored) -> f64 {
        match &self.tensor_scale {
            Some(_) => Dtype::F32.decode(repeated(&stored.tensor_scale, 0, 4)),
            None => 1.0,
        }
    }

    /// The value of an element: `(code - zero point) * scale * tensor scale`.
    pub fn value_at(&self, stored: &Stored, element: usize) -> f64 {
        let group = self.group_of(element);
        let code = self.format.element().decode(self.code_at(stored, element));
        (code - self.zero_point_at(stored, group)) * self.scale_at(stored, group) * self.tensor_scale(stored)
    }

    /// All values, row-major.
    pub fn decode(&self, stored: &Stored) -> Vec<f64> {
        let groups = self.groups();
        let whole = self.tensor_scale(stored);
        let scales: Vec<f64> = (0..groups).map(|group| self.scale_at(stored, group) * whole).collect();
        let zeros: Vec<f64> = (0..groups).map(|group| self.zero_point_at(stored, group)).collect();
        let codes: Vec<f64> = (0..=255).map(|code| self.format.element().decode(code)).collect();
        let value = |element: usize| {
            let group = self.group_of(element);
            (codes[usize::from(self.code_at(stored, element))] - zeros[group]) * scales[group]
        };
        (0..self.elements()).map(value).collect()
    }
}

/// Element `index` of a buffer that may repeat.
fn repeated(bytes: &[u8], index: usize, size: usize) -> &[u8] {
    const ZEROS: [u8; 8] = [0; 8];
    match bytes.len() / size {
        0 => &ZEROS[..size],
        count => &bytes[index % count * size..][..size],
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn layout(format: Format, shape: &[usize]) -> Layout {
        let columns = shape.last().copied().unwrap_or(1);
        Layout {
            format,
            shape: shape.to_vec(),
            row_bytes: Layout::least_row_bytes(format, columns),
            packing: Packing::LowFirst,
            group: format.block().unwrap_or(columns),
            axis: Some(Axis::Last),
            scales: Some(part(format.scale_type(Dtype::F32).unwrap_or(match format {
                Format::Nvfp4 => ScaleType::E4m3,
                _ => ScaleType::Ue8m0,
            }))),
            zero_points: None,
            tensor_scale: None,
            is_exact: false,
        }
    }

    pub fn part<T>(kind: T) -> Part<T> {
        Part { name: "s".to_owned(), kind, is_given: false }
    }

    #[test]
    fn a_row_of_an_odd_length_begins_at_a_byte() {
        let mut of = layout(Format::Int4, &[2, 3]);
        assert_eq!((of.row_bytes, of.groups()), (2, 2));
        // Codes 1, 2, -1 and 4, 5, 6.
        let scales: Vec<u8> = [2.0f32, 10.0].iter().flat_map(|scale| scale.to_le_bytes()).collect();
        let mut stored = Stored { codes: vec![0x21, 0x0f, 0x54, 0x06], scales, ..Stored::default() };
        assert_eq!(of.decode(&stored), [2.0, 4.0, -2.0, 40.0, 50.0, 60.0]);
        of.packing = Packing::HighFirst;
        stored.codes = vec![0x12, 0xf0, 0x45, 0x60];
        assert_eq!(of.decode(&stored), [2.0, 4.0, -2.0, 40.0, 50.0, 60.0]);
        for element in 0..6 {
            assert_eq!(of.value_at(&stored, element), of.decode(&stored)[element]);
        }
    }

    #[test]
    fn scales_go_along_the_axis_that_the_view_names() {
        let mut of = layout(Format::Int8, &[4, 2]);
        of.axis = Some(Axis::First);
        of.group = 2;
        // Rows 0 and 1 share a scale in each column.
        assert_eq!(of.groups(), 4);
        assert_eq!((0..8).map(|element| of.group_of(element)).collect::<Vec<_>>(), [0, 1, 0, 1, 2, 3, 2, 3]);
        of.axis = Some(Axis::Last);
        of.shape = vec![2, 2, 5];
        assert_eq!(of.groups(), 12, "groups of 2 of 5 columns, the last one short");
        assert_eq!((of.group_of(4), of.group_of(5), of.group_of(19)), (2, 3, 11));
        of.axis = None;
        assert_eq!((of.groups(), of.group_of(19)), (1, 0));
    }

    #[test]
    fn zero_points_and_the_tensor_scale_take_part() {
        let mut of = layout(Format::Uint4, &[1, 4]);
        of.zero_points = Some(part(Dtype::U8));
        of.tensor_scale = Some(part(()));
        let stored = Stored {
            codes: vec![0x80, 0xf9],
            scales: 0.5f32.to_le_bytes().to_vec(),
            zero_points: vec![8],
            tensor_scale: 4.0f32.to_le_bytes().to_vec(),
        };
        assert_eq!(of.decode(&stored), [-16.0, 0.0, 2.0, 14.0]);
    }
}
