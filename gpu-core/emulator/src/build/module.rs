//! A whole module: addresses for its variables, then every function, collecting all problems.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use super::inst::{decode, hand_back, receive};
use crate::analysis::fetched::may_poll;
use crate::analysis::flow::{Graph, RegisterUse, resolve};
use crate::analysis::launch_constants;
use crate::check::undef::{gates, look};
use crate::decode::emit::{Arch, Edge, Emit, Entity, Pool, Scope};
use crate::described::{KernelInfo, LoadError, LoadProblem, ParamInfo};
use crate::exec::image::{FunctionImage, Image, Needs, SharedVariable};
use crate::exec::op::{CONDITIONAL, Op, OpInfo, Slot};
use crate::exec::opcode::{is_bitwise, is_move, opcode};
use crate::exec::sched::warp::NONE;
use crate::isa;
use crate::ptx::tree::{Body, Function, Loc, Place, Statement, Tree, VarSpace, Variable};
use crate::report::SourceLine;

/// More problems than this tell nothing new.
const MAX_PROBLEMS: usize = 200;

static NEXT_MODULE: AtomicU64 = AtomicU64::new(0);

/// Parses and decodes PTX.
pub fn load(ptx: &str) -> Result<Image, LoadError> {
    load_as_it_is(ptx).or_else(|error| match crate::ptx::pieces::joined(ptx) {
        Some(joined) => load_as_it_is(&joined),
        None => Err(error),
    })
}

fn load_as_it_is(ptx: &str) -> Result<Image, LoadError> {
    let (tree, errors) = crate::ptx::parser::parse(ptx);
    let mut builder = Builder::new(&tree);
    // Every instruction ends in one. Lists that grow leave holes behind where they were; room that nobody uses is no memory.
    // Where there is not so much room, they do grow.
    let most = ptx.bytes().filter(|byte| *byte == b';').count();
    let _ = builder.image.code.try_reserve(most);
    let _ = builder.image.infos.try_reserve(most);
    for error in errors {
        builder.problems.push(LoadProblem {
            message: error.message,
            instruction: String::new(),
            ptx_line: error.line,
            source: None,
        });
    }
    if tree.version.is_empty() || tree.target.is_empty() {
        builder.problem("this is no PTX: `.version` and `.target` are missing", 1);
    }
    builder.problems.extend(super::names::check(ptx, &tree));
    builder.build();
    if builder.problems.is_empty() {
        Ok(builder.image)
    } else {
        builder.problems.sort_by_key(|problem| problem.ptx_line);
        builder.problems.dedup();
        builder.problems.truncate(MAX_PROBLEMS);
        Err(LoadError { problems: builder.problems })
    }
}

pub(crate) struct Builder<'t, 'a> {
    pub(crate) tree: &'t Tree<'a>,
    pub(crate) image: Image,
    pub(crate) pool: Pool,
    pub(crate) globals: HashMap<String, Entity>,
    pub(crate) files: HashMap<u32, String>,
    pub(crate) sources: HashMap<Loc, u32>,
    pub(crate) problems: Vec<LoadProblem>,
    /// Shared variables by name with size and offset, and the size hardware would use.
    pub(crate) shared: HashMap<String, SharedVariable>,
    /// Those that functions declare, by where their names stand in the text: what they are called there and mean.
    pub(crate) own_shared: HashMap<usize, (String, Entity)>,
    pub(crate) next_shared: u32,
    /// Where the next `.global` or `.const` variable may lie.
    pub(crate) next_global: u64,
    pub(crate) next_managed: u64,
    /// What each function mentions: shared variables, callees, calls through pointers.
    pub(crate) mentions: Vec<(Vec<String>, Vec<u32>, bool)>,
    /// What each function needs.
    pub(crate) needs: Vec<Needs>,
    /// Most 32-bit registers that each function holds at once; None when it is too large to be looked at.
    pub(crate) live_words: Vec<Option<u32>>,
}

impl<'t, 'a> Builder<'t, 'a> {
    pub(crate) fn new(tree: &'t Tree<'a>) -> Builder<'t, 'a> {
        let image = Image {
            id: NEXT_MODULE.fetch_add(1, Ordering::Relaxed),
            target: tree.target.to_owned(),
            // Site 0 means "no access".
            sites: vec![Default::default()],
            ..Image::default()
        };
        let files = tree
            .files
            .iter()
            .map(|(index, name)| {
                let short = name.rsplit(['/', '\\']).next().unwrap_or(name);
                (*index, short.to_owned())
            })
            .collect();
        Builder {
            tree,
            image,
            pool: Pool::default(),
            globals: HashMap::new(),
            files,
            sources: HashMap::new(),
            problems: Vec::new(),
            shared: HashMap::new(),
            own_shared: HashMap::new(),
            next_shared: 0,
            next_global: 0,
            next_managed: 0,
            mentions: Vec::new(),
            needs: Vec::new(),
            live_words: Vec::new(),
        }
    }

    pub(crate) fn problem(&mut self, message: &str, line: u32) {
        self.problems.push(LoadProblem {
            message: message.to_owned(),
            instruction: String::new(),
            ptx_line: line,
            source: None,
        });
    }

    pub(crate) fn build(&mut self) {
        let tree = self.tree;
        // Functions with bodies get numbers first: initialisers and calls may name any of them.
        let mut bodies = Vec::new();
        for function in &tree.functions {
            if function.body.is_some() {
                self.globals.insert(function.name.to_owned(), Entity::Function(bodies.len() as u32));
                bodies.push(function);
            }
        }
        for function in &tree.functions {
            if function.body.is_none() && !self.globals.contains_key(function.name) {
                match isa::builtin::find(function.name) {
                    Some(builtin) => {
                        self.globals.insert(function.name.to_owned(), Entity::Builtin(builtin));
                    }
                    // Only a call makes a missing body a problem.
                    None => {
                        self.globals.insert(function.name.to_owned(), Entity::Prototype);
                    }
                }
            }
        }
        for (name, target) in &tree.aliases {
            if let Some(entity) = self.globals.get(*target).cloned() {
                self.globals.insert((*name).to_owned(), entity);
            }
        }
        // What it looks at, the functions take.
        self.dynamic_base();
        self.variables();
        for function in bodies.iter().filter(|function| !function.entry) {
            self.shared_of(function);
        }
        for function in &bodies {
            self.function(function);
        }
        self.finish_shared(&bodies);
        self.image.pool = std::mem::take(&mut self.pool.rows);
    }

    pub(crate) fn source(&mut self, loc: Option<Loc>) -> Option<u32> {
        let loc = loc?;
        if let Some(index) = self.sources.get(&loc) {
            return Some(*index);
        }
        let mut places = vec![(loc.file, loc.line, loc.column)];
        places.extend(loc.calls.and_then(|calls| self.tree.calls.get(calls as usize)).into_iter().flatten());
        // Nobody has written what stands in CUDA's own headers: it is the call of it that somebody can change.
        let own = |(file, ..): &Place| !self.is_of_toolkit(*file);
        let first = places.iter().position(own).unwrap_or(0);
        let callers = &places[first + 1..];
        // Of several calls the one from another file, as where a helper calls a helper.
        let call = callers.iter().find(|place| own(place) && place.0 != places[first].0).or(callers.first());
        let line =
            |(file, line, column): Place| Some(SourceLine { file: self.files.get(&file)?.clone(), line, column });
        let (source, call) = (line(places[first])?, call.copied().and_then(line));
        let index = self.image.sources.len() as u32;
        self.image.sources.push(source);
        self.image.inlined_at.push(call);
        self.sources.insert(loc, index);
        Some(index)
    }

    /// Whether a file is a header that came with CUDA.
    fn is_of_toolkit(&self, file: u32) -> bool {
        let Some((_, path)) = self.tree.files.iter().find(|(index, _)| *index == file) else { return false };
        is_toolkit_path(path)
    }

    pub(crate) fn function(&mut self, function: &Function<'a>) {
        // No kernel reaches the variables of another one, so each has them at the same offsets: a matrix descriptor holds
        // addresses below 256 KiB only.
        let others = self.next_shared;
        if function.entry {
            self.shared_of(function);
            self.next_shared = others;
        }
        let body = function.body.as_ref().map(Body::take).unwrap_or_default();
        let kernel = self.declare_kernel(function);
        let first_pc = self.image.code.len() as u32;
        let mut code = std::mem::take(&mut self.image.code);
        let mut infos = std::mem::take(&mut self.image.infos);
        let mut lists = std::mem::take(&mut self.image.lists);
        let mut calls = std::mem::take(&mut self.image.calls);
        let mut tables = std::mem::take(&mut self.image.branch_tables);
        let mut sites = std::mem::take(&mut self.image.sites);
        let mut pool = std::mem::take(&mut self.pool);
        let globals = std::mem::take(&mut self.globals);
        let mut emit = Emit::new(
            Arch::of(&self.image.target),
            &mut pool,
            &mut lists,
            &mut calls,
            &mut tables,
            &mut sites,
            &globals,
            &mut code,
            &mut infos,
            function.entry,
        );
        let mut areas = (Vec::new(), Vec::new());
        if function.entry {
            if let Some(kernel) = kernel {
                for (param, info) in function.params.iter().zip(&self.image.kernels[kernel].params) {
                    let entity = Entity::KernelParam { offset: info.offset };
                    emit.scopes[0].names.insert(param.name.to_owned(), entity);
                }
            }
        } else {
            areas.0 = self.frame_params(&mut emit, &function.params);
            areas.1 = self.frame_params(&mut emit, &function.results);
            let registers = |list: &[Variable<'a>]| -> Vec<String> {
                let registers = list.iter().filter(|variable| variable.space == VarSpace::Reg);
                registers.map(|variable| variable.name.to_owned()).collect()
            };
            emit.result_registers = registers(&function.results);
            emit.text = self.image.texts.next();
            self.image.texts.push(&format!(".func {}", function.name));
            for name in registers(&function.params) {
                if let Err(message) = receive(&mut emit, &name) {
                    self.problem(&message, function.params[0].line);
                }
            }
        }
        let mut local_bytes = 0;
        if !function.entry {
            self.spill_params(&mut emit, &function.params, &body, &mut local_bytes);
        }
        let labels = self.body(&mut emit, body, &mut local_bytes);
        // Falling off the end is a return.
        let open = !matches!(
            emit.edges.last(),
            Some(
                Edge::Leave { conditional: false }
                    | Edge::Exit { conditional: false }
                    | Edge::Dead { conditional: false }
                    | Edge::Branch(_, false)
            )
        );
        let ends_in_label = labels.values().any(|at| *at as usize == emit.edges.len());
        if open || ends_in_label {
            let handed = hand_back(&mut emit, None);
            if let Err(message) = handed {
                self.problem(&message, 1);
            }
            emit.class = crate::report::Class::Branch;
            emit.guard = (emit.pool.pred(true), 0);
            let op = emit.op(isa::control::ret);
            emit.push_edge(op, Default::default(), Edge::Leave { conditional: false });
        }
        let edges = std::mem::take(&mut emit.edges);
        let table_fixups = std::mem::take(&mut emit.table_fixups);
        let frame_bytes = emit.frame_bytes;
        let widths = std::mem::take(&mut emit.widths);
        let uses_alloca = emit.uses_alloca;
        self.mentions.push((
            std::mem::take(&mut emit.shared_used),
            std::mem::take(&mut emit.called),
            emit.calls_indirectly,
        ));
        let mut needs = emit.needs;
        drop(emit);
        let registers = self.link(
            &mut code[first_pc as usize..],
            &infos[first_pc as usize..],
            &edges,
            &labels,
            &widths,
            function.entry,
            first_pc,
        );
        self.live_words.push(registers.most_live);
        for (at, last) in &registers.last {
            infos[first_pc as usize + *at as usize].last = *last;
        }
        let read: std::collections::HashSet<Slot> =
            infos[first_pc as usize..].iter().flat_map(|info| info.reads.iter().copied()).collect();
        for (info, op) in infos[first_pc as usize..].iter_mut().zip(&mut code[first_pc as usize..]) {
            info.result_used = info.writes.iter().any(|slot| read.contains(slot));
            let name = opcode(self.image.texts.get(info.text));
            info.bitwise = is_bitwise(name);
            info.moves = info.bitwise || is_move(name);
            needs.order |= may_poll(name, info.result_used);
            if !info.result_used && info.class == crate::report::Class::Atomic {
                isa::atomic::forget_result(op);
            }
        }
        self.needs.push(needs);
        // The registers of device functions are not followed from their start.
        let undefined = if function.entry { &registers.undefined[..] } else { &[] };
        let gated = gates::guard(&mut code[first_pc as usize..], &infos[first_pc as usize..], undefined, |at, run| {
            self.image.gates.push((first_pc + at as u32, run))
        });
        look::find_names(&code[first_pc as usize..], &mut infos[first_pc as usize..]);
        let param_bytes = kernel.map_or(0, |kernel| self.image.kernels[kernel].param_bytes);
        let of_launch = match function.entry {
            true => launch_constants::find(
                &mut code,
                &launch_constants::Kernel {
                    infos: &infos,
                    texts: &self.image.texts,
                    sites: &sites,
                    first_pc,
                    param_bytes,
                    undefined: &registers.undefined,
                },
            ),
            false => Vec::new(),
        };
        for (table, targets) in table_fixups {
            tables[table] = targets.iter().map(|target| first_pc + resolve(&labels, target).unwrap_or(0)).collect();
        }
        self.image.uses_alloca |= uses_alloca;
        self.image.functions.push(FunctionImage {
            name: function.name.to_owned(),
            entry: function.entry,
            first_pc,
            frame_bytes,
            local_bytes,
            params: areas.0,
            results: areas.1,
            undefined: registers.undefined,
            gated,
            of_launch,
            shared: Vec::new(),
            reach: first_pc..first_pc,
            stack_bytes: Some(local_bytes),
            needs: Needs::default(),
            cluster: function
                .limits
                .iter()
                .find(|(name, _)| *name == "reqnctapercluster")
                .map(|(_, numbers)| std::array::from_fn(|axis| numbers.get(axis).copied().unwrap_or(1).max(1))),
            kernel: kernel.unwrap_or(0),
            written: Default::default(),
            plan: Default::default(),
            separate: Default::default(),
            owned: Default::default(),
            machine: Default::default(),
            structure: Default::default(),
            deciding: Default::default(),
        });
        if let Some(kernel) = kernel {
            self.image.kernels[kernel].local_bytes = local_bytes;
        }
        self.image.code = code;
        self.image.infos = infos;
        self.image.lists = lists;
        self.image.calls = calls;
        self.image.branch_tables = tables;
        self.image.sites = sites;
        self.pool = pool;
        self.globals = globals;
    }

    /// Resolves branch targets and meeting points; says how the function uses its registers.
    #[allow(clippy::too_many_arguments, reason = "a function's pieces, which its builder took apart to lend them out")]
    pub(crate) fn link(
        &mut self,
        code: &mut [Op],
        infos: &[OpInfo],
        edges: &[Edge],
        labels: &HashMap<(u32, String), u32>,
        widths: &[(u32, u32)],
        entry: bool,
        first_pc: u32,
    ) -> RegisterUse {
        for (at, edge) in edges.iter().enumerate() {
            let targets: Vec<_> = match edge {
                Edge::Branch(target, _) => vec![target],
                Edge::Table(targets) => targets.iter().collect(),
                _ => continue,
            };
            for target in targets {
                if resolve(labels, target).is_none() {
                    let (text, source) = (infos[at].text, infos[at].source);
                    self.problems.push(LoadProblem {
                        message: format!("label `{}` does not exist", target.name),
                        instruction: self.image.texts.get(text).to_owned(),
                        ptx_line: infos[at].ptx_line,
                        source: source.map(|index| self.image.sources[index as usize].clone()),
                    });
                }
            }
        }
        let graph = Graph::new(edges, labels, entry);
        let meets = graph
            .meeting_points(|at| matches!(infos[at].class, crate::report::Class::Barrier | crate::report::Class::Warp));
        for (at, edge) in edges.iter().enumerate() {
            // The end of a kernel is no meeting point: lanes that are there wait for nobody.
            let ends = |meet: u32| entry && matches!(edges[meet as usize], Edge::Leave { .. } | Edge::Exit { .. });
            let meet = if meets[at] == NONE || ends(meets[at]) { NONE } else { first_pc + meets[at] };
            match edge {
                Edge::Branch(target, _) => {
                    if let Some(to) = resolve(labels, target) {
                        code[at].imm = i64::from(first_pc + to);
                        code[at].list = meet;
                    }
                }
                Edge::Table(_) => code[at].list_len = meet,
                Edge::Next if infos[at].class == crate::report::Class::Branch => code[at].list_len = meet,
                _ => {}
            }
        }
        super::fences::check(code, infos, &graph, entry);
        crate::analysis::data::mark(code, infos, &self.image.texts);
        self.image.fetches |= crate::analysis::fetched::mark(code, infos, &self.image.texts, &graph);
        self.image.hoisted.extend(crate::analysis::hoisted::find(code, infos, &self.image.texts, &graph, first_pc));
        let mut straight = 0;
        for ((op, info), edge) in code.iter_mut().zip(infos).zip(edges).rev() {
            let guarded = !op.guard.is_pool() || op.guard_flip != 0;
            let ends = info.class == crate::report::Class::Branch;
            straight = if guarded { 0 } else { 1 + if ends { 0 } else { straight } };
            let conditional = guarded && matches!(edge, Edge::Branch(..));
            op.straight = if conditional { CONDITIONAL } else { straight };
        }
        let always = code.first().map(|_| Slot::POOL);
        graph.registers(infos, widths, |at| always.is_some_and(|pool| code[at].guard.0 & pool == 0))
    }

    pub(crate) fn declare_kernel(&mut self, function: &Function<'a>) -> Option<usize> {
        if !function.entry {
            return None;
        }
        let mut offset: u64 = 0;
        let mut params = Vec::new();
        for param in &function.params {
            let Some((bytes, align)) = self.size_of(param, 1 << 16) else { continue };
            offset = offset.next_multiple_of(align);
            params.push(ParamInfo {
                offset: offset as u32,
                bytes: bytes as u32,
                align: align as u32,
                is_pointer: param.pointer,
            });
            offset += bytes;
        }
        let threads = function
            .limits
            .iter()
            .find(|(name, _)| matches!(*name, "maxntid" | "reqntid"))
            .map(|(_, numbers)| numbers.iter().fold(1u32, |product, n| product.saturating_mul(*n)));
        let required_block = function
            .limits
            .iter()
            .find(|(name, _)| *name == "reqntid")
            .map(|(_, numbers)| std::array::from_fn(|axis| numbers.get(axis).copied().unwrap_or(1)));
        self.image.kernels.push(KernelInfo {
            name: function.name.to_owned(),
            params,
            param_bytes: offset as u32,
            static_shared_bytes: 0,
            local_bytes: 0,
            max_threads: threads,
            required_block,
            register_estimate: None,
            register_limit: None,
            sources: self.tree.files.iter().filter_map(|(index, _)| self.files.get(index).cloned()).collect(),
        });
        Some(self.image.kernels.len() - 1)
    }

    pub(crate) fn body(
        &mut self,
        emit: &mut Emit<'_>,
        body: Vec<Statement<'a>>,
        local_bytes: &mut u32,
    ) -> HashMap<(u32, String), u32> {
        // The function's first instruction may stand before its body: parameters are received and put onto the stack.
        let start = emit.code.len() - emit.edges.len();
        let mut labels = HashMap::new();
        let mut next_scope = 1;
        for statement in body {
            match statement {
                Statement::Open => {
                    emit.scopes.push(Scope { id: next_scope, ..Scope::default() });
                    next_scope += 1;
                }
                Statement::Close => {
                    if emit.scopes.len() > 1 {
                        emit.scopes.pop();
                    }
                }
                Statement::Label(name) => {
                    let scope = emit.scopes.last().map_or(0, |scope| scope.id);
                    labels.insert((scope, name.to_owned()), (emit.code.len() - start) as u32);
                }
                Statement::Register { ty, vector, name, count, line } => {
                    self.registers(emit, ty, vector, name, count, line);
                }
                Statement::Variable(variable) => self.local_variable(emit, &variable, local_bytes),
                Statement::Targets { label, names } => {
                    let entity = Entity::Targets(names.iter().map(|name| (*name).to_owned()).collect());
                    if let Some(scope) = emit.scopes.last_mut() {
                        scope.names.insert(label.to_owned(), entity);
                    }
                }
                Statement::Prototype(prototype) => {
                    if let Some(scope) = emit.scopes.last_mut() {
                        scope.names.insert(prototype.to_owned(), Entity::Prototype);
                    }
                }
                Statement::Instruction(instruction) => {
                    let source = self.source(instruction.loc);
                    emit.source = source;
                    emit.text = self.image.texts.next();
                    self.image.uses_workspace |= instruction.text.contains("%envreg");
                    self.image.texts.push(instruction.text);
                    emit.ptx_line = instruction.line;
                    emit.reads.clear();
                    emit.writes.clear();
                    if let Err(message) = decode(emit, &instruction)
                        && self.problems.len() < MAX_PROBLEMS * 4
                    {
                        self.problems.push(LoadProblem {
                            message,
                            instruction: instruction.text.split_whitespace().collect::<Vec<_>>().join(" "),
                            ptx_line: instruction.line,
                            source: source.map(|index| self.image.sources[index as usize].clone()),
                        });
                    }
                }
            }
        }
        labels
    }
}

/// Whether the path of a header is CUDA's: `/usr/local/cuda-13.0/include/…`, `…/nvidia/cu13/include/cuda_pipeline.h`, or where
/// Lockstep keeps those that NVRTC brings, `…/headers/13.5/cccl/cuda/barrier`.
fn is_toolkit_path(path: &str) -> bool {
    let folders: Vec<&str> = path.split(['/', '\\']).collect();
    let of_cuda = |folder: &&str| folder.starts_with("cuda") || matches!(*folder, "cu12" | "cu13" | "nvidia");
    let cuda = folders.iter().position(of_cuda);
    let is_version = |folder: &str| folder.contains('.') && folder.split('.').all(|part| part.parse::<u32>().is_ok());
    cuda.is_some_and(|cuda| folders[cuda..].contains(&"include"))
        || folders.windows(2).any(|pair| pair[0] == "headers" && is_version(pair[1]))
}

#[cfg(test)]
mod tests {
    use super::is_toolkit_path;

    #[test]
    fn headers_of_cuda_are_told_from_others() {
        for path in [
            "/usr/local/cuda-13.0/include/cuda_pipeline.h",
            "/home/a/site-packages/nvidia/cu13/include/cooperative_groups.h",
            "/home/a/.local/share/lockstep/headers/13.5/cccl/cuda/__barrier/barrier_block_scope.h",
            "C:\\data\\headers\\13.5\\cuda_fp16.h",
        ] {
            assert!(is_toolkit_path(path), "{path}");
        }
        for path in
            ["kernel.cu", "lab.cuh", "/home/a/cuda/kernel.cu", "/home/a/headers/own.h", "/home/a/headers/v1/own.h"]
        {
            assert!(!is_toolkit_path(path), "{path}");
        }
    }
}
