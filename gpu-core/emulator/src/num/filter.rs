//! What a texture unit does between coordinates and texels: which texels a coordinate touches, with which weights, and
//! their weighted sum.
//!
//! The rules of addressing are in the CUDA Programming Guide ("Texture Fetching"); how many bits a coordinate, a weight and
//! a sum have was measured on an H200, whose results these are, bit for bit but for the last bit of filtered f32, f16 and
//! s8: coordinates between 0 and 1 are cut to 21 fraction bits before they are multiplied by the size, places between
//! texels are rounded to 8, and the weights of the 4 or 8 texels are whole 256ths, split one axis after the other.

/// What stands for texels outside (`CUaddress_mode`, in its order).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressMode {
    Wrap,
    Clamp,
    Mirror,
    Border,
}

impl AddressMode {
    /// The mode of a number of the driver API.
    pub fn of(number: u32) -> Option<AddressMode> {
        Some(match number {
            0 => AddressMode::Wrap,
            1 => AddressMode::Clamp,
            2 => AddressMode::Mirror,
            3 => AddressMode::Border,
            _ => return None,
        })
    }
}

/// One axis of a texture.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// Texels; at least 1.
    pub size: u32,
    pub mode: AddressMode,
    /// Coordinates run from 0 to 1.
    pub normalised: bool,
}

/// Two neighbours on an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// None: outside, where the border is.
    pub texels: [Option<u32>; 2],
    /// 256ths of the second one; below 256.
    pub weight: u32,
}

const NORMALISED_BITS: u32 = 21;
/// Far beyond every texture, and far from overflow.
const FAR: f64 = 1e10;

impl Axis {
    /// Wrapping and mirroring are for coordinates between 0 and 1 alone; others are clamped.
    fn mode(&self) -> AddressMode {
        match self.mode {
            AddressMode::Wrap | AddressMode::Mirror if !self.normalised => AddressMode::Clamp,
            mode => mode,
        }
    }

    /// The coordinate in `1 << bits` parts of a texel, before it is cut (`half`: in the middle of a part up).
    fn place(&self, coordinate: f32, bits: u32, half: bool) -> i64 {
        let x = f64::from(coordinate);
        let x = if x.is_nan() { 0.0 } else { x.clamp(-FAR, FAR) };
        if self.normalised {
            let cut = (x.clamp(-65536.0, 65536.0) * f64::from(1u32 << NORMALISED_BITS)).floor() as i64;
            let product = i128::from(cut) * i128::from(self.size) << bits;
            let half = if half { 1 << (NORMALISED_BITS - 1) } else { 0 };
            return ((product + half) >> NORMALISED_BITS) as i64;
        }
        (x * f64::from(1u32 << bits) + if half { 0.5 } else { 0.0 }).floor() as i64
    }

    /// The texel that stands at an index.
    pub fn texel(&self, index: i64) -> Option<u32> {
        let size = i64::from(self.size);
        let inside = match self.mode() {
            AddressMode::Clamp => index.clamp(0, size - 1),
            AddressMode::Wrap => index.rem_euclid(size),
            AddressMode::Mirror => {
                let at = index.rem_euclid(2 * size);
                at.min(2 * size - 1 - at)
            }
            AddressMode::Border if (0..size).contains(&index) => index,
            AddressMode::Border => return None,
        };
        Some(inside as u32)
    }

    /// The texel that a coordinate falls into, `offset` further on.
    pub fn nearest(&self, coordinate: f32, offset: i32) -> Option<u32> {
        self.texel(self.place(coordinate, 0, false) + i64::from(offset))
    }

    /// Both texels around a coordinate, `offset` further on.
    pub fn around(&self, coordinate: f32, offset: i32) -> [Option<u32>; 2] {
        let first = self.between(coordinate).0 + i64::from(offset);
        [self.texel(first), self.texel(first + 1)]
    }

    /// The first of the two texels around a coordinate, wherever it is, and 256ths of the second one.
    pub fn between(&self, coordinate: f32) -> (i64, u32) {
        let place = self.place(coordinate, 8, true) - 128;
        (place >> 8, (place & 255) as u32)
    }

    /// The texels that a coordinate lies between, `offset` further on.
    pub fn pair(&self, coordinate: f32, offset: i32) -> Pair {
        let mut place = self.place(coordinate, 8, true) - 128 + 256 * i64::from(offset);
        if self.mode() == AddressMode::Clamp {
            place = place.clamp(0, (i64::from(self.size) - 1) << 8);
        }
        let first = place >> 8;
        Pair { texels: [self.texel(first), self.texel(first + 1)], weight: (place & 255) as u32 }
    }
}

/// A 256th of a product, to the nearest.
fn share(whole: u32, part: u32) -> u32 {
    (whole * part + 128) >> 8
}

/// How `whole` 256ths are shared between the texels (x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1) by the weights of the
/// second one on both axes. `whole` is 256, or what the third axis or the level leaves.
pub fn shares(whole: u32, x: u32, y: u32) -> [u32; 4] {
    let right = share(whole, x);
    let left = whole - right;
    let (top, bottom) = (share(left, 256 - y), share(right, y));
    [top, right - bottom, left - top, bottom]
}

/// What has no weight does not count, be it infinite.
fn weighted(parts: impl Iterator<Item = (f32, u32)>) -> f64 {
    parts.filter(|part| part.1 != 0).map(|(value, part)| f64::from(value) * f64::from(part)).sum()
}

/// Sum of the values by their 256ths; without rounding but for the last one, to the nearest f32.
pub fn blend(parts: impl Iterator<Item = (f32, u32)>) -> f32 {
    let sum = weighted(parts);
    to_f32(sum / 256.0)
}

/// In the middle between two away from zero, as the texture unit rounds.
fn to_f32(x: f64) -> f32 {
    if !x.is_finite() || x.abs() < f64::from(f32::MIN_POSITIVE) {
        return x as f32;
    }
    // 29 fraction bits less.
    f64::from_bits((x.to_bits() + (1 << 28)) & !((1 << 29) - 1)) as f32
}

/// The same for f16, to the nearest even one.
pub fn blend_f16(parts: impl Iterator<Item = (f32, u32)>) -> f32 {
    let sum = weighted(parts);
    super::half::f16_to_f32(super::half::f64_to_f16(sum / 256.0))
}

/// Sum of integers that stand for numbers between -1 or 0 and 1: 16 bits of it stay. `most` is the integer of 1, 255,
/// 127, 65535 or 32767.
pub fn blend_fixed(parts: impl Iterator<Item = (i32, u32)>, most: i32) -> f32 {
    let full = if matches!(most, 127 | 32767) { 32767i64 } else { 65535 };
    let sum: i64 = parts.map(|(value, part)| i64::from(value) * i64::from(part)).sum();
    let denominator = 256 * i64::from(most);
    let rounded = (2 * sum * full + denominator).div_euclid(2 * denominator);
    (rounded.max(-full) as f64 / full as f64) as f32
}

/// An integer that stands for a number between -1 or 0 and 1.
pub fn unit(value: i32, most: i32) -> f32 {
    (f64::from(value.max(-most)) / f64::from(most)) as f32
}

/// Linear light of an 8-bit sRGB channel in parts of 16384, as an H200 has it: seven to ten significant bits.
const LINEAR_LIGHT: [u16; 256] = [
    0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 66, 72, 78, 85, 92, 99, 107, 115, 123, 131, 140, 150, 159, 169,
    180, 190, 201, 213, 224, 236, 250, 262, 276, 290, 304, 318, 332, 348, 364, 380, 396, 412, 430, 448, 466, 484, 504,
    524, 544, 564, 584, 604, 624, 648, 672, 692, 716, 740, 764, 788, 816, 840, 864, 896, 920, 944, 976, 1000, 1032,
    1064, 1088, 1120, 1152, 1184, 1216, 1248, 1280, 1312, 1352, 1384, 1416, 1456, 1488, 1528, 1560, 1600, 1640, 1672,
    1712, 1752, 1792, 1832, 1872, 1920, 1952, 2000, 2048, 2080, 2128, 2176, 2224, 2272, 2320, 2368, 2416, 2464, 2512,
    2560, 2608, 2656, 2704, 2752, 2816, 2864, 2912, 2976, 3024, 3072, 3136, 3184, 3248, 3296, 3360, 3424, 3472, 3536,
    3600, 3664, 3712, 3776, 3840, 3904, 3968, 4032, 4096, 4160, 4224, 4288, 4352, 4416, 4512, 4576, 4640, 4704, 4768,
    4864, 4928, 4992, 5056, 5152, 5216, 5280, 5376, 5440, 5536, 5600, 5696, 5760, 5824, 5920, 6016, 6080, 6176, 6240,
    6336, 6400, 6496, 6592, 6688, 6752, 6848, 6944, 7008, 7104, 7200, 7296, 7392, 7488, 7584, 7680, 7744, 7872, 7936,
    8064, 8128, 8256, 8320, 8448, 8512, 8640, 8768, 8832, 8960, 9024, 9152, 9280, 9344, 9472, 9600, 9664, 9792, 9920,
    9984, 10112, 10240, 10304, 10432, 10560, 10688, 10816, 10880, 11008, 11136, 11264, 11392, 11456, 11584, 11712,
    11840, 11968, 12096, 12224, 12352, 12480, 12608, 12736, 12864, 12992, 13120, 13248, 13376, 13504, 13632, 13760,
    13888, 14016, 14144, 14272, 14400, 14528, 14656, 14848, 14976, 15104, 15232, 15360, 15488, 15616, 15744, 16000,
    16128, 16256, 16384,
];

/// An 8-bit channel of an sRGB picture as linear light.
pub fn linear_light(value: u8) -> f32 {
    f32::from(LINEAR_LIGHT[usize::from(value)]) / 16384.0
}

/// A number as a channel of `most` for 1, as borders are kept: in the middle between two the smaller one.
pub fn border_unit(value: f32, most: i32) -> i32 {
    let low = if matches!(most, 127 | 32767) { -1.0 } else { 0.0 };
    let scaled = value.clamp(low, 1.0) * most as f32;
    (scaled.signum() * (scaled.abs() - 0.5).ceil()) as i32
}

/// The face of a cube map that a direction points at, and where on it, from 0 to 1 along both axes. Faces are +x, -x, +y,
/// -y, +z, -z (CUDA Programming Guide, "Cubemap Textures").
pub fn cube_face(x: f32, y: f32, z: f32) -> (u32, f32, f32) {
    let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
    let (face, s, t, m) = if ax >= ay && ax >= az {
        if x >= 0.0 { (0, -z, -y, ax) } else { (1, z, -y, ax) }
    } else if ay >= az {
        if y >= 0.0 { (2, x, z, ay) } else { (3, x, -z, ay) }
    } else if z >= 0.0 {
        (4, x, -y, az)
    } else {
        (5, -x, -y, az)
    };
    (face, (s / m + 1.0) * 0.5, (t / m + 1.0) * 0.5)
}

/// The texel of a cube map that stands at a place of a face, or beside it: there the face behind that edge goes on.
pub fn on_cube(face: u32, at: [i64; 2], size: u32) -> (u32, [u32; 2]) {
    let side = f64::from(size);
    let [s, t] = at.map(|at| ((2 * at + 1) as f64 / side - 1.0) as f32);
    let [x, y, z] = match face {
        0 => [1.0, -t, -s],
        1 => [-1.0, -t, s],
        2 => [s, 1.0, t],
        3 => [s, -1.0, -t],
        4 => [s, -t, 1.0],
        _ => [-s, -t, -1.0],
    };
    let (face, u, v) = cube_face(x, y, z);
    (face, [u, v].map(|part| ((f64::from(part) * side) as u32).min(size - 1)))
}

/// Level of detail in 256ths, cut as the unit cuts it.
pub fn level_256ths(level: f32) -> i32 {
    if level.is_nan() { 0 } else { (f64::from(level).clamp(-64.0, 64.0) * 256.0).floor() as i32 }
}

/// The level at which the longer step is one texel, in 256ths; steps are in texels of the largest level. The unit takes
/// less than a square root for a step's length: the largest of its parts, and about a third of the others.
pub fn gradient_256ths(steps: [[f32; 3]; 2]) -> i32 {
    let length = |step: [f32; 3]| {
        let parts = step.map(|part| f64::from(part).abs());
        let most = parts.into_iter().fold(0.0, f64::max);
        most + 0.34375 * (parts.iter().sum::<f64>() - most)
    };
    let level = length(steps[0]).max(length(steps[1])).log2();
    if level.is_nan() { 0 } else { (level.clamp(-64.0, 64.0) * 256.0).round() as i32 }
}
