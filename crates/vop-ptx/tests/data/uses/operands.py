import triton.language as tl
y = tl.inline_asm_elementwise("vadd4.u32.u32.u32 $0, $1, $2, $3;", "=r,r,r,l", [a, b, c], dtype=tl.int32)
y = tl.inline_asm_elementwise(
    asm="""
    vabsdiff4.u32.u32.u32.add $0, $1, $2, $0;
    """,
    constraints=("=r,r,r"),
    args=[a, b])
y = tl.inline_asm_elementwise("vadd.u32.u32.u32 $0, $1.b$3, $2;", "=r,r,r,n", [a, b, 1])
f = ir.InlineAsm(fty, "vadd4.u32.u32.u32 $0, $1, $2, $2;", "=r,r,r,~{memory}", side_effect=False)
SRC = r'''
#define VOP(op) asm("v" #op "4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(0))
__device__ unsigned f(unsigned a, double b) { unsigned d; VOP(add); VOP(mul); return d; }
template<int I> __device__ unsigned g(unsigned a) { unsigned d; asm("vadd.u32.u32.u32 %0, %1.b%2, %1;" : "=r"(d) : "r"(a), "n"(I)); return d; }
template<int J> __device__ unsigned h(unsigned a) { return g<J + 1>(a); }
__global__ void k(unsigned *o) { o[0] = h<2>(o[1]) + h<3>(o[1]); }
'''
