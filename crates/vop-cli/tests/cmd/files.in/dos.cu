// CRLF
asm("vadd4.u32.u32.u32.sat.add %0, %1, %2, %3;"
    "vmax4.u32.u32 %0, %1, %2, %3;"
    : "+r"(d) : "r"(a), "r"(b), "r"(c));
