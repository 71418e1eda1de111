//! The attention of a decode step as a job: what a kernel for each format of the cache takes, and a step's bytes.

use super::super::engine::{self, Answer};
use super::super::{Failure, Places, content, usage};
use crate::viz::decode_writer::DAY;
use gpu_core::device::DeviceChoice;
use gpu_core::job::{Job, Outcome, RunOptions};
use gpu_core::spec::{Size, Spec};
use gpu_core::worker::Lab;
use small_model::{BatchQuery, CacheFormat, PAGE_SIZE, Pages, Shape, SideFormat};
use std::fmt::Write;

/// What the kernel is for the other formats.
const PLAIN: &str = include_str!("../../../../assets/small-model/attention.cu");

/// A kernel and how it is launched.
pub struct Attention {
    pub kernel: content::Kernel,
    spec: Spec,
    device: DeviceChoice,
    arch: Option<String>,
}

impl Attention {
    pub fn new(
        places: &Places,
        format: CacheFormat,
        named: Option<&str>,
        device: DeviceChoice,
        arch: Option<String>,
    ) -> Result<Self, Failure> {
        let (kernel, mut spec) = match format {
            CacheFormat::K8v4 => {
                let course = content::course(places)?;
                let (day, exercise) = content::exercise(&course, DAY, None)?;
                let kernel = content::kernel(places, day, exercise, Some(named.unwrap_or("reference")))?;
                (kernel, exercise.spec.clone())
            }
            _ => {
                let spec = Spec::parse(&spec_text(format), "the decode kernel's spec").map_err(usage)?;
                let kernel = match named {
                    Some(path) => content::file(std::path::Path::new(path))?,
                    None => content::Kernel {
                        source: gpu_core::job::Source { name: "attention.cu".into(), ..content::text(PLAIN) },
                        shown: "the course's plain kernel (attention.cu)".into(),
                        spec: None,
                    },
                };
                (kernel, spec)
            }
        };
        // With a reference to compare with, a wrong kernel would be refused: here its text is what is asked for.
        spec.oracle = None;
        Ok(Attention { kernel, spec, device, arch })
    }

    /// Runs one layer's attention for all texts. Whatever is wrong with the kernel ends them: it is in the answer.
    pub fn ask(&mut self, lab: &Lab, shape: &Shape, query: &BatchQuery<'_>) -> Result<Vec<f32>, Stopped> {
        let pages = query.pages();
        // What else the exercise's sizes name, its inputs may ask for, although all of them are given here.
        let mut size: Size = self.spec.check.first().cloned().unwrap_or_default();
        let own = [
            ("batch", query.caches.len()),
            ("heads", shape.query_heads),
            ("key_heads", shape.key_heads),
            ("page_size", PAGE_SIZE),
            ("most_pages", pages.pages_per_text),
            ("pages", pages.page_table.len()),
            ("least", 1),
        ];
        size.extend(own.into_iter().map(|(name, value)| (name.to_owned(), value as i64)));
        let options = RunOptions {
            sizes: vec![size],
            inputs: self.inputs(query, pages),
            whole_outputs: true,
            may_be_infinite: false,
            ..RunOptions::default()
        };
        let job = Job::Run {
            source: self.kernel.source.clone(),
            spec: Box::new(self.spec.clone()),
            device: self.device.clone(),
            arch: self.arch.clone(),
            seed: Some(1),
            trace: None,
            options: Box::new(options),
        };
        let answer = engine::run_in(lab, job, false).map_err(Stopped::Failure)?;
        let ran = answer.ran.last().filter(|ran| ran.case.passed && answer.outcome == Outcome::Done);
        let out = ran.and_then(|ran| ran.outputs.iter().find(|output| output.name == "out"));
        match out
            .map(|out| out.bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])))
        {
            Some(values) => Ok(values.collect()),
            None => Err(Stopped::Kernel(Box::new(answer))),
        }
    }

    /// What the kernel's buffers hold. Those that it does not have are left out.
    fn inputs(&self, query: &BatchQuery<'_>, pages: Pages) -> Vec<(String, Vec<u8>)> {
        let pools = &query.caches[0].layers[query.layer];
        let words = |values: &mut dyn Iterator<Item = [u8; 4]>| values.flatten().collect::<Vec<u8>>();
        let length = query.length as i32;
        let all = [
            ("q", words(&mut query.q.iter().map(|value| value.to_le_bytes()))),
            ("k_codes", pages.k_codes),
            ("k_scales", pages.k_scales),
            ("v_codes", pages.v_codes),
            ("v_scales", pages.v_scales),
            ("k_scale", pools.k.tensor_scale.to_le_bytes().to_vec()),
            ("v_scale", pools.v.tensor_scale.to_le_bytes().to_vec()),
            ("page_table", words(&mut pages.page_table.iter().map(|page| page.to_le_bytes()))),
            ("lengths", words(&mut query.caches.iter().map(|_| length.to_le_bytes()))),
        ];
        let taken = |name: &str| self.spec.params.iter().any(|param| param.name() == name);
        all.into_iter().filter(|(name, _)| taken(name)).map(|(name, bytes)| (name.to_owned(), bytes)).collect()
    }
}

/// Why a step has no result.
pub enum Stopped {
    /// The kernel does not compile, or did something that ends a run.
    Kernel(Box<Answer>),
    Failure(Failure),
}

/// The spec of a kernel over a cache of that format: the parameters of the day's exercise, with codes of another kind.
fn spec_text(format: CacheFormat) -> String {
    let (k, v) = format.sides();
    let number = |side| match side {
        SideFormat::Fp16 => 0,
        SideFormat::Bf16 => 1,
        SideFormat::E4m3 => 2,
        SideFormat::Nvfp4 => 3,
        SideFormat::Int4 => 4,
    };
    let mut text = format!(
        "title = \"Decode over a paged cache ({})\"\nentry = \"decode_paged\"\n\
         options = [\"-DK_FORMAT={}\", \"-DV_FORMAT={}\"]\n",
        format.name(),
        number(k),
        number(v)
    );
    let mut buffer = |name: &str, dtype: &str, shape: &str| {
        let role = if name == "out" { "\nrole = \"out\"" } else { "" };
        let _ = write!(text, "\n[[param]]\nname = \"{name}\"\ndtype = \"{dtype}\"\nshape = [{shape}]{role}\n");
    };
    let row = |length: &str| format!("\"pages\", \"page_size\", \"key_heads\", \"{length}\"");
    buffer("q", "f32", "\"batch\", \"heads\", \"64\"");
    for (name, side) in [("k", k), ("v", v)] {
        let (dtype, codes) = match side {
            SideFormat::Fp16 => ("f16", "64"),
            SideFormat::Bf16 => ("bf16", "64"),
            SideFormat::E4m3 => ("e4m3", "64"),
            SideFormat::Nvfp4 | SideFormat::Int4 => ("u8", "32"),
        };
        buffer(&format!("{name}_codes"), dtype, &row(codes));
        match side {
            SideFormat::Nvfp4 => buffer(&format!("{name}_scales"), "e4m3", &row("4")),
            SideFormat::Int4 => buffer(&format!("{name}_scales"), "f16", &row("2")),
            SideFormat::Fp16 | SideFormat::Bf16 | SideFormat::E4m3 => {}
        }
    }
    if number(k) >= 2 {
        buffer("k_scale", "f32", "\"1\"");
        buffer("v_scale", "f32", "\"1\"");
    }
    buffer("page_table", "i32", "\"batch\", \"most_pages\"");
    buffer("lengths", "i32", "\"batch\"");
    buffer("out", "f32", "\"batch\", \"heads\", \"64\"");
    for scalar in ["heads", "key_heads", "page_size", "most_pages"] {
        let _ = write!(text, "\n[[param]]\nname = \"{scalar}\"\ndtype = \"i32\"\nvalue = \"{scalar}\"\n");
    }
    text + "\n[launch]\ngrid = [\"heads\", \"batch\"]\nblock = [32]\nlearner_may_change = true\n\n[sizes]\n\
            check = [{ batch = 1, heads = 4, key_heads = 2, page_size = 16, most_pages = 4, pages = 4, least = 1 }]\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_a_spec_and_the_days_is_one_of_them() {
        for format in CacheFormat::ALL {
            let text = spec_text(format);
            Spec::parse(&text, "test").unwrap_or_else(|error| panic!("{}: {error}\n{text}", format.name()));
        }
        let generated = Spec::parse(&spec_text(CacheFormat::K8v4), "test").unwrap();
        let course = curriculum::Course::embedded();
        let (_, exercise) = content::exercise(&course, DAY, None).unwrap();
        let names = |spec: &Spec| spec.params.iter().map(|param| param.name().to_owned()).collect::<Vec<_>>();
        assert_eq!(names(&generated), names(&exercise.spec));
    }
}
