//! `vop map` on Parquet files, which needs the feature `parquet`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use common::*;
use vop_arrays::parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use vop_arrays::parquet::column::reader::ColumnReader;
use vop_arrays::parquet::data_type::Int32Type;
use vop_arrays::parquet::file::properties::WriterProperties;
use vop_arrays::parquet::file::reader::{FileReader, SerializedFileReader};
use vop_arrays::parquet::file::writer::SerializedFileWriter;
use vop_arrays::parquet::schema::types::Type;

/// Name, type and values, of which those that are missing are null.
type Column<'a> = (&'a str, Option<LogicalType>, Vec<Option<i32>>);

fn save_parquet(path: &Path, compression: Compression, columns: &[Column<'_>]) {
    let fields = columns.iter().map(|(name, logical, values)| {
        let nullable = values.iter().any(Option::is_none);
        let repetition = if nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let builder = Type::primitive_type_builder(name, Physical::INT32).with_repetition(repetition);
        Arc::new(builder.with_logical_type(logical.clone()).build().unwrap())
    });
    let schema = Type::group_type_builder("schema").with_fields(fields.collect()).build().unwrap();
    let properties = WriterProperties::builder().set_compression(compression).build();
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties)).unwrap();
    // Groups end elsewhere than blocks.
    const GROUP: usize = 40_000;
    let rows = columns[0].2.len();
    for start in (0..rows).step_by(GROUP) {
        let mut group = writer.next_row_group().unwrap();
        for (_, _, values) in columns {
            let nullable = values.iter().any(Option::is_none);
            let values = &values[start..(start + GROUP).min(rows)];
            let there: Vec<i32> = values.iter().flatten().copied().collect();
            let levels: Vec<i16> = values.iter().map(|value| value.is_some().into()).collect();
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<Int32Type>().write_batch(&there, nullable.then_some(levels.as_slice()), None).unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
}

/// Name, logical type and values of a file's one column.
fn load_parquet(path: &Path) -> (String, Option<LogicalType>, Vec<i32>) {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let schema = reader.metadata().file_metadata().schema_descr();
    assert_eq!(schema.num_columns(), 1);
    let column = schema.column(0);
    let mut values = Vec::new();
    for group in 0..reader.num_row_groups() {
        let ColumnReader::Int32ColumnReader(mut rows) =
            reader.get_row_group(group).unwrap().get_column_reader(0).unwrap()
        else {
            panic!("not of 32 bits")
        };
        while rows.read_records(usize::MAX, None, None, &mut values).unwrap().0 > 0 {}
    }
    (column.name().to_owned(), column.logical_type_ref().cloned(), values)
}

#[test]
fn columns_of_every_kind() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let integer = |bits: usize, signed: bool| Some(LogicalType::integer(bits as i8, signed));
    let zstd = Compression::ZSTD(ZstdLevel::default());
    for compression in [Compression::SNAPPY, zstd, Compression::UNCOMPRESSED] {
        for (size, signed) in [(1, false), (1, true), (2, false), (2, true), (4, false), (4, true)] {
            let value = |element: &[u8]| match (size, signed) {
                (1, false) => element[0].into(),
                (1, true) => (element[0] as i8).into(),
                (2, false) => u16::from_le_bytes([element[0], element[1]]).into(),
                (2, true) => i16::from_le_bytes([element[0], element[1]]).into(),
                _ => i32::from_le_bytes([element[0], element[1], element[2], element[3]]),
            };
            let [a, b] = [1, 2].map(|seed| bytes(seed, size * MANY));
            let values = |bytes: &[u8]| bytes.chunks(size).map(value).collect::<Vec<i32>>();
            let present = |bytes: &[u8]| values(bytes).into_iter().map(Some).collect();
            let logical = integer(8 * size, signed);
            let columns = [("left", logical.clone(), present(&a)), ("r.ight", logical.clone(), present(&b))];
            save_parquet(&path("t.parquet"), compression, &columns);
            let lanes = match size {
                1 => "4",
                2 => "2",
                _ => "",
            };
            let ty = if signed { "s32" } else { "u32" };
            let text = format!("vabsdiff{lanes}.{ty}.{ty}.{ty}.sat");
            done(&folder, &[&text, "t.parquet:left", "t.parquet:r.ight", "-o", "d.parquet:x:y"]);
            let d = values(&expected(form(&text), &a, &b, 0, if size == 4 { 4 } else { size * MANY }));
            assert!(load_parquet(&path("d.parquet")) == ("x:y".to_owned(), logical, d), "{text}, {compression}");
        }
    }
    // No rows at all.
    save_parquet(&path("none.parquet"), zstd, &[("only", None, vec![])]);
    done(&folder, &["vadd.s32.s32.s32", "none.parquet", "1", "-o", "d.parquet:d"]);
    assert_eq!(load_parquet(&path("d.parquet")), ("d".to_owned(), integer(32, true), vec![]));
}

#[test]
fn columns_that_cannot_be_taken() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut values: Vec<Option<i32>> = (0..MANY as i32).map(Some).collect();
    let there = values.clone();
    values[123_456] = None;
    let day = Some(LogicalType::Date);
    let columns = [("holes", None, values), ("whole", None, there.clone()), ("day", day, there)];
    save_parquet(&path("t.parquet"), Compression::SNAPPY, &columns);
    let refused = |args: &[&str], code, words: &str| {
        let args: Vec<&str> = [&["vadd.s32.s32.s32"], args].concat();
        refused(&folder, &args, code, words);
    };
    let holes = "cannot read t.parquet: column `holes` has no value in row 123456";
    for cores in ["1", "2", "5"] {
        for output in ["d.npy", "d.raw", "d.parquet:d"] {
            refused(&["t.parquet:holes", "1", "-o", output, "--cores", cores], 2, holes);
        }
    }
    refused(&["t.parquet:day", "1", "-o", "d.npy"], 2, "column `day` holds INT32 as Date");
    refused(
        &["t.parquet:hole", "1", "-o", "d.npy"],
        2,
        "it has no column `hole`; its columns of 8, 16 or 32-bit integers: holes, whole",
    );
    refused(&["t.parquet", "1", "-o", "d.npy"], 2, "write FILE.parquet:COLUMN: holes, whole");
    refused(&["t.parquet:whole", "1", "-o", "d.parquet"], 2, "write FILE.parquet:COLUMN");
    // An optional column without holes is as good as a required one.
    done(&folder, &["vadd.s32.s32.s32", "t.parquet:whole", "1", "-o", "d.raw"]);
    let mut broken = std::fs::read(path("t.parquet")).unwrap();
    broken.truncate(broken.len() - 5);
    std::fs::write(path("t.parquet"), broken).unwrap();
    refused(&["t.parquet:whole", "1", "-o", "d.npy"], 2, "cannot read t.parquet");
}
