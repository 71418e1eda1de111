//! Textures and surfaces: what the 64-bit objects stand for that `tex`, `tld4`, `txq`, `suld`, `sust`, `sured` and `suq`
//! take. Texels lie in ordinary allocations, in plain rows, so bounds, lifetimes, races and first writes are checked as
//! everywhere.

pub mod plan;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use crate::num::filter::AddressMode;
use crate::num::{Overflow, Rounding, filter, half};

/// What one channel of a texel is (`CUarray_format`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelFormat {
    U8,
    U16,
    U32,
    S8,
    S16,
    S32,
    F16,
    F32,
}

impl ChannelFormat {
    /// The format of a number of the driver API.
    pub fn of(number: u32) -> Option<ChannelFormat> {
        Some(match number {
            0x01 => ChannelFormat::U8,
            0x02 => ChannelFormat::U16,
            0x03 => ChannelFormat::U32,
            0x08 => ChannelFormat::S8,
            0x09 => ChannelFormat::S16,
            0x0a => ChannelFormat::S32,
            0x10 => ChannelFormat::F16,
            0x20 => ChannelFormat::F32,
            _ => return None,
        })
    }

    pub fn bytes(self) -> u32 {
        match self {
            ChannelFormat::U8 | ChannelFormat::S8 => 1,
            ChannelFormat::U16 | ChannelFormat::S16 | ChannelFormat::F16 => 2,
            ChannelFormat::U32 | ChannelFormat::S32 | ChannelFormat::F32 => 4,
        }
    }

    /// The integer that stands for 1 where integers are read as numbers; None for floats and for 32-bit integers, which are
    /// only read as they are.
    pub fn most(self) -> Option<i32> {
        Some(match self {
            ChannelFormat::U8 => 255,
            ChannelFormat::S8 => 127,
            ChannelFormat::U16 => 65535,
            ChannelFormat::S16 => 32767,
            _ => return None,
        })
    }

    pub fn is_float(self) -> bool {
        matches!(self, ChannelFormat::F16 | ChannelFormat::F32)
    }

    /// Channel `index` of a texel as 32 bits, integers extended.
    pub(crate) fn channel(self, texel: &[u8; 16], index: usize) -> u32 {
        let at = index * self.bytes() as usize;
        let [a, b] = [texel[at], texel[at + 1 & 15]];
        match self {
            ChannelFormat::U8 => a.into(),
            ChannelFormat::S8 => a as i8 as u32,
            ChannelFormat::U16 | ChannelFormat::F16 => u16::from_le_bytes([a, b]).into(),
            ChannelFormat::S16 => i16::from_le_bytes([a, b]) as u32,
            _ => u32::from_le_bytes([a, b, texel[at + 2 & 15], texel[at + 3 & 15]]),
        }
    }

    /// What 32 bits become in a channel (`sust.p`): integers that do not fit are the nearest one that does.
    pub(crate) fn narrow(self, value: u32) -> u32 {
        let signed = |low: i32, high: i32| (value as i32).clamp(low, high) as u32;
        match self {
            ChannelFormat::U8 => value.min(0xff),
            ChannelFormat::U16 => value.min(0xffff),
            ChannelFormat::S8 => signed(-128, 127),
            ChannelFormat::S16 => signed(-32768, 32767),
            // Cut, not rounded.
            ChannelFormat::F16 => half::f32_to_f16_with(f32::from_bits(value), Rounding::Rz, Overflow::Infinity).into(),
            _ => value,
        }
    }
}

/// Texels of one level of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextureLevel {
    pub address: u64,
    /// Texels along x and y, and slices or layers (six for each cube); 0 where there is no such dimension.
    pub size: [u32; 3],
    pub row_bytes: u64,
    pub slice_bytes: u64,
}

/// Texels with their format and shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TexelArray {
    pub format: ChannelFormat,
    /// 1, 2 or 4.
    pub channels: u32,
    /// Linear memory: what lies outside of it reads as 0, whatever the sampler says.
    pub linear_memory: bool,
    /// The largest first; one, but for mipmapped arrays.
    pub levels: Vec<TextureLevel>,
    /// It was made with levels, if only with one.
    pub mipmapped: bool,
}

impl TexelArray {
    pub fn texel_bytes(&self) -> u32 {
        self.format.bytes() * self.channels
    }
}

/// How a texture is read (`CUDA_TEXTURE_DESC`).
#[derive(Clone, Debug, PartialEq)]
pub struct Sampler {
    pub modes: [AddressMode; 3],
    /// Between texels, instead of the nearest one.
    pub linear: bool,
    /// Coordinates run from 0 to 1.
    pub normalised: bool,
    /// Integers stay integers, instead of numbers between -1 or 0 and 1.
    pub integers: bool,
    /// 8-bit colours are sRGB: they are read as linear light.
    pub srgb: bool,
    /// At the edges of a cube map's faces, the neighbouring faces go on.
    pub seamless: bool,
    pub border: [f32; 4],
    /// Between two levels, instead of the nearest one.
    pub linear_levels: bool,
    pub level_bias: f32,
    pub least_level: f32,
    pub most_level: f32,
}

/// What an object stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum TextureObject {
    Texture(TexelArray, Sampler),
    Surface(TexelArray),
}

impl TextureObject {
    pub(crate) fn texels(&self) -> &TexelArray {
        match self {
            TextureObject::Texture(texels, _) | TextureObject::Surface(texels) => texels,
        }
    }
}

/// The live objects of a memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextureObjects {
    live: BTreeMap<u64, Arc<TextureObject>>,
    given: u64,
}

impl TextureObjects {
    pub fn add(&mut self, object: TextureObject) -> u64 {
        self.given += 1;
        self.live.insert(self.given, Arc::new(object));
        self.given
    }

    pub fn remove(&mut self, handle: u64) -> bool {
        self.live.remove(&handle).is_some()
    }

    pub fn get(&self, handle: u64) -> Option<&Arc<TextureObject>> {
        self.live.get(&handle)
    }
}

impl TexelArray {
    /// Channel `index` of the texels by their weights, as 32 bits of a register; `filtered`: by the filter, if of one texel.
    pub(crate) fn blended(&self, sampler: &Sampler, parts: &[([u8; 16], u32)], index: usize, filtered: bool) -> u32 {
        if index >= self.channels as usize {
            return 0;
        }
        let [(texel, _)] = parts else { return self.blended_many(sampler, parts, index) };
        if filtered && !self.format.is_float() {
            return self.blended_many(sampler, parts, index);
        }
        let raw = self.format.channel(texel, index);
        match (self.format, self.format.most()) {
            (ChannelFormat::F16, _) => half::f16_to_f32(raw as u16).to_bits(),
            (ChannelFormat::U8, _) if sampler.srgb && index < 3 && !sampler.integers => {
                filter::linear_light(raw as u8).to_bits()
            }
            (_, Some(most)) if !sampler.integers => filter::unit(raw as i32, most).to_bits(),
            _ => raw,
        }
    }

    fn blended_many(&self, sampler: &Sampler, parts: &[([u8; 16], u32)], index: usize) -> u32 {
        let raw = |texel: &[u8; 16]| self.format.channel(texel, index);
        let floats = |of: fn(u32) -> f32| parts.iter().map(move |(texel, part)| (of(raw(texel)), *part));
        match (self.format, self.format.most()) {
            (ChannelFormat::F32, _) => filter::blend(floats(f32::from_bits)).to_bits(),
            (ChannelFormat::F16, _) => filter::blend_f16(floats(|bits| half::f16_to_f32(bits as u16))).to_bits(),
            (ChannelFormat::U8, _) if sampler.srgb && index < 3 && !sampler.integers => {
                filter::blend_f16(floats(|bits| filter::linear_light(bits as u8))).to_bits()
            }
            (_, Some(most)) if !sampler.integers => {
                filter::blend_fixed(parts.iter().map(|(texel, part)| (raw(texel) as i32, *part)), most).to_bits()
            }
            // Integers stay whole numbers between the texels, too.
            (_, Some(_)) => {
                let sum: i64 = parts.iter().map(|(texel, part)| i64::from(raw(texel) as i32) * i64::from(*part)).sum();
                ((sum + 128) >> 8) as u32
            }
            _ => parts.first().map_or(0, |(texel, _)| raw(texel)),
        }
    }

    /// The border as a texel.
    pub(crate) fn border(&self, sampler: &Sampler) -> [u8; 16] {
        let mut out = [0; 16];
        let bytes = self.format.bytes() as usize;
        for (index, value) in sampler.border.iter().enumerate().take(self.channels as usize) {
            let bits = match self.format.most() {
                Some(most) if !sampler.integers => filter::border_unit(*value, most) as u32,
                _ if self.format.is_float() => self.format.narrow(value.to_bits()),
                _ => value.to_bits(),
            };
            out[index * bytes..][..bytes].copy_from_slice(&bits.to_le_bytes()[..bytes]);
        }
        out
    }
}
