// vadd4.u32.u32.u32 %0, %1, %2, %3; in a comment
llvm.func @lanes(%a: i32, %b: i32) -> i32 {
  %0 = llvm.inline_asm has_side_effects asm_dialect = att "vadd4.u32.u32.u32 $0, $1, $2, $1;", "=r,r,r" %a, %b : (i32, i32) -> i32
  %1 = nvvm.inline_ptx "{\n\t.reg .b32 t;\n\tvabsdiff4.u32.u32.u32.add {$w0}, {$r0}, {$r1}, {$r2};\n}" ro(%a, %b, %0 : i32, i32, i32) -> i32
  %2 = "llvm.inline_asm"(%a) <{asm_string = "vmin2.s32.s32.s32 $0, ${1}, $1, $1;", constraints = "=r,r"}> : (i32) -> i32
  nvvm.inline_ptx "vmax4.u32.u32.u32.min {$rw0}, {$r0}, {$r1}, {$r1};" rw(%1 : i32) ro(%a, %b : i32, i32)
  llvm.return %2 : i32
}
gpu.binary @kernels [#gpu.object<#nvvm.target, assembly = ".version 8.0\0A.target sm_75\0A.entry k() {\0A\09.reg .b32 %r<5>;\0A\09vset4.u32.u32.eq %r1, %r2, %r3, %r4;\0A}\0A">]
