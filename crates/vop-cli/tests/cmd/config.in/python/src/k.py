A = "vmax4.u32.u32.u32.sat d, a, b, c;"
