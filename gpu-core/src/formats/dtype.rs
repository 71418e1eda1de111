//! Element types: sizes, and conversion between bytes as a kernel sees them and float64.

use ptx_emulator::num;
use serde::{Deserialize, Serialize};

/// The type of an element in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dtype {
    F64,
    F32,
    F16,
    Bf16,
    E4m3,
    E5m2,
    I64,
    U64,
    I32,
    U32,
    I16,
    U16,
    I8,
    U8,
    /// One byte, 0 or 1.
    Bool,
}

impl Dtype {
    /// All types with their names in exercise files.
    pub const ALL: [(&'static str, Dtype); 15] = [
        ("f64", Dtype::F64),
        ("f32", Dtype::F32),
        ("f16", Dtype::F16),
        ("bf16", Dtype::Bf16),
        ("e4m3", Dtype::E4m3),
        ("e5m2", Dtype::E5m2),
        ("i64", Dtype::I64),
        ("u64", Dtype::U64),
        ("i32", Dtype::I32),
        ("u32", Dtype::U32),
        ("i16", Dtype::I16),
        ("u16", Dtype::U16),
        ("i8", Dtype::I8),
        ("u8", Dtype::U8),
        ("bool", Dtype::Bool),
    ];

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, dtype)| *dtype == self).map_or("", |(name, _)| name)
    }

    /// The type that C++ calls so, with or without the course's headers: `float`, `unsigned int`, `uint32_t`, `__half`.
    pub fn of_cpp(element: &str) -> Option<Dtype> {
        Some(match element {
            "double" => Dtype::F64,
            "float" => Dtype::F32,
            "__half" | "half" => Dtype::F16,
            "__nv_bfloat16" | "nv_bfloat16" => Dtype::Bf16,
            "__nv_fp8_e4m3" => Dtype::E4m3,
            "__nv_fp8_e5m2" => Dtype::E5m2,
            "long long" | "long long int" | "int64_t" | "long" | "long int" | "ptrdiff_t" => Dtype::I64,
            "unsigned long long" | "unsigned long long int" | "uint64_t" | "size_t" | "unsigned long" => Dtype::U64,
            "int" | "int32_t" | "signed int" | "signed" => Dtype::I32,
            "unsigned" | "unsigned int" | "uint32_t" | "uint" => Dtype::U32,
            "short" | "short int" | "int16_t" => Dtype::I16,
            "unsigned short" | "unsigned short int" | "uint16_t" | "ushort" => Dtype::U16,
            "signed char" | "char" | "int8_t" => Dtype::I8,
            "unsigned char" | "uint8_t" | "uchar" => Dtype::U8,
            "bool" => Dtype::Bool,
            _ => return None,
        })
    }

    /// Bytes of one element.
    pub fn bytes(self) -> usize {
        match self {
            Dtype::F64 | Dtype::I64 | Dtype::U64 => 8,
            Dtype::F32 | Dtype::I32 | Dtype::U32 => 4,
            Dtype::F16 | Dtype::Bf16 | Dtype::I16 | Dtype::U16 => 2,
            Dtype::E4m3 | Dtype::E5m2 | Dtype::I8 | Dtype::U8 | Dtype::Bool => 1,
        }
    }

    pub fn is_float(self) -> bool {
        self.integer_range().is_none()
    }

    /// Least and greatest value of an integer type.
    pub fn integer_range(self) -> Option<(i64, i64)> {
        match self {
            Dtype::I64 => Some((i64::MIN, i64::MAX)),
            // What an expression can say; the upper half is for kernels alone.
            Dtype::U64 => Some((0, i64::MAX)),
            Dtype::I32 => Some((i32::MIN.into(), i32::MAX.into())),
            Dtype::U32 => Some((0, u32::MAX.into())),
            Dtype::I16 => Some((i16::MIN.into(), i16::MAX.into())),
            Dtype::U16 => Some((0, u16::MAX.into())),
            Dtype::I8 => Some((i8::MIN.into(), i8::MAX.into())),
            Dtype::U8 => Some((0, u8::MAX.into())),
            Dtype::Bool => Some((0, 1)),
            _ => None,
        }
    }

    /// Unit roundoff of a floating type: half the distance from 1 to the next larger number.
    pub fn roundoff(self) -> f64 {
        match self {
            Dtype::F64 => f64::EPSILON / 2.0,
            Dtype::F32 => f64::from(f32::EPSILON) / 2.0,
            Dtype::F16 => 2f64.powi(-11),
            Dtype::Bf16 => 2f64.powi(-8),
            Dtype::E4m3 => 2f64.powi(-4),
            Dtype::E5m2 => 2f64.powi(-3),
            _ => 0.0,
        }
    }

    /// Writes `value`, rounded to nearest even (integers truncate and saturate), into the first bytes of `out`.
    pub fn encode(self, value: f64, out: &mut [u8]) {
        match self {
            Dtype::F64 => out[..8].copy_from_slice(&value.to_le_bytes()),
            Dtype::F32 => out[..4].copy_from_slice(&(value as f32).to_le_bytes()),
            Dtype::F16 => out[..2].copy_from_slice(&num::half::f64_to_f16(value).to_le_bytes()),
            Dtype::Bf16 => out[..2].copy_from_slice(&num::half::f64_to_bf16(value).to_le_bytes()),
            Dtype::E4m3 => out[0] = encode_narrow(&num::Format::E4M3, value),
            Dtype::E5m2 => out[0] = encode_narrow(&num::Format::E5M2, value),
            Dtype::I64 => out[..8].copy_from_slice(&(value as i64).to_le_bytes()),
            Dtype::U64 => out[..8].copy_from_slice(&(value as u64).to_le_bytes()),
            Dtype::I32 => out[..4].copy_from_slice(&(value as i32).to_le_bytes()),
            Dtype::U32 => out[..4].copy_from_slice(&(value as u32).to_le_bytes()),
            Dtype::I16 => out[..2].copy_from_slice(&(value as i16).to_le_bytes()),
            Dtype::U16 => out[..2].copy_from_slice(&(value as u16).to_le_bytes()),
            Dtype::I8 => out[..1].copy_from_slice(&(value as i8).to_le_bytes()),
            Dtype::U8 => out[0] = value as u8,
            Dtype::Bool => out[0] = u8::from(value != 0.0),
        }
    }

    /// Writes a whole number exactly where the type can hold it.
    pub fn encode_integer(self, value: i64, out: &mut [u8]) {
        match self {
            Dtype::I64 | Dtype::U64 => out[..8].copy_from_slice(&value.to_le_bytes()),
            _ => self.encode(value as f64, out),
        }
    }

    /// The value of one element. 64-bit integers beyond 2^53 lose their last bits.
    pub fn decode(self, bytes: &[u8]) -> f64 {
        match self {
            Dtype::F64 => f64::from_le_bytes(first(bytes)),
            Dtype::F32 => f32::from_le_bytes(first(bytes)).into(),
            Dtype::F16 => num::half::f16_to_f32(u16::from_le_bytes(first(bytes))).into(),
            Dtype::Bf16 => num::half::bf16_to_f32(u16::from_le_bytes(first(bytes))).into(),
            Dtype::E4m3 => num::Format::E4M3.decode(bytes[0].into()),
            Dtype::E5m2 => num::Format::E5M2.decode(bytes[0].into()),
            Dtype::I64 => i64::from_le_bytes(first(bytes)) as f64,
            Dtype::U64 => u64::from_le_bytes(first(bytes)) as f64,
            Dtype::I32 => i32::from_le_bytes(first(bytes)).into(),
            Dtype::U32 => u32::from_le_bytes(first(bytes)).into(),
            Dtype::I16 => i16::from_le_bytes(first(bytes)).into(),
            Dtype::U16 => u16::from_le_bytes(first(bytes)).into(),
            Dtype::I8 => i8::from_le_bytes(first(bytes)).into(),
            Dtype::U8 | Dtype::Bool => bytes[0].into(),
        }
    }

    /// All elements of a buffer.
    pub fn decode_all(self, bytes: &[u8]) -> Vec<f64> {
        // The common types apart, so that the type is not asked for again at each of a million elements.
        match self {
            Dtype::F32 => bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes).into()).collect(),
            Dtype::I32 => bytes.as_chunks().0.iter().map(|bytes| i32::from_le_bytes(*bytes).into()).collect(),
            _ => bytes.chunks_exact(self.bytes()).map(|element| self.decode(element)).collect(),
        }
    }

    /// How many elements of a buffer are NaN, and how many infinite.
    pub fn nonfinite_counts(self, bytes: &[u8]) -> (u64, u64) {
        if !self.is_float() {
            return (0, 0);
        }
        let mut counts = (0, 0);
        let mut add = |value: f64, times: u64| match value {
            nan if nan.is_nan() => counts.0 += times,
            infinite if infinite.is_infinite() => counts.1 += times,
            _ => {}
        };
        if self.bytes() == 1 {
            let mut codes = [0_u64; 256];
            bytes.iter().for_each(|code| codes[usize::from(*code)] += 1);
            (0..=u8::MAX).for_each(|code| add(self.decode(&[code]), codes[usize::from(code)]));
        } else {
            bytes.chunks_exact(self.bytes()).for_each(|element| add(self.decode(element), 1));
        }
        counts
    }

    /// A bit pattern that no sensible kernel writes: a NaN with a payload of its own, or a whole number near the
    /// end of the range. Outputs are filled with it, so that an element that nobody wrote is known.
    pub fn poison(self) -> &'static [u8] {
        match self {
            Dtype::F64 => &[0xA5, 0x5A, 0xC3, 0x3C, 0xD2, 0x2D, 0xFA, 0x7F],
            Dtype::F32 => &[0xA5, 0x5A, 0xD3, 0x7F],
            Dtype::F16 => &[0x5A, 0x7E],
            Dtype::Bf16 => &[0xDA, 0x7F],
            Dtype::E4m3 => &[0xFF],
            Dtype::E5m2 => &[0xFE],
            Dtype::I64 | Dtype::U64 => &[0xA5, 0x5A, 0xC3, 0x3C, 0xD2, 0x2D, 0xB4, 0x8B],
            Dtype::I32 | Dtype::U32 => &[0xA5, 0x5A, 0xC3, 0x8B],
            Dtype::I16 | Dtype::U16 => &[0xA5, 0x8B],
            Dtype::I8 | Dtype::U8 | Dtype::Bool => &[0xA5],
        }
    }
}

fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[..N]);
    out
}

fn encode_narrow(format: &num::Format, value: f64) -> u8 {
    format.encode(value, num::Rounding::Rn, num::Overflow::Saturate) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_counted_as_it_is_decoded() {
        let bytes: Vec<u8> = (0_u32..=0xffff).flat_map(|code| code.to_le_bytes()).map(|byte| byte ^ 0x7c).collect();
        for (name, dtype) in Dtype::ALL {
            let values = dtype.decode_all(&bytes);
            let nans = values.iter().filter(|value| value.is_nan()).count() as u64;
            let infinite = values.iter().filter(|value| value.is_infinite()).count() as u64;
            assert_eq!(dtype.nonfinite_counts(&bytes), (nans, infinite), "{name}");
        }
    }

    #[test]
    fn every_type_encodes_and_decodes_small_whole_numbers() {
        for (name, dtype) in Dtype::ALL {
            let most = if dtype == Dtype::Bool { 1.0 } else { 96.0 };
            for value in [0.0, 1.0, 2.0, 96.0].into_iter().filter(|value| *value <= most) {
                let mut bytes = [0; 8];
                dtype.encode(value, &mut bytes);
                assert_eq!(dtype.decode(&bytes), value, "{name}");
            }
            assert_eq!(dtype.poison().len(), dtype.bytes(), "{name}");
            assert_eq!(dtype.decode(dtype.poison()).is_nan(), dtype.is_float(), "{name}");
            assert_eq!(dtype.name(), name);
        }
    }

    #[test]
    fn narrow_floats_saturate() {
        let mut bytes = [0; 1];
        Dtype::E4m3.encode(1000.0, &mut bytes);
        assert_eq!(Dtype::E4m3.decode(&bytes), 448.0);
        Dtype::E5m2.encode(-1e9, &mut bytes);
        assert_eq!(Dtype::E5m2.decode(&bytes), -57344.0);
    }
}
