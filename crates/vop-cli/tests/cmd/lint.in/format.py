def texts(a, b, c, d, r):
    yield f"vadd.u32.s32.s32.sat {d}.b0, {a}, {b}, {c};"
    yield f"vadd.u32.s32.s32.sat {a}.b0, {b}, {c}, {d};"
    yield f"@p vadd.u32.s32.s32.sat {d}.b0, {a}, {b}, 7;"
    yield "vadd.u32.s32.s32.sat {}.b0, {}, {}, {};".format(d, a, b, c)
    yield f"vset.u32.u32.lt {d}, {a}, 0; vset.u32.u32.eq {r[0]}, {r[1]}, {r[2]};"
    yield "vadd4.u32.u32.u32 %s, %s, %s.b9, %s;" % (d, a, b, c)
