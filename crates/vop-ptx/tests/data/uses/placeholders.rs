fn f() { let s = format!("vset.u32.u32.eq {}, {}, {};", 1,2,3); writeln!(s, "vsub.s32.u32.u32.sat {}, {}, {};", a,b,c);
 let u = format!("vset.u32.u32.eq %r{}, %r{}, %r{};", 1,2,3); write!(s, "vset.u32.u32.eq {:?}, {:?}, {:>3};", 1,2,3);}
