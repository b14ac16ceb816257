// Smith-Waterman: how well does part of a protein match part of each protein of a database? Local alignment with affine gaps and
// BLOSUM62, four proteins in one word, as in CUDASW++.
//
// Compiled to smith-waterman.ptx with:  nvcc -arch=sm_75 -ptx smith-waterman.cu
// Run on the CPU with:                  vop run smith-waterman.toml

typedef unsigned char byte;
typedef unsigned int word; // the scores of four proteins, each a signed byte

// The video instructions. With `.sat` a score that would leave -128 ... 127 stays at the limit.

__device__ __forceinline__ word add4(word a, word b) {
    word d;
    asm("vadd4.s32.s32.s32.sat %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(0));
    return d;
}

__device__ __forceinline__ word sub4(word a, word b) {
    word d;
    asm("vsub4.s32.s32.s32.sat %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(0));
    return d;
}

__device__ __forceinline__ word max4(word a, word b) {
    word d;
    asm("vmax4.s32.s32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(0));
    return d;
}

// max(max(a, b), c) of whole words.
__device__ __forceinline__ int max3(int a, int b, int c) {
    int d;
    asm("vmax.s32.s32.s32.max %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}

__device__ __forceinline__ word four(int score) { return 0x01010101u * (byte)score; }

// Residues are numbered in the order of BLOSUM62's rows; X stands for any other letter.
constexpr int RESIDUES = 24, X = 22, PAD = RESIDUES;
__constant__ char order[RESIDUES + 1] = "ARNDCQEGHILKMFPSTWYVBZX*";

__constant__ signed char blosum62[RESIDUES][RESIDUES] = {
    {4, -1, -2, -2, 0, -1, -1, 0, -2, -1, -1, -1, -1, -2, -1, 1, 0, -3, -2, 0, -2, -1, 0, -4},
    {-1, 5, 0, -2, -3, 1, 0, -2, 0, -3, -2, 2, -1, -3, -2, -1, -1, -3, -2, -3, -1, 0, -1, -4},
    {-2, 0, 6, 1, -3, 0, 0, 0, 1, -3, -3, 0, -2, -3, -2, 1, 0, -4, -2, -3, 3, 0, -1, -4},
    {-2, -2, 1, 6, -3, 0, 2, -1, -1, -3, -4, -1, -3, -3, -1, 0, -1, -4, -3, -3, 4, 1, -1, -4},
    {0, -3, -3, -3, 9, -3, -4, -3, -3, -1, -1, -3, -1, -2, -3, -1, -1, -2, -2, -1, -3, -3, -2, -4},
    {-1, 1, 0, 0, -3, 5, 2, -2, 0, -3, -2, 1, 0, -3, -1, 0, -1, -2, -1, -2, 0, 3, -1, -4},
    {-1, 0, 0, 2, -4, 2, 5, -2, 0, -3, -3, 1, -2, -3, -1, 0, -1, -3, -2, -2, 1, 4, -1, -4},
    {0, -2, 0, -1, -3, -2, -2, 6, -2, -4, -4, -2, -3, -3, -2, 0, -2, -2, -3, -3, -1, -2, -1, -4},
    {-2, 0, 1, -1, -3, 0, 0, -2, 8, -3, -3, -1, -2, -1, -2, -1, -2, -2, 2, -3, 0, 0, -1, -4},
    {-1, -3, -3, -3, -1, -3, -3, -4, -3, 4, 2, -3, 1, 0, -3, -2, -1, -3, -1, 3, -3, -3, -1, -4},
    {-1, -2, -3, -4, -1, -2, -3, -4, -3, 2, 4, -2, 2, 0, -3, -2, -1, -2, -1, 1, -4, -3, -1, -4},
    {-1, 2, 0, -1, -3, 1, 1, -2, -1, -3, -2, 5, -1, -3, -1, 0, -1, -3, -2, -2, 0, 1, -1, -4},
    {-1, -1, -2, -3, -1, 0, -2, -3, -2, 1, 2, -1, 5, 0, -2, -1, -1, -1, -1, 1, -3, -1, -1, -4},
    {-2, -3, -3, -3, -2, -3, -3, -3, -1, 0, 0, -3, 0, 6, -4, -2, -2, 1, 3, -1, -3, -3, -1, -4},
    {-1, -2, -2, -1, -3, -1, -1, -2, -2, -3, -3, -1, -2, -4, 7, -1, -1, -4, -3, -2, -2, -1, -2, -4},
    {1, -1, 1, 0, -1, 0, 0, 0, -1, -2, -2, 0, -1, -2, -1, 4, 1, -3, -2, -2, 0, 0, 0, -4},
    {0, -1, 0, -1, -1, -1, -1, -2, -2, -1, -1, -1, -1, -2, -1, 1, 5, -2, -2, 0, -1, -1, 0, -4},
    {-3, -3, -4, -4, -2, -2, -3, -2, -2, -3, -2, -3, -1, 1, -4, -3, -2, 11, 2, -3, -4, -3, -2, -4},
    {-2, -2, -2, -3, -2, -1, -2, -3, 2, -1, -1, -2, -1, 3, -3, -2, -2, 2, 7, -1, -3, -2, -1, -4},
    {0, -3, -3, -3, -1, -2, -2, -3, -3, 3, 1, -2, 1, -1, -2, -2, 0, -3, -1, 4, -3, -2, -1, -4},
    {-2, -1, 3, 4, -3, 0, 1, -1, 0, -3, -4, 0, -3, -3, -2, 0, -1, -4, -3, -3, 4, 1, -1, -4},
    {-1, 0, 0, 1, -3, 3, 4, -2, 0, -3, -3, 1, -1, -3, -1, 0, -1, -3, -2, -2, 1, 4, -1, -4},
    {0, -1, -1, -1, -2, -1, -1, -1, -1, -1, -1, -1, -1, -1, -2, 0, 0, -2, -1, -1, -1, -1, -1, -4},
    {-4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, 1},
};

// Finds where the records of a FASTA file start: one block of threads, each with its piece of the text.
//
// starts: the place of each record's `>`, and after the last one the text's length. Only the first `limit` records are written.
// count: how many records there are.
constexpr int FINDERS = 128;
extern "C" __global__ void find_records(const byte *text, int length, int *starts, int *count, int limit) {
    __shared__ int before[FINDERS];
    int thread = threadIdx.x;
    int piece = (length + FINDERS - 1) / FINDERS;
    int first = min(thread * piece, length), last = min(first + piece, length);
    int found = 0;
    for (int at = first; at < last; at++)
        found += text[at] == '>' && (at == 0 || text[at - 1] == '\n');

    // The sum over the threads up to this one.
    before[thread] = found;
    __syncthreads();
    for (int step = 1; step < FINDERS; step *= 2) {
        int other = thread >= step ? before[thread - step] : 0;
        __syncthreads();
        before[thread] += other;
        __syncthreads();
    }

    int number = before[thread] - found;
    for (int at = first; at < last; at++)
        if (text[at] == '>' && (at == 0 || text[at - 1] == '\n')) {
            if (number < limit)
                starts[number] = at;
            number++;
        }
    if (thread == FINDERS - 1) {
        starts[min(number, limit)] = length;
        *count = min(number, limit);
    }
}

// Writes each record's residues, as numbers, to the place where the record starts in the text, and their number. One thread for each
// record.
extern "C" __global__ void read_records(const byte *text, const int *starts, const int *count, byte *residues, int *lengths) {
    int record = blockIdx.x * blockDim.x + threadIdx.x;
    if (record >= *count)
        return;
    int start = starts[record], end = starts[record + 1];
    int at = start;
    while (at < end && text[at] != '\n')
        at++;
    int length = 0;
    for (; at < end; at++) {
        byte letter = text[at];
        // Lower case counts as upper case.
        if (letter >= 'a' && letter <= 'z')
            letter -= 'a' - 'A';
        if (letter <= ' ')
            continue;
        byte residue = X;
        for (int i = 0; i < RESIDUES; i++)
            if (order[i] == letter)
                residue = i;
        residues[start + length++] = residue;
    }
    lengths[record] = length;
}

// The cost of a gap's first residue, and of each further one.
constexpr int OPEN = 11, EXTEND = 1;

// Four bytes from each of four words to the four words of their columns.
__device__ __forceinline__ void transpose(const word *in, word *out) {
    word low01 = __byte_perm(in[0], in[1], 0x5140), low23 = __byte_perm(in[2], in[3], 0x5140);
    word high01 = __byte_perm(in[0], in[1], 0x7362), high23 = __byte_perm(in[2], in[3], 0x7362);
    out[0] = __byte_perm(low01, low23, 0x5410);
    out[1] = __byte_perm(low01, low23, 0x7632);
    out[2] = __byte_perm(high01, high23, 0x5410);
    out[3] = __byte_perm(high01, high23, 0x7632);
}

// Aligns the query with four proteins a thread, in bytes. A score of 127 means that the true score is 127 or more.
//
// For each place of the query, `rows` holds the scores of the column before: `best` of alignments that end there, and of those that
// end in a gap of the query. Shared memory holds the query's profile, (RESIDUES + 1) * (query_length rounded up to 4) bytes: for
// each residue, how well it fits each place of the query.
extern "C" __global__ void search(const byte *query, const int *query_length, const byte *residues, const int *starts, const int *lengths,
                                  const int *count, uint2 *rows, int *scores) {
    extern __shared__ word profile[];
    int groups = (*query_length + 3) / 4;
    for (int i = threadIdx.x; i < (RESIDUES + 1) * groups * 4; i += blockDim.x) {
        int residue = i / (groups * 4), place = i % (groups * 4);
        // Beyond either end, no residue fits.
        bool inside = residue < RESIDUES && place < *query_length;
        ((signed char *)profile)[i] = inside ? blosum62[residue][query[place]] : -4;
    }
    __syncthreads();

    int threads = gridDim.x * blockDim.x, thread = blockIdx.x * blockDim.x + threadIdx.x;
    int first = 4 * thread;
    if (first >= *count)
        return;
    const byte *protein[4];
    int length[4], longest = 0;
    for (int lane = 0; lane < 4; lane++) {
        int record = min(first + lane, *count - 1);
        protein[lane] = residues + starts[record];
        length[lane] = lengths[record];
        longest = max(longest, length[lane]);
    }
    for (int i = 0; i < 4 * groups; i++)
        rows[i * threads + thread] = make_uint2(0, four(-128));

    word top = 0;
    for (int column = 0; column < longest; column++) {
        const word *fits[4];
        for (int lane = 0; lane < 4; lane++)
            fits[lane] = profile + groups * (column < length[lane] ? protein[lane][column] : PAD);
        word diagonal = 0, above = 0, gap_above = four(-128);
        for (int group = 0; group < groups; group++) {
            word by_lane[4], fit[4];
#pragma unroll
            for (int lane = 0; lane < 4; lane++)
                by_lane[lane] = fits[lane][group];
            transpose(by_lane, fit);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                uint2 &row = rows[(4 * group + i) * threads + thread];
                uint2 left = row;
                word gap_left = max4(sub4(left.y, four(EXTEND)), sub4(left.x, four(OPEN)));
                gap_above = max4(sub4(gap_above, four(EXTEND)), sub4(above, four(OPEN)));
                above = max4(max4(add4(diagonal, fit[i]), 0), max4(gap_left, gap_above));
                diagonal = left.x;
                top = max4(top, above);
                row = make_uint2(above, gap_left);
            }
        }
    }
    for (int lane = 0; lane < 4; lane++)
        if (first + lane < *count)
            scores[first + lane] = top >> 8 * lane & 127;
}

// Aligns again, one protein a thread and in whole words, the proteins whose scores do not fit a byte.
extern "C" __global__ void search_again(const byte *query, const int *query_length, const byte *residues, const int *starts,
                                        const int *lengths, const int *count, int2 *rows, int *scores) {
    int threads = gridDim.x * blockDim.x, thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int record = thread; record < *count; record += threads) {
        if (scores[record] < 127)
            continue;
        for (int i = 0; i < *query_length; i++)
            rows[i * threads + thread] = make_int2(0, -OPEN);
        int top = 0;
        for (int column = 0; column < lengths[record]; column++) {
            const signed char *fits = blosum62[residues[starts[record] + column]];
            int diagonal = 0, above = 0, gap_above = -OPEN;
            for (int i = 0; i < *query_length; i++) {
                int2 left = rows[i * threads + thread];
                int gap_left = max(left.y - EXTEND, left.x - OPEN);
                gap_above = max(gap_above - EXTEND, above - OPEN);
                above = max3(max3(diagonal + fits[query[i]], 0, gap_left), gap_above, 0);
                diagonal = left.x;
                top = max(top, above);
                rows[i * threads + thread] = make_int2(above, gap_left);
            }
        }
        scores[record] = top;
    }
}
