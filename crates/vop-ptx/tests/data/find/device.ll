; ModuleID = 'device'  ; call i32 asm "vadd4.u32.u32.u32 $0, $1, $2, $3;" in a comment
source_filename = "vadd4.u32.cu"
module asm ".func vadd() { ret; }"
@"vadd4.u32.u32.u32 a, b, c, d" = global i32 0
@str = private constant [44 x i8] c"vmin2.u32.u32.u32 %r1, %r2, %r3, %r4;\0A\00"

define i32 @f(i32 %a, i32 %b) {
  %1 = tail call i32 asm "vadd4.u32.u32.u32 $0, $1, $2, $3;", "=r,r,r,r"(i32 %a, i32 %b, i32 0) #1
  %2 = call i32 asm sideeffect alignstack "{\0A\09.reg .u32 t;\0A\09vsub4.s32.s32.s32.sat t, ${1}, ${2:x}, $3;\0A\09mov.u32 $0, t;\0A}", "=r,r,r,r"(i32 %1, i32 %b, i32 0)
  call void asm sideeffect "@%p1 vmin.s32.s32.s32 %r1, %r2, %r3; // \22quoted\22\0Avmax.s32.s32.s32 %r1, %r2.b0, %r3;", ""()
  ret i32 %2
}
!0 = !{!"vadd4.u32.u32.u32 a, b, c, d"}
