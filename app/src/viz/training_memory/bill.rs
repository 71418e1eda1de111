//! The arithmetic of the bill: bytes of each item, and the formula they come from.
//!
//! The layer is that of Korthikanti and others (2022): attention, a feed-forward part four times wider with GELU between
//! its two products, two layer norms, dropout three times.

/// A decoder-only transformer with tied embeddings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    pub name: &'static str,
    pub layers: usize,
    pub width: usize,
    pub heads: usize,
    pub vocabulary: usize,
}

impl Model {
    /// All but biases and norms, which are few.
    pub fn parameters(&self) -> f64 {
        let width = self.width as f64;
        12.0 * self.layers as f64 * width * width + self.vocabulary as f64 * width
    }
}

pub const PRESETS: [Model; 3] = [
    Model { name: "1.3 billion", layers: 24, width: 2048, heads: 16, vocabulary: 50_304 },
    Model { name: "124 million", layers: 12, width: 768, heads: 12, vocabulary: 50_257 },
    Model { name: "6.7 billion", layers: 32, width: 4096, heads: 32, vocabulary: 50_304 },
];

/// Bytes an element of what training keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    pub name: &'static str,
    weight: f64,
    gradient: f64,
    master: f64,
    activation: f64,
}

pub const PRECISIONS: [Precision; 3] = [
    Precision { name: "16 bits", weight: 2.0, gradient: 2.0, master: 4.0, activation: 2.0 },
    Precision { name: "16 bits, fp32 gradients", weight: 2.0, gradient: 4.0, master: 4.0, activation: 2.0 },
    Precision { name: "fp32", weight: 4.0, gradient: 4.0, master: 0.0, activation: 4.0 },
];

/// Optimizers with the bytes that they keep for each parameter.
pub const OPTIMIZERS: [(&str, f64); 4] =
    [("Adam", 8.0), ("Adam, 8 bits", 2.0), ("momentum", 4.0), ("gradient descent", 0.0)];

pub const RECOMPUTE: [&str; 2] = ["none", "every layer"];

/// What is spread over the GPUs, by stage.
pub const ZERO: [&str; 4] = ["0: nothing spread", "1: optimizer spread", "2: and gradients", "3: and weights"];

pub const ITEMS: [&str; 7] = ["weights", "gradients", "master weights", "optimizer", "activations", "scores", "logits"];

/// Index of the first item that grows with the batch.
const FIRST_OF_THE_BATCH: usize = 4;

/// Everything that is chosen beside the batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choices {
    pub model: Model,
    /// Tokens.
    pub sequence: usize,
    /// Index into [`PRECISIONS`].
    pub precision: usize,
    /// Index into [`OPTIMIZERS`].
    pub optimizer: usize,
    /// Index into [`RECOMPUTE`].
    pub recompute: usize,
    /// Stage, 0 to 3.
    pub zero: usize,
    pub gpus: usize,
    /// No scores of attention are stored.
    pub fused: bool,
}

impl Default for Choices {
    fn default() -> Self {
        Self {
            model: PRESETS[0],
            sequence: 2048,
            precision: 0,
            optimizer: 0,
            recompute: 0,
            zero: 0,
            gpus: 1,
            fused: true,
        }
    }
}

/// Bytes on one GPU, by [`ITEMS`].
#[derive(Clone, Debug, PartialEq)]
pub struct Bill {
    pub items: [f64; ITEMS.len()],
    pub formulas: [String; ITEMS.len()],
}

impl Bill {
    pub fn total(&self) -> f64 {
        self.items.iter().sum()
    }

    /// What is there before the first batch.
    pub fn state(&self) -> f64 {
        self.items[..FIRST_OF_THE_BATCH].iter().sum()
    }

    /// Index of the largest item and its share of all.
    pub fn largest(&self) -> (usize, f64) {
        let largest = (0..ITEMS.len()).max_by(|a, b| self.items[*a].total_cmp(&self.items[*b])).unwrap_or(0);
        (largest, self.items[largest] / self.total().max(1.0))
    }
}

impl Choices {
    pub fn bill(&self, batch: usize) -> Bill {
        let (model, precision) = (&self.model, PRECISIONS[self.precision]);
        let parameters = model.parameters();
        let optimizer = OPTIMIZERS[self.optimizer].1;
        // Stage 1 spreads what the optimizer alone reads, and so on.
        let spread = |from: usize| if self.zero >= from { self.gpus.max(1) as f64 } else { 1.0 };
        let divided = |from: usize| match spread(from) {
            1.0 => String::new(),
            gpus => format!(" / {gpus}"),
        };
        let state = [(precision.weight, 3), (precision.gradient, 2), (precision.master, 1), (optimizer, 1)];

        let e = precision.activation;
        let (linear, stored) = layer(e, 1.0);
        let squared = if self.fused { 0.0 } else { stored };
        let rows = (self.sequence * batch) as f64 * model.width as f64;
        let pairs = (self.sequence * self.sequence) as f64 * (batch * model.heads) as f64;
        let layers = model.layers as f64;
        let is_recomputed = self.recompute == 1;
        // With recomputation each layer keeps its input, and one layer is there in full.
        let whole_layers = if is_recomputed { 1.0 } else { layers };
        let kept_inputs = if is_recomputed { e * layers * rows } else { 0.0 };
        // In fp32, and as many for their gradient.
        let logits = 8.0 * (self.sequence * batch) as f64 * model.vocabulary as f64;

        let mut items = [0.0; ITEMS.len()];
        let mut formulas: [String; ITEMS.len()] = Default::default();
        for (index, (each, from)) in state.into_iter().enumerate() {
            items[index] = each * parameters / spread(from);
            formulas[index] = if each > 0.0 { format!("{each}P{}", divided(from)) } else { "none".to_owned() };
        }
        items[4] = kept_inputs + whole_layers * rows * linear;
        formulas[4] = match is_recomputed {
            true => format!("{e}Lsbh + {linear}sbh"),
            false => format!("{linear}Lsbh"),
        };
        items[5] = whole_layers * pairs * squared;
        formulas[5] = match (self.fused, is_recomputed) {
            (true, _) => "none stored".to_owned(),
            (false, true) => format!("{squared}as²b"),
            (false, false) => format!("{squared}Las²b"),
        };
        items[6] = logits;
        formulas[6] = "(4 + 4)sbV".to_owned();
        Bill { items, formulas }
    }
}

/// Bytes that a layer keeps for each element of a row of h numbers, and for each score, with so many bytes an element and a
/// mask's element.
fn layer(element: f64, mask: f64) -> (f64, f64) {
    // The inputs of the two norms.
    let norms = 2.0;
    // The input of the product that makes Q, K and V, these three, and what attention gives.
    let attention = 1.0 + 3.0 + 1.0;
    // The input of the first product, and the rows before and after GELU, four times wider.
    let feed_forward = 1.0 + 4.0 + 4.0;
    let linear = (norms + attention + feed_forward) * element + 2.0 * mask;
    // The softmax, what dropout left of it, and a mask.
    (linear, 2.0 * element + mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gb(bill: &Bill) -> Vec<f64> {
        bill.items.iter().map(|value| (value / 1e8).round() / 10.0).collect()
    }

    /// The table of `reference/training-memory`, which was worked by hand.
    #[test]
    fn it_gives_the_worked_table() {
        let stored = Choices { fused: false, ..Choices::default() };
        assert_eq!(gb(&stored.bill(8)), [2.6, 2.6, 5.2, 10.5, 27.4, 64.4, 6.6]);
        assert_eq!(gb(&Choices::default().bill(8)), [2.6, 2.6, 5.2, 10.5, 27.4, 0.0, 6.6]);
        let again = Choices { recompute: 1, ..Choices::default() };
        assert_eq!(gb(&again.bill(8)), [2.6, 2.6, 5.2, 10.5, 2.8, 0.0, 6.6]);
        for (choices, total) in [(stored, 119.4), (Choices::default(), 54.9), (again, 30.3)] {
            assert!((choices.bill(8).total() / 1e9 - total).abs() < 0.06, "{total}");
        }
    }

    /// What PyTorch 2.2.2 kept of one layer on a CPU on 28 November 2026, counted by `app/tests/training_memory.py`: bytes as
    /// multiples of sbh and of as²b. Its dropout keeps masks in the layer's own format there, where a GPU's keeps bytes.
    #[test]
    fn it_gives_what_pytorch_kept() {
        for (bytes, linear, squared) in [(2.0, 36.031, 6.0), (4.0, 72.062, 12.0)] {
            let (own_linear, own_squared) = layer(bytes, bytes);
            // Beside rows of h it keeps four numbers a row for the two norms: 4 / 256.
            assert!((own_linear / linear - 1.0).abs() < 0.001, "{own_linear} {linear}");
            assert_eq!(own_squared, squared);
        }
        assert_eq!((layer(2.0, 1.0), OPTIMIZERS[0].1, OPTIMIZERS[2].1), ((34.0, 5.0), 8.0, 4.0));
    }

    #[test]
    fn zero_divides_what_its_stage_spreads() {
        let of = |zero| Choices { zero, gpus: 8, ..Choices::default() }.bill(1).state() / PRESETS[0].parameters();
        // Rajbhandari and others: 16, then 4 + 12/8, 2 + 14/8, 16/8.
        assert_eq!([0, 1, 2, 3].map(of), [16.0, 5.5, 3.75, 2.0]);
        let bill = Choices { zero: 3, gpus: 8, ..Choices::default() }.bill(1);
        assert_eq!((bill.formulas[0].as_str(), bill.formulas[3].as_str()), ("2P / 8", "8P / 8"));
    }

    #[test]
    fn parameters_are_those_of_known_models() {
        // GPT-2 small has 124.4 million with biases, norms and 1,024 positions, none of which are counted here.
        assert!((PRESETS[1].parameters() / 124.44e6 - 1.0).abs() < 0.01);
        assert!((PRESETS[2].parameters() / 6.66e9 - 1.0).abs() < 0.01);
    }
}
