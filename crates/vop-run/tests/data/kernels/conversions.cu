// Conversions between all widths of integers and floats: four roundings to integers, what is out of range, what is no number, narrowing
// and widening with and without a sign.
//
// nvcc -arch=sm_75
// nvcc -arch=sm_100 # sm_100
// launch conversions grid=1 block=64
// buffer floats u32 @lcg 64 seed 81
// buffer doubles u64 @lcg 64 seed 82
// buffer integers s64 @lcg 64 seed 83
// buffer out s64 *1984
#include "kernel.h"

#ifdef HOST
// From the manual: what is out of range becomes the nearest integer of the type; what is no number becomes 0, but for float64 or an
// integer of 64 bits, where it becomes the highest bit alone.
#include <cfenv>
using std::isnan;
template <class T, class F> static T to_integer(F x, int mode) {
    if (std::isnan(x))
        return sizeof(F) == 8 || sizeof(T) == 8 ? (T)1 << (8 * sizeof(T) - 1) : 0;
    long double y = x;
    long double whole = mode == FE_TOWARDZERO ? std::trunc(y) : mode == FE_UPWARD ? std::ceil(y) : mode == FE_DOWNWARD ? std::floor(y) : std::nearbyint(y);
    if (whole <= (long double)std::numeric_limits<T>::min())
        return std::numeric_limits<T>::min();
    if (whole >= (long double)std::numeric_limits<T>::max())
        return std::numeric_limits<T>::max();
    return (T)whole;
}
#define CONVERSIONS(from, F, to, T) \
    static T __##from##2##to##_rn(F x) { return to_integer<T>(x, FE_TONEAREST); } \
    static T __##from##2##to##_rz(F x) { return to_integer<T>(x, FE_TOWARDZERO); } \
    static T __##from##2##to##_ru(F x) { return to_integer<T>(x, FE_UPWARD); } \
    static T __##from##2##to##_rd(F x) { return to_integer<T>(x, FE_DOWNWARD); }
CONVERSIONS(float, float, int, int)
CONVERSIONS(float, float, uint, unsigned)
CONVERSIONS(float, float, ll, long long)
CONVERSIONS(float, float, ull, unsigned long long)
CONVERSIONS(double, double, int, int)
CONVERSIONS(double, double, uint, unsigned)
CONVERSIONS(double, double, ll, long long)
CONVERSIONS(double, double, ull, unsigned long long)
template <class T, class F> static T rounded(F x, int mode) {
    std::fesetround(mode);
    volatile F from = x;
    volatile T to = (T)from;
    std::fesetround(FE_TONEAREST);
    return to;
}
static float __int2float_rz(int x) { return rounded<float>(x, FE_TOWARDZERO); }
static float __uint2float_ru(unsigned x) { return rounded<float>(x, FE_UPWARD); }
static float __ll2float_rd(long long x) { return rounded<float>((long double)x, FE_DOWNWARD); }
static double __ll2double_ru(long long x) { return rounded<double>((long double)x, FE_UPWARD); }
static double __ull2double_rz(unsigned long long x) { return rounded<double>((long double)x, FE_TOWARDZERO); }
static float __double2float_rz(double x) { return rounded<float>(x, FE_TOWARDZERO); }
static float __double2float_ru(double x) { return rounded<float>(x, FE_UPWARD); }
static float __int_as_float(int x) { return *(float *)&x; }
static int __float_as_int(float x) { return *(int *)&x; }
static double __longlong_as_double(long long x) { return *(double *)&x; }
static long long __double_as_longlong(double x) { return *(long long *)&x; }
static int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
static int __double2loint(double x) { return (int)__double_as_longlong(x); }
static double __hiloint2double(int hi, int lo) { return __longlong_as_double((long long)hi << 32 | (unsigned)lo); }
// A cast rounds towards zero.
#define cast_int __float2int_rz
#define cast_short(x) (short)to_integer<short>(x, FE_TOWARDZERO)
#define cast_byte(x) (unsigned char)to_integer<unsigned char>(x, FE_TOWARDZERO)
#else
#define cast_int(x) (int)(x)
// What a cast to fewer than 32 bits does with what is out of range is not defined: in range here.
#define cast_short(x) (short)(x)
#define cast_byte(x) (unsigned char)(x)
#endif

extern "C" __global__ void conversions(const unsigned *floats, const unsigned long long *doubles, const long long *integers, long long *out) {
    int i = threadIdx.x;
    // Magnitudes from 2^-4 to 2^67, and some special values.
    unsigned fs = (floats[i] & 0x807fffffu) | (unsigned)(123 + i * 71 / 64) << 23;
    unsigned long long ds = (doubles[i] & 0x800fffffffffffffull) | (unsigned long long)(1019 + i * 71 / 64) << 52;
    float x = __int_as_float(i == 5 ? 0x7fffffff : i == 6 ? 0xff800000 : i == 7 ? 1 : (int)fs);
    double y = __longlong_as_double(i == 8 ? 0x7fffffffffffffffll : i == 9 ? 0x7ff0000000000000ll : (long long)ds);
    long long n = integers[i] >> i;
    long long *to = out + 31 * i;
    to[0] = __float2int_rn(x) + (long long)__float2int_rz(x) * 3;
    to[1] = __float2int_ru(x) - (long long)__float2int_rd(x) * 2;
    to[2] = __float2uint_rn(x) + (long long)__float2uint_rz(x) * 3;
    to[3] = __float2uint_ru(x) - (long long)__float2uint_rd(x) * 2;
    to[4] = __float2ll_rn(x);
    to[5] = __float2ll_ru(x) ^ __float2ll_rd(x) << 1 ^ __float2ll_rz(x) << 2;
    to[6] = (long long)__float2ull_rn(x);
    to[7] = (long long)(__float2ull_ru(x) ^ __float2ull_rd(x) << 1 ^ __float2ull_rz(x) << 2);
    to[8] = __double2int_rn(y) + (long long)__double2int_rz(y) * 3;
    to[9] = __double2int_ru(y) - (long long)__double2int_rd(y) * 2;
    to[10] = __double2uint_rn(y) + (long long)__double2uint_rz(y) * 3;
    to[11] = __double2uint_ru(y) - (long long)__double2uint_rd(y) * 2;
    to[12] = __double2ll_rn(y) ^ __double2ll_rz(y) << 3;
    to[13] = __double2ll_ru(y) ^ __double2ll_rd(y) << 1;
    to[14] = (long long)(__double2ull_rn(y) ^ __double2ull_rz(y) << 3);
    to[15] = (long long)(__double2ull_ru(y) ^ __double2ull_rd(y) << 1);
    to[16] = __float_as_int((float)n) ^ (long long)__float_as_int((float)(unsigned long long)n) << 32;
    to[17] = __double_as_longlong((double)n) ^ __double_as_longlong((double)(unsigned long long)n) << 1;
    to[18] = __float_as_int((float)(int)n) ^ (long long)__float_as_int((float)(unsigned)n) << 32;
    to[19] = __double_as_longlong((double)(int)n) ^ __double_as_longlong((double)(unsigned)n) << 1;
    to[20] = __float_as_int(__int2float_rz((int)n)) ^ (long long)__float_as_int(__uint2float_ru((unsigned)n)) << 32;
    to[21] = __float_as_int(__ll2float_rd(n)) ^ __double_as_longlong(__ll2double_ru(n)) << 1;
    to[22] = __double_as_longlong(__ull2double_rz((unsigned long long)n));
    to[23] = y != y ? 1 : __float_as_int((float)y) ^ (long long)__float_as_int(__double2float_rz(y)) << 16 ^ (long long)__float_as_int(__double2float_ru(y)) << 32;
    to[24] = x != x ? 1 : __double_as_longlong((double)x);
    to[25] = (signed char)n + 1000ll * (short)n + 1000000000ll * (unsigned char)n;
    to[26] = (long long)(short)(signed char)(n >> 3) << 32 | (unsigned short)(unsigned char)(n >> 5);
    float small = __int_as_float((int)((fs & 0x7fffffu) | 0x42000000u)); // 32 to 64
    to[27] = cast_short(small * -300) + 100000ll * cast_byte(small * 3);
    to[28] = __float_as_int((float)(signed char)n) + (long long)__float_as_int((float)(unsigned short)n);
    to[29] = __double2hiint(y) ^ (long long)__double2loint(y) << 8 ^ __double_as_longlong(__hiloint2double((int)n, i));
    to[30] = (long long)cast_int(x) + (bool)n + 2 * (x > 0);
}
EACH_THREAD(conversions)
