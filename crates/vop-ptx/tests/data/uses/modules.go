package kernels

const whole = `
// A module as a file would hold it.
.version 6.0
.target sm_20
.visible .entry k(.param .u64 p)
{
	.reg .u32 %r<4>;
	.reg .u64 %rd<2>;
	vadd4.u32.u32.u32 %r1, %r2, %r9, %r3;
	vadd4.u32.u32.u32 %r1, %rd1, %r2, %r3; // vop: allow(V0402)
	vmax4.u32.u32.u32.sat %r1, %r2, %r2, %r3;
	ret;
}
`

const holes = `
.version 6.0
.target sm_70
.visible .entry {{.Name}}(.param .u64 p)
{
	.reg .u32 %r<{{.N}}>;
	vadd4.u32.u32.u32{{if .Sat}}.sat{{else}}.bad{{end}} %r1, %r2, %r9, %r3;
	ret;
}
`

const cut = `
.version 6.0
.target sm_70
.visible .entry k(.param .u64 p)
{
	vadd4.u32.u32.u32 %r1, %r2, %r9, %r3;
`
