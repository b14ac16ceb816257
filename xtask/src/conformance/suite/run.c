/* Runs the self-checking kernels of the conformance suite through a CUDA driver.

       cc -o run run.c -ldl
       ./run LIBCUDA SEMANTICS [MNEMONIC...]

   LIBCUDA is the path of a libcuda.so. SEMANTICS is manual, ptxas (13.3 and later) or ptxas-13.2 (11.7 to 13.2). It reads kernels/
   and vectors-small.tsv of the folder that it is started in. It ends with 0 if every row is right, with 1 if one is wrong, and
   with 2 if it could not run. HOW-TO-READ.md explains what it prints. */

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const MNEMONICS[] = {
    "vadd",   "vsub",   "vabsdiff", "vmin",  "vmax",  "vshl",  "vshr",  "vmad",   "vset",      "vadd2", "vsub2", "vavrg2",
    "vabsdiff2", "vmin2", "vmax2",  "vset2", "vadd4", "vsub4", "vavrg4", "vabsdiff4", "vmin4", "vmax4", "vset4",
};
enum { COUNT = sizeof MNEMONICS / sizeof *MNEMONICS };
static const char *const SEMANTICS[] = {"manual", "ptxas", "ptxas-13.2"};

typedef int Result;
typedef uint64_t Address;

/* The functions of the driver API that this needs. */
static struct {
    Result (*cuInit)(unsigned);
    Result (*cuDeviceGet)(int *, int);
    Result (*cuDevicePrimaryCtxRetain)(void **, int);
    Result (*cuCtxSetCurrent)(void *);
    Result (*cuModuleLoadDataEx)(void **, const void *, unsigned, int *, void **);
    Result (*cuModuleGetFunction)(void **, void *, const char *);
    Result (*cuModuleGetGlobal)(Address *, size_t *, void *, const char *);
    Result (*cuModuleUnload)(void *);
    Result (*cuMemAlloc)(Address *, size_t);
    Result (*cuMemcpyDtoH)(void *, Address, size_t);
    Result (*cuLaunchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
    Result (*cuCtxSynchronize)(void);
} driver;

static void load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        fprintf(stderr, "run: cannot load the driver: %s\n", dlerror());
        exit(2);
    }
    const struct {
        const char *name;
        void *place;
    } functions[] = {
        {"cuInit", &driver.cuInit},
        {"cuDeviceGet", &driver.cuDeviceGet},
        {"cuDevicePrimaryCtxRetain", &driver.cuDevicePrimaryCtxRetain},
        {"cuCtxSetCurrent", &driver.cuCtxSetCurrent},
        {"cuModuleLoadDataEx", &driver.cuModuleLoadDataEx},
        {"cuModuleGetFunction", &driver.cuModuleGetFunction},
        {"cuModuleGetGlobal_v2", &driver.cuModuleGetGlobal},
        {"cuModuleUnload", &driver.cuModuleUnload},
        {"cuMemAlloc_v2", &driver.cuMemAlloc},
        {"cuMemcpyDtoH_v2", &driver.cuMemcpyDtoH},
        {"cuLaunchKernel", &driver.cuLaunchKernel},
        {"cuCtxSynchronize", &driver.cuCtxSynchronize},
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *function = dlsym(library, functions[i].name);
        if (!function) {
            fprintf(stderr, "run: %s has no %s\n", path, functions[i].name);
            exit(2);
        }
        memcpy(functions[i].place, &function, sizeof function);
    }
}

/* Whether a call succeeded. If not, says which. */
static int good(Result result, const char *mnemonic, const char *what)
{
    if (result)
        printf("%-10s %s: error %d\n", mnemonic, what, result);
    return !result;
}

/* A file with a zero behind its bytes; NULL if it cannot be read. */
static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    size_t length = 0, size = 0;
    if (!file)
        return NULL;
    do {
        if (length + 1 >= size) {
            char *more = realloc(bytes, size = size ? 2 * size : 1 << 16);
            if (!more) {
                fclose(file);
                free(bytes);
                return NULL;
            }
            bytes = more;
        }
        length += fread(bytes + length, 1, size - 1 - length, file);
    } while (!feof(file) && !ferror(file));
    if (ferror(file)) {
        fclose(file);
        free(bytes);
        return NULL;
    }
    fclose(file);
    bytes[length] = 0;
    return bytes;
}

/* Row `wanted` of a mnemonic in vectors-small.tsv, from 1; "" if there is none. */
static void find_row(const char *vectors, const char *mnemonic, uint32_t wanted, char *row, size_t size)
{
    size_t length = strlen(mnemonic);
    uint32_t number = 0;
    row[0] = 0;
    for (const char *line = vectors; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
        if (strncmp(line, mnemonic, length) == 0 && line[length] == '.' && ++number == wanted) {
            size_t end = strcspn(line, "\n");
            end = end < size ? end : size - 1;
            memcpy(row, line, end);
            row[end] = 0;
            return;
        }
    }
}

/* Runs a kernel: 0 if all rows are right, 1 if one is wrong, 2 if it could not run. */
static int run(const char *mnemonic, uint32_t semantics, const char *vectors)
{
    char path[64], name[64], row[256], log[4096] = "";
    snprintf(path, sizeof path, "kernels/%s.ptx", mnemonic);
    char *ptx = read_file(path);
    if (!ptx) {
        printf("%-10s cannot read %s\n", mnemonic, path);
        return 2;
    }
    void *module = NULL, *function = NULL;
    int options[] = {5, 6}; /* CU_JIT_ERROR_LOG_BUFFER and its size */
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    int loaded = good(driver.cuModuleLoadDataEx(&module, ptx, 2, options, values), mnemonic, "cuModuleLoadDataEx");
    free(ptx);
    if (!loaded) {
        printf("%s", log);
        return 2;
    }
    Address result = 0, got = 0;
    size_t size = 0;
    uint32_t said[2] = {0, 0}, d = 0;
    void *arguments[] = {&result, &semantics};
    snprintf(name, sizeof name, "%s_got", mnemonic);
    if (!good(driver.cuModuleGetFunction(&function, module, mnemonic), mnemonic, "cuModuleGetFunction") ||
        !good(driver.cuMemAlloc(&result, sizeof said), mnemonic, "cuMemAlloc") ||
        !good(driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL), mnemonic, "cuLaunchKernel") ||
        !good(driver.cuCtxSynchronize(), mnemonic, "cuCtxSynchronize") ||
        !good(driver.cuMemcpyDtoH(said, result, sizeof said), mnemonic, "cuMemcpyDtoH") ||
        !good(driver.cuModuleGetGlobal(&got, &size, module, name), mnemonic, "cuModuleGetGlobal"))
        return 2;
    if (said[0] == 0) {
        printf("%-10s %zu rows are right\n", mnemonic, size / 4);
    } else if (said[0] > size / 4) {
        printf("%-10s the kernel says that row %u of %zu is wrong: the implementation is broken\n", mnemonic, said[0], size / 4);
        return 2;
    } else {
        if (!good(driver.cuMemcpyDtoH(&d, got + 4 * (Address)(said[0] - 1), sizeof d), mnemonic, "cuMemcpyDtoH"))
            return 2;
        find_row(vectors, mnemonic, said[0], row, sizeof row);
        printf("%-10s %u of %zu rows are wrong. The first is row %u; got %08x:\n           %s\n", mnemonic, said[1], size / 4, said[0], d, row);
    }
    good(driver.cuModuleUnload(module), mnemonic, "cuModuleUnload");
    return said[0] != 0;
}

int main(int count, char **arguments)
{
    uint32_t semantics = 0;
    int worst = 0;
    while (count > 2 && semantics < 3 && strcmp(arguments[2], SEMANTICS[semantics]))
        semantics++;
    if (count < 3 || semantics == 3) {
        fprintf(stderr, "usage: run LIBCUDA manual|ptxas|ptxas-13.2 [MNEMONIC...]\n");
        return 2;
    }
    char *vectors = read_file("vectors-small.tsv");
    if (!vectors) {
        fprintf(stderr, "run: cannot read vectors-small.tsv; start this in the folder of the suite\n");
        return 2;
    }
    load(arguments[1]);
    int device = 0;
    void *context = NULL;
    if (!good(driver.cuInit(0), "", "cuInit") || !good(driver.cuDeviceGet(&device, 0), "", "cuDeviceGet") ||
        !good(driver.cuDevicePrimaryCtxRetain(&context, device), "", "cuDevicePrimaryCtxRetain") ||
        !good(driver.cuCtxSetCurrent(context), "", "cuCtxSetCurrent"))
        return 2;
    for (int i = 3; i < count; i++) {
        int known = 0;
        for (int j = 0; j < COUNT; j++)
            known |= !strcmp(arguments[i], MNEMONICS[j]);
        if (!known) {
            fprintf(stderr, "run: no such mnemonic: %s\n", arguments[i]);
            return 2;
        }
    }
    for (int i = 0; i < COUNT; i++) {
        int wanted = count == 3;
        for (int j = 3; j < count; j++)
            wanted |= !strcmp(arguments[j], MNEMONICS[i]);
        if (wanted) {
            int outcome = run(MNEMONICS[i], semantics, vectors);
            worst = outcome > worst ? outcome : worst;
        }
    }
    printf("columns of a row: form, a, b, c, d by the manual, by ptxas 13.3 and later, by ptxas 11.7 to 13.2\n");
    free(vectors);
    return worst;
}
