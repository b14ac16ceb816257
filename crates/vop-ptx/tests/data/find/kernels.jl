# vadd4.u32.u32.u32 %0, %1, %2, %3;
#= vadd4.u32.u32.u32 %0, %1, %2, %3; #= nested =# still a comment =#
using LLVM.Interop
add4(a, b) = @asmcall("vadd4.u32.u32.u32 \$0, \$1, \$2, \$1;", "=r,r,r", UInt32, Tuple{UInt32,UInt32}, a, b)
raw4(a) = @asmcall(raw"vmax4.u32.u32.u32 $0, $1, $1, $1;", "=r,r", UInt32, Tuple{UInt32}, a)
x = A' * B'
for ty in ("u32", "s32")
    @eval f(a, b) = @asmcall($("vmin4.$ty.$ty.$ty \$0, \$1, \$2, \$1;"), "=r,r,r")
end
function sad(a, b, c)
    Base.llvmcall("""
        %d = call i32 asm "vabsdiff4.u32.u32.u32.add \$0, \$1, \$2, \$3;", "=r,r,r,r"(i32 %0, i32 %1, i32 %2)
        ret i32 %d""", UInt32, Tuple{UInt32,UInt32,UInt32}, a, b, c)
end
joined = "vsub4.u32" * ".u32.u32 %r1, " *
    "%r2, %r3, %r4;"
