//! NumPy's `.npy` files, as inputs and outputs of `lockstep run`. Written by hand: the format is a header of one line in front
//! of plain numbers, and the crates for it pull in parsers of Python's literals.

use super::{Failure, usage};
use gpu_core::spec::Dtype;
use std::path::Path;

/// Largest file that is read.
const MAX_BYTES: u64 = 192 << 20;
const MAGIC: &[u8] = b"\x93NUMPY";

/// An array of a file.
#[derive(Debug, PartialEq)]
pub struct Array {
    pub shape: Vec<u64>,
    kind: Kind,
    bytes: Vec<u8>,
}

/// What a file's elements are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Number(Dtype),
    /// `V1`, `V2`: bits of a type that NumPy does not know.
    Raw(usize),
}

pub fn read(path: &Path) -> Result<Array, Failure> {
    let shown = path.display();
    let fail = |why: String| usage(format!("{why}: {shown}"));
    let file = std::fs::File::open(path).map_err(|error| fail(format!("the array cannot be read ({error})")))?;
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut std::io::Read::take(file, MAX_BYTES + 1), &mut bytes)
        .map_err(|error| fail(format!("the array cannot be read ({error})")))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(fail(format!("an array may have at most {} MiB", MAX_BYTES >> 20)));
    }
    parse(&bytes).map_err(fail)
}

fn parse(file: &[u8]) -> Result<Array, String> {
    let no_file = || "this is not a .npy file; numpy.save writes one".to_owned();
    let rest = file.strip_prefix(MAGIC).ok_or_else(no_file)?;
    let (&version, rest) = rest.split_first().ok_or_else(no_file)?;
    let rest = rest.get(1..).ok_or_else(no_file)?;
    // Version 1 has a length of two bytes, later ones four.
    let width = if version == 1 { 2 } else { 4 };
    let length =
        rest.get(..width).ok_or_else(no_file)?.iter().rev().fold(0usize, |sum, byte| sum << 8 | usize::from(*byte));
    let header = rest.get(width..).and_then(|rest| rest.get(..length)).ok_or_else(no_file)?;
    let header = std::str::from_utf8(header).map_err(|_| no_file())?;
    let data = &rest[width + length..];

    let value = |key: &str| {
        let at = header.find(&format!("'{key}'")).or_else(|| header.find(&format!("\"{key}\"")))?;
        Some(header[at..].split_once(':')?.1.trim_start())
    };
    let descr = value("descr").ok_or_else(no_file)?;
    let descr = descr.trim_start_matches(['\'', '"']).split(['\'', '"']).next().unwrap_or_default();
    if descr.starts_with('>') && !descr.ends_with('1') {
        return Err(format!("the numbers are big-endian (`{descr}`); save them as little-endian"));
    }
    let kind = match descr.trim_start_matches(['<', '|', '=', '>']) {
        "f8" => Kind::Number(Dtype::F64),
        "f4" => Kind::Number(Dtype::F32),
        "f2" => Kind::Number(Dtype::F16),
        "i8" => Kind::Number(Dtype::I64),
        "i4" => Kind::Number(Dtype::I32),
        "u4" => Kind::Number(Dtype::U32),
        "i2" => Kind::Number(Dtype::I16),
        "u2" => Kind::Number(Dtype::U16),
        "i1" => Kind::Number(Dtype::I8),
        "u8" => Kind::Number(Dtype::U64),
        "u1" => Kind::Number(Dtype::U8),
        "b1" => Kind::Number(Dtype::Bool),
        "V1" => Kind::Raw(1),
        "V2" => Kind::Raw(2),
        other => {
            return Err(format!(
                "elements of type `{other}` cannot be used; save floats or integers of 1 to 8 bytes, such as float32 or int32"
            ));
        }
    };
    let order = value("fortran_order").ok_or_else(no_file)?;
    let shape = value("shape").ok_or_else(no_file)?;
    let shape = shape.strip_prefix('(').and_then(|shape| shape.split(')').next()).ok_or_else(no_file)?;
    let extents = shape.split(',').map(str::trim).filter(|extent| !extent.is_empty());
    let shape: Vec<u64> = extents.map(|extent| extent.parse().map_err(|_| no_file())).collect::<Result<_, _>>()?;
    if order.starts_with("True") && shape.len() > 1 {
        return Err("the array is in Fortran's order; save numpy.ascontiguousarray(it)".to_owned());
    }
    let array = Array { shape, kind, bytes: data.to_vec() };
    let needed = array.shape.iter().try_fold(array.element_bytes() as u64, |size, extent| size.checked_mul(*extent));
    match needed {
        Some(needed) if needed == data.len() as u64 => Ok(array),
        _ => Err("the file is cut short, or longer than its header says".to_owned()),
    }
}

impl Array {
    fn element_bytes(&self) -> usize {
        match self.kind {
            Kind::Number(dtype) => dtype.bytes(),
            Kind::Raw(bytes) => bytes,
        }
    }

    /// The bytes of a buffer of this type that holds the array's numbers, rounded where the type is narrower.
    pub fn bytes_as(&self, dtype: Dtype) -> Result<Vec<u8>, String> {
        match self.kind {
            Kind::Number(own) if own == dtype => Ok(self.bytes.clone()),
            Kind::Raw(bytes) if bytes == dtype.bytes() => Ok(self.bytes.clone()),
            Kind::Raw(bytes) => Err(format!("raw elements of {bytes} bytes are no {}", dtype.name())),
            Kind::Number(own) => {
                let size = dtype.bytes();
                let values = own.decode_all(&self.bytes);
                let mut out = vec![0; values.len() * size];
                for (value, place) in values.iter().zip(out.chunks_exact_mut(size)) {
                    dtype.encode(*value, place);
                }
                Ok(out)
            }
        }
    }

    /// What becomes of its numbers in a buffer of another type, where some may change.
    pub fn rounded_to(&self, dtype: Dtype) -> Option<String> {
        let Kind::Number(own) = self.kind else { return None };
        let changes = own.decode_all(&self.bytes).iter().any(|value| {
            let mut bytes = vec![0; dtype.bytes()];
            dtype.encode(*value, &mut bytes);
            let kept = dtype.decode_all(&bytes);
            kept.first().is_some_and(|kept| kept != value && !(kept.is_nan() && value.is_nan()))
        });
        changes.then(|| format!("holds {}, and the buffer {}: its numbers are rounded", own.name(), dtype.name()))
    }

    /// Its numbers as C++ writes them.
    pub fn literals(&self) -> Result<Vec<String>, String> {
        match self.kind {
            Kind::Number(dtype) => Ok(dtype.decode_all(&self.bytes).iter().map(|value| format!("{value:?}")).collect()),
            Kind::Raw(_) => Err("raw elements have no numbers to set".to_owned()),
        }
    }
}

/// A file of a buffer. Types that NumPy does not know are written as float32, which holds all of their numbers.
pub fn write(path: &Path, dtype: Dtype, shape: &[u64], bytes: &[u8]) -> Result<(), Failure> {
    let (descr, data) = match dtype {
        Dtype::F64 => ("<f8", None),
        Dtype::F32 => ("<f4", None),
        Dtype::F16 => ("<f2", None),
        Dtype::I64 => ("<i8", None),
        Dtype::I32 => ("<i4", None),
        Dtype::U32 => ("<u4", None),
        Dtype::I16 => ("<i2", None),
        Dtype::U16 => ("<u2", None),
        Dtype::I8 => ("|i1", None),
        Dtype::U8 => ("|u1", None),
        Dtype::U64 => ("<u8", None),
        Dtype::Bool => ("|b1", None),
        Dtype::Bf16 | Dtype::E4m3 | Dtype::E5m2 => {
            let values = dtype.decode_all(bytes);
            ("<f4", Some(values.iter().flat_map(|value| (*value as f32).to_le_bytes()).collect::<Vec<u8>>()))
        }
    };
    let extents: String = shape.iter().map(|extent| format!("{extent}, ")).collect();
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({extents}), }}");
    // The numbers begin at a multiple of 64, and the header ends in a newline.
    let before = MAGIC.len() + 4;
    let padding = (before + header.len() + 1).next_multiple_of(64) - (before + header.len() + 1);
    header += &" ".repeat(padding);
    header.push('\n');
    let mut file = [MAGIC, &[1, 0]].concat();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(data.as_deref().unwrap_or(bytes));
    std::fs::write(path, file)
        .map_err(|error| usage(format!("the output cannot be written ({error}): {}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut file = [MAGIC, &[1, 0]].concat();
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.as_bytes());
        file.extend(data);
        file
    }

    #[test]
    fn what_is_written_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        for (_, dtype) in Dtype::ALL {
            let mut bytes = vec![0; 6 * dtype.bytes()];
            for (index, place) in bytes.chunks_exact_mut(dtype.bytes()).enumerate() {
                dtype.encode((index % 2) as f64, place);
            }
            let path = folder.path().join("a.npy");
            write(&path, dtype, &[2, 3], &bytes).unwrap();
            let array = read(&path).unwrap_or_else(|_| panic!("{}", dtype.name()));
            assert_eq!(array.shape, [2, 3]);
            assert_eq!(array.bytes_as(dtype).unwrap(), bytes, "{}", dtype.name());
        }
    }

    #[test]
    fn numbers_are_converted_and_bits_are_kept() {
        let array = parse(&file("<f8", "(2,)", &[1.5f64.to_le_bytes(), 2.0f64.to_le_bytes()].concat())).unwrap();
        assert_eq!(array.bytes_as(Dtype::F32).unwrap(), [1.5f32.to_le_bytes(), 2.0f32.to_le_bytes()].concat());
        assert_eq!(array.literals().unwrap(), ["1.5", "2.0"]);
        assert_eq!(array.rounded_to(Dtype::F32), None, "nothing changes");
        let third = parse(&file("<f8", "(1,)", &(1.0f64 / 3.0).to_le_bytes())).unwrap();
        assert!(third.rounded_to(Dtype::F32).is_some_and(|note| note.contains("f64") && note.contains("f32")));
        assert_eq!(third.rounded_to(Dtype::F64), None);
        let raw = parse(&file("|V2", "(1,)", &[0x80, 0x3f])).unwrap();
        assert_eq!(raw.bytes_as(Dtype::Bf16).unwrap(), [0x80, 0x3f]);
        assert!(raw.bytes_as(Dtype::F32).is_err());
        assert_eq!(parse(&file("<i4", "()", &7i32.to_le_bytes())).unwrap().shape, [] as [u64; 0]);
    }

    #[test]
    fn files_that_are_none_have_a_sentence() {
        for bad in [
            Vec::new(),
            b"PK\x03\x04".to_vec(),
            MAGIC.to_vec(),
            file("<f4", "(3,)", &[0; 8]),
            file("<f4", "(9999999999999999999999,)", &[]),
            file("<f4", "(4294967296, 4294967296)", &[]),
            file(">f4", "(1,)", &[0; 4]),
            file("<c8", "(1,)", &[0; 8]),
            file("|O", "(1,)", &[0; 8]),
        ] {
            assert!(parse(&bad).is_err_and(|why| !why.is_empty()));
        }
    }
}
