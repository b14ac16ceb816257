const char *raw = R"(
.version 6.0
.target sm_70
.visible .entry k()
{
    .reg .u32 %r<4>;
    vadd4.u32.u32.u32 %r1, %r2, %r9, %r3;
    ret;
}
)";
const char *joined = ".version 6.0\n.target sm_70\n.visible .entry k()\n{\n"
                     ".reg .u32 %r<4>;\n.reg .u64 %rd<4>;\n"
                     "vadd4.u32.u32.u32 %r1, %rd2, %r1, %r3;\nret;\n}\n";
const char *format = ".version %d.0\n.target sm_70\n.visible .entry k()\n{\n"
                     "vadd4.u32.u32.u32 %%r1, %%r2, %%r1, %%r3;\nret;\n}\n";
