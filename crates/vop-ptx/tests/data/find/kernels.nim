# vadd4.u32.u32.u32 %0, %1, %2, %3;
#[ vadd4.u32.u32.u32 %0, %1, %2, %3; #[ nested ]# still ]#
proc add4(a, b: uint32): uint32 =
  {.emit: """asm("vadd4.u32.u32.u32 %0, %1, %2, %1;" : "=r"(`result`) : "r"(`a`), "r"(`b`));""".}
proc other(a: uint32) =
  asm """
    vmax4.u32.u32.u32 `result`, `a`, `a`, `a`;
  """
const path = r"C:\temp\""quoted"""
const text = "vmin4.u32.u32.u32 " & "%r1, %r2, %r3, %r4;"
let width = 1'u32
