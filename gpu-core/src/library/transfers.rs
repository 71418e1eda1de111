//! A product through the library with its copies, for the lesson on them: what each piece took, by events on the
//! streams: with the data on the device, with both inputs copied there and the result back in every iteration, and with
//! the product cut into pieces, so that copies and products run side by side.

use super::{Library, Prepared, Product};
use crate::cuda::{CudaDevice, DeviceMemory, Event, HostMemory, Stream};
use crate::device::{Device, RunError};
use crate::spec::Dtype;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Iterations that are not counted, and those that are.
const WARM_UP: usize = 3;
const ITERATIONS: usize = 20;
/// Iterations whose pieces are kept, for a picture.
const SHOWN: u32 = 3;
const TIME_LIMIT: Duration = Duration::from_secs(30);
/// Into how many strips of rows an overlapped product is cut.
const STRIPS: usize = 4;

/// How the data travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Copied before the first iteration; the result is fetched after the last.
    Stays,
    /// Copied in every iteration, from and to pinned memory.
    EachTimePinned,
    /// The same from and to ordinary memory.
    EachTime,
    /// In every iteration, from and to pinned memory, in strips: b as a whole and a strip of rows of a go over, and
    /// while that strip is multiplied the next one travels, and the result of the one before goes back.
    Overlapped,
}

impl Way {
    pub const ALL: [Way; 4] = [Way::Stays, Way::EachTimePinned, Way::EachTime, Way::Overlapped];
}

/// What works at the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    CopyIn,
    Compute,
    CopyOut,
}

/// A piece of time, in nanoseconds from the beginning of the first piece.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    pub engine: Engine,
    pub iteration: u32,
    /// Which strip of the iteration; 0 where the product is not cut.
    pub strip: u32,
    pub start_ns: f64,
    pub end_ns: f64,
}

/// One way at one size.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfers {
    pub way: Way,
    pub n: usize,
    /// Median time of an iteration; of the product alone where the data stays.
    pub median_ns: f64,
    pub iterations: usize,
    /// Of the first iterations after the warm-up; where the data stays, the copy back after the last one as well.
    pub pieces: Vec<Piece>,
    /// The result agrees with a product on the CPU.
    pub ok: bool,
    /// As in `cuBLASLt 13.1.0, best of 24 algorithms`.
    pub library: String,
}

/// Measures all ways at size `n`; each is given as it is found. `file` is cuBLASLt's.
///
/// # Errors
/// [`RunError::Environment`] when the library cannot be used; the rest as the device has it.
pub fn measure(
    gpu: &CudaDevice,
    file: &Path,
    n: usize,
    stop: &AtomicBool,
    each: &mut dyn FnMut(Transfers),
) -> Result<(), RunError> {
    let library = Library::open(gpu, file)?;
    let bytes = 4 * n * n;
    let memory = |name: &str| DeviceMemory::new(&gpu.context, bytes, name);
    let [a, b, c] = [memory("a")?, memory("b")?, memory("c")?];
    let extent = n as u64;
    let product = Product {
        rows: extent,
        columns: extent,
        depth: extent,
        b_is_transposed: false,
        in_tf32: false,
        input: Dtype::F32,
        output: Dtype::F32,
        operands: [0, 1, 2],
    };
    let (host_a, host_b) = (whole_numbers(n, 1), whole_numbers(n, 2));
    a.write(0, &host_a)?;
    b.write(0, &host_b)?;
    let addresses = [a.address(), b.address(), c.address()];
    let no_algorithm = || RunError::Environment(format!("{} has no algorithm for {n} x {n} floats", library.name));
    let whole = Prepared::new(&library, gpu, &product, addresses, stop)?.ok_or_else(no_algorithm)?;
    // Rows of a and c lie one after the other, so a strip of them is a product of its own.
    let strip = Product { rows: extent / STRIPS as u64, ..product };
    let strip = match n.is_multiple_of(STRIPS) {
        true => Prepared::new(&library, gpu, &strip, addresses, stop)?,
        false => None,
    };
    let copies = [Stream::new(&gpu.context)?, Stream::new(&gpu.context)?];
    for way in Way::ALL {
        let pinned = matches!(way, Way::EachTimePinned | Way::Overlapped);
        let prepared = if way == Way::Overlapped { strip.as_ref() } else { Some(&whole) };
        let Some(prepared) = prepared else { continue };
        let host = |from: Option<&[u8]>| HostMemory::new(&gpu.context, bytes, pinned, from);
        let mut run = Run {
            gpu,
            prepared,
            copies: &copies,
            device: [&a, &b, &c],
            host: [host(Some(&host_a))?, host(Some(&host_b))?, host(None)?],
            marks: Vec::new(),
        };
        let mut transfers = run.way(way, n, stop)?;
        transfers.ok = is_right(n, &host_a, &host_b, run.host[2].bytes());
        each(transfers);
    }
    Ok(())
}

/// What one measurement works on.
struct Run<'a> {
    gpu: &'a CudaDevice,
    prepared: &'a Prepared<'a>,
    /// The streams of the copies there and back, where they run beside the products.
    copies: &'a [Stream; 2],
    device: [&'a DeviceMemory; 3],
    host: [HostMemory; 3],
    marks: Vec<Mark>,
}

/// What ran between two events.
struct Mark {
    engine: Engine,
    iteration: u32,
    strip: u32,
    start: Event,
    end: Event,
}

impl Run<'_> {
    fn way(&mut self, way: Way, n: usize, stop: &AtomicBool) -> Result<Transfers, RunError> {
        for iteration in 0..WARM_UP {
            self.iteration(way, iteration as u32, true)?;
        }
        self.wait(stop)?;
        self.marks.clear();
        self.host[2].bytes_mut().fill(0);
        let mut ends = Vec::with_capacity(ITERATIONS);
        for iteration in 0..ITERATIONS {
            let (begin, end) = (Event::new()?, Event::new()?);
            let first_mark = self.marks.len();
            let [first, last] = match way {
                Way::Overlapped => [&self.copies[0], &self.copies[1]],
                _ => [&self.gpu.stream; 2],
            };
            first.record(&begin)?;
            self.iteration(way, iteration as u32, iteration + 1 == ITERATIONS)?;
            last.record(&end)?;
            ends.push((begin, end, first_mark));
            // As a program would that needs the result: the next iteration begins when this one is done.
            self.wait(stop)?;
        }
        let mut times = Vec::new();
        for (begin, end, first_mark) in &ends {
            let product = self.marks[*first_mark..].iter().find(|mark| mark.engine == Engine::Compute);
            times.push(match (way, product) {
                (Way::Stays, Some(mark)) => mark.start.nanos_until(&mark.end)?,
                _ => begin.nanos_until(end)?,
            });
        }
        times.sort_by(f64::total_cmp);
        Ok(Transfers {
            way,
            n,
            median_ns: f64::midpoint(times[(ITERATIONS - 1) / 2], times[ITERATIONS / 2]),
            iterations: ITERATIONS,
            pieces: self.pieces(way)?,
            ok: false,
            library: self.prepared.name(),
        })
    }

    /// Queues one iteration with its marks. Data that stays is copied there in the first and back in the last.
    fn iteration(&mut self, way: Way, iteration: u32, last: bool) -> Result<(), RunError> {
        if way == Way::Overlapped {
            return self.overlapped(iteration);
        }
        let each_time = way != Way::Stays;
        if each_time || iteration == 0 {
            self.marked(Engine::CopyIn, iteration, |run| {
                (0..2).try_for_each(|at| run.host[at].queue_to(&run.gpu.stream, run.device[at]))
            })?;
        }
        self.marked(Engine::Compute, iteration, |run| run.prepared.queue(run.gpu))?;
        if each_time || last {
            self.marked(Engine::CopyOut, iteration, |run| run.host[2].queue_from(&run.gpu.stream, run.device[2]))?;
        }
        Ok(())
    }

    /// Queues one iteration in strips, each engine on a stream of its own.
    fn overlapped(&mut self, iteration: u32) -> Result<(), RunError> {
        let bytes = self.host[0].bytes().len();
        let strip_bytes = bytes / STRIPS;
        let [there, back] = self.copies;
        for strip in 0..STRIPS {
            let range = strip * strip_bytes..(strip + 1) * strip_bytes;
            let number = strip as u32;
            let arrived = self.between(there, |run| {
                // Every strip needs the whole of b.
                if strip == 0 {
                    run.host[1].queue_to(there, run.device[1])?;
                }
                run.host[0].queue_range_to(there, run.device[0], range.clone())
            })?;
            self.gpu.stream.wait_for(&arrived.1)?;
            let gpu = self.gpu;
            let multiplied = self.between(&gpu.stream, |run| {
                let [a, b, c] = run.device.map(DeviceMemory::address);
                run.prepared.queue_at(gpu, [a + range.start as u64, b, c + range.start as u64])
            })?;
            back.wait_for(&multiplied.1)?;
            let fetched = self.between(back, |run| run.host[2].queue_range_from(back, run.device[2], range.clone()))?;
            let parts = [(Engine::CopyIn, arrived), (Engine::Compute, multiplied), (Engine::CopyOut, fetched)];
            let marks = parts.map(|(engine, (start, end))| Mark { engine, iteration, strip: number, start, end });
            self.marks.extend(marks);
        }
        Ok(())
    }

    /// What `queue` queues on a stream, between two events.
    fn between(
        &mut self,
        stream: &Stream,
        queue: impl FnOnce(&mut Self) -> Result<(), RunError>,
    ) -> Result<(Event, Event), RunError> {
        let (start, end) = (Event::new()?, Event::new()?);
        stream.record(&start)?;
        queue(self)?;
        stream.record(&end)?;
        Ok((start, end))
    }

    fn marked(
        &mut self,
        engine: Engine,
        iteration: u32,
        queue: impl FnOnce(&mut Self) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let gpu = self.gpu;
        let (start, end) = self.between(&gpu.stream, queue)?;
        self.marks.push(Mark { engine, iteration, strip: 0, start, end });
        Ok(())
    }

    fn wait(&self, stop: &AtomicBool) -> Result<(), RunError> {
        let streams = [&self.copies[0], &self.gpu.stream, &self.copies[1]];
        streams.into_iter().try_for_each(|stream| stream.wait(Instant::now() + TIME_LIMIT, stop))
    }

    /// The first iterations. Where the data stays, the copy back follows the last of them, as if it were the last of
    /// all: what lies between is left out of the picture.
    fn pieces(&self, way: Way) -> Result<Vec<Piece>, RunError> {
        let Some(Mark { start: origin, .. }) = self.marks.first() else { return Ok(Vec::new()) };
        let mut pieces: Vec<Piece> = Vec::new();
        for Mark { engine, iteration, strip, start, end } in &self.marks {
            let shown = *iteration < SHOWN;
            let is_last_copy = way == Way::Stays && *engine == Engine::CopyOut;
            if !shown && !is_last_copy {
                continue;
            }
            let measured_ns = origin.nanos_until(start)?;
            let start_ns = if shown { measured_ns } else { pieces.last().map_or(measured_ns, |last| last.end_ns) };
            let end_ns = start_ns + start.nanos_until(end)?;
            pieces.push(Piece {
                engine: *engine,
                iteration: (*iteration).min(SHOWN - 1),
                strip: *strip,
                start_ns,
                end_ns,
            });
        }
        pieces.sort_by(|a, b| a.start_ns.total_cmp(&b.start_ns));
        Ok(pieces)
    }
}

/// Whole numbers from -4 to 4, as bytes of floats: their products add up exactly.
fn whole_numbers(n: usize, seed: u32) -> Vec<u8> {
    let mut state = seed;
    let numbers = (0..n * n).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((state >> 16) % 9) as f32 - 4.0
    });
    numbers.flat_map(f32::to_ne_bytes).collect()
}

/// Compares some rows with a product in double precision.
fn is_right(n: usize, a: &[u8], b: &[u8], c: &[u8]) -> bool {
    const ROWS: usize = 16;
    let at = |bytes: &[u8], index: usize| {
        let bytes: [u8; 4] = bytes[4 * index..4 * index + 4].try_into().unwrap_or_default();
        f64::from(f32::from_ne_bytes(bytes))
    };
    (0..n).step_by(n.div_ceil(ROWS).max(1)).all(|i| {
        let mut row = vec![0.0; n];
        for k in 0..n {
            let factor = at(a, i * n + k);
            for (j, sum) in row.iter_mut().enumerate() {
                *sum += factor * at(b, k * n + j);
            }
        }
        row.iter().enumerate().all(|(j, want)| *want == at(c, i * n + j))
    })
}

/// Opens the first GPU, for a program that wants nothing else of it; and its name.
///
/// # Errors
/// [`RunError::Environment`] when there is none.
pub fn open_gpu() -> Result<(CudaDevice, String), RunError> {
    if crate::cuda::list().is_empty() {
        return Err(RunError::Environment(
            "no NVIDIA GPU with a driver was found here, and cuBLAS runs on nothing else".to_owned(),
        ));
    }
    let gpu = CudaDevice::open(0)?;
    let name = gpu.info().name.clone();
    Ok((gpu, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_right_product_is_told_from_a_wrong_one() {
        let n = 20;
        let (a, b) = (whole_numbers(n, 1), whole_numbers(n, 2));
        let at = |bytes: &[u8], i: usize| f32::from_ne_bytes(bytes[4 * i..4 * i + 4].try_into().unwrap());
        let mut c: Vec<f32> = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                c[i * n + j] = (0..n).map(|k| at(&a, i * n + k) * at(&b, k * n + j)).sum();
            }
        }
        let bytes = |c: &[f32]| c.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<u8>>();
        assert!(is_right(n, &a, &b, &bytes(&c)));
        c[0] += 1.0;
        assert!(!is_right(n, &a, &b, &bytes(&c)));
    }

    /// `cargo test -p gpu-core transfers -- --ignored`, with a GPU and cuBLASLt.
    #[test]
    #[ignore = "needs a GPU and cuBLASLt"]
    fn every_way_is_right_and_copying_costs() {
        let file = crate::compile::locate::cublas_lt(None, Path::new(".")).expect("cuBLASLt");
        let (gpu, _) = open_gpu().expect("a GPU");
        let mut found = Vec::new();
        measure(&gpu, &file, 1024, &AtomicBool::new(false), &mut |transfers| found.push(transfers)).unwrap();
        assert_eq!(found.iter().map(|t| t.way).collect::<Vec<_>>(), Way::ALL);
        assert!(found.iter().all(|t| t.ok && t.median_ns > 0.0 && t.pieces.len() >= 5), "{found:?}");
        assert!(found[1].median_ns > 2.0 * found[0].median_ns, "{found:?}");
        for transfers in &found {
            let alone = transfers.pieces.windows(2).all(|pair| pair[0].end_ns <= pair[1].start_ns + 1.0);
            assert_eq!(alone, transfers.way != Way::Overlapped, "{transfers:?}");
        }
    }
}
