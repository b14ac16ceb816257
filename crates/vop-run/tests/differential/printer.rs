//! A program as PTX.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::program::*;

pub(crate) fn ptx(case: &Case) -> String {
    let mut out = ".version 8.4\n.target sm_90\n.address_size 64\n".to_owned();
    let threads: u32 = case.block.iter().product();
    if case.does(|what| matches!(what, What::Malloc(..))) {
        out += ".extern .func (.param .b64 pointer) malloc(.param .b64 bytes);\n";
        out += ".extern .func free(.param .b64 pointer);\n";
    }
    if case.does(|what| matches!(what, What::Print(..))) {
        out += ".extern .func (.param .b32 count) vprintf(.param .b64 format, .param .b64 list);\n";
        for (i, (format, ..)) in FORMATS.iter().enumerate() {
            let bytes: Vec<String> = format.bytes().chain([0]).map(|byte| byte.to_string()).collect();
            let _ = writeln!(out, ".global .align 1 .b8 format{i}[{}] = {{{}}};", bytes.len(), bytes.join(", "));
        }
    }
    let _ = writeln!(
        out,
        ".const .align 16 .b32 table[{TABLE}] = {{{}}};",
        case.table.map(|word| word.to_string()).join(", ")
    );
    for (f, function) in case.functions.iter().enumerate().skip(1) {
        let _ = writeln!(out, "{};", header(f, function));
    }
    for (f, function) in case.functions.iter().enumerate() {
        if f == 0 {
            out += ".visible .entry k(.param .u64 k_0, .param .u64 k_1, .param .u32 k_2)\n";
        } else {
            out += &header(f, function);
        }
        out += "\n{\n";
        for (_, prefix, ty, count) in KINDS {
            let _ = writeln!(out, ".reg .{ty} {prefix}<{count}>;");
        }
        let _ = writeln!(out, ".local .align 8 .b32 array[{LOCAL}];");
        if f == 0 {
            let _ = writeln!(out, ".shared .align 8 .b32 sh[{}];", SUMS as u32 + threads);
        }
        for ins in &function.body {
            match ins {
                Ins::Label(label) => {
                    let _ = writeln!(out, "L{label}:");
                }
                Ins::Text(text) => {
                    let _ = writeln!(out, "{text}");
                }
                Ins::Do(guard, what) => {
                    if let Some((p, when)) = guard {
                        let _ = write!(out, "@{}%p{p} ", if *when { "" } else { "!" });
                    }
                    let _ = writeln!(out, "{}", instruction(what, f, function));
                }
            }
        }
        out += "}\n";
    }
    out
}

fn header(f: usize, function: &Function) -> String {
    if function.registers {
        format!(".func (.reg .b32 res) f{f}(.reg .b32 arg0, .reg .b64 arg1)")
    } else {
        format!(".func (.param .b32 res) f{f}(.param .b32 arg0, .param .b64 arg1)")
    }
}

fn space_name(space: Space) -> &'static str {
    match space {
        Space::Global => ".global",
        Space::Shared => ".shared",
        Space::Local => ".local",
        Space::Const => ".const",
        Space::Generic => "",
    }
}

fn vector(regs: &[Reg]) -> String {
    let list = regs.iter().map(|reg| name(*reg)).collect::<Vec<_>>().join(", ");
    if regs.len() == 1 { list } else { format!("{{{list}}}") }
}

fn instruction(what: &What, f: usize, function: &Function) -> String {
    let list = |sources: &[Source]| sources.iter().map(|source| text(*source)).collect::<Vec<_>>().join(", ");
    let vec = |regs: &[Reg]| if regs.len() == 1 { String::new() } else { format!(".v{}", regs.len()) };
    match what {
        What::Alu(opcode, _, d, sources) => format!("{opcode} {}, {};", name(*d), list(sources)),
        What::Video(template, _, d, sources) => {
            let (opcode, operands) = template.split_once(' ').unwrap();
            let mut names = HashMap::from([("d", name(*d))]);
            names.extend(["a", "b", "c"].into_iter().zip(sources.map(text)));
            let operands = operands.trim_end_matches(';').split(", ").map(|operand| {
                let (letter, selector) = operand.split_at(1);
                format!("{}{selector}", names[letter])
            });
            format!("{opcode} {};", operands.collect::<Vec<_>>().join(", "))
        }
        What::Carry(opcode, _, _, d, sources) => format!("{opcode} {}, {};", name(*d), list(sources)),
        What::SetP(compare, _, p, q, sources, third) => {
            let (name, ty) = compare.split_once('.').unwrap();
            match third {
                None => format!("setp.{name}.{ty} %p{p}|%p{q}, {};", list(sources)),
                Some((with, c, not)) => {
                    let not = if *not { "!" } else { "" };
                    format!("setp.{name}.{with}.{ty} %p{p}|%p{q}, {}, {not}%p{c};", list(sources))
                }
            }
        }
        What::Branch(label) => format!("bra L{label};"),
        What::Switch(number, index, _) => format!("brx.idx {}, list{number};", name(*index)),
        What::Load(space, signed, size, d, at, offset) => {
            let sign = if *signed { 's' } else { 'u' };
            let (space, v) = (space_name(*space), vec(d));
            format!("ld{space}{v}.{sign}{} {}, [{}+{offset}];", size * 8, vector(d), name(*at))
        }
        What::Store(space, size, values, at, offset) => {
            let (space, v) = (space_name(*space), vec(values));
            format!("st{space}{v}.b{} [{}+{offset}], {};", size * 8, name(*at), vector(values))
        }
        What::Reduce(space, op, _, at, value) => {
            format!("red{}.{op} [{}], {};", space_name(*space), name(*at), text(*value))
        }
        What::Atomic(space, op, _, _, d, at, sources) => {
            format!("atom{}.{op} {}, [{}], {};", space_name(*space), name(*d), name(*at), list(sources))
        }
        What::Copy(to, from) => format!("cp.async.ca.shared.global [{}], [{}], 4;", name(*to), name(*from)),
        What::WaitForCopies => "cp.async.wait_all;".to_owned(),
        What::Malloc(d, bytes) => format!(
            "{{ .param .b64 bytes; .param .b64 pointer; st.param.b64 [bytes], {bytes}; call.uni (pointer), malloc, (bytes); \
             ld.param.b64 {}, [pointer]; }}",
            name(*d)
        ),
        What::Free(at) => {
            let at = name(*at);
            format!("{{ .param .b64 pointer; st.param.b64 [pointer], {at}; call.uni free, (pointer); }}")
        }
        What::Print(format, at) => format!(
            "{{ .reg .b64 text; .param .b64 format; .param .b64 list; .param .b32 count; mov.u64 text, format{format}; \
             st.param.b64 [format], text; st.param.b64 [list], {}; call (count), vprintf, (format, list); }}",
            name(*at)
        ),
        What::Pack(d, sources) => format!("mov.b{} {}, {};", bits(d.0), name(*d), vector(sources)),
        What::Unpack(d, source) => format!("mov.b{} {}, {};", bits(source.0), vector(d), name(*source)),
        What::ConstAddress(d) => format!("mov.u64 {}, table;", name(*d)),
        What::Cvta(space, d) => format!("cvta{}.u64 {1}, {1};", space_name(*space), name(*d)),
        What::LocalAddress(d) => format!("mov.u64 {}, array;", name(*d)),
        What::SharedAddress(d) => format!("mov.u64 {}, sh;", name(*d)),
        What::Parameter(d, i) => match (f, function.registers) {
            (0, _) => format!("ld.param.b{} {}, [k_{i}];", bits(d.0), name(*d)),
            (_, true) => format!("mov.b{} {}, arg{i};", bits(d.0), name(*d)),
            _ => format!("ld.param.b{} {}, [arg{i}];", bits(d.0), name(*d)),
        },
        What::PutArgument(site, i, value) => {
            format!("st.param.b{} [p{}{site}], {};", bits(value.0), ["a", "b"][*i], name(*value))
        }
        What::Call(site, callee) => format!("call.uni (pr{site}), f{callee}, (pa{site}, pb{site});"),
        What::CallByAddress(site, at) => {
            format!("call (pr{site}), {}, (pa{site}, pb{site}), proto{site};", name(*at))
        }
        What::GetResult(site, d) => format!("ld.param.b32 {}, [pr{site}];", name(*d)),
        What::CallRegisters(callee, d, sources) => {
            format!("call ({}), f{callee}, ({});", name(*d), list(sources))
        }
        What::Return => "ret;".to_owned(),
        What::PutReturn(value) if function.registers => format!("mov.b32 res, {};", name(*value)),
        What::PutReturn(value) => format!("st.param.b32 [res], {};", name(*value)),
        What::FunctionAddress(d, callee) => format!("mov.u64 {}, f{callee};", name(*d)),
        What::Exit => "exit;".to_owned(),
        What::Barrier(id) => format!("bar.sync {id};"),
        What::BarrierCount(d, p) => format!("bar.red.popc.u32 {}, 1, %p{p};", name(*d)),
        What::BarrierVote(all, d, p) => format!("bar.red.{}.pred %p{d}, 2, %p{p};", if *all { "and" } else { "or" }),
        What::BarrierApart(id) => format!("barrier.sync {id};"),
        What::BarrierCounted(true, id, count) => format!("bar.arrive {id}, {count};"),
        What::BarrierCounted(false, id, count) => format!("bar.sync {id}, {count};"),
        What::Lanes(kind, d, p, sources, members) => {
            let opcode = match kind {
                Lanes::Up => "shfl.sync.up.b32".to_owned(),
                Lanes::Down => "shfl.sync.down.b32".to_owned(),
                Lanes::Butterfly => "shfl.sync.bfly.b32".to_owned(),
                Lanes::Index => "shfl.sync.idx.b32".to_owned(),
                Lanes::All => "vote.sync.all.pred".to_owned(),
                Lanes::Any => "vote.sync.any.pred".to_owned(),
                Lanes::Uniform => "vote.sync.uni.pred".to_owned(),
                Lanes::Ballot => "vote.sync.ballot.b32".to_owned(),
                Lanes::MatchAny => "match.any.sync.b32".to_owned(),
                Lanes::MatchWide => "match.any.sync.b64".to_owned(),
                Lanes::Elect => "elect.sync".to_owned(),
                Lanes::MatchAll => "match.all.sync.b32".to_owned(),
                Lanes::Reduce(index) => ["redux.sync.", REDUCE[*index].0].concat(),
                Lanes::Sync => return format!("bar.warp.sync {};", text(*members)),
            };
            let p = p.map_or(String::new(), |p| format!("|%p{p}"));
            let operands: Vec<String> = sources.iter().chain([members]).map(|source| text(*source)).collect();
            format!("{opcode} {}{p}, {};", name(*d), operands.join(", "))
        }
        What::Active(d) => format!("activemask.b32 {};", name(*d)),
    }
}
