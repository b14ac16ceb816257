package kernels

// vadd4.u32.u32.u32 %0, %1, %2, %3;
const quote = '"'

const ptx = `
.visible .entry k() {
	vadd4.u32.u32.u32.sat %r1, %r2, %r3, %r4;
}`

var one = "vmax4.u32.u32.u32 %r1, " + "%r2, %r3, %r4;"
var made = fmt.Sprintf("vmin4.%s.%s.%s %%r1, %%r2, %%r3, %%r4;\n", t, t, t)
