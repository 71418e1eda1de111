//! Holds the emulator's instructions against the hardware's, result by result.
//!
//! [`probes`] lists every form that an architecture has, each as a small PTX kernel that runs the instruction over
//! generated operands; [`Batch`] makes modules of them, [`load`] and [`run`] execute them on a device, [`compare`] says
//! how the results of two devices differ. PTX rather than CUDA C++, so that nothing stands between the form and the
//! machine: the emulator reads the text as it is, the driver assembles it.

mod compare;
mod fill;
mod forms;
mod kernel;
mod record;
mod run;
mod session;

pub use crate::arch::Arch;
pub use compare::{Agreement, Comparison, Difference, Match, Value, compare};
pub use fill::Fill;
pub use kernel::{Batch, batches};
pub use record::Recording;
pub use run::{load, run};
pub use session::{FormOutcome, Row, Stage, check};

use ptx_emulator::TensorMap;

/// One instruction to compare.
#[derive(Clone, Debug)]
pub struct Probe {
    /// The family, as in `--group`.
    pub group: &'static str,
    /// Instruction as it stands in PTX, without operands.
    pub name: String,
    pub agreement: Agreement,
    /// What fills `%a0`, `%a1`, …
    inputs: Vec<Fill>,
    /// What `%d0`, `%d1`, … hold afterwards.
    outputs: Vec<Value>,
    /// The instruction with whatever it needs around it. Knows the names of [`kernel`].
    body: String,
    blocks: usize,
    threads: usize,
    /// Copied into the start of the block's shared memory before the body.
    staged: Option<Staged>,
    /// Bytes of the array `sh` in shared memory.
    shared_bytes: usize,
    /// Bytes of global memory that `%scratch` gives each thread.
    scratch_bytes: usize,
    /// One mood of operands for a whole warp: the sums of a matrix product mix what its lanes hold.
    uniform_mood: bool,
    /// The last blocks, whose operands are tiny.
    tiny_blocks: usize,
    /// Blocks that form a cluster; 1 for none.
    cluster: usize,
    /// The shape of the grid and of the blocks, when they are no rows.
    cube: Option<[[u32; 3]; 2]>,
    /// A tensor map that `%map` points to.
    map: Option<Mapped>,
}

/// A tensor map over the operands, or over the scratch memory; its address counts from their start.
#[derive(Clone, Debug)]
struct Mapped {
    map: TensorMap,
    over_scratch: bool,
}

/// Generated data in shared memory: a matrix that an instruction reads from there.
#[derive(Clone, Debug)]
struct Staged {
    /// One after the other, each of as many bytes.
    parts: Vec<Fill>,
    part_bytes: usize,
}

impl Staged {
    fn bytes(&self) -> usize {
        self.parts.len() * self.part_bytes
    }
}

/// Threads of one launch of a scalar instruction: with operands from 20 edges, every pair of them and 40 times as many
/// others.
const CASES: usize = 64 * 256;

impl Probe {
    /// An instruction of each thread for itself, with `body` written out.
    fn scalar(group: &'static str, name: &str, inputs: &[Fill], outputs: &[Value], body: String) -> Probe {
        // One operand of 16 bits is tried in every value, one of 32 in every exponent.
        let cases = match inputs {
            [Fill::Every16 | Fill::EveryPair] => 1 << 16,
            [Fill::SweepF32] => 1 << 17,
            _ => CASES,
        };
        Probe {
            group,
            name: name.to_owned(),
            agreement: Agreement::Exact,
            inputs: inputs.to_vec(),
            outputs: outputs.to_vec(),
            body,
            blocks: cases / 256,
            threads: 256,
            staged: None,
            shared_bytes: 0,
            scratch_bytes: 0,
            uniform_mood: false,
            tiny_blocks: 0,
            cluster: 1,
            cube: None,
            map: None,
        }
    }

    /// `name %d0, %a0, %a1, …;`
    fn plain(group: &'static str, name: &str, inputs: &[Fill], output: Value) -> Probe {
        let list: String = (0..inputs.len()).map(|i| format!(", %a{i}")).collect();
        Probe::scalar(group, name, inputs, &[output], format!("{name} %d0{list};"))
    }

    /// An instruction of whole warps over matrices.
    fn warp(group: &'static str, name: &str, inputs: Vec<Fill>, outputs: Vec<Value>, body: String) -> Probe {
        Probe {
            threads: 128,
            blocks: 64,
            uniform_mood: true,
            outputs,
            inputs,
            ..Probe::scalar(group, name, &[], &[], body)
        }
    }

    fn within(mut self, agreement: Agreement) -> Probe {
        self.agreement = agreement;
        self
    }

    fn scratch(mut self, bytes: usize) -> Probe {
        self.scratch_bytes = bytes;
        self
    }

    fn shared(mut self, bytes: usize) -> Probe {
        self.shared_bytes = bytes;
        self
    }

    fn cluster(mut self, blocks: usize) -> Probe {
        self.cluster = blocks;
        self
    }

    fn cube(mut self, grid: [u32; 3], block: [u32; 3]) -> Probe {
        let count = |shape: [u32; 3]| shape.iter().product::<u32>() as usize;
        (self.blocks, self.threads) = (count(grid), count(block));
        self.cube = Some([grid, block]);
        self
    }

    fn map(mut self, map: TensorMap, over_scratch: bool) -> Probe {
        self.map = Some(Mapped { map, over_scratch });
        self
    }

    /// Extents of the grid and of a block.
    fn extents(&self) -> [[u32; 3]; 2] {
        self.cube.unwrap_or([[self.blocks as u32, 1, 1], [self.threads as u32, 1, 1]])
    }

    fn stage(mut self, parts: &[Fill], part_bytes: usize) -> Probe {
        self.staged = Some(Staged { parts: parts.to_vec(), part_bytes });
        self.shared_bytes = self.shared_bytes.max(parts.len() * part_bytes);
        self
    }

    fn shape(mut self, blocks: usize, threads: usize) -> Probe {
        (self.blocks, self.threads) = (blocks, threads);
        self
    }

    /// As many blocks more, of matrices whose products sum up to about the least number of the result.
    fn tiny(mut self, blocks: usize) -> Probe {
        self.blocks += blocks;
        self.tiny_blocks = blocks;
        self
    }

    fn is_tiny(&self, block: usize) -> bool {
        block + self.tiny_blocks >= self.blocks
    }

    /// Threads that each give one set of results.
    pub fn cases(&self) -> usize {
        self.blocks * self.threads
    }

    /// Operands of one case, for a report; data in shared memory is not among them.
    pub fn operands_of(&self, case: usize) -> Vec<u64> {
        (0..self.inputs.len()).map(|index| fill::operand(self, index, case)).collect()
    }
}

/// Everything that an architecture can be asked, by family.
pub fn probes(arch: Arch) -> Vec<Probe> {
    forms::FAMILIES.iter().flat_map(|family| family(arch)).collect()
}

#[cfg(test)]
mod tests;
