# vop: allow-file(V0303)
A = "vmax4.u32.u32.u32 d, a, b, c;"  # vop: allow(V0702)
# vop: allow V0702
B = "vmax4.u32.u32.u32.sat d, a, b, c;"
