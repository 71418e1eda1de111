//! A whole module: addresses for its variables, then every function, collecting all problems.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use super::emit::{Arch, Edge, Emit, Entity, Inst, Pool, Reg, Scope};
use super::flow::{Graph, resolve};
use crate::exec::image::{FunctionImage, GlobalVariable, Image, ParamArea, SharedVariable};
use crate::exec::op::{Op, OpInfo, Slot};
use crate::exec::space::{CODE_BASE, MODULE_BASE, MODULE_SLICE, SHARED_GAP, Window};
use crate::exec::warp::NONE;
use crate::isa::{self, Ty};
use crate::module::{KernelInfo, LoadError, LoadProblem, ParamInfo};
use crate::ptx::tree::{Function, Init, Loc, Statement, Tree, VarSpace, Variable};
use crate::report::SourceLine;

/// More problems than this tell nothing new.
const MAX_PROBLEMS: usize = 200;
/// What one `__shared__` array may claim before the launch limits are even looked at.
const MAX_SHARED: u64 = 1 << 24;
const MAX_VARIABLE: u64 = 1 << 32;

static NEXT_MODULE: AtomicU64 = AtomicU64::new(0);

/// Parses and decodes PTX.
pub fn load(ptx: &str) -> Result<Image, LoadError> {
    let (tree, errors) = crate::ptx::parser::parse(ptx);
    let mut builder = Builder::new(&tree);
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

struct Builder<'t, 'a> {
    tree: &'t Tree<'a>,
    image: Image,
    pool: Pool,
    globals: HashMap<String, Entity>,
    files: HashMap<u32, String>,
    sources: HashMap<Loc, u32>,
    problems: Vec<LoadProblem>,
    /// Shared variables by name with size and offset, and the size hardware would use.
    shared: HashMap<String, SharedVariable>,
    next_shared: u32,
    /// What each function mentions: shared variables, callees, calls through pointers.
    mentions: Vec<(Vec<String>, Vec<u32>, bool)>,
}

fn type_bytes(name: &str) -> Option<u64> {
    Ty::parse(name).map(|ty| u64::from(ty.bits() / 8).max(1))
}

impl<'t, 'a> Builder<'t, 'a> {
    fn new(tree: &'t Tree<'a>) -> Builder<'t, 'a> {
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
            next_shared: 0,
            mentions: Vec::new(),
        }
    }

    fn problem(&mut self, message: &str, line: u32) {
        self.problems.push(LoadProblem {
            message: message.to_owned(),
            instruction: String::new(),
            ptx_line: line,
            source: None,
        });
    }

    fn build(&mut self) {
        let tree = self.tree;
        self.image.uses_heap = tree.functions.iter().any(|f| f.body.is_none() && matches!(f.name, "malloc" | "free"));
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
        self.variables();
        for function in &bodies {
            self.function(function);
        }
        self.finish_shared(&bodies);
        self.image.pool = std::mem::take(&mut self.pool.rows);
    }

    fn size_of(&mut self, variable: &Variable<'_>, limit: u64) -> Option<(u64, u64)> {
        let Some(element) = type_bytes(variable.ty) else {
            self.problem(&format!("`.{}` is no type that a variable can have", variable.ty), variable.line);
            return None;
        };
        let bytes = element.saturating_mul(variable.count.unwrap_or(0));
        if bytes > limit {
            self.problem(
                &format!("`{}` of {bytes} bytes is larger than the limit of {limit}", variable.name),
                variable.line,
            );
            return None;
        }
        Some((bytes, u64::from(variable.align).max(element)))
    }

    fn variables(&mut self) {
        let tree = self.tree;
        let mut next = MODULE_BASE + self.image.id % (1 << 20) * MODULE_SLICE;
        let mut placed = Vec::new();
        for variable in &tree.variables {
            match variable.space {
                VarSpace::Global | VarSpace::Const => {
                    let Some((bytes, align)) = self.size_of(variable, MAX_VARIABLE) else { continue };
                    let address = next.next_multiple_of(align.max(256));
                    next = address + bytes + 4096;
                    let window = if variable.space == VarSpace::Const { Window::Const } else { Window::Global };
                    self.globals.insert(variable.name.to_owned(), Entity::Variable { window, address });
                    placed.push((variable, address, bytes));
                }
                VarSpace::Shared => self.place_shared(variable),
                VarSpace::Local | VarSpace::Param => {}
            }
        }
        for (variable, address, bytes) in placed {
            let init = self.initial_bytes(variable, bytes);
            self.image.variables.push(GlobalVariable {
                name: display_name(variable.name),
                address,
                bytes,
                init,
                read_only: variable.space == VarSpace::Const,
            });
        }
    }

    fn initial_bytes(&mut self, variable: &Variable<'_>, bytes: u64) -> Vec<u8> {
        let element = type_bytes(variable.ty).unwrap_or(1) as usize;
        let mut out = Vec::with_capacity(variable.init.len() * element);
        for value in &variable.init {
            let bits: u64 = match value {
                Init::Int(value) => *value,
                Init::F32(bits) if variable.ty == "f64" => f64::from(f32::from_bits(*bits)).to_bits(),
                Init::F32(bits) => u64::from(*bits),
                Init::F64(bits) if variable.ty == "f32" => u64::from((f64::from_bits(*bits) as f32).to_bits()),
                Init::F64(bits) => *bits,
                Init::Symbol { name, offset, mask, .. } => {
                    let address = match self.globals.get(*name) {
                        Some(Entity::Variable { address, .. }) => *address,
                        Some(Entity::Function(index)) => CODE_BASE + 16 * u64::from(*index),
                        _ => {
                            self.problem(
                                &format!("`{name}` in the initialiser of `{}` is not known", variable.name),
                                variable.line,
                            );
                            0
                        }
                    };
                    let address = address.wrapping_add(*offset as u64);
                    match mask {
                        Some(mask) => (address & mask) >> mask.trailing_zeros().min(63),
                        None => address,
                    }
                }
            };
            let wide = u128::from(bits).to_le_bytes();
            out.extend_from_slice(&wide[..element.min(16)]);
        }
        if out.len() as u64 > bytes {
            self.problem(&format!("`{}` has more initial values than elements", variable.name), variable.line);
            out.truncate(bytes as usize);
        }
        out
    }

    fn place_shared(&mut self, variable: &Variable<'_>) {
        let dynamic = variable.external && variable.count.is_none() || variable.count == Some(0);
        let Some((bytes, align)) = self.size_of(variable, MAX_SHARED) else { return };
        if self.shared.contains_key(variable.name) {
            return;
        }
        let offset = if dynamic {
            0
        } else {
            let offset = self.next_shared.next_multiple_of((align as u32).max(1));
            self.next_shared = offset + bytes as u32 + SHARED_GAP;
            if u64::from(self.next_shared) > MAX_SHARED {
                self.problem("the module's shared variables take more than 16 MiB", variable.line);
                self.next_shared = 0;
                return;
            }
            offset
        };
        self.shared.insert(
            variable.name.to_owned(),
            SharedVariable { name: display_name(variable.name), offset, bytes: bytes as u32, dynamic },
        );
        // Dynamic shared memory starts where no static variable of the module can be; see `dynamic_base`.
        let address = if dynamic { u64::from(self.dynamic_base()) } else { u64::from(offset) };
        self.globals.insert(variable.name.to_owned(), Entity::Variable { window: Window::Shared, address });
    }

    /// Offset of dynamic shared memory: behind all static shared variables of the module, wherever declared.
    fn dynamic_base(&mut self) -> u32 {
        if self.image.dynamic_shared == 0 {
            let tree = self.tree;
            let module = tree.variables.iter();
            let local = tree.functions.iter().filter_map(|f| f.body.as_ref()).flatten().filter_map(|s| match s {
                Statement::Variable(variable) => Some(variable),
                _ => None,
            });
            let mut total: u64 = 0;
            for variable in module.chain(local).filter(|v| v.space == VarSpace::Shared) {
                let bytes = type_bytes(variable.ty).unwrap_or(0).saturating_mul(variable.count.unwrap_or(0));
                total = total.saturating_add(bytes + u64::from(SHARED_GAP) + u64::from(variable.align.max(16)));
            }
            self.image.dynamic_shared = total.min(MAX_SHARED).next_multiple_of(u64::from(SHARED_GAP)) as u32;
        }
        self.image.dynamic_shared
    }

    fn source(&mut self, loc: Option<Loc>) -> Option<u32> {
        let loc = loc?;
        if let Some(index) = self.sources.get(&loc) {
            return Some(*index);
        }
        let file = self.files.get(&loc.file)?.clone();
        let index = self.image.sources.len() as u32;
        self.image.sources.push(SourceLine { file, line: loc.line, column: loc.column });
        self.sources.insert(loc, index);
        Some(index)
    }

    fn function(&mut self, function: &Function<'a>) {
        let body = function.body.as_deref().unwrap_or_default();
        // Function-level shared variables are module-wide here: their offsets never overlap.
        for statement in body {
            if let Statement::Variable(variable) = statement
                && variable.space == VarSpace::Shared
            {
                self.place_shared(variable);
            }
        }
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
        }
        let mut local_bytes = 0;
        let labels = self.body(&mut emit, body, &mut local_bytes);
        // Falling off the end is a return.
        let open = !matches!(
            emit.edges.last(),
            Some(Edge::Leave { conditional: false } | Edge::Dead { conditional: false } | Edge::Branch(_, false))
        );
        let ends_in_label = labels.values().any(|at| *at as usize == emit.edges.len());
        if open || ends_in_label {
            emit.class = crate::report::Class::Branch;
            emit.guard = (emit.pool.pred(true), 0);
            let op = emit.op(isa::control::ret);
            emit.push_edge(op, Default::default(), Edge::Leave { conditional: false });
        }
        let edges = std::mem::take(&mut emit.edges);
        let table_fixups = std::mem::take(&mut emit.table_fixups);
        let frame_bytes = emit.frame_bytes;
        let uses_alloca = emit.uses_alloca;
        self.mentions.push((
            std::mem::take(&mut emit.shared_used),
            std::mem::take(&mut emit.called),
            emit.calls_indirectly,
        ));
        drop(emit);
        let undefined = self.link(
            &mut code[first_pc as usize..],
            &infos[first_pc as usize..],
            &edges,
            &labels,
            function.entry,
            first_pc,
        );
        let read: std::collections::HashSet<Slot> =
            infos[first_pc as usize..].iter().flat_map(|info| info.reads.iter().copied()).collect();
        for info in &mut infos[first_pc as usize..] {
            info.result_used = info.writes.iter().any(|slot| read.contains(slot));
        }
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
            undefined,
            shared: Vec::new(),
            stack_bytes: Some(local_bytes),
            cluster: function
                .limits
                .iter()
                .find(|(name, _)| *name == "reqnctapercluster")
                .map(|(_, numbers)| std::array::from_fn(|axis| numbers.get(axis).copied().unwrap_or(1).max(1))),
            kernel: kernel.unwrap_or(0),
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

    /// Resolves branch targets and meeting points; gives the registers that may be read unwritten.
    fn link(
        &mut self,
        code: &mut [Op],
        infos: &[OpInfo],
        edges: &[Edge],
        labels: &HashMap<(u32, String), u32>,
        entry: bool,
        first_pc: u32,
    ) -> Vec<Slot> {
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
                        instruction: self.image.texts[text as usize].clone(),
                        ptx_line: infos[at].ptx_line,
                        source: source.map(|index| self.image.sources[index as usize].clone()),
                    });
                }
            }
        }
        let graph = Graph::new(edges, labels, entry);
        let meets = graph.post_dominators();
        for (at, edge) in edges.iter().enumerate() {
            // The end of a kernel is no meeting point: lanes that are there wait for nobody.
            let ends = |meet: u32| entry && matches!(edges[meet as usize], Edge::Leave { .. });
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
        let always = code.first().map(|_| Slot::POOL);
        graph.undefined(infos, |at| always.is_some_and(|pool| code[at].guard.0 & pool == 0))
    }

    fn declare_kernel(&mut self, function: &Function<'a>) -> Option<usize> {
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
        self.image.kernels.push(KernelInfo {
            name: function.name.to_owned(),
            params,
            param_bytes: offset as u32,
            static_shared_bytes: 0,
            local_bytes: 0,
            max_threads: threads,
            sources: self.tree.files.iter().filter_map(|(index, _)| self.files.get(index).cloned()).collect(),
        });
        Some(self.image.kernels.len() - 1)
    }

    fn frame_params(&mut self, emit: &mut Emit<'_>, params: &[Variable<'a>]) -> Vec<ParamArea> {
        params
            .iter()
            .filter_map(|param| {
                let (bytes, _) = self.size_of(param, 1 << 16)?;
                let area = ParamArea { slot: Slot(emit.rows((bytes as u32).div_ceil(4) * 128)), bytes: bytes as u32 };
                if let Some(scope) = emit.scopes.last_mut() {
                    scope.names.insert(param.name.to_owned(), Entity::FrameParam(area));
                }
                Some(area)
            })
            .collect()
    }

    fn body(
        &mut self,
        emit: &mut Emit<'_>,
        body: &[Statement<'a>],
        local_bytes: &mut u32,
    ) -> HashMap<(u32, String), u32> {
        let start = emit.code.len();
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
                    labels.insert((scope, (*name).to_owned()), (emit.code.len() - start) as u32);
                }
                Statement::Register { ty, vector, name, count, line } => {
                    self.registers(emit, ty, *vector, name, *count, *line);
                }
                Statement::Variable(variable) => self.local_variable(emit, variable, local_bytes),
                Statement::Targets { label, names } => {
                    let entity = Entity::Targets(names.iter().map(|name| (*name).to_owned()).collect());
                    if let Some(scope) = emit.scopes.last_mut() {
                        scope.names.insert((*label).to_owned(), entity);
                    }
                }
                Statement::Prototype(prototype) => {
                    if let Some(scope) = emit.scopes.last_mut() {
                        scope.names.insert((*prototype).to_owned(), Entity::Prototype);
                    }
                }
                Statement::Instruction(instruction) => {
                    let source = self.source(instruction.loc);
                    emit.source = source;
                    emit.text = self.image.texts.len() as u32;
                    let text: Vec<&str> = instruction.text.split_whitespace().collect();
                    self.image.uses_workspace |= instruction.text.contains("%envreg");
                    self.image.texts.push(text.join(" "));
                    emit.ptx_line = instruction.line;
                    emit.reads.clear();
                    emit.writes.clear();
                    if let Err(message) = decode(emit, instruction)
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

    fn registers(&mut self, emit: &mut Emit<'_>, ty: &str, vector: u32, name: &str, count: Option<u32>, line: u32) {
        let bits = match Ty::parse(ty) {
            Some(ty) => ty.bits(),
            None if ty == "pred" => 1,
            None => {
                self.problem(&format!("`.{ty}` is no register type"), line);
                return;
            }
        };
        if emit.frame_bytes > 1 << 28 {
            self.problem("the function declares more registers than can be held", line);
            return;
        }
        let make = |emit: &mut Emit<'_>| Reg { slot: emit.allocate(bits), bits };
        if vector > 1 {
            let registers = (0..vector).map(|_| make(emit)).collect();
            if let Some(scope) = emit.scopes.last_mut() {
                scope.names.insert(name.to_owned(), Entity::VectorReg(registers));
            }
            return;
        }
        match count {
            Some(count) => {
                let registers: Vec<Reg> = (0..count).map(|_| make(emit)).collect();
                if let Some(scope) = emit.scopes.last_mut() {
                    scope.ranges.insert(name.to_owned(), (bits, registers));
                }
            }
            None => {
                let register = make(emit);
                if let Some(scope) = emit.scopes.last_mut() {
                    scope.names.insert(name.to_owned(), Entity::Reg(register));
                }
            }
        }
    }

    fn local_variable(&mut self, emit: &mut Emit<'_>, variable: &Variable<'a>, local_bytes: &mut u32) {
        let entity = match variable.space {
            VarSpace::Local => {
                let Some((bytes, align)) = self.size_of(variable, 512 << 10) else { return };
                let address = local_bytes.next_multiple_of(align as u32);
                *local_bytes = address + bytes as u32;
                Entity::Variable { window: Window::Local, address: u64::from(address) }
            }
            VarSpace::Param => {
                let Some((bytes, _)) = self.size_of(variable, 1 << 16) else { return };
                let slot = Slot(emit.rows((bytes as u32).div_ceil(4) * 128));
                Entity::FrameParam(ParamArea { slot, bytes: bytes as u32 })
            }
            VarSpace::Shared => return,
            VarSpace::Global | VarSpace::Const => {
                self.problem("`.global` and `.const` variables inside a function are not supported", variable.line);
                return;
            }
        };
        if let Some(scope) = emit.scopes.last_mut() {
            scope.names.insert(variable.name.to_owned(), entity);
        }
    }

    /// Which shared variables each kernel reaches through its calls, and how deep its stack is.
    fn finish_shared(&mut self, bodies: &[&Function<'a>]) {
        self.dynamic_base();
        let count = bodies.len();
        for index in 0..count {
            let mut seen = vec![false; count];
            let mut todo = vec![index as u32];
            let mut indirect = false;
            while let Some(next) = todo.pop() {
                if std::mem::replace(&mut seen[next as usize], true) {
                    continue;
                }
                todo.extend(&self.mentions[next as usize].1);
                if self.mentions[next as usize].2 && !indirect {
                    // A call through a pointer may reach any function.
                    indirect = true;
                    todo.extend((0..count as u32).filter(|f| !bodies[*f as usize].entry));
                }
            }
            let mut names: Vec<&String> = (0..count).filter(|f| seen[*f]).flat_map(|f| &self.mentions[f].0).collect();
            names.sort_unstable();
            names.dedup();
            let mut shared: Vec<SharedVariable> =
                names.iter().filter_map(|name| self.shared.get(*name).cloned()).collect();
            shared.sort_by_key(|variable| variable.offset);
            let stack = if indirect { None } else { self.stack_of(index, &mut vec![None; count], 0) };
            let function = &mut self.image.functions[index];
            function.stack_bytes = stack;
            if function.entry {
                let bytes: u32 = shared.iter().map(|variable| variable.bytes.next_multiple_of(4)).sum();
                self.image.kernels[function.kernel].static_shared_bytes = bytes;
            }
            function.shared = shared;
        }
    }

    /// Stack of a call tree; None for recursion.
    fn stack_of(&self, index: usize, known: &mut Vec<Option<Option<u32>>>, depth: usize) -> Option<u32> {
        if depth > self.mentions.len() {
            return None;
        }
        if let Some(value) = known[index] {
            return value;
        }
        // While it is being computed it counts as recursive.
        known[index] = Some(None);
        let own = self.image.functions[index].local_bytes.next_multiple_of(16);
        let mut deepest = Some(0);
        for callee in &self.mentions[index].1 {
            let inner = self.stack_of(*callee as usize, known, depth + 1);
            deepest = match (deepest, inner) {
                (Some(a), Some(b)) => Some(a.max(b)),
                _ => None,
            };
        }
        let value = deepest.map(|deepest| own + deepest);
        known[index] = Some(value);
        value
    }
}

fn decode(emit: &mut Emit<'_>, instruction: &crate::ptx::tree::Instruction<'_>) -> Result<(), String> {
    let always = emit.pool.pred(true);
    emit.guard = match instruction.guard {
        None => (always, 0),
        Some((name, negated)) => {
            let reg = emit.reg(name)?;
            if reg.bits != 1 {
                return Err(format!("`{name}` is not a predicate"));
            }
            (reg.slot, if negated { u32::MAX } else { 0 })
        }
    };
    let mut inst = Inst::new(instruction);
    let row = isa::find(inst.name).ok_or_else(|| match isa::refused(inst.name) {
        Some(reason) => reason.to_owned(),
        None => format!("instruction `{}` is not supported", instruction.opcode),
    })?;
    emit.class = row.class;
    let before = emit.code.len();
    let result = (row.decode)(emit, &mut inst);
    let result = result.and_then(|()| {
        let rest = inst.rest();
        if rest.is_empty() {
            Ok(())
        } else {
            Err(format!("`.{}` of `{}` is not supported", rest.join("."), instruction.opcode))
        }
    });
    if result.is_err() {
        let surplus = emit.code.len() - before;
        emit.code.truncate(before);
        emit.infos.truncate(before);
        emit.edges.truncate(emit.edges.len() - surplus);
    }
    result
}

/// `_ZZ4tileE1s` is `s` of function `tile`: what the programmer wrote is easier to read.
pub fn display_name(name: &str) -> String {
    fn number(text: &str) -> Option<(usize, &str)> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        Some((text[..digits].parse().ok()?, &text[digits..]))
    }
    let mangled = || -> Option<&str> {
        let tail = if let Some(rest) = name.strip_prefix("_ZZ") {
            &rest[rest.find('E')? + 1..]
        } else {
            name.strip_prefix("_ZL").or_else(|| name.strip_prefix("_Z"))?
        };
        let (length, rest) = number(tail)?;
        rest.get(..length)
    };
    mangled().unwrap_or(name).to_owned()
}
