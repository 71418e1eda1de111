//! One instruction on its way to the table: its opcode in parts, its guard, and what is left over.

use crate::decode::emit::{Emit, Entity, Inst, Reg};
use crate::exec::image::ParamArea;
use crate::exec::op::Slot;
use crate::isa;
use crate::memory::space::Window;
use crate::ptx::tree::{Instruction, Operand};

/// Name of the memory behind a parameter or result that is a register. No register can be called so.
pub(crate) fn area_name(register: &str) -> String {
    format!("{register}@area")
}

/// Decodes one instruction: vector registers are taken apart, registers that are passed to functions or come back from
/// them go through memory, and what remains is looked up in the table.
pub(crate) fn decode(emit: &mut Emit<'_>, instruction: &Instruction<'_>) -> Result<(), String> {
    isa::legal::check(instruction.opcode, emit.arch)?;
    let name = instruction.parts().next().unwrap_or_default();
    if name == "ret" && !emit.result_registers.is_empty() {
        hand_back(emit, instruction.guard)?;
    }
    if name == "call" {
        return decode_call(emit, instruction);
    }
    if instruction.operands.iter().any(|operand| matches!(operand, Operand::Element(..))) {
        return decode_indexed(emit, instruction);
    }
    if instruction.operands.iter().any(|operand| sum_of(emit, operand).is_some()) {
        return decode_sums(emit, instruction);
    }
    let vector = |operand: &Operand<'_>| match operand {
        Operand::Name(name) => matches!(emit.find(name), Some(Entity::VectorReg(_))),
        _ => false,
    };
    let vectors = emit.has_vectors && instruction.operands.iter().any(vector);
    let wide = name == "mov" && wide_mov(instruction).is_some();
    if !vectors && !wide {
        return decode_plain(emit, instruction);
    }
    let names: Vec<Vec<String>> = instruction.operands.iter().map(|operand| elements(emit, operand)).collect();
    let operands: Vec<Operand<'_>> = instruction
        .operands
        .iter()
        .zip(&names)
        .map(|(operand, names)| match names.is_empty() {
            true => operand.clone(),
            false => Operand::Vector(names.iter().map(|name| Operand::Name(name)).collect()),
        })
        .collect();
    if name == "mov"
        && let [Operand::Vector(to), Operand::Vector(from)] = &operands[..]
    {
        return move_elements(emit, instruction, to, from);
    }
    decode_plain(emit, &Instruction { operands, ..instruction.clone() })
}

/// `register + number` where no address is meant: register, its width and the number.
fn sum_of<'a>(emit: &Emit<'_>, operand: &Operand<'a>) -> Option<(&'a str, u32, i64)> {
    let Operand::NameOffset(name, offset) = operand else { return None };
    match emit.find(name) {
        Some(Entity::Reg(Reg { bits: bits @ (16 | 32 | 64), .. })) => Some((name, bits, *offset)),
        _ => None,
    }
}

/// Sums of a register and a number as sources, which the manual does not have and the assembler takes: it adds them
/// as integers of the register's width, in front of the instruction.
fn decode_sums(emit: &mut Emit<'_>, instruction: &Instruction<'_>) -> Result<(), String> {
    let reads_first = matches!(instruction.parts().next(), Some("bar" | "barrier" | "nanosleep"));
    let mut operands = instruction.operands.clone();
    for (operand, temporary) in operands.iter_mut().zip(["@sum0", "@sum1", "@sum2", "@sum3", "@sum4", "@sum5"]) {
        let Some((register, bits, number)) = sum_of(emit, operand) else { continue };
        if temporary == "@sum0" && !reads_first {
            return Err(format!("the result of `{}` must be a register", instruction.opcode));
        }
        let reg = Reg { slot: emit.allocate(bits), bits };
        emit.name(temporary, Entity::Reg(reg));
        let add = match bits {
            16 => "add.u16",
            32 => "add.u32",
            _ => "add.u64",
        };
        // What does not fit is cut off, as by the assembler.
        let number = (number as u64) & (u64::MAX >> (64 - bits));
        let parts = vec![Operand::Name(temporary), Operand::Name(register), Operand::Int(number)];
        made(emit, instruction.guard, add, parts)?;
        *operand = Operand::Name(temporary);
    }
    decode_plain(emit, &Instruction { operands, ..instruction.clone() })
}

/// Names of a vector register's elements; none for anything else.
fn elements(emit: &Emit<'_>, operand: &Operand<'_>) -> Vec<String> {
    let Operand::Name(name) = operand else { return Vec::new() };
    let count = match emit.find(name) {
        Some(Entity::VectorReg(registers)) => registers.len(),
        // `%tid` as a whole: in its fourth place is 0.
        None if SPECIAL_VECTORS.contains(name) => 4,
        _ => 0,
    };
    ["x", "y", "z", "w"].iter().take(count).map(|element| format!("{name}.{element}")).collect()
}

/// Special registers of four elements.
const SPECIAL_VECTORS: [&str; 8] =
    ["%tid", "%ntid", "%ctaid", "%nctaid", "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid"];

/// `array[index]` (PTX ISA, section "Arrays as Operands"): loads and stores take it for an address, `mov` for a number.
fn decode_indexed(emit: &mut Emit<'_>, instruction: &Instruction<'_>) -> Result<(), String> {
    let opcode = instruction.parts().next().unwrap_or_default();
    if !matches!(opcode, "ld" | "ldu" | "st" | "mov") {
        return Err(format!("`{opcode}` takes no array element: write its address in brackets"));
    }
    let mut operands = instruction.operands.clone();
    for operand in &mut operands {
        let Operand::Element(array, index) = operand else { continue };
        let (array, index) = (*array, index.clone());
        let Some(Entity::Variable { window, element, .. }) = emit.find(array) else {
            return Err(format!("`{array}` is no array"));
        };
        let element = i64::from(element);
        let (base, offset) = match *index {
            Operand::Int(at) => (array, (at as i64).wrapping_mul(element)),
            Operand::Name(register) => (scaled(emit, instruction, array, register, element)?, 0),
            Operand::NameOffset(register, more) => {
                (scaled(emit, instruction, array, register, element)?, more.wrapping_mul(element))
            }
            _ => return Err(format!("the index of `{array}` is a number, or a register and a number")),
        };
        // The address of a local variable is a temporary of its own, made where it is used.
        *operand = match opcode {
            "mov" if base == array => Operand::NameOffset(array, offset),
            "mov" if offset == 0 => Operand::Name(base),
            "mov" => return Err(format!("`mov` takes an index of `{array}` that is one register or one number")),
            _ => Operand::Address { base: Box::new(Operand::Name(base)), offset, more: Vec::new() },
        };
        if base != array && opcode != "mov" && window != Window::Global && !names_space(instruction) {
            return Err(format!("a load or store of `{array}[register]` must name the state space"));
        }
    }
    decode(emit, &Instruction { operands, ..instruction.clone() })
}

/// Whether the opcode names a state space, so that addresses are of that space.
fn names_space(instruction: &Instruction<'_>) -> bool {
    instruction.parts().any(|part| matches!(part, "global" | "const" | "local") || part.starts_with("shared"))
}

/// The address of `array[register]`: only the low 32 bits of the register count, without sign.
fn scaled(
    emit: &mut Emit<'_>,
    instruction: &Instruction<'_>,
    array: &str,
    register: &str,
    element: i64,
) -> Result<&'static str, String> {
    let bits = emit.reg(register)?.bits;
    for (name, bits) in [("@index", 32), ("@base", 64), (ADDRESS, 64)] {
        let reg = Reg { slot: emit.allocate(bits), bits };
        emit.name(name, Entity::Reg(reg));
    }
    let cut = match bits {
        16 => "cvt.u32.u16",
        32 => "mov.b32",
        64 => "cvt.u32.u64",
        _ => return Err(format!("`{register}` cannot be an index")),
    };
    let guard = instruction.guard;
    made(emit, guard, cut, vec![Operand::Name("@index"), Operand::Name(register)])?;
    made(emit, guard, "mov.u64", vec![Operand::Name("@base"), Operand::Name(array)])?;
    let factors = [Operand::Name("@index"), Operand::Int(element as u64), Operand::Name("@base")];
    made(emit, guard, "mad.wide.u32", [vec![Operand::Name(ADDRESS)], factors.to_vec()].concat())?;
    Ok(ADDRESS)
}

/// Where the address of an array element is put together.
const ADDRESS: &str = "@address";

/// `mov.v4.u16`: its opcode for one element.
fn wide_mov(instruction: &Instruction<'_>) -> Option<String> {
    let parts: Vec<&str> = instruction.parts().collect();
    match parts[..] {
        ["mov", "v2" | "v4", ty] => Some(format!("mov.{ty}")),
        _ => None,
    }
}

/// Moves element by element; all are read before the first is written, for the lists may share registers.
fn move_elements(
    emit: &mut Emit<'_>,
    instruction: &Instruction<'_>,
    to: &[Operand<'_>],
    from: &[Operand<'_>],
) -> Result<(), String> {
    if to.len() != from.len() {
        return Err(format!("`{}` moves {} elements into {}", instruction.opcode, from.len(), to.len()));
    }
    let bits = to.iter().find_map(|operand| match operand {
        Operand::Name(name) => emit.reg(name).ok().map(|reg| reg.bits),
        _ => None,
    });
    let bits = bits.ok_or("the destination must be registers")?;
    let opcode = wide_mov(instruction).unwrap_or_else(|| format!("mov.b{bits}"));
    let temporaries: Vec<String> = (0..to.len()).map(|index| format!("@element{index}")).collect();
    for temporary in &temporaries {
        let reg = Reg { slot: emit.allocate(bits), bits };
        emit.name(temporary, Entity::Reg(reg));
    }
    let temporary = |index: usize| Operand::Name(&temporaries[index]);
    for (index, from) in from.iter().enumerate() {
        let operands = vec![temporary(index), from.clone()];
        decode_plain(emit, &Instruction { opcode: &opcode, operands, ..instruction.clone() })?;
    }
    for (index, to) in to.iter().enumerate() {
        let operands = vec![to.clone(), temporary(index)];
        decode_plain(emit, &Instruction { opcode: &opcode, operands, ..instruction.clone() })?;
    }
    Ok(())
}

/// An instruction that the text does not have.
fn made<'t>(
    emit: &mut Emit<'_>,
    guard: Option<(&'t str, bool)>,
    opcode: &'t str,
    operands: Vec<Operand<'t>>,
) -> Result<(), String> {
    let line = emit.ptx_line;
    decode_plain(emit, &Instruction { guard, opcode, operands, loc: None, line, text: opcode, used_bytes: None })
}

/// Moves a register, or a vector of them, into its area or out of it.
fn transfer(
    emit: &mut Emit<'_>,
    guard: Option<(&str, bool)>,
    register: &str,
    area: &str,
    store: bool,
) -> Result<(), String> {
    let elements = elements(emit, &Operand::Name(register));
    let (bits, names) = match emit.find(register) {
        Some(Entity::Reg(reg)) => (reg.bits, vec![register.to_owned()]),
        Some(Entity::VectorReg(registers)) => (registers.first().map_or(32, |reg| reg.bits), elements),
        _ => return Err(format!("`{register}` is not a register")),
    };
    for (index, name) in names.iter().enumerate() {
        let place = Operand::Address {
            base: Box::new(Operand::Name(area)),
            offset: index as i64 * i64::from(bits.max(8) / 8),
            more: Vec::new(),
        };
        let value = Operand::Name(name);
        match (bits, store) {
            (1, true) => {
                let word = Reg { slot: emit.allocate(32), bits: 32 };
                emit.name("@word", Entity::Reg(word));
                made(emit, guard, "selp.u32", vec![Operand::Name("@word"), Operand::Int(1), Operand::Int(0), value])?;
                made(emit, guard, "st.param.b32", vec![place, Operand::Name("@word")])?;
            }
            (1, false) => {
                let word = Reg { slot: emit.allocate(32), bits: 32 };
                emit.name("@word", Entity::Reg(word));
                made(emit, guard, "ld.param.b32", vec![Operand::Name("@word"), place])?;
                made(emit, guard, "setp.ne.u32", vec![value, Operand::Name("@word"), Operand::Int(0)])?;
            }
            (_, true) => made(emit, guard, &format!("st.param.b{bits}"), vec![place, value])?,
            (_, false) => made(emit, guard, &format!("ld.param.b{bits}"), vec![value, place])?,
        }
    }
    Ok(())
}

/// At the start of a function: a parameter that is a register gets its value.
pub(crate) fn receive(emit: &mut Emit<'_>, register: &str) -> Result<(), String> {
    transfer(emit, None, register, &area_name(register), false)
}

/// Before a function returns: results that are registers go to where the caller finds them.
pub(crate) fn hand_back(emit: &mut Emit<'_>, guard: Option<(&str, bool)>) -> Result<(), String> {
    for register in emit.result_registers.clone() {
        transfer(emit, guard, &register, &area_name(&register), true)?;
    }
    Ok(())
}

/// A call whose arguments or results are registers or numbers passes them through memory of its own.
fn decode_call(emit: &mut Emit<'_>, instruction: &Instruction<'_>) -> Result<(), String> {
    let mut operands = instruction.operands.clone();
    let has_results = matches!(operands.first(), Some(Operand::List(_)));
    let mut areas: Vec<(String, Operand<'_>, bool)> = Vec::new();
    for (position, operand) in instruction.operands.iter().enumerate() {
        let Operand::List(list) = operand else { continue };
        let result = has_results && position == 0;
        for (index, item) in list.iter().enumerate() {
            let bytes = match item {
                Operand::Name(name) => match emit.find(name) {
                    Some(Entity::Reg(reg)) => reg.bits.max(8).div_ceil(8).max(if reg.bits == 1 { 4 } else { 1 }),
                    Some(Entity::VectorReg(registers)) => registers.iter().map(|reg| reg.bits.max(8) / 8).sum(),
                    _ => continue,
                },
                Operand::Int(_) | Operand::F64(_) if !result => 8,
                Operand::F32(_) if !result => 4,
                _ => continue,
            };
            let area = ParamArea { slot: Slot(emit.rows(bytes.div_ceil(4) * 128)), bytes };
            let name = format!("@{position}.{index}");
            emit.name(&name, Entity::FrameParam(area));
            areas.push((name, item.clone(), result));
        }
    }
    if areas.is_empty() {
        return decode_plain(emit, instruction);
    }
    for (area, item, _) in areas.iter().filter(|(.., result)| !result) {
        match item {
            Operand::Name(name) => transfer(emit, instruction.guard, name, area, true)?,
            number => {
                let place = Operand::Address { base: Box::new(Operand::Name(area)), offset: 0, more: Vec::new() };
                let opcode = match number {
                    Operand::F32(_) => "st.param.f32",
                    Operand::F64(_) => "st.param.f64",
                    _ => "st.param.b64",
                };
                made(emit, instruction.guard, opcode, vec![place, number.clone()])?;
            }
        }
    }
    for (position, operand) in operands.iter_mut().enumerate() {
        let Operand::List(list) = operand else { continue };
        for (index, item) in list.iter_mut().enumerate() {
            let here = format!("@{position}.{index}");
            if let Some((area, ..)) = areas.iter().find(|(area, ..)| *area == here) {
                *item = Operand::Name(area);
            }
        }
    }
    decode_plain(emit, &Instruction { operands, ..instruction.clone() })?;
    areas.iter().try_for_each(|(area, item, result)| match (result, item) {
        (true, Operand::Name(name)) => transfer(emit, instruction.guard, name, area, false),
        _ => Ok(()),
    })
}

/// Decodes one instruction through the table.
fn decode_plain(emit: &mut Emit<'_>, instruction: &Instruction<'_>) -> Result<(), String> {
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
