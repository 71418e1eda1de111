//! Attention in float64: one row of queries at a time, over whole keys or over a cache with pages.

use super::work::Watch;
use super::{Expected, Oracle, Signature, Source, TensorShape, in_bands, want_rank, want_shape};

/// Scaled dot-product attention. Query head `h` reads key head `h / (query heads / key heads)`.
pub(super) static ORACLE: Oracle = Oracle {
    name: "attention",
    signature: "q[batch,heads,queries,d], k[batch,key_heads,keys,d], v[batch,key_heads,keys,dv] (rank 2 and 3 leave out \
                heads and batch), optional inputs lengths[batch], mask[queries,keys] or [batch,heads,queries,keys], \
                optional scalars scale (else 1 / sqrt(d)), causal (else 0) -> out[batch,heads,queries,dv], optional lse \
                of the shape without dv",
    check: |signature| Shape::of(signature).map(|_| ()),
    compute: |signature, inputs, watch| match Shape::of(signature) {
        Ok(shape) => compute(signature, &shape, &Source::plain(inputs), watch),
        Err(_) => Vec::new(),
    },
    sample: Some(|signature, inputs, output, elements| match Shape::of(signature) {
        Ok(shape) => sample(signature, &shape, inputs, output, elements),
        Err(_) => Expected::plain(vec![f64::NAN; elements.len()]),
    }),
    rivals: &["sdpa"],
    ..Oracle::NONE
};

/// One query a sequence, over its own length of a cache.
pub(super) static DECODE: Oracle = Oracle {
    name: "attention_decode",
    signature: "q[batch,heads,d], k[batch,capacity,key_heads,d] and v alike (or pages: k[pages,page_size,key_heads,d] with \
                an input page_table[batch,most_pages]), lengths[batch], optional scalar scale (else 1 / sqrt(d)) -> \
                out[batch,heads,d], optional lse[batch,heads]",
    check: |signature| Shape::of_decode(signature).map(|_| ()),
    compute: |signature, inputs, watch| match Shape::of_decode(signature) {
        Ok(shape) => compute(signature, &shape, &Source::plain(inputs), watch),
        Err(_) => Vec::new(),
    },
    sample: Some(|signature, inputs, output, elements| match Shape::of_decode(signature) {
        Ok(shape) => sample(signature, &shape, inputs, output, elements),
        Err(_) => Expected::plain(vec![f64::NAN; elements.len()]),
    }),
    rivals: &["sdpa_decode"],
    ..Oracle::NONE
};

/// Extents, and where in the inputs everything is.
struct Shape {
    batch: usize,
    heads: usize,
    key_heads: usize,
    queries: usize,
    /// Keys of a sequence, at most.
    keys: usize,
    depth: usize,
    value_depth: usize,
    scale: f64,
    causal: bool,
    layout: Layout,
    lengths: Option<usize>,
    mask: Option<usize>,
    /// Each head of each sequence has a mask of its own.
    mask_is_per_head: bool,
}

/// Where the row of a key lies.
#[derive(Clone, Copy)]
enum Layout {
    /// `[batch, key_heads, keys]`
    HeadsFirst,
    /// `[batch, keys, key_heads]`
    KeysFirst,
    /// `[pages, page_size, key_heads]` by a table of that input's number.
    Paged { table: usize, page: usize, most_pages: usize, pages: usize },
}

/// Extents in four dimensions; leading ones that are left out are 1.
fn four(tensor: &TensorShape) -> Result<[usize; 4], String> {
    let rank = tensor.shape.len();
    if !(2..=4).contains(&rank) {
        return Err(format!("`{}` must have 2, 3 or 4 dimensions, the spec gives {:?}", tensor.name, tensor.shape));
    }
    let mut all = [1; 4];
    all[4 - rank..].copy_from_slice(&tensor.shape);
    Ok(all)
}

impl Shape {
    fn of(signature: &Signature) -> Result<Self, String> {
        signature.counts_between(3, 5, 1, 2)?;
        let [batch, heads, queries, depth] = four(&signature.inputs[0])?;
        let [k_batch, key_heads, keys, k_depth] = four(&signature.inputs[1])?;
        let [v_batch, v_heads, v_keys, value_depth] = four(&signature.inputs[2])?;
        if (k_batch, k_depth) != (batch, depth) || (v_batch, v_heads, v_keys) != (batch, key_heads, keys) {
            let shapes: Vec<_> = signature.inputs[..3].iter().map(|tensor| &tensor.shape).collect();
            return Err(format!("the shapes of q, k and v do not go together: {shapes:?}"));
        }
        divides(heads, key_heads)?;
        for tensor in &signature.inputs[3..] {
            match tensor.name.as_str() {
                "lengths" => want_shape(tensor, &[batch])?,
                "mask" if tensor.shape.len() == 2 => want_shape(tensor, &[queries, keys])?,
                "mask" => want_shape(tensor, &[batch, heads, queries, keys])?,
                other => return Err(format!("`{other}` is neither `lengths` nor `mask`")),
            }
        }
        let q = &signature.inputs[0].shape;
        want_outputs(signature, &q[..q.len() - 1], value_depth)?;
        Ok(Self {
            batch,
            heads,
            key_heads,
            queries,
            keys,
            depth,
            value_depth,
            scale: scale(signature, depth),
            causal: signature.optional_scalar("causal").is_some_and(|causal| causal != 0.0),
            layout: Layout::HeadsFirst,
            lengths: signature.input("lengths"),
            mask: signature.input("mask"),
            mask_is_per_head: signature.input("mask").is_some_and(|mask| signature.inputs[mask].shape.len() == 4),
        })
    }

    fn of_decode(signature: &Signature) -> Result<Self, String> {
        signature.counts_between(4, 5, 1, 2)?;
        want_rank(&signature.inputs[0], 3)?;
        want_rank(&signature.inputs[1], 4)?;
        let [batch, heads, depth] = [0, 1, 2].map(|axis| signature.inputs[0].shape[axis]);
        let [first, second, key_heads, k_depth] = [0, 1, 2, 3].map(|axis| signature.inputs[1].shape[axis]);
        want_shape(&signature.inputs[2], &signature.inputs[1].shape)?;
        if k_depth != depth {
            return Err(format!("q has depth {depth} and k {k_depth}"));
        }
        divides(heads, key_heads)?;
        let lengths = signature.input("lengths").ok_or("an input called `lengths` is missing")?;
        want_shape(&signature.inputs[lengths], &[batch])?;
        let (layout, keys) = match signature.input("page_table") {
            None if signature.inputs.len() > 4 => return Err("the fifth input must be called `page_table`".to_owned()),
            None if first != batch => return Err(format!("k holds {first} sequences and q {batch}")),
            None => (Layout::KeysFirst, second),
            Some(table) => {
                let most_pages = signature.inputs[table].columns();
                want_shape(&signature.inputs[table], &[batch, most_pages])?;
                (Layout::Paged { table, page: second.max(1), most_pages, pages: first }, second * most_pages)
            }
        };
        want_outputs(signature, &[batch, heads], depth)?;
        Ok(Self {
            batch,
            heads,
            key_heads,
            queries: 1,
            keys,
            depth,
            value_depth: depth,
            scale: scale(signature, depth),
            causal: false,
            layout,
            lengths: Some(lengths),
            mask: None,
            mask_is_per_head: false,
        })
    }

    fn rows(&self) -> usize {
        self.batch * self.heads * self.queries
    }

    /// Row number of a key among the rows of k or v; None when its page does not exist.
    fn key_row(&self, inputs: &[Source<'_>], batch: usize, head: usize, key: usize) -> Option<usize> {
        match self.layout {
            Layout::HeadsFirst => Some((batch * self.key_heads + head) * self.keys + key),
            Layout::KeysFirst => Some((batch * self.keys + key) * self.key_heads + head),
            Layout::Paged { table, page, most_pages, pages } => {
                let number = inputs[table].at(batch * most_pages + key / page);
                let is_page = number >= 0.0 && number < pages as f64;
                is_page.then(|| (number as usize * page + key % page) * self.key_heads + head)
            }
        }
    }

    /// One query's output and its magnitudes; returns its log-sum-exp.
    fn row(&self, inputs: &[Source<'_>], row: usize, values: &mut [f64], magnitudes: &mut [f64]) -> f64 {
        let (batch, head) = (row / (self.heads * self.queries), row / self.queries % self.heads);
        let query = row % self.queries;
        let key_head = head / (self.heads / self.key_heads);
        let own = self.lengths.map_or(self.keys, |lengths| inputs[lengths].at(batch).max(0.0) as usize);
        let length = own.min(self.keys);
        // The last query sees the last key, as where queries go on from a cache.
        let seen = if self.causal { (query + 1 + length).saturating_sub(self.queries).min(length) } else { length };
        let q = inputs[0].range(row * self.depth..(row + 1) * self.depth);
        let is_masked = |key: usize| {
            let Some(mask) = self.mask else { return false };
            let plane = if self.mask_is_per_head { batch * self.heads + head } else { 0 };
            inputs[mask].at((plane * self.queries + query) * self.keys + key) == 0.0
        };
        let score = |key: usize| {
            if is_masked(key) {
                return f64::NEG_INFINITY;
            }
            let Some(at) = self.key_row(inputs, batch, key_head, key) else { return f64::NAN };
            let k = inputs[1].range(at * self.depth..(at + 1) * self.depth);
            self.scale * q.iter().zip(k.iter()).map(|(x, y)| x * y).sum::<f64>()
        };
        let scores: Vec<f64> = (0..seen).map(score).collect();
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        values.fill(0.0);
        magnitudes.fill(0.0);
        if most == f64::NEG_INFINITY && !scores.iter().any(|score| score.is_nan()) {
            // Nobody to attend to: zeros by convention, and a sum of nothing.
            return f64::NEG_INFINITY;
        }
        let mut sum = 0.0;
        for (key, score) in scores.iter().enumerate().filter(|(_, score)| **score != f64::NEG_INFINITY) {
            let weight = (score - most).exp();
            sum += weight;
            let Some(at) = self.key_row(inputs, batch, key_head, key) else { continue };
            let v = inputs[2].range(at * self.value_depth..(at + 1) * self.value_depth);
            for ((value, magnitude), x) in values.iter_mut().zip(magnitudes.iter_mut()).zip(v.iter()) {
                *value += weight * x;
                *magnitude += weight * x.abs();
            }
        }
        values.iter_mut().chain(magnitudes).for_each(|x| *x /= sum);
        most + sum.ln()
    }

    /// [`row`](Self::row) into values, magnitudes and log-sum-exp side by side.
    fn whole_row(&self, inputs: &[Source<'_>], row: usize, out: &mut [f64]) {
        let (values, rest) = out.split_at_mut(self.value_depth);
        let (magnitudes, lse) = rest.split_at_mut(self.value_depth);
        lse[0] = self.row(inputs, row, values, magnitudes);
    }

    fn width(&self) -> usize {
        2 * self.value_depth + 1
    }
}

fn scale(signature: &Signature, depth: usize) -> f64 {
    signature.optional_scalar("scale").unwrap_or(1.0 / (depth.max(1) as f64).sqrt())
}

fn divides(heads: usize, key_heads: usize) -> Result<(), String> {
    if key_heads > 0 && heads.is_multiple_of(key_heads) {
        return Ok(());
    }
    Err(format!("{heads} query heads are not a multiple of {key_heads} key heads"))
}

fn want_outputs(signature: &Signature, rows: &[usize], value_depth: usize) -> Result<(), String> {
    want_shape(&signature.outputs[0], &[rows, &[value_depth]].concat())?;
    // Of a single query the rows are one number.
    let rows = if rows.is_empty() { &[1] } else { rows };
    signature.outputs.get(1).map_or(Ok(()), |lse| want_shape(lse, rows))
}

fn compute(signature: &Signature, shape: &Shape, inputs: &[Source<'_>], watch: &mut Watch<'_>) -> Vec<Expected> {
    let (depth, width) = (shape.value_depth, shape.width());
    let mut all = vec![0.0; shape.rows() * width];
    in_bands(&mut all, width, watch, |first, band| {
        band.chunks_exact_mut(width).enumerate().for_each(|(row, out)| shape.whole_row(inputs, first + row, out));
    });
    let part = |from: usize, to: usize| -> Vec<f64> {
        all.chunks_exact(width).flat_map(|row| row[from..to].iter().copied()).collect()
    };
    let mut outputs = vec![Expected::new(part(0, depth), part(depth, 2 * depth))];
    if signature.outputs.len() > 1 {
        outputs.push(Expected::of_logs(part(2 * depth, width)));
    }
    outputs
}

fn sample(signature: &Signature, shape: &Shape, inputs: &[Source<'_>], output: usize, elements: &[usize]) -> Expected {
    let (depth, width) = (shape.value_depth.max(1), shape.width());
    let is_lse = output == 1 && signature.outputs.len() > 1;
    let row_of = |element: usize| if is_lse { element } else { element / depth };
    let mut rows: Vec<usize> = elements.iter().map(|element| row_of(*element)).collect();
    rows.sort_unstable();
    rows.dedup();
    let mut all = vec![0.0; rows.len() * width];
    // A row over many keys may take as long as a whole small case.
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let share = rows.len().div_ceil(cores).max(1);
    std::thread::scope(|scope| {
        for (rows, out) in rows.chunks(share).zip(all.chunks_mut(share * width)) {
            scope.spawn(move || {
                rows.iter().zip(out.chunks_exact_mut(width)).for_each(|(row, out)| shape.whole_row(inputs, *row, out));
            });
        }
    });
    let row = |element: &usize| &all[rows.binary_search(&row_of(*element)).unwrap_or_default() * width..][..width];
    if is_lse {
        return Expected::of_logs(elements.iter().map(|element| row(element)[2 * depth]).collect());
    }
    let of = |element: &usize| (row(element)[element % depth], row(element)[depth + element % depth]);
    let (values, magnitudes) = elements.iter().map(of).unzip();
    Expected::new(values, magnitudes)
}
