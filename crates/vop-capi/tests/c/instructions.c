/* Instructions and sources: everything of vop.h but memory and launches. */
#include "test.h"

static vop_instruction *parse(const char *text) {
    vop_instruction *instruction = NULL;
    OK(vop_parse(text, NUL, NULL, 0, &instruction, &why));
    CHECK(instruction != NULL);
    return instruction;
}

static void reads_instructions(void) {
    vop_instruction *one = parse("@!p vadd.sat.u32.u32.u32 d, a, 7;");
    CHECK(has(vop_instruction_text(one), "vadd.u32.u32.u32.sat d, a, 7"));
    CHECK(is(vop_instruction_guard(one), "@!p"));
    CHECK(is(vop_instruction_d(one), "d"));
    CHECK(is(vop_instruction_a(one), "a"));
    CHECK(is(vop_instruction_b(one), "7"));
    CHECK(is(vop_instruction_c(one), ""));
    CHECK(!vop_instruction_reads_c(one));
    CHECK(vop_instruction_meaning(one).len > 10);
    CHECK(has(vop_instruction_form(one), "vadd.u32.u32.u32.sat"));
    uint32_t cost = 0;
    OK(vop_instruction_cost(one, "sm_90", NUL, &cost, &why));
    CHECK(cost > 1);
    vop_instruction_free(one);

    /* A length: the text goes on behind it. */
    OK(vop_parse("vadd4.u32.u32.u32 d, a, b, c; nonsense", 29, NULL, 0, &one, &why));
    vop_instruction_free(one);
    /* Declared registers are judged by their types. */
    vop_diagnostics *why = NULL;
    const char *declared = ".reg .b32 a, b, d; .reg .f64 c;";
    CHECK(vop_parse("vadd4.u32.u32.u32.add d, a, b, c;", NUL, declared, NUL, &one, &why) == VOP_ERROR_PARSE);
    CHECK(one == NULL && vop_diagnostics_errors(why) >= 1);
    vop_diagnostics_free(why);
}

static void says_what_is_wrong(void) {
    vop_instruction *one = NULL;
    vop_diagnostics *why = NULL;
    const char *text = "vmin4.u32.u32.u32 d.b00, a, b, c";
    CHECK(vop_parse(text, NUL, NULL, 0, &one, &why) == VOP_ERROR_PARSE);
    CHECK(one == NULL);
    CHECK(vop_diagnostics_count(why) == 1 && vop_diagnostics_errors(why) == 1);
    const vop_diagnostic *first = vop_diagnostics_at(why, 0);
    CHECK(vop_diagnostics_at(why, 1) == NULL);
    CHECK(is(vop_diagnostic_code(first), "V0304"));
    CHECK(vop_diagnostic_severity(first) == VOP_SEVERITY_ERROR);
    size_t start = 0, end = 0;
    /* The span that the documentation of the Rust crate states for this text. */
    CHECK(vop_diagnostic_span(first, &start, &end) && start == 19 && end == 23);
    CHECK(vop_diagnostic_span(first, NULL, NULL));
    CHECK(vop_diagnostic_line(first) == 1 && vop_diagnostic_column(first) == 20);
    CHECK(vop_diagnostic_message(first).len > 0 && vop_diagnostic_help(first).len > 0);
    CHECK(has(vop_diagnostic_rendered(first, VOP_FORMAT_TEXT), text));
    CHECK(!has(vop_diagnostic_rendered(first, VOP_FORMAT_TEXT), "\033"));
    CHECK(has(vop_diagnostic_rendered(first, VOP_FORMAT_ANSI), "\033"));
    CHECK(has(vop_diagnostics_rendered(why), "V0304"));
    CHECK(!vop_diagnostic_thread(first, NULL, NULL));
    CHECK(!vop_diagnostic_address(first, NULL));
    vop_diagnostics_free(why);
    /* Nobody needs to ask why. */
    CHECK(vop_parse(text, NUL, NULL, 0, &one, NULL) == VOP_ERROR_PARSE);

    vop_text *meaning = NULL;
    OK(vop_explain_code("V0304", NUL, VOP_FORMAT_TEXT, &meaning, &why));
    CHECK(has(vop_text_get(meaning), "V0304"));
    vop_text_free(meaning);
    CHECK(vop_explain_code("V9999", NUL, VOP_FORMAT_TEXT, &meaning, &why) == VOP_ERROR_ARGUMENT);
    CHECK(meaning == NULL && has(vop_diagnostics_rendered(why), "error: there is no code `V9999`"));
    vop_diagnostics_free(why);
}

static void judges(void) {
    vop_diagnostics *found = NULL;
    OK(vop_judge("vadd4.u32.u32.u32 d, a, b, c;", NUL, NULL, 0, &found, &why));
    CHECK(found != NULL && vop_diagnostics_errors(found) == 0);
    vop_diagnostics_free(found);
    /* ptxas's code for it differs from the manual: a lint says so. */
    OK(vop_judge("vadd.u32.u32.u32.sat d, a, b;", NUL, NULL, 0, &found, &why));
    CHECK(vop_diagnostics_errors(found) == 0 && vop_diagnostics_count(found) == 1);
    CHECK(vop_diagnostic_severity(vop_diagnostics_at(found, 0)) == VOP_SEVERITY_WARNING);
    vop_diagnostics_free(found);
    OK(vop_judge("vmin4.u32.u32 d.b00, a, b, c", NUL, NULL, 0, &found, &why));
    CHECK(vop_diagnostics_errors(found) == 2);
    vop_diagnostics_free(found);

    const char *cuda = "__device__ void f(int d, int a, int b) {\n"
                       "    asm(\"vadd4.u32.u32.u32 %0, %1, %2, %1;\" : \"=r\"(d) : \"r\"(a), \"r\"(b));\n"
                       "    asm(\"vadd4.u32.u32 %0, %1, %2, %1;\" : \"=r\"(d) : \"r\"(a), \"r\"(b));\n"
                       "}\n";
    OK(vop_check(cuda, NUL, "f.cu", NUL, &found, &why));
    CHECK(vop_diagnostics_instructions(found) == 2 && vop_diagnostics_unjudged(found) == 0);
    CHECK(vop_diagnostics_errors(found) == 1);
    CHECK(vop_diagnostic_line(vop_diagnostics_at(found, 0)) == 3);
    CHECK(has(vop_diagnostics_rendered(found), "f.cu:3"));
    vop_diagnostics_free(found);
    vop_diagnostics *why = NULL;
    CHECK(vop_check(cuda, NUL, "f.unknown", NUL, &found, &why) == VOP_ERROR_ARGUMENT && found == NULL);
    vop_diagnostics_free(why);
}

static void evaluates(void) {
    vop_instruction *sad = parse("vabsdiff4.u32.u32.u32.add d, a, b, c;");
    uint32_t abc[3] = {0x10203040, 0x111e333c, 100}, d = 0;
    OK(vop_eval(sad, VOP_SEMANTICS_ISA, abc, 3, &d, &why));
    CHECK(d == 100 + 1 + 2 + 3 + 4);
    vop_diagnostics *why = NULL;
    CHECK(vop_eval(sad, VOP_SEMANTICS_ISA, abc, 2, &d, &why) == VOP_ERROR_ARGUMENT);
    vop_diagnostics_free(why);
    CHECK(vop_eval(sad, 99, abc, 3, &d, NULL) == VOP_ERROR_ARGUMENT);
    CHECK(vop_eval(sad, VOP_SEMANTICS_ISA, abc, 4, &d, NULL) == VOP_ERROR_ARGUMENT);

    /* docs/ptxas.md has this example: ptxas's code looks at the sign only. */
    vop_instruction *sum = parse("vadd.u32.u32.u32.sat d, a, b;");
    uint32_t ab[2] = {1, 0xffffffff};
    OK(vop_eval(sum, VOP_SEMANTICS_ISA, ab, 2, &d, &why));
    CHECK(d == 0xffffffff);
    OK(vop_eval(sum, VOP_SEMANTICS_PTXAS, ab, 2, &d, &why));
    CHECK(d == 0);

    vop_text *text = NULL;
    OK(vop_explain(sad, VOP_SEMANTICS_ISA, abc, 3, VOP_FORMAT_TEXT, &text, &why));
    CHECK(has(vop_text_get(text), "110") && !has(vop_text_get(text), "\033"));
    vop_text_free(text);
    OK(vop_explain(sad, VOP_SEMANTICS_ISA, NULL, 0, VOP_FORMAT_ANSI, &text, &why));
    CHECK(has(vop_text_get(text), "\033"));
    vop_text_free(text);
    OK(vop_explain(sad, VOP_SEMANTICS_ISA, abc, 3, VOP_FORMAT_JSON, &text, &why));
    CHECK(vop_text_get(text).data[0] == '{' || vop_text_get(text).data[0] == '[');
    vop_text_free(text);
    vop_instruction_free(sum);
    vop_instruction_free(sad);
}

static void lowers(void) {
    vop_instruction *sum = parse("vadd2.u32.u32.u32 %r1, %r2, %r3, %r4;");
    vop_text *block = NULL;
    uint32_t before = 0, after = 0;
    OK(vop_lower(sum, "sm_90", NUL, VOP_SEMANTICS_ISA, &block, &before, &after, &why));
    CHECK(has(vop_text_get(block), "%r1") && !has(vop_text_get(block), "vadd2"));
    CHECK(after > 0 && after < before);
    vop_text_free(block);
    vop_diagnostics *why = NULL;
    CHECK(vop_lower(sum, "sm_1", NUL, VOP_SEMANTICS_ISA, &block, NULL, NULL, &why) == VOP_ERROR_ARGUMENT);
    CHECK(block == NULL && has(vop_diagnostics_rendered(why), "sm_1"));
    vop_diagnostics_free(why);
    vop_instruction_free(sum);

    const char *ptx = ".version 8.0\n.target sm_90\n.address_size 64\n"
                      ".func f() { .reg .b32 %r<5>; vadd2.u32.u32.u32 %r1, %r2, %r3, %r4; ret; }\n";
    OK(vop_lower_module(ptx, NUL, "sm_90", NUL, VOP_SEMANTICS_ISA, false, &block, &why));
    CHECK(has(vop_text_get(block), ".version 8.0\n.target sm_90") && has(vop_text_get(block), "\n    add.u16x2 "));
    vop_text_free(block);
    CHECK(vop_lower_module("no module", NUL, "sm_90", NUL, VOP_SEMANTICS_ISA, false, &block, &why) == VOP_ERROR_LOWER);
    vop_diagnostics_free(why);
}

static void computes_arrays(void) {
    vop_instruction *sum = parse("vadd4.u32.u32.u32 d, a, b, c;");
    vop_plan *plan = NULL;
    OK(vop_plan_new(sum, VOP_SEMANTICS_ISA, &plan, &why));
    vop_instruction_free(sum);
    enum { COUNT = 100000 };
    uint32_t *a = (uint32_t *)malloc(2 * COUNT * sizeof *a), *d = (uint32_t *)malloc(COUNT * sizeof *d);
    uint32_t b = 0x01010101;
    for (uint32_t i = 0; i < 2 * COUNT; i++) a[i] = i;
    /* Every second word, from the end, by all threads. */
    OK(vop_plan_run(plan, a + 2 * COUNT - 2, -8, &b, 0, NULL, 0, d, 4, COUNT, 0, &why));
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t x = 2 * COUNT - 2 - 2 * i, expected = 0;
        for (int lane = 0; lane < 32; lane += 8) expected |= (((x >> lane) + 1) & 0xff) << lane;
        CHECK(d[i] == expected);
    }
    /* A result is the next source: a running sum. */
    memset(d, 0, COUNT * sizeof *d);
    OK(vop_plan_run(plan, d, 4, &b, 0, NULL, 0, d + 1, 4, 200, 1, &why));
    CHECK(d[200] == 200u * 0x01010101 && d[201] == 0);
    OK(vop_plan_run(plan, d, 4, &b, 0, NULL, 0, d, 4, 0, 1, &why));

    vop_diagnostics *why = NULL;
    const uint32_t *odd = (const uint32_t *)(const void *)((const char *)a + 1);
    CHECK(vop_plan_run(plan, odd, 4, &b, 0, NULL, 0, d, 4, 1, 1, &why) == VOP_ERROR_ARGUMENT);
    CHECK(has(vop_diagnostics_rendered(why), "aligned"));
    vop_diagnostics_free(why);
    CHECK(vop_plan_run(plan, a, 6, &b, 0, NULL, 0, d, 4, 1, 1, NULL) == VOP_ERROR_ARGUMENT);
    CHECK(vop_plan_run(plan, a, 4, &b, 0, NULL, 0, d, 4, SIZE_MAX / 2, 1, NULL) == VOP_ERROR_ARGUMENT);
    CHECK(vop_plan_run(plan, a, 4, NULL, 0, NULL, 0, d, 4, 1, 1, NULL) == VOP_ERROR_NULL);
    vop_plan_free(plan);
    /* This one reads c. */
    vop_instruction *sad = parse("vabsdiff4.u32.u32.u32.add d, a, b, c;");
    OK(vop_plan_new(sad, VOP_SEMANTICS_ISA, &plan, &why));
    CHECK(vop_plan_run(plan, a, 4, &b, 0, NULL, 0, d, 4, 1, 1, NULL) == VOP_ERROR_NULL);
    vop_plan_free(plan);
    vop_instruction_free(sad);
    free(a);
    free(d);
}

static void takes_nothing_amiss(void) {
    vop_diagnostics *why = NULL;
    vop_instruction *one = NULL;
    CHECK(vop_parse(NULL, 0, NULL, 0, &one, &why) == VOP_ERROR_NULL && one == NULL);
    CHECK(has(vop_diagnostics_rendered(why), "error: `text` is null"));
    CHECK(is(vop_diagnostic_code(vop_diagnostics_at(why, 0)), ""));
    vop_diagnostics_free(why);
    CHECK(vop_parse("vadd4", NUL, NULL, 0, NULL, NULL) == VOP_ERROR_NULL);
    CHECK(vop_parse("vadd4 \xff", NUL, NULL, 0, &one, &why) == VOP_ERROR_UTF8);
    CHECK(has(vop_diagnostics_rendered(why), "byte 6"));
    vop_diagnostics_free(why);
    CHECK(vop_parse("", 0, NULL, 0, &one, &why) == VOP_ERROR_PARSE);
    vop_diagnostics_free(why);
    CHECK(vop_eval(NULL, VOP_SEMANTICS_ISA, NULL, 0, NULL, NULL) == VOP_ERROR_NULL);
    CHECK(vop_plan_new(NULL, VOP_SEMANTICS_ISA, NULL, NULL) == VOP_ERROR_NULL);
    /* Questions about nothing. */
    CHECK(vop_diagnostics_count(NULL) == 0 && vop_diagnostics_at(NULL, 0) == NULL);
    CHECK(is(vop_diagnostic_message(NULL), "") && is(vop_instruction_text(NULL), "") && is(vop_text_get(NULL), ""));
    vop_instruction_free(NULL);
    vop_plan_free(NULL);
    vop_text_free(NULL);
    vop_diagnostics_free(NULL);
    CHECK(vop_abi_version() == VOP_ABI_VERSION && vop_version().len >= 5);
}

int main(void) {
    reads_instructions();
    says_what_is_wrong();
    judges();
    evaluates();
    lowers();
    computes_arrays();
    takes_nothing_amiss();
    puts("instructions: as expected");
    return 0;
}
