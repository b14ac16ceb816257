COUNTS = {"vset.u32.u32": 2, "vshl.u32.u32.u32": 1}
