//! Forms as objects of the class `numpy.ufunc`.
//!
//! A ufunc of NumPy is a C object that points at loops: functions which NumPy calls with pointers, strides and a number of
//! elements, without Python's lock. Here they all are [`inner`], and what they compute is a [`Plan`].

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{self, NonNull};

use numpy::npyffi::{
    NPY_CASTING, NPY_TYPES, PY_ARRAY_API, PY_UFUNC_API, PyArray_Descr, PyArrayObject, PyUFuncGenericFunction,
    PyUFuncObject, npy_intp,
};
use pyo3::exceptions::{PyImportError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use vop::bulk::Plan;
use vop::{Form, Semantics};

use crate::strided::{Strided, fold, map};

/// What a ufunc of ours holds, and its name as a capsule.
const CAPSULE: &CStr = c"vop.form";

/// What the loops of a ufunc compute, and the arrays that the ufunc's object points at.
struct Body {
    plan: Plan,
    identity: Option<u32>,
    functions: Vec<PyUFuncGenericFunction>,
    data: Vec<*mut c_void>,
    types: Vec<c_char>,
    name: CString,
    doc: CString,
}

impl Body {
    fn new(form: Form, semantics: Semantics) -> Body {
        let sources = if form.reads_c() { 3 } else { 2 };
        let types = loops(sources);
        let count = types.len() / (sources + 1);
        let function: PyUFuncGenericFunction = Some(if sources == 3 { inner::<3> } else { inner::<2> });
        // Texts of ours hold no zero byte.
        let c_string = |text: String| CString::new(text).unwrap_or_default();
        Body {
            plan: Plan::new(form, semantics),
            identity: form.identity(),
            functions: vec![function; count],
            data: vec![ptr::null_mut(); count],
            types,
            name: c_string(name(form)),
            doc: c_string(doc(form, semantics)),
        }
    }
}

/// A body at an address that stays, at which its `data` points.
struct Owned(NonNull<Body>);

// SAFETY: nothing changes a body once it is made.
unsafe impl Send for Owned {}

impl Owned {
    fn new(body: Body) -> Owned {
        let mut body = NonNull::from(Box::leak(Box::new(body)));
        // SAFETY: nobody else has it yet.
        unsafe { body.as_mut().data.fill(body.as_ptr().cast()) };
        Owned(body)
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: it came from a box, and goes once.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

const UNSIGNED: NPY_TYPES = NPY_TYPES::NPY_UINT;
const SIGNED: NPY_TYPES = NPY_TYPES::NPY_INT;

/// The result is `int32` if all sources are.
fn result(signed: impl IntoIterator<Item = bool>) -> NPY_TYPES {
    if signed.into_iter().all(|signed| signed) { SIGNED } else { UNSIGNED }
}

/// The types of all loops: every source is `uint32` or `int32`.
fn loops(sources: usize) -> Vec<c_char> {
    let mut types = Vec::new();
    for choice in 0..1 << sources {
        let signed = || (0..sources).map(|i| choice >> i & 1 == 1);
        types.extend(signed().map(|signed| if signed { SIGNED } else { UNSIGNED } as c_char));
        types.push(result(signed()) as c_char);
    }
    types
}

/// A form in the fewest words that say all of it: without operands where they say nothing.
pub(crate) fn name(form: Form) -> String {
    let opcode = form.opcode().to_string();
    if opcode.parse() == Ok(form) { opcode } else { form.to_string() }
}

fn doc(form: Form, semantics: Semantics) -> String {
    let (sources, c) = if form.reads_c() { ("a, b and c", "") } else { ("a and b", " (c is not read)") };
    let whose = match semantics.releases() {
        None => String::new(),
        Some(releases) => format!("\n\nAs the code of ptxas {releases} computes it."),
    };
    let folds = match form.identity() {
        _ if form.reads_c() => String::new(),
        Some(identity) => {
            format!(
                "\n\nIt is associative and commutative, and {identity:#010x} is its identity: `reduce` folds in any order."
            )
        }
        None => "\n\nIt has no identity: `reduce` folds one word after the other.".to_owned(),
    };
    format!(
        "{}\n\n`{form}` (PTX ISA {}) on every element. The arguments are {sources}{c}, arrays of uint32 or int32, which are \
         broadcast against each other. The result is int32 if all of them are, else uint32.{whose}{folds}",
        form.describe(),
        form.mnemonic().row().section,
    )
}

/// The function of NumPy that makes a ufunc with any identity. The `numpy` crate has those without alone.
type FromFuncAndDataAndSignatureAndIdentity = unsafe extern "C" fn(
    *mut PyUFuncGenericFunction,
    *mut *mut c_void,
    *mut c_char,
    c_int,
    c_int,
    c_int,
    c_int,
    *const c_char,
    *const c_char,
    c_int,
    *const c_char,
    *mut ffi::PyObject,
) -> *mut ffi::PyObject;

/// Its place in the table of the ufunc interface (numpy/ufuncobject.h).
const FROM_FUNC_AND_DATA_AND_SIGNATURE_AND_IDENTITY: usize = 42;

/// `PyUFunc_None` and `PyUFunc_IdentityValue` (numpy/ufuncobject.h).
const IDENTITY_NONE: c_int = -1;
const IDENTITY_VALUE: c_int = -3;

fn interface(py: Python<'_>) -> PyResult<*const *const c_void> {
    let module = py.import("numpy._core._multiarray_umath")?;
    let table = module.getattr("_UFUNC_API")?.cast_into::<PyCapsule>().map_err(PyErr::from)?;
    // SAFETY: it is NumPy's capsule, which has no name.
    let table = unsafe { ffi::PyCapsule_GetPointer(table.as_ptr(), ptr::null()) };
    if table.is_null() { Err(PyErr::fetch(py)) } else { Ok(table.cast::<*const c_void>().cast_const()) }
}

/// An identity for loops of both types: an array of no dimension, which alone NumPy casts to `int32` as its bits are.
fn identity(py: Python<'_>, word: u32) -> PyResult<Bound<'_, PyAny>> {
    let numpy = py.import("numpy")?;
    numpy.getattr("array")?.call1((word, numpy.getattr("uint32")?))
}

/// A form as a ufunc.
pub(crate) fn new<'py>(py: Python<'py>, form: Form, semantics: Semantics) -> PyResult<Bound<'py, PyAny>> {
    let owned = Owned::new(Body::new(form, semantics));
    // SAFETY: nobody else has it yet, and what these pointers lead to stays where it is while there is an `owned`.
    let (count, functions, data, types, name, doc) = unsafe {
        let body = &mut *owned.0.as_ptr();
        let (functions, data, types) = (body.functions.as_mut_ptr(), body.data.as_mut_ptr(), body.types.as_mut_ptr());
        let (count, name, doc) = (body.functions.len() as c_int, body.name.as_ptr(), body.doc.as_ptr());
        (count, functions, data, types, name, doc)
    };
    let sources = if form.reads_c() { 3 } else { 2 };
    let identity = form.identity().map(|word| identity(py, word)).transpose()?;
    let (kind, value) = match &identity {
        Some(value) => (IDENTITY_VALUE, value.as_ptr()),
        None => (IDENTITY_NONE, ptr::null_mut()),
    };
    let interface = interface(py)?;
    // The ufunc keeps what it points at: the capsule becomes a part of it below.
    let keeper = PyCapsule::new_with_value(py, owned, CAPSULE)?;
    // SAFETY: the table has this function at this place in every NumPy since 1.16, and all that it is given lives as long
    // as `keeper`.
    let ufunc = unsafe {
        let make: FromFuncAndDataAndSignatureAndIdentity =
            std::mem::transmute(*interface.add(FROM_FUNC_AND_DATA_AND_SIGNATURE_AND_IDENTITY));
        let ufunc = make(functions, data, types, count, sources, 1, kind, name, doc, 0, ptr::null(), value);
        Bound::from_owned_ptr_or_err(py, ufunc)?
    };
    // SAFETY: it is the ufunc just made, and nobody else has seen it. `obj` is where a ufunc keeps an object that its loops
    // need; it is empty, and is given up when the ufunc goes.
    unsafe {
        let fields = &mut (*ufunc.as_ptr().cast::<PyUFuncObject>()).fields;
        if !fields.obj.is_null() {
            return Err(PyImportError::new_err("this NumPy keeps something of its own in ufuncs: vop needs another"));
        }
        fields.obj = keeper.into_ptr();
        fields.type_resolver = Some(resolve);
    }
    Ok(ufunc)
}

/// The form and the semantics of a ufunc that [`new`] made; `None` of any other object.
pub(crate) fn body_of(object: &Bound<'_, PyAny>) -> PyResult<Option<(Form, Semantics)>> {
    let ufunc_type = object.py().import("numpy")?.getattr("ufunc")?;
    if !object.is_instance(&ufunc_type)? {
        return Ok(None);
    }
    // SAFETY: it is a ufunc, and `obj` is null or an object that it owns; a capsule with our name holds a body.
    unsafe {
        let keeper = (*object.as_ptr().cast::<PyUFuncObject>()).fields.obj;
        if keeper.is_null() || ffi::PyCapsule_IsValid(keeper, CAPSULE.as_ptr()) == 0 {
            return Ok(None);
        }
        let owned = &*ffi::PyCapsule_GetPointer(keeper, CAPSULE.as_ptr()).cast::<Owned>();
        let body = owned.0.as_ref();
        Ok(Some((body.plan.form(), body.plan.semantics())))
    }
}

/// Which loop is for given operands. NumPy keeps the answer for operands of the same types.
unsafe extern "C" fn resolve(
    ufunc: *mut PyUFuncObject,
    casting: NPY_CASTING,
    operands: *mut *mut PyArrayObject,
    types: *mut ffi::PyObject,
    out: *mut *mut PyArray_Descr,
) -> c_int {
    // SAFETY: NumPy calls this with the interpreter attached, and `operands` and `out` have a place for each argument.
    Python::attach(|py| unsafe {
        if !types.is_null() {
            // The caller says which.
            return PY_UFUNC_API.PyUFunc_DefaultTypeResolver(py, ufunc, casting, operands, types, out);
        }
        let fields = &(*ufunc).fields;
        let (sources, name) = (fields.nin as usize, CStr::from_ptr(fields.name));
        let operand = |i: usize| {
            let array = *operands.add(i);
            (Bound::from_borrowed_ptr(py, array.cast()), (*array).fields.flags)
        };
        let signs: PyResult<Vec<Option<bool>>> =
            (0..sources).map(|i| sign(["a", "b", "c"][i], operand(i), &name.to_string_lossy())).collect();
        match signs {
            Ok(signs) => {
                // Python integers are as the arrays beside them.
                let all = signs.iter().any(Option::is_some) && signs.iter().flatten().all(|&signed| signed);
                let signed = || signs.iter().map(|sign| sign.unwrap_or(all));
                let types = signed().map(|signed| if signed { SIGNED } else { UNSIGNED }).chain([result(signed())]);
                for (i, ty) in types.enumerate() {
                    *out.add(i) = PY_ARRAY_API.PyArray_DescrFromType(py, ty as c_int);
                }
                0
            }
            Err(error) => {
                error.restore(py);
                -1
            }
        }
    })
}

/// NumPy 2 marks what was made of a Python `int` (numpy/ndarraytypes.h).
const WAS_PYTHON_INT: c_int = 1 << 30;

/// Whether an operand is signed; `None` of a Python integer, which is what it must be.
fn sign(letter: &str, (array, flags): (Bound<'_, PyAny>, c_int), name: &str) -> PyResult<Option<bool>> {
    if flags & WAS_PYTHON_INT != 0 {
        return Ok(None);
    }
    let dtype = array.getattr("dtype")?;
    let (kind, size): (String, usize) = (dtype.getattr("kind")?.extract()?, dtype.getattr("itemsize")?.extract()?);
    let how = match (kind.as_str(), size) {
        ("b" | "u", 1 | 2 | 4) => return Ok(Some(false)),
        ("i", 1 | 2 | 4) => return Ok(Some(true)),
        ("u" | "i", _) => format!("`{letter}.astype(numpy.uint32)` keeps the lower 32 bits of each"),
        ("f", 4) => format!("`{letter}.view(numpy.uint32)` takes the bits as they are"),
        _ => format!(
            "`{letter}.astype(numpy.uint32)` converts each, `{letter}.view(numpy.uint32)` takes bits as they are"
        ),
    };
    Err(PyTypeError::new_err(format!("{name}: {letter} is {dtype}, and words are uint32 or int32: {how}")))
}

/// The loop of all ufuncs, with two sources or three.
///
/// # Safety
///
/// As NumPy calls it: pointers to and strides of the sources and the destination, all aligned words.
unsafe extern "C" fn inner<const SOURCES: usize>(
    args: *mut *mut c_char,
    dimensions: *mut npy_intp,
    steps: *mut npy_intp,
    data: *mut c_void,
) {
    // SAFETY: the caller's; `data` is the body, which the ufunc keeps.
    let (body, len, operand) = unsafe {
        let operand = |i: usize| Strided::new((*args.add(i)).cast(), *steps.add(i));
        (&*data.cast::<Body>(), *dimensions as usize, operand)
    };
    let d = operand(SOURCES);
    let sources = std::array::from_fn(|i| if i < SOURCES { Some(operand(i)) } else { None });
    // SAFETY: the caller's.
    unsafe {
        match sources {
            [Some(a), Some(b), None] if a == d && d.is_one_word() => fold(&body.plan, body.identity, d, b, len),
            _ => map(&body.plan, sources, d, len),
        }
    }
}
