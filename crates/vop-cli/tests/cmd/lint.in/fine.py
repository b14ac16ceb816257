NAMES = ["vadd4.u32.u32.u32.sat %0, %1, %2, %3;"]
