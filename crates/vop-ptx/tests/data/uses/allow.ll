define i32 @f(i32 %a, i32 %b) {
  %1 = call i32 asm "vmax4.u32.u32.u32.sat $0, $1, $2, $3;", "=r,r,r,r"(i32 %a, i32 %b, i32 %b) ; vop: allow(V0702)
  ; vop: allow(V0702)
  %2 = call i32 asm "vmax4.u32.u32.u32.sat $0, $1, $2, $3;", "=r,r,r,r"(i32 %a, i32 %b, i32 %b)
  %3 = call i32 asm "vmax4.u32.u32.u32.sat $0, $1, $2, $3; // vop: allow(V0702)\0A", "=r,r,r,r"(i32 %a, i32 %b, i32 %b)
  %4 = call i32 asm "vmax4.u32.u32.u32.sat $0, $1, $2, $3;", "=r,r,r,r"(i32 %a, i32 %b, i32 %b)
  ret i32 %4 ; vop: allow(V0702)
}
