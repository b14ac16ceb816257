define i32 @f(i32 %a, i64 %l, float %x) {
  %1 = call i32 asm sideeffect "vadd4.u32.u32.u32 $0, $1, $2, $3;", "=r,r,r,r"(i32 %a, i32 %a, i32 0)
  %2 = call i32 asm "vadd4.u32.u32.u32 $0, $1, $2, $3;", "=r,r,l,r"(i32 %a, i64 %l, i32 0)
  %3 = call i32 asm "vadd4.u32.u32.u32 $0, $1, $2, $3;", "=r,r,f"(i32 %a, float %x)
  %4 = call i32 asm "vmad.u32.u32.u32 $0, $1, $2, $0;", "=r,r,r"(i32 %a, i32 %a)
  %5 = call i32 asm "vmad.u32.u32.u32 $0, $1, $2, $0;", "=r,r,r,0"(i32 %a, i32 %a, i32 %a)
  %6 = call i32 asm "vadd.u32.u32.u32 $0, $1.b$3, $2;", "=r,r,r,n"(i32 %a, i32 %a, i32 2)
  %7 = call i32 asm "vadd.u32.u32.u32 $0, $1.b$3, $2;", "=r,r,r,n"(i32 %a, i32 %a, i32 6)
  %8 = call i32 asm "vadd4.u32.u32.u32 $0, $1, $2, $3;", "=r,r,r,r,~{memory}"(i32 %a, i32 %a, i32 0)
}
