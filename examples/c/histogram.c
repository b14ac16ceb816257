/* Runs a kernel: histogram FILE.ptx, of which examples/histogram has the source. It counts the bytes of an image that has one grey. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vop.h>

/* Ends the program if a call failed. */
static void check(vop_status status, vop_diagnostics *why) {
    if (status == VOP_OK) return;
    fprintf(stderr, "%s\n", vop_diagnostics_rendered(why).data);
    vop_diagnostics_free(why);
    exit(1);
}

static char *read_file(const char *name, size_t *len) {
    FILE *file = fopen(name, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        perror(name);
        exit(1);
    }
    long size = ftell(file);
    char *text = malloc(size > 0 ? (size_t)size : 1);
    rewind(file);
    *len = fread(text, 1, (size_t)size, file);
    fclose(file);
    return text;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: histogram FILE.ptx\n");
        return 2;
    }
    size_t len;
    char *ptx = read_file(argv[1], &len);

    vop_diagnostics *why = NULL;
    vop_memory *memory;
    vop_module *module;
    vop_function *function;
    check(vop_memory_new(&memory, &why), why);
    check(vop_module_load(memory, ptx, len, &module, &why), why);
    check(vop_module_function(module, "histogram", VOP_NUL_TERMINATED, &function, &why), why);
    free(ptx);

    static unsigned char image[4096];
    static uint32_t counts[256];
    uint64_t image_at, counts_at;
    memset(image, 7, sizeof image);
    check(vop_memory_allocate(memory, "image", VOP_NUL_TERMINATED, sizeof image, &image_at, &why), why);
    check(vop_memory_allocate(memory, "counts", VOP_NUL_TERMINATED, sizeof counts, &counts_at, &why), why);
    check(vop_memory_write(memory, image_at, image, sizeof image, &why), why);
    check(vop_memory_write(memory, counts_at, counts, sizeof counts, &why), why);

    uint32_t bytes = sizeof image;
    vop_argument arguments[] = {{&image_at, sizeof image_at}, {&bytes, sizeof bytes}, {&counts_at, sizeof counts_at}};
    vop_options *options;
    check(vop_options_new(&options, &why), why);
    check(vop_options_add_check(options, "races", VOP_NUL_TERMINATED), NULL);
    vop_dim3 grid = {4, 1, 1}, block = {256, 1, 1};
    vop_report *report;
    check(vop_launch(function, grid, block, arguments, 3, options, &report, &why), why);
    check(vop_memory_read(memory, counts_at, counts, sizeof counts, &why), why);

    printf("%u bytes are 7; %llu thread-instructions, %zu findings\n", counts[7],
           (unsigned long long)vop_report_instructions(report), vop_diagnostics_count(vop_report_findings(report)));
    vop_report_free(report);
    vop_options_free(options);
    vop_function_free(function);
    vop_module_free(module);
    vop_memory_free(memory);
    return counts[7] == sizeof image ? 0 : 1;
}
