//! Which texels one thread's texture access reads, and with which weights.

use crate::num::filter::{self, Axis, Pair};
use crate::texture::{Sampler, TexelArray};

/// Where to read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Coordinates {
    /// As the sampler says: texels, or from 0 to 1.
    Floats([f32; 3]),
    /// Numbers of texels: the sampler has no say.
    Texels([i32; 3]),
}

/// What one thread asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    /// Axes with a coordinate: 1 to 3, 3 for cubes.
    pub axes: usize,
    pub cube: bool,
    pub layer: Option<u32>,
    pub coordinates: Coordinates,
    /// Level of detail in 256ths before the sampler's bias and limits; for texels the level's number.
    pub level: i32,
    /// The instruction names the level.
    pub levelled: bool,
    pub offsets: [i32; 3],
    /// One channel of the four texels around.
    pub gather: bool,
}

/// What stands at one of the places that a request reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Texel {
    At(u64),
    Border,
    /// Reads as 0.
    Outside,
}

/// Takes the texels of a request with their weights in 256ths, none of them 0.
pub(crate) type Parts<'p> = dyn FnMut(Texel, u32) + 'p;

impl TexelArray {
    /// The texel of a level; outside where an axis has none.
    fn texel(&self, level: usize, at: [Option<u32>; 3]) -> Texel {
        let Some(place) = self.levels.get(level) else { return Texel::Outside };
        let [Some(x), Some(y), Some(z)] = at else { return Texel::Border };
        let (x, y, z) = (u64::from(x), u64::from(y), u64::from(z));
        Texel::At(place.address + x * u64::from(self.texel_bytes()) + y * place.row_bytes + z * place.slice_bytes)
    }

    /// Whether the unit filters: not integers of 32 bits.
    pub(crate) fn filters(&self, sampler: &Sampler) -> bool {
        sampler.linear && (self.format.is_float() || self.format.most().is_some())
    }

    /// The level of detail in 256ths, by the sampler's bias and limits.
    fn level(&self, sampler: &Sampler, asked: i32) -> u32 {
        if !self.mipmapped {
            return 0;
        }
        let [bias, least, most] =
            [sampler.level_bias, sampler.least_level, sampler.most_level].map(filter::level_256ths);
        let last = (self.levels.len() as i32 - 1) << 8;
        (asked + bias).max(least).min(most).clamp(0, last) as u32
    }

    pub(crate) fn plan(&self, sampler: &Sampler, request: &Request, push: &mut Parts<'_>) {
        match request.coordinates {
            // Linear memory is read by numbers of texels alone, and nothing else is in one dimension: as on an H200.
            Coordinates::Texels([index, ..]) if self.linear_memory => {
                let inside = index >= 0 && (index as u32) < self.levels[0].size[0];
                let texel = if inside { self.texel(0, [Some(index as u32), Some(0), Some(0)]) } else { Texel::Outside };
                push(texel, 256);
            }
            Coordinates::Floats(_) if self.linear_memory => push(Texel::Outside, 256),
            Coordinates::Texels(_) if request.axes == 1 => push(Texel::Outside, 256),
            Coordinates::Texels(at) => push(self.fetch(request, at), 256),
            Coordinates::Floats(at) => self.sample(sampler, request, at, push),
        }
    }

    /// A texel by its number: what lies outside reads as 0.
    fn fetch(&self, request: &Request, at: [i32; 3]) -> Texel {
        let Some(place) = usize::try_from(request.level).ok().and_then(|level| self.levels.get(level)) else {
            return Texel::Outside;
        };
        let mut found = [Some(0); 3];
        for axis in 0..request.axes {
            let (size, at) =
                (i64::from(place.size[axis].max(1)), i64::from(at[axis]) + i64::from(request.offsets[axis]));
            // As an H200 does: an instruction that names a level stays inside of it.
            let at = if request.levelled { at.clamp(0, size - 1) } else { at };
            if !(0..size).contains(&at) {
                return Texel::Outside;
            }
            found[axis] = Some(at as u32);
        }
        match request.layer {
            Some(layer) if layer >= place.size[2].max(1) => Texel::Outside,
            Some(layer) => self.texel(request.level as usize, [found[0], found[1], Some(layer)]),
            None => self.texel(request.level as usize, found),
        }
    }

    fn sample(&self, sampler: &Sampler, request: &Request, mut at: [f32; 3], push: &mut Parts<'_>) {
        // Layers are numbers without sign: negative ones are the last.
        let mut layer = request.layer.map(|layer| layer.min(self.levels[0].size[2].saturating_sub(1)));
        let mut axes = request.axes;
        if request.cube {
            let (face, s, t) = filter::cube_face(at[0], at[1], at[2]);
            let cubes = (self.levels[0].size[2] / 6).max(1);
            layer = Some(face + 6 * request.layer.unwrap_or(0).min(cubes - 1));
            (at, axes) = ([s, t, 0.0], 2);
        }
        let level = self.level(sampler, request.level);
        let (first, fraction) = ((level >> 8) as usize, level & 255);
        if request.gather {
            return self.gather(sampler, first, layer, at, &request.offsets, push);
        }
        let levels = if sampler.linear_levels && fraction != 0 {
            [(first, 256 - fraction), (first + 1, fraction)]
        } else {
            let nearest = if sampler.linear_levels { first } else { ((level + 128) >> 8) as usize };
            [(nearest.min(self.levels.len() - 1), 256), (0, 0)]
        };
        for (level, whole) in levels.into_iter().filter(|(_, whole)| *whole != 0) {
            let axis = |axis: usize| self.axis(sampler, level, axis, axes);
            if !self.filters(sampler) {
                let near = |number: usize| axis(number).nearest(at[number], request.offsets[number]);
                let z = match layer {
                    Some(layer) => Some(layer),
                    None if axes == 3 => near(2),
                    None => Some(0),
                };
                let y = if axes > 1 { near(1) } else { Some(0) };
                push(self.texel(level, [near(0), y, z]), whole);
                continue;
            }
            if request.cube && sampler.seamless {
                self.around_edges(sampler, level, layer.unwrap_or(0), at, whole, push);
                continue;
            }
            let pair = |number: usize| axis(number).pair(at[number], request.offsets[number]);
            // A line of texels is a picture with one row to the unit: its border is above and below, too. Not so a line in
            // layers.
            let one = Pair { texels: [Some(0), None], weight: 0 };
            let (x, y) = (pair(0), if axes == 1 && layer.is_some() { one } else { pair(1) });
            let z = if axes == 3 { pair(2) } else { Pair { texels: [Some(layer.unwrap_or(0)), None], weight: 0 } };
            let back = (whole * z.weight + 128) >> 8;
            for (slice, whole) in [(z.texels[0], whole - back), (z.texels[1], back)] {
                for (corner, weight) in filter::shares(whole, x.weight, y.weight).into_iter().enumerate() {
                    if weight != 0 {
                        push(self.texel(level, [x.texels[corner & 1], y.texels[corner >> 1], slice]), weight);
                    }
                }
            }
        }
    }

    /// A filtered read of a cube map whose faces go on behind their edges.
    fn around_edges(
        &self,
        sampler: &Sampler,
        level: usize,
        layer: u32,
        at: [f32; 3],
        whole: u32,
        push: &mut Parts<'_>,
    ) {
        let axes = [0, 1].map(|number| self.axis(sampler, level, number, 2));
        let [x, y] = [0, 1].map(|number| axes[number].between(at[number]));
        for (corner, weight) in filter::shares(whole, x.1, y.1).into_iter().enumerate() {
            let place = [x.0 + (corner as i64 & 1), y.0 + (corner as i64 >> 1)];
            let (face, [x, y]) = filter::on_cube(layer % 6, place, axes[0].size);
            if weight != 0 {
                push(self.texel(level, [Some(x), Some(y), Some(layer / 6 * 6 + face)]), weight);
            }
        }
    }

    fn gather(
        &self,
        sampler: &Sampler,
        level: usize,
        layer: Option<u32>,
        at: [f32; 3],
        offsets: &[i32; 3],
        push: &mut Parts<'_>,
    ) {
        let around = |number: usize| self.axis(sampler, level, number, 2).around(at[number], offsets[number]);
        let (x, y) = (around(0), around(1));
        for (right, below) in [(0, 1), (1, 1), (1, 0), (0, 0)] {
            push(self.texel(level, [x[right], y[below], Some(layer.unwrap_or(0))]), 256);
        }
    }

    fn axis(&self, sampler: &Sampler, level: usize, axis: usize, axes: usize) -> Axis {
        let size = if axis < axes { self.levels[level].size[axis].max(1) } else { 1 };
        Axis { size, mode: sampler.modes[axis], normalised: sampler.normalised }
    }
}
