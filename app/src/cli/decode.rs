//! `lockstep decode`: the small model writes, byte by byte. Its layers run on the CPU; the attention of every new token is a
//! launch of the learner's kernel over a quantized, paged cache, so a wrong kernel writes another text.

mod kernel;
mod voice;

use super::engine::{self, DeviceArgs};
use super::{Done, Failure, Places, json, out, usage};
use crate::scripts::Figure;
use gpu_core::job::Outcome;
use kernel::{Attention, Stopped};
use serde_json::{Value, json as object};
use small_model::{Batch, CacheFormat, HELD_OUT, Model, attend, draw, perplexity};
use std::time::Instant;
use voice::{ModelName, Voice};

/// Bytes that a text begins with when nothing is asked.
const PROMPT: &str = "A warp is ";
/// Texts at once.
const MOST_TEXTS: usize = 256;

#[derive(clap::Args)]
pub struct Args {
    /// Which model writes: the course's own, or SmolLM2-135M, which `lockstep setup --model smollm2` fetches
    #[arg(long, value_enum, default_value_t = ModelName::Course)]
    model: ModelName,
    /// How keys and values are stored: fp16, bf16, fp8, k8v4 (keys e4m3, values NVFP4), nvfp4 or int4
    #[arg(long, value_name = "FORMAT", default_value = "k8v4")]
    cache: String,
    /// The attention: a file, or for k8v4 `scaffold`, `solution`, `reference` or `wrong/NAME` of week 4 day 7 [default: the
    /// course's]
    #[arg(long, value_name = "FILE")]
    kernel: Option<String>,
    /// What the text begins with
    #[arg(long, value_name = "TEXT", default_value = PROMPT)]
    prompt: String,
    /// Tokens to write; of the course's model a token is a byte
    #[arg(long, value_name = "N", default_value_t = 120)]
    tokens: usize,
    /// Write this many texts at once, which share each launch of the attention, as an engine serves several people; with
    /// --temperature above 0 each is drawn by itself
    #[arg(long, value_name = "TEXTS", default_value_t = 1, conflicts_with_all = ["lines", "perplexity"])]
    batch: usize,
    /// 0 takes the most probable byte each time, 1 draws as the model says, in between is more careful (--seed draws others)
    #[arg(long, value_name = "T", default_value_t = 0.0)]
    temperature: f64,
    /// Measure perplexity on held-out text with this cache and with fp16, and write nothing (on the CPU, no kernel)
    #[arg(long)]
    perplexity: bool,
    /// Print one line of JSON about the run, then one for each byte with its time
    #[arg(long, conflicts_with_all = ["json", "perplexity"])]
    lines: bool,
    #[command(flatten)]
    device: DeviceArgs,
    /// Print one JSON object (app/JSON.md, "decode")
    #[arg(long)]
    pub json: bool,
}

/// What the texts cost.
#[derive(Default)]
struct Written {
    /// By text.
    texts: Vec<Vec<u8>>,
    /// Of each step, which is a token for each text: all layers and the attention's launches, in milliseconds.
    times_ms: Vec<f64>,
    /// Largest difference of the kernel's attention from the CPU's over the same cache, relative to the largest value of
    /// that answer.
    largest_error: f64,
}

pub fn run(args: &Args, places: &Places) -> Done {
    let format = CacheFormat::ALL.into_iter().find(|format| format.name() == args.cache).ok_or_else(|| {
        let known = CacheFormat::ALL.map(CacheFormat::name).join(", ");
        usage(format!("there is no cache format `{}`; it can be {known}", args.cache))
    })?;
    if args.perplexity {
        if args.model != ModelName::Course {
            return Err(usage("--perplexity is of the course's own model and its held-out text; leave --model out"));
        }
        return measure(args, &Model::embedded().map_err(usage)?, format);
    }
    let voice = Voice::open(args.model, places, &args.prompt)?;
    let (model, prompt) = (&voice.model, &voice.prompt);
    let context = model.shape.context;
    if prompt.is_empty() || args.tokens == 0 || prompt.len() + args.tokens > context {
        return Err(usage(format!(
            "the prompt has {} tokens and {} are to be written: write at least one each, and at most {context} together",
            prompt.len(),
            args.tokens
        )));
    }
    if !(1..=MOST_TEXTS).contains(&args.batch) {
        return Err(usage(format!("{} texts at once are not possible; write 1 to {MOST_TEXTS}", args.batch)));
    }
    if !(0.0..=10.0).contains(&args.temperature) {
        return Err(usage(format!("a temperature of {} is not possible; write 0 to 10", args.temperature)));
    }
    let target = args.device.target(places)?;
    let mut attention =
        Attention::new(places, format, args.kernel.as_deref(), target.choice.clone(), args.device.arch()?)?;
    let lab = engine::start(places, &target);
    if args.lines {
        out::print(&format!("{}\n", head(args, model, format, &attention, &target.shown)));
    } else if !args.json {
        out::print(&format!(
            "kernel  {}\ndevice  {}\ncache   {}, {} bytes a token (fp16: {})\n\n{}",
            attention.kernel.shown,
            target.shown,
            format.name(),
            format.bytes_per_token(model),
            CacheFormat::Fp16.bytes_per_token(model),
            out::visible(&args.prompt)
        ));
    }
    let mut written = Written { texts: vec![Vec::new(); args.batch], ..Written::default() };
    let stopped = write(args, &voice, format, &mut attention, &lab, &mut written);
    if args.json {
        let answer = if let Err(Stopped::Kernel(answer)) = &stopped { Some(answer) } else { None };
        let mut fields = fields(args, model, format, &attention, &written);
        fields["outcome"] = object!(answer.map_or("done", |answer| json::outcome(&answer.outcome)));
        fields["message"] = object!(answer.and_then(|answer| why(answer)));
        out::json(&json::envelope("decode", fields));
    } else if !args.lines {
        out::print(&summary(model, format, &written, &target.shown));
    }
    match stopped {
        Ok(()) => Ok(()),
        Err(Stopped::Failure(failure)) => Err(failure),
        Err(Stopped::Kernel(answer)) => {
            if args.lines {
                let why = why(&answer).unwrap_or_else(|| "the kernel does not compile".to_owned());
                out::print(&format!("{}\n", object!({ "error": why })));
            } else if !args.json {
                out::print(&answer.compile_text(&attention.kernel.for_report(), out::Style::stdout()));
                if let Some(why) = why(&answer) {
                    out::print(&format!("\nFAILED after {} bytes: {why}\n", written.texts[0].len()));
                }
            }
            Err(match answer.outcome {
                Outcome::Done => Failure::Kernel,
                _ => engine::failure(&answer),
            })
        }
    }
}

/// Writes the texts. The prompt's own attention, but for its last token, is the CPU's.
fn write(
    args: &Args,
    voice: &Voice,
    format: CacheFormat,
    attention: &mut Attention,
    lab: &gpu_core::worker::Lab,
    written: &mut Written,
) -> Result<(), Stopped> {
    let model = &voice.model;
    let mut batch = Batch::new(model, format, args.batch);
    let (last, before) = voice.prompt.split_last().unwrap_or((&0, &[]));
    batch.prompt(before);
    let mut tokens = vec![*last; args.batch];
    let mut ended = vec![false; args.batch];
    let mut pending = Vec::new();
    let mut random = Random(args.device.seed.unwrap_or(1));
    for _ in 0..args.tokens {
        let began = Instant::now();
        let mut checked = 0.0;
        let logits = batch.step(&tokens, &mut |query| {
            let got = attention.ask(lab, &model.shape, query)?;
            let checking = Instant::now();
            let width = query.q.len() / query.caches.len();
            for ((cache, q), got) in query.caches.iter().zip(query.q.chunks(width)).zip(got.chunks(width)) {
                let expected = attend(&model.shape, cache, query.layer, q, query.length);
                let most = expected.iter().fold(f32::MIN_POSITIVE, |most, value| most.max(value.abs()));
                let error = got.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                written.largest_error = written.largest_error.max(f64::from(error / most));
            }
            checked += checking.elapsed().as_secs_f64();
            Ok(got)
        })?;
        written.times_ms.push((began.elapsed().as_secs_f64() - checked) * 1e3);
        for (at, logits) in logits.iter().enumerate() {
            tokens[at] = draw(logits, args.temperature, random.next());
            ended[at] |= voice.ends_with(tokens[at]);
            if !ended[at] {
                written.texts[at].extend_from_slice(&voice.bytes(tokens[at]));
            }
        }
        let piece = voice.bytes(tokens[0]);
        if args.lines {
            line(written, &piece, &args.device.device);
        } else if !args.json && args.batch == 1 {
            pending.extend_from_slice(&piece);
            show(&mut pending);
        }
        if ended.iter().all(|ended| *ended) {
            break;
        }
    }
    Ok(())
}

/// What `--lines` says first.
fn head(args: &Args, model: &Model, format: CacheFormat, attention: &Attention, device: &str) -> Value {
    object!({
        "kernel": attention.kernel.shown,
        "device": device,
        "cache": format.name(),
        "prompt": args.prompt,
        "bytes_per_token": format.bytes_per_token(model),
        "fp16_bytes_per_token": CacheFormat::Fp16.bytes_per_token(model),
    })
}

/// A token as a rung's figure: text and time.
fn line(written: &Written, piece: &[u8], device: &str) {
    let figure = Figure {
        name: format!("token {}", written.times_ms.len()),
        rung: String::from_utf8_lossy(piece).into_owned(),
        device: device.to_owned(),
        median_ms: written.times_ms.last().copied(),
        ok: true,
        ..Figure::default()
    };
    out::print(&format!("{}\n", serde_json::to_string(&figure).unwrap_or_default()));
}

/// Numbers in `[0, 1)` by SplitMix64, the same for a seed on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ bits >> 31) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Prints what is whole characters of UTF-8; what cannot become one is shown as such.
fn show(pending: &mut Vec<u8>) {
    let whole = match std::str::from_utf8(pending) {
        Ok(text) => text.len(),
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Err(_) => pending.len(),
    };
    if whole > 0 {
        out::print(&out::visible(&String::from_utf8_lossy(&pending[..whole])));
        pending.drain(..whole);
    }
}

fn why(answer: &engine::Answer) -> Option<String> {
    match answer.ran.last().filter(|ran| !ran.case.passed) {
        Some(ran) => Some(ran.summary.clone()),
        None => answer.message().map(str::to_owned),
    }
}

/// Median of a step, in milliseconds; the first launch also compiles.
fn ms_per_token(written: &Written) -> Option<f64> {
    let mut times: Vec<f64> = written.times_ms.iter().skip(1).copied().collect();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}

fn summary(model: &Model, format: CacheFormat, written: &Written, device: &str) -> String {
    let mut text = "\n\n".to_owned();
    if written.texts.len() > 1 {
        for (at, bytes) in written.texts.iter().enumerate() {
            let line = String::from_utf8_lossy(bytes).replace('\n', " ");
            text += &format!("{:>3}  {}\n", at + 1, out::visible(&line));
        }
        text.push('\n');
    }
    if let Some(ms) = ms_per_token(written) {
        let (steps, texts) = (written.times_ms.len(), written.texts.len());
        let of = if texts == 1 { String::new() } else { format!(" for each of {texts} texts") };
        text += &format!(
            "{steps} tokens{of}, {ms:.1} ms a step, {:.0} tokens a second (median on {device}: {} launches through the judge \
             with all copies, and the layers on the CPU)\n",
            texts as f64 * 1e3 / ms,
            model.shape.layers
        );
    }
    let (bytes, plain) = (format.bytes_per_token(model), CacheFormat::Fp16.bytes_per_token(model));
    text += &format!("cache: {:.2} times smaller than fp16\n", plain as f64 / bytes as f64);
    if !written.times_ms.is_empty() {
        text += &format!(
            "attention: at most {:.1e} of the largest value away from float64 over the same cache\n",
            written.largest_error
        );
    }
    text
}

fn fields(args: &Args, model: &Model, format: CacheFormat, attention: &Attention, written: &Written) -> Value {
    object!({
        "kernel": attention.kernel.shown,
        "device": args.device.device,
        "cache": format.name(),
        "prompt": args.prompt,
        "text": String::from_utf8_lossy(&written.texts[0]),
        "texts": written.texts.iter().map(|text| String::from_utf8_lossy(text)).collect::<Vec<_>>(),
        "tokens": written.times_ms.len(),
        "ms_per_token": ms_per_token(written),
        "tokens_per_second": ms_per_token(written).map(|ms| written.texts.len() as f64 * 1e3 / ms),
        "bytes_per_token": format.bytes_per_token(model),
        "fp16_bytes_per_token": CacheFormat::Fp16.bytes_per_token(model),
        "largest_error": written.largest_error,
        "perplexity": null,
    })
}

fn measure(args: &Args, model: &Model, format: CacheFormat) -> Done {
    /// Long enough that most bytes have something to attend to, and several windows fit the text.
    const WINDOW: usize = 512;
    let here = perplexity(model, format, HELD_OUT, WINDOW);
    let plain = if format == CacheFormat::Fp16 { here } else { perplexity(model, CacheFormat::Fp16, HELD_OUT, WINDOW) };
    let change = here.value() / plain.value() - 1.0;
    if args.json {
        let body = object!({
            "kernel": null, "device": "cpu", "cache": format.name(), "prompt": null, "text": null, "texts": [], "tokens": 0,
            "ms_per_token": null, "tokens_per_second": null, "bytes_per_token": format.bytes_per_token(model),
            "fp16_bytes_per_token": CacheFormat::Fp16.bytes_per_token(model), "largest_error": null,
            "perplexity": { "bytes": here.bytes, "window": WINDOW, "value": here.value(), "fp16": plain.value(),
                            "change": change },
            "outcome": "done", "message": null,
        });
        out::json(&json::envelope("decode", body));
        return Ok(());
    }
    out::print(&format!(
        "held-out text of the course, {} bytes in windows of {WINDOW}; keys and values stored as {} and read back, attention on \
         the CPU\n\n  fp16   {:.4} a byte\n  {:<5}  {:.4} a byte ({:+.2}%)\n\ncache: {} bytes a token, fp16 {}\n",
        here.bytes,
        format.name(),
        plain.value(),
        format.name(),
        here.value(),
        change * 100.0,
        format.bytes_per_token(model),
        CacheFormat::Fp16.bytes_per_token(model)
    ));
    Ok(())
}
