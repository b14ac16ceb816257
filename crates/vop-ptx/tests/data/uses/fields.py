# Fields that complete a selector or a modifier, or may.
a = f"vadd.u32.u32.u32 %0, %1.b{i}, %2;"
b = f"vadd.u32.u32.u32 %0, %1.{sel}, %2;"
c = "vadd.u32.u32.u32 %%0, %%1.b%d, %%2;" % i
d = "vadd.u32.u32.u32 %0, %1.b{}, %2;".format(i)
e = "vadd.u32.u32.u32 %0, %1." + sel + ", %2;"
g = f"vmad.u32.u32.u32.shr{i} %0, %1, %2, %3;"
h = "vadd.u32.u32.u32 $0, $1.b%d, $2;" % i
k = Template("vadd.u32.u32.u32 %0, %1.b${i}, %2;")
l = "vadd.u32.u32.u32 %0, %1.b%(i)d, %2;" % x
m = f"vadd.u32.u32.u32 %0, %1{sel}, %2;"
n = f"vadd.u32.u32.u32 {d}, {a}.b0, {b}{sel};"
o = f"vadd.u32.u32.u32 %r{d}, %r{a}, %r{b};"
p = f"vadd4.u32.u32.u32 {first}{others};"
q = f"vadd.u32.u32 %0, %1.b{i}, %2;"
r = f"vadd.u32.u32.u32 %0, %[a]{sel}, %2;"
s = f"vadd.u32.u32.u32 %0, %1.b{table[i + 1].selector_of_the_second_operand()}, %2;"
