enum s = q{ vmul4.u32.u32.u32 %0, %1, %2, %3; };
enum t = q{
    // vmul4.u32.u32.u32 %0, %1, %2, %3;
    { vadd4.u32.u32.u32.bad %0, %1, %2, %3; }
    f("vsub4.u32.u32.u32.bad %0, %1, %2, %3;", '}');
};
auto seq{ "vmin4.u32.u32.u32.bad %0, %1, %2, %3;" }
