// Zugehörige Werte, in Latin-1: äöü ÿ"vadd4
__device__ int f(int a) { asm("vmin4.u32.u32.u32 %0, /* ä */ %1, %2, %3; // größer" : "=r"(a)); return a; }
