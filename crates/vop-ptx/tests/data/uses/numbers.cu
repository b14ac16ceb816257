// What nvcc takes: numbers that the compiler writes beside signs and words.
__global__ void k(unsigned *o, unsigned a, unsigned b, unsigned c) {
  unsigned d;
  asm("{ .reg .b32 t%=; vadd4.u32.u32.u32 t%=, %1, %2, %3; mov.b32 %0, t%=; }" : "=r"(d) : "r"(a), "r"(b), "r"(c)); o[0] = d;
  asm("vadd.u32.u32.u32 %0, %1, -%2;" : "=r"(d) : "r"(a), "n"(5)); o[1] = d;
  asm("vadd.u32.u32.u32 %0, %1, -%2;" : "=r"(d) : "r"(a), "n"(-5)); o[2] = d;
  asm("vadd.u32.u32.u32 %0, %1, 0x%2;" : "=r"(d) : "r"(a), "n"(10)); o[3] = d;
  asm("vadd.u32.u32.u32 %0, %1, %2%3;" : "=r"(d) : "r"(a), "n"(1), "n"(0)); o[4] = d;
  asm("{.reg .b32 r%2; vadd.u32.u32.u32 r%2, %1, 1; mov.b32 %0, r%2;}" : "=r"(d) : "r"(a), "n"(10)); o[5] = d;
  asm("vadd.u32.u32.u32 %0, %1, (%2 + 1);" : "=r"(d) : "r"(a), "n"(4)); o[7] = d;
  asm("vadd.u32.u32.u32 %0, %1, %2 + 1;" : "=r"(d) : "r"(a), "n"(4)); o[8] = d;
  asm("vadd.u32.u32.u32 %0, %1, 3*%2;" : "=r"(d) : "r"(a), "n"(4)); o[9] = d;
  asm("vadd.u32.u32.u32 %0, %1, 3 << %2;" : "=r"(d) : "r"(a), "n"(4)); o[10] = d;
  asm("vadd.u32.u32.u32.add %0, %1, %2, %3+%4;" : "=r"(d) : "r"(a), "r"(b), "r"(c), "n"(4)); o[11] = d;
  asm("vadd.u32.u32.u32 %0, %1.b%3, %2.b%3;" : "=r"(d) : "r"(a), "r"(b), "n"(3)); o[6] = d;
}
// What it does not.
__global__ void l(unsigned *o, unsigned a, unsigned b, unsigned c) {
  unsigned d;
  asm("vadd.u32.u32.u32 %0, %1, -%2;" : "=r"(d) : "r"(a), "r"(b)); o[0] = d;
  asm("vadd4.u32.u32.u32 %0, %1, %2, -%3;" : "=r"(d) : "r"(a), "r"(b), "n"(3)); o[1] = d;
  asm("vadd.u32.u32.u32 %0, %1.b%4, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c), "n"(-1)); o[2] = d;
  asm("vmad.u32.u32.u32.shr%4 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c), "n"(-1)); o[3] = d;
  asm("vadd.u32.u32.u32 %0.b%3, %1.b%3, %2.b%3, %1;" : "=r"(d) : "r"(a), "r"(b), "n"(5)); o[5] = d;
}
// Named operands.
__global__ void m(unsigned *o, unsigned a, unsigned long long b, float c) {
  unsigned d;
  asm("vadd4.u32.u32.u32 %[d], %[a], %[b], %[x];" : [d] "=r"(d) : [a] "r"(a), [b] "r"(a), [c] "r"(a)); o[0] = d;
  asm("vadd4.u32.u32.u32 %[d], %[a], %[b], %[c];" : [d] "=r"(d) : [a] "r"(a), [b] "l"(b), [c] "f"(c)); o[1] = d;
  asm("vadd.u32.u32.u32 %[d], %[a].b%[i], %[a];" : [d] "=r"(d) : [a] "r"(a), [i] "n"(4)); o[2] = d;
}
