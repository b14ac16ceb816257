// Host code that hands PTX or CUDA source to the driver.
#include <string>
static const char* kKernel = R"ptx(
.version 6.4
.target sm_50
.address_size 64
.visible .entry sad(.param .u64 p)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    // vadd4.u32.u32.u32 in a comment of PTX
    @%p1 vabsdiff4.u32.u32.u32.add %r1, %r2, %r3, %r4;
    /* vsub4.u32.u32.u32 %r1, %r2, %r3, %r4; */ vsub4.u32.u32.u32 %r1, /* in the middle */ %r2,
        %r3, %r4;
    vset4.u32.u32.lt.add  %r5.b10, %r2.b7610, %r3.b3210, %r1;
    ret;
}
)ptx";

static const char* kSource = R"(
extern "C" __global__ void k(unsigned* d) {
    unsigned r;
    // asm("vadd2.u32.u32.u32 %0, %1, %2, %3;");
    asm("vadd2.u32.u32.u32.sat %0, %1, %2, %3;\n\t" "vsub2.u32.u32.u32 %0, %0, %1, %2;" : "=r"(r) : "r"(d[0]), "r"(d[1]), "r"(0));
    d[2] = r;
}
)";

static const char* kEscaped =
    "__global__ void k(unsigned* d) {\n"
    "  asm(\"vmax4.s32.s32.s32 %0, %1, %2, %3;\\n\" : \"=r\"(d[0]) : \"r\"(d[1]), \"r\"(d[2]), \"r\"(0));\n"
    "}\n";

static const char* kHex = u8"\x76" "add4.u32.u32.u32 \x25r1, %r2, %r3,\
 %r4;";

std::string emit(const std::string& t, int d) {
    char line[128];
    snprintf(line, sizeof line, "vadd.%s.%s.%s %%r%d, %%r%d, %%r%d;\n", t.c_str(), t.c_str(), t.c_str(), d, d, d);
    snprintf(line, sizeof line, "vmad.u32.u32.u32 %%r%d, %%r%d, %%r%d, %%r%d;\n", d, d, d, d);
    printf("vmin.x = %f, vmax.y = %f\n", 0.0, 1.0);
    printf("vadd4 failed: vadd4.u32 is not supported\n");
    printf("vabsdiff4.u32: %d\n", d);
    throw std::runtime_error("vadd. vsub. vmin.");
    return std::string("vsub4.") + t + "." + t + "." + t + " %r1, %r2, %r3, %r4;" + std::string("\n")
         + "vmin2.u32.u32.u32 %r" + std::to_string(d) + ", %r1, %r2, %r3;";
}
std::ostream& emit(std::ostream& os, const char* t) { return os << "vmax2." << t << ".s32.s32 " << "%r1, %r2, %r3, %r4;"; }
static const char* names[] = { "vadd4", "vsub4.u32", "vset4.", "vavrg4.s32.s32.s32" };
