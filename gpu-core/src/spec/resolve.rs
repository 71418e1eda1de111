//! A spec at one size: every expression evaluated and within what a GPU can launch.

use super::fill::{ResolvedFill, resolve_fill};
use super::output::SEED;
use super::step::TURN;
use super::{Dtype, Expr, LaunchShape, Param, Parsed, ResolvedMap, ResolvedView, Role, Size, Spec, Step};

/// Most elements of one buffer: beyond this a size is a slip of the pen.
const MAX_ELEMENTS: u64 = 1 << 40;
/// Limits of every CUDA architecture since Fermi (CUDA C++ Programming Guide, "Compute Capabilities").
const MAX_GRID: [i64; 3] = [0x7fff_ffff, 65_535, 65_535];
const MAX_BLOCK: [i64; 3] = [1024, 1024, 64];
const MAX_BLOCK_THREADS: i64 = 1024;
/// Blocks of a cluster: 8 are portable, Hopper and later can have 16.
const MAX_CLUSTER: i64 = 16;
/// Launches of one case: more are a slip of the pen.
const MAX_LAUNCHES: u64 = 10_000;
/// Opt-in limit of the largest architecture; each device checks its own.
const MAX_DYNAMIC_SHARED: i64 = 227 * 1024;

/// Launch shape in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Blocks along x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y, z.
    pub block: [u32; 3],
    /// Blocks of a cluster along x, y, z; `[1, 1, 1]` for none.
    pub cluster: [u32; 3],
    pub dynamic_shared_bytes: u32,
    /// All blocks are on the device at once.
    pub cooperative: bool,
}

impl Geometry {
    /// Neither clusters nor dynamic shared memory.
    pub fn new(grid: [u32; 3], block: [u32; 3]) -> Self {
        Geometry { grid, block, cluster: [1; 3], dynamic_shared_bytes: 0, cooperative: false }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedBuffer {
    pub name: String,
    pub dtype: Dtype,
    pub shape: Vec<u64>,
    pub elements: u64,
    pub role: Role,
    /// None for pure outputs.
    pub fill: Option<ResolvedFill>,
    /// What scratch memory of the learner's choice may take.
    pub max_bytes: Option<u64>,
}

impl ResolvedBuffer {
    pub fn bytes(&self) -> u64 {
        self.elements * self.dtype.bytes() as u64
    }

    /// Row-major index of an element, for example `[3, 17]`.
    pub fn index_of(&self, element: u64) -> Vec<u64> {
        index_of(&self.shape, element)
    }
}

/// Row-major index of an element of an array of this shape.
pub fn index_of(shape: &[u64], element: u64) -> Vec<u64> {
    let mut rest = element;
    let extents = shape.iter().rev().map(|extent| (*extent).max(1));
    let mut index: Vec<u64> = extents.map(|extent| (rest % extent, rest /= extent).0).collect();
    index.reverse();
    index
}

#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedScalar {
    pub name: String,
    pub dtype: Dtype,
    pub value: f64,
    /// The value as the kernel gets it; of turn 0 where it changes with the turn.
    pub bytes: Vec<u8>,
    /// It uses `turn`: no value of the problem, but one of each launch.
    pub varies: bool,
}

/// One kernel parameter at one size.
#[derive(Clone, Debug, PartialEq)]
pub enum ResolvedParam {
    Buffer(ResolvedBuffer),
    Scalar(ResolvedScalar),
    TensorMap(ResolvedMap),
}

/// One launch of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedLaunch {
    /// Index in [`Spec::steps`].
    pub step: usize,
    /// Which one of the step's launches; 0 without `repeat`.
    pub turn: u64,
    pub geometry: Geometry,
    /// Scalars whose value in this turn is another than in [`Resolved::params`]: index there, and the bytes.
    pub scalars: Vec<(usize, Vec<u8>)>,
}

/// Scalars of one turn: index in [`Resolved::params`], and the bytes.
type TurnScalars = Vec<(usize, Vec<u8>)>;

/// Everything of a spec at one size.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// For example `m = 3, n = 1000`.
    pub name: String,
    pub size: Size,
    pub params: Vec<ResolvedParam>,
    pub views: Vec<ResolvedView>,
    /// In the order in which they run; at least one.
    pub launches: Vec<ResolvedLaunch>,
    pub flops: f64,
    /// Least global-memory traffic in bytes.
    pub bytes: f64,
}

impl Resolved {
    pub fn buffers(&self) -> impl Iterator<Item = &ResolvedBuffer> {
        self.params.iter().filter_map(|param| match param {
            ResolvedParam::Buffer(buffer) => Some(buffer),
            ResolvedParam::Scalar(_) | ResolvedParam::TensorMap(_) => None,
        })
    }

    /// The only launch of a case that has no other.
    pub fn only_launch(&self) -> Option<&ResolvedLaunch> {
        self.launches.first().filter(|_| self.launches.len() == 1)
    }

    /// Bytes of scratch memory.
    pub fn workspace_bytes(&self) -> u64 {
        self.buffers().filter(|buffer| buffer.role == Role::Scratch).map(ResolvedBuffer::bytes).sum()
    }

    /// The first scratch buffer that is larger than it may be.
    pub fn over_workspace(&self) -> Option<&ResolvedBuffer> {
        self.buffers().find(|buffer| buffer.max_bytes.is_some_and(|most| buffer.bytes() > most))
    }

    /// Device memory of all buffers.
    pub fn buffer_bytes(&self) -> u64 {
        self.buffers().map(ResolvedBuffer::bytes).sum()
    }
}

/// A size as people read it: `m = 3, n = 1000`.
pub fn size_name(size: &Size) -> String {
    size.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

impl Spec {
    /// Evaluates everything at `size`.
    ///
    /// # Errors
    /// The key of the file at fault (`param[1].shape[0]`) and one sentence.
    pub fn resolve(&self, size: &Size) -> Result<Resolved, (String, String)> {
        let params = self.resolve_params(size)?;
        let launches = self.resolve_launches(size)?;
        let cost = |key: &str, expr: &Expr| {
            let value =
                expr.parse().and_then(|parsed| parsed.eval_float(size)).map_err(|error| (key.to_owned(), error.0))?;
            if value >= 0.0 { Ok(value) } else { Err((key.to_owned(), format!("{value} is negative"))) }
        };
        Ok(Resolved {
            name: size_name(size),
            size: size.clone(),
            views: self.resolve_views(size, &params)?,
            params,
            launches,
            flops: cost("cost.flops", &self.cost.flops)?,
            bytes: cost("cost.bytes", &self.cost.bytes)?,
        })
    }

    /// Every launch in the order in which they run: a step's turns one after the other, those of a group's steps
    /// interleaved.
    fn resolve_launches(&self, size: &Size) -> Result<Vec<ResolvedLaunch>, (String, String)> {
        let mut launches = Vec::new();
        let mut rest = self.steps.as_slice();
        while let Some(first) = rest.first() {
            let together = rest.iter().take_while(|step| step.group.is_some() && step.group == first.group).count();
            let (now, later) = rest.split_at(together.max(1));
            let from = self.steps.len() - rest.len();
            let turns = turns(first, size)?;
            if launches.len() as u64 + turns * now.len() as u64 > MAX_LAUNCHES {
                let message = format!("more than {MAX_LAUNCHES} launches in all");
                return Err((format!("{}.repeat", first.at), message));
            }
            let mut same: Vec<Option<Geometry>> = vec![None; now.len()];
            for turn in 0..turns {
                for (index, step) in now.iter().enumerate() {
                    let known = with_turn(size, turn);
                    let geometry = match same[index] {
                        Some(geometry) => geometry,
                        None => step.launch.resolve(&step.at, if step.repeat.is_some() { &known } else { size })?,
                    };
                    if !step.launch.mentions(TURN) {
                        same[index] = Some(geometry);
                    }
                    let scalars =
                        if turn > 0 { self.scalars_of(step, &self.of_scalars(size, 1, turn))? } else { Vec::new() };
                    launches.push(ResolvedLaunch { step: from + index, turn, geometry, scalars });
                }
            }
            rest = later;
        }
        Ok(launches)
    }

    /// What scalars may use beside the size variables.
    pub(super) fn of_scalars(&self, size: &Size, seed: i64, turn: u64) -> Size {
        let mut known = size.clone();
        known.insert(SEED.to_owned(), seed);
        if self.steps.iter().any(|step| step.repeat.is_some()) {
            known.insert(TURN.to_owned(), turn as i64);
        }
        known
    }

    /// The step's scalars that change with the turn.
    pub(super) fn scalars_of(&self, step: &Step, known: &Size) -> Result<TurnScalars, (String, String)> {
        let mut scalars = Vec::new();
        for index in self.args_of(step) {
            let Param::Scalar { name, dtype, value } = &self.params[index] else { continue };
            if mentions(value, TURN) {
                let scalar = resolve_scalar(known, name, *dtype, value);
                let scalar = scalar.map_err(|message| (format!("param[{index}].value"), message))?;
                scalars.push((index, scalar.bytes));
            }
        }
        Ok(scalars)
    }
}

fn turns(step: &Step, size: &Size) -> Result<u64, (String, String)> {
    let Some(repeat) = &step.repeat else { return Ok(1) };
    let key = format!("{}.repeat", step.at);
    let value = repeat.eval(size).map_err(|error| (key.clone(), error.0))?;
    u64::try_from(value)
        .ok()
        .filter(|turns| *turns > 0)
        .ok_or_else(|| (key, format!("{value} turns; at least 1 is needed")))
}

fn with_turn(size: &Size, turn: u64) -> Size {
    let mut known = size.clone();
    known.insert(TURN.to_owned(), turn as i64);
    known
}

fn mentions(expr: &str, variable: &str) -> bool {
    // Parsing is what costs, and most expressions do not even hold the letters.
    expr.contains(variable)
        && Parsed::new(expr).is_ok_and(|parsed| parsed.variables().iter().any(|name| name == variable))
}

impl Spec {
    /// Least extent of a buffer.
    fn least_extent(&self, name: &str) -> u64 {
        u64::from(!self.may_be_empty.iter().any(|known| known == name))
    }

    fn resolve_views(&self, size: &Size, params: &[ResolvedParam]) -> Result<Vec<ResolvedView>, (String, String)> {
        let buffers: Vec<(usize, &ResolvedBuffer)> = params
            .iter()
            .enumerate()
            .filter_map(|(index, param)| match param {
                ResolvedParam::Buffer(buffer) => Some((index, buffer)),
                ResolvedParam::Scalar(_) | ResolvedParam::TensorMap(_) => None,
            })
            .collect();
        let views = self.views.iter().enumerate();
        views.map(|(index, view)| view.resolve(&format!("view[{index}]"), size, &buffers)).collect()
    }

    fn resolve_params(&self, size: &Size) -> Result<Vec<ResolvedParam>, (String, String)> {
        let mut params = Vec::with_capacity(self.params.len());
        let mut buffers = Vec::new();
        // The seed until a run gives it another one.
        let of_scalars = self.of_scalars(size, 1, 0);
        for (index, param) in self.params.iter().enumerate() {
            if let Param::Buffer { name, .. } = param {
                let at = format!("param[{index}]");
                buffers.push((index, resolve_buffer(&at, size, param, self.least_extent(name))?));
            }
        }
        let known: Vec<(usize, &ResolvedBuffer)> = buffers.iter().map(|(index, buffer)| (*index, buffer)).collect();
        let has = |wanted: fn(&Param) -> bool| self.params.iter().any(wanted);
        if has(|param| matches!(param, Param::Struct { .. })) && has(|param| matches!(param, Param::TensorMap { .. })) {
            return Err(("param".to_owned(), "a kernel with a tensor map cannot take a struct as well".to_owned()));
        }
        for (index, param) in self.params.iter().enumerate() {
            let at = format!("param[{index}]");
            if let Param::Struct { name, fields } = param {
                let pieces = resolve_struct(size, name, fields).map_err(|message| (format!("{at}.fields"), message))?;
                params.extend(pieces.into_iter().map(ResolvedParam::Scalar));
                continue;
            }
            params.push(match param {
                // Taken apart above.
                Param::Struct { .. } => continue,
                Param::Buffer { .. } => {
                    let found = known.iter().find(|(at, _)| *at == index);
                    ResolvedParam::Buffer(
                        found.map(|(_, buffer)| (*buffer).clone()).ok_or_else(|| (at, String::new()))?,
                    )
                }
                Param::Scalar { name, dtype, value } => resolve_scalar(&of_scalars, name, *dtype, value)
                    .map(ResolvedParam::Scalar)
                    .map_err(|message| (format!("{at}.value"), message))?,
                // A map may stand before the buffer that it describes.
                Param::TensorMap { name, map } => ResolvedParam::TensorMap(map.resolve(&at, name, size, &known)?),
            });
        }
        Ok(params)
    }
}

fn resolve_buffer(at: &str, size: &Size, param: &Param, least: u64) -> Result<ResolvedBuffer, (String, String)> {
    let Param::Buffer { name, dtype, shape, role, fill, max_bytes } = param else {
        return Err((at.to_owned(), "no buffer".to_owned()));
    };
    let (dtype, role, fill) = (*dtype, *role, fill.as_ref());
    let mut extents = Vec::with_capacity(shape.len());
    let mut elements = 1u64;
    for (axis, extent) in shape.iter().enumerate() {
        let key = format!("{at}.shape[{axis}]");
        let value = extent.eval(size).map_err(|error| (key.clone(), error.0))?;
        let extent = u64::try_from(value).ok().filter(|extent| *extent >= least);
        let extent =
            extent.ok_or_else(|| (key.clone(), format!("an extent of at least {least} is needed, not {value}")))?;
        elements = elements
            .checked_mul(extent)
            .filter(|elements| *elements <= MAX_ELEMENTS)
            .ok_or_else(|| (key, format!("buffer `{name}` would have more than 2^40 elements")))?;
        extents.push(extent);
    }
    let fill = match (role, fill) {
        (Role::Out, _) => None,
        (Role::Zeroed | Role::Scratch, _) => Some(ResolvedFill::Constant { value: 0.0 }),
        (_, fill) => Some(resolve_fill(at, size, dtype, &extents, fill)?),
    };
    let max_bytes = max_bytes.as_ref().map(|most| resolve_max_bytes(at, size, most)).transpose()?;
    Ok(ResolvedBuffer { name: name.clone(), dtype, shape: extents, elements, role, fill, max_bytes })
}

/// Bytes and alignment of a struct's members, as C++ lays them out.
pub(crate) fn struct_layout(fields: &[(Dtype, String)]) -> (usize, usize) {
    let align = fields.iter().map(|(dtype, _)| dtype.bytes()).max().unwrap_or(1);
    let end = fields.iter().fold(0, |end: usize, (dtype, _)| end.next_multiple_of(dtype.bytes()) + dtype.bytes());
    (end.next_multiple_of(align), align)
}

/// A struct as pieces of its alignment: one behind the other, they lie as the struct does.
fn resolve_struct(size: &Size, name: &str, fields: &[(Dtype, String)]) -> Result<Vec<ResolvedScalar>, String> {
    let (total, align) = struct_layout(fields);
    let mut bytes = vec![0; total];
    let mut at = 0usize;
    for (number, (dtype, value)) in fields.iter().enumerate() {
        at = at.next_multiple_of(dtype.bytes());
        let member = resolve_scalar(size, &format!("{name}, member {}", number + 1), *dtype, value)?;
        bytes[at..at + dtype.bytes()].copy_from_slice(&member.bytes);
        at += dtype.bytes();
    }
    let piece = |(number, bytes): (usize, &[u8])| ResolvedScalar {
        name: if number == 0 { name.to_owned() } else { format!("{name}+{}", number * align) },
        dtype: Dtype::U8,
        value: 0.0,
        bytes: bytes.to_vec(),
        varies: false,
    };
    Ok(bytes.chunks(align.max(1)).enumerate().map(piece).collect())
}

fn resolve_max_bytes(at: &str, size: &Size, most: &Expr) -> Result<u64, (String, String)> {
    let key = format!("{at}.max_bytes");
    let value = most.eval(size).map_err(|error| (key.clone(), error.0))?;
    u64::try_from(value).map_err(|_| (key, format!("{value} bytes; at least 0 are needed")))
}

pub(super) fn resolve_scalar(size: &Size, name: &str, dtype: Dtype, text: &str) -> Result<ResolvedScalar, String> {
    let parsed = Parsed::new(text).map_err(|error| error.0)?;
    let mut bytes = vec![0; dtype.bytes()];
    let value = match dtype.integer_range() {
        Some((least, greatest)) => {
            let value = parsed.eval(size).map_err(|error| error.0)?;
            if value < least || value > greatest {
                return Err(format!("{value} does not fit {} `{name}`", dtype.name()));
            }
            dtype.encode_integer(value, &mut bytes);
            value as f64
        }
        None => {
            dtype.encode(parsed.eval_float(size).map_err(|error| error.0)?, &mut bytes);
            dtype.decode(&bytes)
        }
    };
    Ok(ResolvedScalar { name: name.to_owned(), dtype, value, bytes, varies: mentions(text, TURN) })
}

impl LaunchShape {
    /// Evaluates the shape and holds it against CUDA's limits. `at` is where it stands in the file.
    ///
    /// # Errors
    /// The key at fault (`launch.grid[0]`) and one sentence.
    pub fn resolve(&self, at: &str, size: &Size) -> Result<Geometry, (String, String)> {
        let mut known = size.clone();
        let key = |name: &str| format!("{at}.{name}");
        let block = extents(&key("block"), &self.block, &known, MAX_BLOCK)?;
        let threads: i64 = block.iter().map(|extent| i64::from(*extent)).product();
        if threads > MAX_BLOCK_THREADS {
            let message = format!("{threads} threads a block; at most {MAX_BLOCK_THREADS} are allowed");
            return Err((key("block"), message));
        }
        define(&mut known, "block", block);
        let cluster = extents(&key("cluster"), &self.cluster, &known, [MAX_CLUSTER; 3])?;
        if cluster.iter().map(|extent| i64::from(*extent)).product::<i64>() > MAX_CLUSTER {
            return Err((key("cluster"), format!("more than {MAX_CLUSTER} blocks a cluster")));
        }
        let grid = extents(&key("grid"), &self.grid, &known, MAX_GRID)?;
        for axis in 0..3 {
            if grid[axis] % cluster[axis] != 0 {
                let message = format!("{} blocks are not a multiple of the cluster's {}", grid[axis], cluster[axis]);
                return Err((format!("{}[{axis}]", key("grid")), message));
            }
        }
        define(&mut known, "grid", grid);
        let key = key("dynamic_shared_bytes");
        let bytes = self.dynamic_shared_bytes.eval(&known).map_err(|error| (key.clone(), error.0))?;
        if !(0..=MAX_DYNAMIC_SHARED).contains(&bytes) {
            return Err((key, format!("{bytes} bytes; 0 to {MAX_DYNAMIC_SHARED} are possible")));
        }
        Ok(Geometry { grid, block, cluster, dynamic_shared_bytes: bytes as u32, cooperative: self.cooperative })
    }

    fn mentions(&self, variable: &str) -> bool {
        let shapes = self.grid.iter().chain(&self.block).chain(&self.cluster);
        shapes.chain([&self.dynamic_shared_bytes]).any(|expr| mentions(&expr.0, variable))
    }
}

fn define(known: &mut Size, what: &str, extents: [u32; 3]) {
    for (axis, extent) in ["x", "y", "z"].into_iter().zip(extents) {
        known.insert(format!("{what}_{axis}"), extent.into());
    }
}

fn extents(key: &str, shape: &[Expr], size: &Size, limits: [i64; 3]) -> Result<[u32; 3], (String, String)> {
    let mut result = [1u32; 3];
    if shape.len() > 3 {
        return Err((key.to_owned(), format!("{} dimensions; at most 3 are possible", shape.len())));
    }
    for (axis, extent) in shape.iter().enumerate() {
        let key = format!("{key}[{axis}]");
        let value = extent.eval(size).map_err(|error| (key.clone(), error.0))?;
        if !(1..=limits[axis]).contains(&value) {
            return Err((key, format!("{value} is not between 1 and {}", limits[axis])));
        }
        result[axis] = value as u32;
    }
    Ok(result)
}
