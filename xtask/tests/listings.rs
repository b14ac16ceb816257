//! The simulator against recorded machine code; no ptxas is needed.
//!
//! `listings.txt` holds what ptxas 13.5 makes of texts: the target and the text, the listing, and lines `= a b c d`. The
//! values of forms come from another simulator, those of blocks `{ … }` from what the PTX manual says of their
//! instructions. All machine instructions that the simulator knows occur.

use vop_tests::golden;
use xtask::sass::Code;

const LISTINGS: &str = include_str!("listings.txt");

#[test]
fn recorded_listings_compute_their_values() {
    let (mut listings, mut values, mut wrong) = (0, 0, Vec::new());
    for record in LISTINGS.trim_end().split("\n\n") {
        let (listing, rows) = record.split_once("\n= ").unwrap();
        let (text, listing) = listing.split_once('\n').unwrap();
        let code = Code::parse(listing);
        for row in rows.split("\n= ") {
            let row: Vec<u32> = row.split(' ').map(golden::value).collect();
            let [a, b, c, d] = row[..] else { panic!("{text}: {row:?}") };
            let found = code.run(a, b, c);
            if found != Ok(d) {
                wrong.push(format!("{text}: {a:#010x} {b:#010x} {c:#010x}: {d:#010x}, not {found:x?}"));
            }
            values += 1;
        }
        listings += 1;
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!((listings, values), (135, 383));
}

#[test]
fn listings_print_back() {
    for record in LISTINGS.trim_end().split("\n\n") {
        let (listing, _) = record.split_once("\n= ").unwrap();
        let (text, listing) = listing.split_once('\n').unwrap();
        assert_eq!(Code::parse(listing).to_string().trim_end(), listing, "{text}");
    }
}

/// A kernel that holds a in R0, b in R4 and c in R5, and stores R5.
fn kernel(instructions: &str) -> Code {
    Code::parse(&format!(
        "\
LDC.64 R2, c[0x0][0x210]
ULDC.64 UR4, c[0x0][0x208]
LDG.E.STRONG.SYS R0, desc[UR4][R2.64]
LDG.E.STRONG.SYS R4, desc[UR4][R2.64+0x4]
LDG.E.STRONG.SYS R5, desc[UR4][R2.64+0x8]
{instructions}
STG.E.STRONG.SYS desc[UR4][R2.64+0xc], R5
EXIT
BRA `(.L_x_0)
NOP"
    ))
}

#[test]
fn what_is_not_known_is_refused_by_name() {
    let cases = [
        ("POPC R5, R0", "the simulator does not know `POPC`"),
        ("BRA `(.L_x_1)", "the simulator does not know `BRA`"),
        ("@P0 EXIT", "it ends the code under a condition"),
        // Modifiers.
        ("PRMT.F4E R5, R0, 0x1, R4", "the simulator does not know `.F4E` here"),
        ("LOP3 R5, R0, R4, RZ, 0xc0, !PT", "it has no `.LUT`"),
        ("IADD.SAT R5, R0, R4", "the simulator does not know `.SAT` here"),
        ("IADD3 R5, R0, R4, RZ, PT, PT", "the simulator does not know the operand `PT` here"),
        ("ISETP.AND P0, PT, R0, R4, PT", "it has no comparison"),
        ("ISETP.LT P0, PT, R0, R4, PT", "what it is joined by is missing"),
        ("SHF.U32 R5, R0, R4, RZ", "neither `.L` nor `.R`"),
        ("SHF.L R5, R0, R4, RZ", "it has no type"),
        ("I2I.S8.S32 R5, R0", "it has no `.SAT`"),
        ("I2I.S32.SAT R5, R0", "it has no type of 8 or 16 bits"),
        ("IDP.2A.U16.U8 R5, R0, R4, RZ", "neither `.LO` nor `.HI`"),
        ("IDP.4A.U8 R5, R0, R4, RZ", "it has not two types"),
        ("IDP.4A.U16.U8 R5, R0, R4, RZ", "`.U16.U8` is not known here"),
        ("IDP.4A.F8.U8 R5, R0, R4, RZ", "the simulator does not know `.F8` here"),
        ("LDG.E R5, desc[UR4][R2.64]", "it has no `.STRONG`"),
        // Operands.
        ("SEL R5, R0, R4", "operands are missing"),
        ("SEL R5, R0, R4, P0, P1", "the simulator does not know the operand `P1` here"),
        ("MOV R5, |R0|", "the simulator does not know the operand `|R0|`"),
        ("MOV R5, P0", "the simulator does not know the operand `P0`"),
        ("MOV P0, R5", "the simulator does not know the operand `P0`"),
        ("MOV R5, R256", "the simulator does not know the operand `R256`"),
        ("MOV R5, 12", "the simulator does not know the operand `12`"),
        ("MOV R5, 0x100000000", "`0x100000000` has more than 32 bits"),
        ("MOV R5, c[0x0][0x0]", "the simulator does not know the operand `c[0x0][0x0]`"),
        ("MOV R5, c[0x2][0x0]", "the simulator does not know the operand `c[0x2][0x0]`"),
        ("MOV R5, c[0x3][0x210]", "the simulator does not know the operand `c[0x3][0x210]`"),
        ("S2R R5, SR_CTAID.X", "`SR_CTAID.X` stands where `SR_TID.X` is known"),
        ("SEL R5, R0, R4, R0", "the simulator does not know the operand `R0`"),
        ("LOP3.LUT R5, R0, R4, RZ, 0x100, !PT", "the simulator does not know the operand `0x100`"),
        ("LOP3.LUT R5, R0, R4, RZ, 0xc0, PT", "`PT` stands where `!PT` is known"),
        ("ISETP.LT.AND P0, P1, R0, R4, PT", "`P1` stands where `PT` is known"),
        ("VIMNMX R5, PT, P0, R0, R4, PT", "`P0` stands where `PT` is known"),
        ("IMNMX.S64 PT, PT, R4, R0, R4, PT, PT", "`PT` stands where `!PT` is known"),
        ("IADD.64 R4, R0, 0x80000000", "whether `0x80000000` is negative is not known"),
        ("IADD3 R5, PT, P0, R0, R4, RZ", "only the second carry is taken"),
        ("IADD3 R5, P0, R0, -RZ, RZ", "whether `-RZ` carries is not known"),
        ("IMAD.WIDE R4, R0, -R4, RZ", "the simulator does not know the operand `-R4`"),
        ("VIADD.U8x4 R5, R0, ~R4", "the simulator does not know the operand `~R4`"),
        ("VIMNMX.U8x4 R5, -R0, R4, PT", "the simulator does not know the operand `-R0`"),
        ("LEA R5, R0, R4, 0x20", "the simulator does not know the operand `0x20`"),
        ("HFMA2 R5, R0, RZ, 0, 0", "`R0` stands where `-RZ` is known"),
        ("HFMA2 R5, -RZ, RZ, 0.1, 0", "the simulator does not know the operand `0.1`"),
        ("HFMA2 R5, -RZ, RZ, 0, +QNAN", "the simulator does not know the operand `+QNAN`"),
        ("LDG.E.STRONG.SYS R5, desc[UR4][R2.64+0x10]", "it loads neither a nor b nor c"),
        ("LDG.E.STRONG.SYS R5, desc[UR4][R2.64+UR6]", "the simulator does not know the operand `desc[UR4][R2.64+UR6]`"),
        ("STG.E.STRONG.SYS desc[UR4][R2.64+0x8], R5", "it does not store d"),
        // What is known only when it happens.
        ("LDG.E.STRONG.SYS R5, [R4]", "the address is not the one that the kernel was given"),
        ("IADD3 R5, P0, R0, R4, R5", "two carries arise, and one predicate is there to take them"),
    ];
    for (instruction, why) in cases {
        let error = kernel(instruction).run(u32::MAX, u32::MAX, u32::MAX).unwrap_err();
        assert_eq!(error.to_string(), format!("`{instruction}` cannot be simulated: {why}"));
    }
}

#[test]
fn code_that_determines_no_value_is_refused() {
    let why = |code: Code| code.run(1, 2, 3).unwrap_err().to_string();
    let sentence = |why: &str| format!("the machine code cannot be simulated: {why}");
    let unwritten = sentence("its result depends on a register that it has not written");
    assert_eq!(why(kernel("MOV R5, R6")), unwritten);
    // A write that may not happen.
    assert_eq!(why(kernel("ISETP.EQ.AND P0, PT, R0, RZ, PT\n@P0 MOV R6, RZ\nMOV R5, R6")), unwritten);
    assert_eq!(why(kernel("@P0 MOV R5, R0")), unwritten);
    assert_eq!(why(Code::parse("EXIT")), sentence("it ends without storing d"));
    assert_eq!(why(Code::parse("NOP")), sentence("it has no end"));
    assert_eq!(why(Code::parse(".byte 0x1, 0x100\nEXIT")), sentence("its constants are not bytes"));
    // A register that was not written may be read where nothing comes of it.
    assert_eq!(kernel("PRMT R6, R0, 0x5410, R6\nPRMT R5, R6, 0x1010, R6").run(7, 0, 0), Ok(0x0007_0007));
}

#[test]
fn size_is_counted_to_the_end_of_the_code() {
    assert_eq!(kernel("NOP\nMOV R5, R0").size(), 8);
    assert_eq!(kernel("@P0 BRA `(.L_x_1)\nEXIT\nMOV R5, R0").size(), 7);
}
