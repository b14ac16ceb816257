k = Template("""
 vadd4.u32.u32.u32{% if sat %}.sat{% else %}.add{% endif %} d, a, b, c;
 vadd4.u32.u32.u32{{ suffix | upper }} d, a, b, c;
 vsub4.u32.u32.u32 {{ regs[0] + 1 }}, a, b, c;
 vadd4.${types.get(0)}.u32.u32 d, a, b, c;
 mov.b64 {%r1, %r2}, %rd1;
""")
m = Template("""
% if sat:
 vmin4.u32.u32.u32.bad d, a, b, c;
% else:
 vmax4.u32.u32.u32.bad d, a, b, c;
% endif
 vadd4.u32.u32.u32
% if sat:
   .sat
% else:
   .bad
% endif
   d, a, b, c;
""")
e = "vadd4.u32.u32.u32<% if x %>.sat<% else %>.bad<% end %> d, a, b, c; vmin4.u32.u32.u32<%= sat %> d, a, b, c;"
h = "vadd4.u32.u32.u32{{#if x}}.sat{{else}}.bad{{/if}} d, a, b, c;"
# Filled in by formatting, and no operand of the asm.
f = f'asm("vadd4.u32.u32.u32 %0, {x}, %1, %1;" : "=r"(d) : "r"(a));'
# Not closed: no template.
u = "vadd4.u32.u32.u32.bad d, a, b, c; {% if x %}"
# Whole instructions of conditions that may exclude each other, without an end.
w = "{% if x %}vmin4.u32.u32.u32.bad d, a, b, c{% endif %} {% if not x %}vmax4.u32.u32.u32.bad d, a, b, c{% endif %}"
# In CUDA in a string.
n = """
{% if x %}
void f() { asm("vadd4.u32.u32.u32 %0, %1, %1, {{ c }};" : "=r"(d) : "r"(a)); }
{% else %}
void g() { asm("vsub4.${types[0]}.u32.u32{% if s %}.bad{% endif %} %0, %1, %1, %1;" : "=r"(d) : "r"(a)); }
{% endif %}
"""
