a = f'vadd4.u32.u32.u32 {d["x"]}, {d['y']}, {e:{w}}, {f}'
b = ("vadd4.u32.u32.u32 "
     f"{x}, {y}, "
     "%r1, %r2")
c = "vadd4.u32.u32.u32 " \
    "%r1, %r1, %r1, %r2;"
d = """asm("vsub4.u32.u32.u32 %0, %1, %2, %3;");""" """asm("vsub2.u32.u32.u32 %0, %1, %2, %3;");"""
e = "vadd4.u32.u32.u32 " + a + ", " + b[0] + ", " + c(d, e) + ", %r1;"
g = "vmin4.u32.u32.u32"
"vmax4.u32.u32.u32"
h = {"vset4.u32.u32.lt": 1, 'vadd.u32.u32.u32.sat': 2}
"""Returns vadd4.u32.u32.u32 of a.

vadd4.u32.u32.u32 is an instruction.
  vadd4.u32.u32.u32 d, a, b, c

and so on"""
j = '\tvadd4.u32.u32.u32 d, a, b, c;\n' \
  'vsub4.u32.u32.u32 d, a, b, c;'
k = f"""
{{
   vmin2.{ty}.{ty}.{ty}  %0, %1, %2, %3;
   @{p} vmin2.u32.u32.u32  {d}, %1, %2, %3;
   {label}: vmax2.u32.u32.u32  {d}, %1, %2, %3;
}}
"""
l = "vadd4.u32.u32.u32{} %r1, %r2, %r3, %r4".format(sat)
m = "\n".join(["vadd4.u32.u32.u32 %r1, %r2, %r3, %r4;", "vsub4.u32.u32.u32 %r1, %r2, %r3, %r4;"])
n = '''asm("vmax4.{t}.{t}.{t} %0, %1, {c}, %3;" : "=r"(r));'''.format(t="s32", c="%2")
