//! Files that NumPy 2.4.6 wrote, byte for byte: `numpy.lib.format.write_array(file, array, version)`.

use crate::Element;
use crate::Element::*;

/// Type, whether it is big-endian, shape, where the elements begin; the file.
type Saved = (Element, bool, &'static [u64], usize, &'static [u8]);

pub(super) const SAVED: &[Saved] = &[
    (U8, false, &[2], 128, b"\x93NUMPY\x01\x00v\x00{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }                                                            \n\x01\x02"),
    (I8, false, &[2], 128, b"\x93NUMPY\x01\x00v\x00{'descr': '|i1', 'fortran_order': False, 'shape': (2,), }                                                            \n\x01\x02"),
    (U16, false, &[2], 128, b"\x93NUMPY\x01\x00v\x00{'descr': '<u2', 'fortran_order': False, 'shape': (2,), }                                                            \n\x01\x00\x02\x00"),
    (I16, false, &[2], 128, b"\x93NUMPY\x01\x00v\x00{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }                                                            \n\x01\x00\x02\x00"),
    (U32, false, &[2], 128, b"\x93NUMPY\x01\x00v\x00{'descr': '<u4', 'fortran_order': False, 'shape': (2,), }                                                            \n\x01\x00\x00\x00\x02\x00\x00\x00"),
    (I32, false, &[2], 128, b"\x93NUMPY\x01\x00v\x00{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }                                                            \n\x01\x00\x00\x00\x02\x00\x00\x00"),
    (U64, false, &[2], 128, b"\x93NUMPY\x01\x00v\x00{'descr': '<u8', 'fortran_order': False, 'shape': (2,), }                                                            \n\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00"),
    (I64, false, &[2], 128, b"\x93NUMPY\x01\x00v\x00{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }                                                            \n\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00"),
    (F16, false, &[2], 128, b"\x93NUMPY\x01\x00v\x00{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }                                                            \n\x00<\x00@"),
    (F32, false, &[2], 128, b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }                                                            \n\x00\x00\x80?\x00\x00\x00@"),
    (F64, false, &[2], 128, b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }                                                            \n\x00\x00\x00\x00\x00\x00\xf0?\x00\x00\x00\x00\x00\x00\x00@"),
    (U8, false, &[2], 128, b"\x93NUMPY\x01\x00v\x00{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }                                                            \n\x01\x00"),
    (U16, true, &[1], 128, b"\x93NUMPY\x01\x00v\x00{'descr': '>u2', 'fortran_order': False, 'shape': (1,), }                                                            \n\x01\x02"),
    (F64, true, &[1, 1], 128, b"\x93NUMPY\x01\x00v\x00{'descr': '>f8', 'fortran_order': False, 'shape': (1, 1), }                                                          \n?\xe0\x00\x00\x00\x00\x00\x00"),
    (I32, false, &[], 128, b"\x93NUMPY\x01\x00v\x00{'descr': '<i4', 'fortran_order': False, 'shape': (), }                                                              \n\xfe\xff\xff\xff"),
    (I16, false, &[2, 3], 128, b"\x93NUMPY\x02\x00t\x00\x00\x00{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }                                                        \n\x01\x00\x02\x00\x03\x00\x04\x00\x05\x00\x06\x00"),
    (F16, false, &[0, 5], 128, b"\x93NUMPY\x03\x00t\x00\x00\x00{'descr': '<f2', 'fortran_order': False, 'shape': (0, 5), }                                                        \n"),
    (U8, false, &[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2], 192, b"\x93NUMPY\x01\x00\xb6\x00{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2), }                                \n\x00\x00\x00\x00"),
    (U32, false, &[1], 128, b"\x93NUMPY\x01\x00v\x00{'descr': '<u4', 'fortran_order': False, 'shape': (1,), }                                                            \n\x07\x00\x00\x00"),
    (U8, false, &[0, 10000000000, 3], 128, b"\x93NUMPY\x01\x00v\x00{'descr': '|u1', 'fortran_order': False, 'shape': (0, 10000000000, 3), }                                             \n"),
];

/// Files that cannot be read, and what the message says.
pub(super) const REFUSED: &[(&str, &[u8])] = &[
    ("it is in Fortran order: save it with numpy.ascontiguousarray", b"\x93NUMPY\x01\x00v\x00{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2), }                                                           \n\x01\x03\x02\x04"),
    ("it holds structures", b"\x93NUMPY\x01\x00v\x00{'descr': [('a', '<i4'), ('b', '<f4')], 'fortran_order': False, 'shape': (1,), }                                     \n\x00\x00\x00\x00\x00\x00\x00\x00"),
    ("it holds structures", b"\x93NUMPY\x01\x00v\x00{'descr': [('a', '<i4'), ('\xfc', '<f4')], 'fortran_order': False, 'shape': (1,), }                                     \n\x00\x00\x00\x00\x00\x00\x00\x00"),
    ("it holds structures", b"\x93NUMPY\x03\x00t\x00\x00\x00{'descr': [('\xe4\xb8\xad', '<f4')], 'fortran_order': False, 'shape': (1,), }                                               \n\x00\x00\x00\x00"),
    ("it holds elements of type '<U3'", b"\x93NUMPY\x01\x00v\x00{'descr': '<U3', 'fortran_order': False, 'shape': (1,), }                                                            \n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"),
    ("it holds elements of type '<c8'", b"\x93NUMPY\x01\x00v\x00{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }                                                            \n\x00\x00\x00\x00\x00\x00\x00\x00"),
    ("it holds elements of type '<M8[ns]'", b"\x93NUMPY\x01\x00v\x00{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (1,), }                                                        \n\x00\x00\x00\x00\x00\x00\x00\x00"),
    ("it holds elements of type '|S2'", b"\x93NUMPY\x01\x00v\x00{'descr': '|S2', 'fortran_order': False, 'shape': (1,), }                                                            \n\x00\x00"),
];
