//! A model that writes and how it is spoken to: the course's own, whose tokens are bytes, or one with a tokenizer.

use super::super::{Failure, Places, setup, usage};
use small_model::{Model, Tokenizer, gguf};

/// The models that `--model` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ModelName {
    Course,
    Smollm2,
}

pub struct Voice {
    pub model: Model,
    /// Tokens that the text begins with.
    pub prompt: Vec<u32>,
    /// None where a token is a byte.
    tokenizer: Option<Tokenizer>,
}

impl Voice {
    pub fn open(name: ModelName, places: &Places, prompt: &str) -> Result<Self, Failure> {
        if name == ModelName::Course {
            let model = Model::embedded().map_err(usage)?;
            return Ok(Self { model, prompt: prompt.bytes().map(u32::from).collect(), tokenizer: None });
        }
        let path = setup::smollm2_path(&places.data_dir());
        let bytes = std::fs::read(&path).map_err(|error| {
            usage(format!(
                "SmolLM2-135M is not there ({error}): `lockstep setup --model smollm2` fetches it, 93 MB, into {}",
                path.display()
            ))
        })?;
        let (mut model, tokenizer) = gguf::parse(&bytes).map_err(|why| usage(format!("{why}: {}", path.display())))?;
        let prompt = tokenizer.encode(prompt);
        // Its file does not say how large keys and values become, which the scales of a cache are made of.
        model.calibrate(&prompt);
        Ok(Self { model, prompt, tokenizer: Some(tokenizer) })
    }

    /// What a token stands for.
    pub fn bytes(&self, token: u32) -> Vec<u8> {
        match &self.tokenizer {
            Some(tokenizer) => tokenizer.bytes(token).to_vec(),
            None => vec![token as u8],
        }
    }

    /// A token after which nothing is to come.
    pub fn ends_with(&self, token: u32) -> bool {
        self.tokenizer.is_some() && self.bytes(token).starts_with(b"<|")
    }
}
