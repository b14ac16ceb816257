# Concatenations with calls, methods and subscripts.
s = "\n" + textwrap.dedent("""vsub4.u32.u32.s33 %r1, %r2, %r3, %r4;""")
s = "a" + "vsub4.u32.u32.s33 %r1, %r2, %r3, %r4;".strip()
s = "vmin4" + suffix(t) + " %r1, %r2, %r3, %r4;"
s = "vmin4" + sfx[t] + " %r1, %r2, %r3, %r4;"
s = "v" + op + "4." + ".".join([t]*3) + " d, a, b, c;"
s = "vmin4" + fmt(".u32.u32.s34 %r1, %r2, %r3, %r4;")
s = "vmin4." + "u32.u32.s34 %r1, %r2, %r3, %r4;".strip()
s = "vmin4." + "{}.u32.u32 %r1, %r2, %r3, %r4;".format(t)
s = ("\n" + textwrap.dedent("""
    it's (not closed  # no comment
    vsub2.u32.u32.u32 %r1, %r2, %r3, %r4;
    """) + "\n")
s = "x" + f("y" + g("vsub4.u32.u32.u32 %r1, %r2, %r3, %r4;"), "vadd4.u32.u32.u32 %r1, %r2, %r3, %r4;")
# What stands behind the call may go on with the string.
s = "\t" + pad("vmin4.u32.u32") + ".u32 %r1, %r2, %r3, %r4;"
s = "\t" + "vmin4.u32.u32".ljust(8) + ".u32 %r1, %r2, %r3, %r4;"
s = "\t" + pad("vmin4.u32.u32.u32 %r1, %r2, %r3, %r4.") + "b0;"
s = "\t" + pad("vmin4.u32.u32.u32 %r1, %r2, %r3") + ", %r4;"
# Names and prose.
s = "vmin4" + str(n)
s = "v" + str(major) + "2." + str(minor) + " is here, or not"
