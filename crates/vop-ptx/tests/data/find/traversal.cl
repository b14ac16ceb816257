// Quantised boxes of a compressed wide BVH.
inline float fmin_fmax(float a, float b, float c) {
    int r;
    asm("vmin.s32.s32.s32.max %0, %1, %2, %3;" : "=r"(r) : "r"(as_int(a)), "r"(as_int(b)), "r"(as_int(c)));
    return as_float(r);
}
inline uint sign_extend_s8x4(const uint i) {
    uint v;
    asm("prmt.b32 %0, %1, 0x0, 0x0000BA98;" : "=r"(v) : "r"(i));
    return v;
}
inline uint hits(uint bits, uint index, uint acc) {
    asm("vshl.u32.u32.u32.wrap.add %0,%1.b0, %2.b0, %3;" : "=r"(acc) : "r"(bits), "r"(index), "r"(acc));
    asm("vshl.u32.u32.u32.wrap.add %0,%1.b1, %2.b1, %3;" : "=r"(acc) : "r"(bits), "r"(index), "r"(acc));
    asm volatile(
       ".reg .pred p;                       \n"
       "setp.ne.u32 p, %1, 0;               \n"
       "@p  vshl.u32.u32.u32.wrap.add %0, %1.b2, %2.b2, %3; \n"
       "@!p vshr.u32.u32.u32.clamp %0, %1, %2;\n"
       "DONE: vadd.u32.u32.u32 %0, %0.b0, 1;\n"
       "L1:\n\tvsub.u32.u32.u32 %0, %0.b0, 1;\n"
       : "=r"(acc) : "r"(bits), "r"(index), "r"(acc));
    return acc;
}
