// Concatenations with calls: the literals inside the brackets are strings of their own.
auto s = "x" + f("vsub4.u32.u32.s33 %r1, %r2, %r3, %r4;");
o << "\t" << indent("vsub4.u32.u32.s33 %r1, %r2, %r3, %r4;");
auto s = "  // c\n" + std::string("vsub4.u32.u32.s33 %r1, %r2, %r3, %r4;");
s = "vmin4" + fmt(".u32.u32.s34 %r1, %r2, %r3, %r4;");
s = "vmin4" + suffix(t) + " %r1, %r2, %r3, %r4;";
s = "vmin4" + names[t] + " %r1, %r2, %r3, %r4;";
s = "vmin4.u32" + fmt(".u32.s34 %r1, %r2, %r3, %r4;");
s = "x" + a->b.f(1, g("y" + h("vsub4.u32.u32.u32 %r1, %r2, %r3, %r4;")));
// What stands behind the call may go on with the string.
s = "\t" + pad("vmin4.u32.u32") + ".u32 %r1, %r2, %r3, %r4;";
s = "\t" + pad("vmin4.u32.u32.u32 %r1, %r2, %r3, %r4.") + "b0;";
s = "\t" + pad("vmin4.u32.u32.u32 %r1, %r2, %r3") + ", %r4;";
// Names and prose.
s = "vmin4" + std::to_string(n); s = "v" + str(major) + "2." + str(minor) + " is here, or not";
