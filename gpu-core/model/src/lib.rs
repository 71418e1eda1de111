//! The course's small language model, or another one with Llama's layers from a GGUF file: everything but the attention on the CPU in f32, and the cache of keys and values
//! that a kernel attends over. Weights and their recipe are in `assets/small-model`.

mod attend;
mod batch;
mod cache;
mod decode;
mod forward;
pub mod gguf;
mod matrix;
mod perplexity;
mod tokenizer;
mod weights;

pub use attend::attend;
pub use batch::{Batch, BatchQuery, Pages};
pub use cache::{Cache, CacheFormat, LayerCache, PAGE_SIZE, Pool, SideFormat};
pub use decode::{Decoder, draw, largest};
pub use perplexity::{Perplexity, perplexity};
pub use tokenizer::Tokenizer;
pub use weights::{Model, Shape};

/// Text of lessons that the model was not trained on.
pub const HELD_OUT: &[u8] = include_bytes!("../../../assets/small-model/held-out.txt");
