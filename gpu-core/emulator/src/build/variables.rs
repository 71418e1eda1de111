//! Variables of every state space, registers among them: where they lie and what they start with.

use std::collections::HashMap;

use super::inst::area_name;
use super::module::Builder;
use crate::decode::emit::{Emit, Entity, Reg};
use crate::exec::image::{GlobalVariable, ParamArea, SharedVariable};
use crate::exec::op::Slot;
use crate::exec::origin::display_name;
use crate::memory::space::{CODE_BASE, MANAGED_BASE, MANAGED_SLICES, MODULE_BASE, MODULE_SLICE, SHARED_GAP, Window};
use crate::ptx::tree::{Body, Function, Init, Operand, Statement, VarSpace, Variable};
use crate::ptx::ty::Ty;

/// What one `__shared__` array may claim before the launch limits are even looked at.
const MAX_SHARED: u64 = 1 << 24;
const MAX_VARIABLE: u64 = 1 << 32;
fn type_bytes(name: &str) -> Option<u64> {
    if name == "pred" {
        // A predicate that is passed to a function travels as a word.
        return Some(4);
    }
    Ty::parse(name).map(|ty| u64::from(ty.bits() / 8).max(1))
}

/// What an index of the variable counts: its scalar type, also of an array of vectors.
fn element_bytes(variable: &Variable<'_>) -> u32 {
    type_bytes(variable.ty).unwrap_or(1) as u32
}

impl<'a> Builder<'_, 'a> {
    pub(crate) fn size_of(&mut self, variable: &Variable<'_>, limit: u64) -> Option<(u64, u64)> {
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

    pub(crate) fn variables(&mut self) {
        let tree = self.tree;
        self.next_global = MODULE_BASE + self.image.id % (1 << 20) * MODULE_SLICE;
        self.next_managed = MANAGED_BASE + self.image.id % MANAGED_SLICES * MODULE_SLICE;
        // All have their addresses before any is initialised: they may name each other.
        let mut placed = Vec::new();
        for variable in &tree.variables {
            match variable.space {
                VarSpace::Global | VarSpace::Const => {
                    if let Some((entity, address, bytes)) = self.place_global(variable) {
                        self.globals.insert(variable.name.to_owned(), entity);
                        placed.push((variable, address, bytes));
                    }
                }
                VarSpace::Shared => self.place_shared(variable),
                VarSpace::Local | VarSpace::Param | VarSpace::Reg => {}
            }
        }
        let globals = std::mem::take(&mut self.globals);
        for (variable, address, bytes) in placed {
            self.initialise(variable, address, bytes, &globals);
        }
        self.globals = globals;
    }

    /// Gives a `.global` or `.const` variable its address: what its name stands for, address and size.
    fn place_global(&mut self, variable: &Variable<'_>) -> Option<(Entity, u64, u64)> {
        let (bytes, align) = self.size_of(variable, MAX_VARIABLE)?;
        let next = if variable.managed { &mut self.next_managed } else { &mut self.next_global };
        let address = next.next_multiple_of(align.max(256));
        *next = address + bytes + 4096;
        let window = if variable.space == VarSpace::Const { Window::Const } else { Window::Global };
        Some((Entity::Variable { window, address, element: element_bytes(variable) }, address, bytes))
    }

    fn initialise(&mut self, variable: &Variable<'_>, address: u64, bytes: u64, globals: &HashMap<String, Entity>) {
        let init = self.initial_bytes(variable, bytes, globals);
        self.image.variables.push(GlobalVariable {
            name: display_name(variable.name),
            symbol: variable.name.to_owned(),
            address,
            bytes,
            init,
            read_only: variable.space == VarSpace::Const,
            managed: variable.managed,
        });
    }

    pub(crate) fn initial_bytes(
        &mut self,
        variable: &Variable<'_>,
        bytes: u64,
        globals: &HashMap<String, Entity>,
    ) -> Vec<u8> {
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
                    let address = match globals.get(*name) {
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

    /// A shared variable of the module, which all functions know by its name.
    fn place_shared(&mut self, variable: &Variable<'_>) {
        if !self.shared.contains_key(variable.name)
            && let Some(entity) = self.place_shared_as(variable, variable.name)
        {
            self.globals.insert(variable.name.to_owned(), entity);
        }
    }

    /// Gives a shared variable its place, to be found under `key`.
    fn place_shared_as(&mut self, variable: &Variable<'_>, key: &str) -> Option<Entity> {
        let dynamic = variable.external && variable.count.is_none() || variable.count == Some(0);
        let (bytes, align) = self.size_of(variable, MAX_SHARED)?;
        let offset = if dynamic {
            0
        } else {
            let offset = self.next_shared.next_multiple_of((align as u32).max(1));
            self.next_shared = offset + bytes as u32 + SHARED_GAP;
            if u64::from(self.next_shared) > MAX_SHARED {
                self.problem("the module's shared variables take more than 16 MiB", variable.line);
                self.next_shared = 0;
                return None;
            }
            offset
        };
        self.shared.insert(
            key.to_owned(),
            SharedVariable { name: display_name(variable.name), offset, bytes: bytes as u32, dynamic },
        );
        // Dynamic shared memory starts where no static variable of the module can be; see `dynamic_base`.
        let address = if dynamic { u64::from(self.dynamic_base()) } else { u64::from(offset) };
        Some(Entity::Variable { window: Window::Shared, address, element: element_bytes(variable) })
    }

    /// Places the shared variables that a function declares. Those of other functions and scopes may have the same
    /// names; only what is declared elsewhere too (`.extern`) is one variable.
    pub(crate) fn shared_of(&mut self, function: &Function<'a>) {
        let body = function.body.as_ref().map(Body::statements);
        for statement in body.iter().flat_map(|body| body.iter()) {
            let Statement::Variable(variable) = statement else { continue };
            if variable.space != VarSpace::Shared {
                continue;
            }
            if variable.external {
                self.place_shared(variable);
                continue;
            }
            let key = format!("{}@{}", variable.name, self.own_shared.len());
            if let Some(entity) = self.place_shared_as(variable, &key) {
                self.own_shared.insert(variable.name.as_ptr() as usize, (key, entity));
            }
        }
    }

    /// Offset of dynamic shared memory: behind all static shared variables of the module, wherever declared.
    pub(crate) fn dynamic_base(&mut self) -> u32 {
        if self.image.dynamic_shared == 0 {
            let bytes = |variable: &Variable<'_>| {
                let bytes = type_bytes(variable.ty).unwrap_or(0).saturating_mul(variable.count.unwrap_or(0));
                bytes.saturating_add(u64::from(SHARED_GAP) + u64::from(variable.align.max(16)))
            };
            let sum = |variables: &mut dyn Iterator<Item = &Variable<'_>>| {
                variables.filter(|v| v.space == VarSpace::Shared).map(bytes).fold(0, u64::saturating_add)
            };
            let mut total = sum(&mut self.tree.variables.iter());
            let mut largest_kernel = 0;
            for function in &self.tree.functions {
                let body = function.body.as_ref().map(Body::statements);
                let statements = body.iter().flat_map(|body| body.iter());
                let own = sum(&mut statements.filter_map(|statement| match statement {
                    Statement::Variable(variable) => Some(variable),
                    _ => None,
                }));
                if function.entry {
                    largest_kernel = own.max(largest_kernel);
                } else {
                    total = total.saturating_add(own);
                }
            }
            total = total.saturating_add(largest_kernel);
            self.image.dynamic_shared = total.min(MAX_SHARED).next_multiple_of(u64::from(SHARED_GAP)) as u32;
        }
        self.image.dynamic_shared
    }

    pub(crate) fn frame_params(&mut self, emit: &mut Emit<'_>, params: &[Variable<'a>]) -> Vec<ParamArea> {
        params
            .iter()
            .filter_map(|param| {
                let (bytes, _) = self.size_of(param, 1 << 16)?;
                let area = ParamArea { slot: Slot(emit.rows((bytes as u32).div_ceil(4) * 128)), bytes: bytes as u32 };
                let mut name = param.name.to_owned();
                if param.space == VarSpace::Reg {
                    let vector = param.count.unwrap_or(1) as u32;
                    self.registers(emit, param.ty, vector, param.name, None, param.line);
                    name = area_name(param.name);
                }
                if let Some(scope) = emit.scopes.last_mut() {
                    scope.names.insert(name, Entity::FrameParam(area));
                }
                Some(area)
            })
            .collect()
    }

    /// Parameters of a device function whose address is taken lie on its stack, where pointers reach them.
    pub(crate) fn spill_params(
        &mut self,
        emit: &mut Emit<'_>,
        params: &[Variable<'a>],
        body: &[Statement<'a>],
        local_bytes: &mut u32,
    ) {
        let takes_address = |name: &str| {
            body.iter().any(|statement| match statement {
                Statement::Instruction(instruction) if !instruction.opcode.starts_with("call") => {
                    instruction.operands.iter().any(|operand| match operand {
                        Operand::Name(other) | Operand::NameOffset(other, _) => *other == name,
                        _ => false,
                    })
                }
                _ => false,
            })
        };
        for param in params.iter().filter(|param| param.space == VarSpace::Param && takes_address(param.name)) {
            let Some(Entity::FrameParam(area)) = emit.find(param.name) else { continue };
            let Some((bytes, align)) = self.size_of(param, 1 << 16) else { continue };
            let address = local_bytes.next_multiple_of((align as u32).max(4));
            *local_bytes = address + (bytes as u32).next_multiple_of(4);
            if let Err(message) = crate::isa::memory::spill(emit, area, address) {
                self.problem(&message, param.line);
            }
            let entity =
                Entity::Variable { window: Window::Local, address: u64::from(address), element: element_bytes(param) };
            if let Some(scope) = emit.scopes.last_mut() {
                scope.names.insert(param.name.to_owned(), entity);
            }
        }
    }

    pub(crate) fn registers(
        &mut self,
        emit: &mut Emit<'_>,
        ty: &str,
        vector: u32,
        name: &str,
        count: Option<u32>,
        line: u32,
    ) {
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
            emit.has_vectors = true;
            // `v<4>` declares v0 to v3.
            let names = count.map_or_else(
                || vec![name.to_owned()],
                |count| (0..count).map(|index| format!("{name}{index}")).collect(),
            );
            for name in names {
                let registers = (0..vector).map(|_| make(emit)).collect();
                emit.name(&name, Entity::VectorReg(registers));
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

    pub(crate) fn local_variable(&mut self, emit: &mut Emit<'_>, variable: &Variable<'a>, local_bytes: &mut u32) {
        let entity = match variable.space {
            VarSpace::Local => {
                let Some((bytes, align)) = self.size_of(variable, 512 << 10) else { return };
                let address = local_bytes.next_multiple_of(align as u32);
                *local_bytes = address + bytes as u32;
                Entity::Variable {
                    window: Window::Local,
                    address: u64::from(address),
                    element: element_bytes(variable),
                }
            }
            VarSpace::Param => {
                let Some((bytes, _)) = self.size_of(variable, 1 << 16) else { return };
                let slot = Slot(emit.rows((bytes as u32).div_ceil(4) * 128));
                Entity::FrameParam(ParamArea { slot, bytes: bytes as u32 })
            }
            VarSpace::Shared => {
                let own = self.own_shared.get(&(variable.name.as_ptr() as usize)).cloned();
                let (Some((key, entity)), Some(scope)) = (own, emit.scopes.last_mut()) else { return };
                scope.shared.insert(variable.name.to_owned(), key);
                entity
            }
            VarSpace::Reg => return,
            VarSpace::Global | VarSpace::Const => {
                let Some((entity, address, bytes)) = self.place_global(variable) else { return };
                self.initialise(variable, address, bytes, emit.globals);
                entity
            }
        };
        if let Some(scope) = emit.scopes.last_mut() {
            scope.names.insert(variable.name.to_owned(), entity);
        }
    }
}
