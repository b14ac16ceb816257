//! Forms as objects of the class `numpy.ufunc`.
//!
//! A ufunc of NumPy is a C object that points at loops. NumPy calls a loop with a pointer and a distance for each operand and
//! with a number of elements, and releases Python's lock meanwhile. All loops here are [`inner`], which runs a [`Plan`].
#![allow(unsafe_code, reason = "NumPy's C interface")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::num::NonZeroUsize;
use std::ptr::{self, NonNull};

use numpy::npyffi::{
    NPY_CASTING, NPY_TYPES, PY_ARRAY_API, PY_UFUNC_API, PyArray_Descr, PyArrayObject, PyUFuncGenericFunction,
    PyUFuncObject, npy_intp,
};
use pyo3::exceptions::{PyImportError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use vop::bulk::{Plan, Strided};
use vop::{Form, Semantics};

/// The name of the capsule in which a ufunc of this package keeps its [`Body`].
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
        // The library's texts hold no zero byte.
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

/// A body on the heap. The pointers of its `data` point at the body itself, so it must never move.
struct Owned(NonNull<Body>);

// SAFETY: a body is not changed after `new`, and its raw pointers point at itself and at nothing that belongs to a thread.
unsafe impl Send for Owned {}

impl Owned {
    fn new(body: Body) -> Owned {
        let mut body = NonNull::from(Box::leak(Box::new(body)));
        // SAFETY: the box was just leaked, so this is the only pointer to a valid body.
        unsafe { body.as_mut().data.fill(body.as_ptr().cast()) };
        Owned(body)
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: `new` took the pointer from a box, and nothing else frees it: `Owned` is neither `Clone` nor `Copy`.
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

/// The canonical name of a form: its text without operands, where they add nothing to it.
pub(crate) fn name(form: Form) -> String {
    let opcode = form.opcode().to_string();
    if opcode.parse() == Ok(form) { opcode } else { form.to_string() }
}

fn doc(form: Form, semantics: Semantics) -> String {
    let (sources, c) = if form.reads_c() { ("a, b and c", "") } else { ("a and b", " (c is not read)") };
    let whose = match semantics.releases() {
        None => String::new(),
        Some(releases) => format!("\n\nThe results are those of the code of ptxas {releases}."),
    };
    let folds = match form.identity() {
        _ if form.reads_c() => String::new(),
        Some(identity) => {
            format!(
                "\n\nThe operation is associative and commutative, with the identity {identity:#010x}: `reduce` folds in any order."
            )
        }
        None => "\n\nThe operation has no identity: `reduce` folds one word after the other.".to_owned(),
    };
    format!(
        "{}\n\n`{form}` (PTX ISA {}) on every element. The arguments are {sources}{c}: arrays of uint32 or int32, broadcast \
         against each other. The result is int32 if all of them are, else uint32.{whose}{folds}",
        form.describe(),
        form.mnemonic().row().section,
    )
}

/// NumPy's function that makes a ufunc with any identity. The `numpy` crate only has the one for ufuncs without.
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
    // SAFETY: `cast_into` has checked that the object is a capsule. NumPy gives this capsule no name; if it ever does, the
    // call sets an exception and returns null.
    let table = unsafe { ffi::PyCapsule_GetPointer(table.as_ptr(), ptr::null()) };
    if table.is_null() { Err(PyErr::fetch(py)) } else { Ok(table.cast::<*const c_void>().cast_const()) }
}

/// An identity for loops of both types: an array of no dimensions, since NumPy keeps the bits of those when it casts the
/// identity to `int32`, and refuses other objects that do not fit.
fn identity(py: Python<'_>, word: u32) -> PyResult<Bound<'_, PyAny>> {
    let numpy = py.import("numpy")?;
    numpy.getattr("array")?.call1((word, numpy.getattr("uint32")?))
}

/// A form as a ufunc.
pub(crate) fn new<'py>(py: Python<'py>, form: Form, semantics: Semantics) -> PyResult<Bound<'py, PyAny>> {
    let owned = Owned::new(Body::new(form, semantics));
    // SAFETY: `owned` is the only owner of a valid body, and no other reference to it exists. The pointers taken from it stay
    // valid as long as `owned` lives: a body neither moves nor changes.
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
    // The capsule frees the body, and below it becomes a part of the ufunc that points at the body.
    let keeper = PyCapsule::new_with_value(py, owned, CAPSULE)?;
    // SAFETY: every NumPy since 1.16 has a function of this type at this place of the table. NumPy keeps the pointers, which
    // are valid as long as `keeper` lives, and takes its own reference to `value`.
    let ufunc = unsafe {
        let make: FromFuncAndDataAndSignatureAndIdentity =
            std::mem::transmute(*interface.add(FROM_FUNC_AND_DATA_AND_SIGNATURE_AND_IDENTITY));
        let ufunc = make(functions, data, types, count, sources, 1, kind, name, doc, 0, ptr::null(), value);
        Bound::from_owned_ptr_or_err(py, ufunc)?
    };
    // SAFETY: the object is the ufunc that NumPy just made, and no other code has a reference to it. `obj` is the field for
    // an object that the loops need: NumPy releases it together with the ufunc, which so never outlives the body.
    unsafe {
        let fields = &mut (*ufunc.as_ptr().cast::<PyUFuncObject>()).fields;
        if !fields.obj.is_null() {
            return Err(PyImportError::new_err(
                "this release of NumPy keeps an object of its own in each ufunc: vop needs another release",
            ));
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
    // SAFETY: `is_instance` has checked that the object is a ufunc. `obj` is null or an object that the ufunc owns, and
    // `PyCapsule_IsValid` takes any object. A valid capsule of this name was made by `new`, so it holds an `Owned`, which the
    // reference to the ufunc keeps alive.
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

/// Chooses the loop for the types of the operands, as NumPy's `PyUFunc_TypeResolutionFunc`: it writes the types of the
/// loop to `out` and returns 0, or sets an exception and returns -1. NumPy remembers the answer for these types.
unsafe extern "C" fn resolve(
    ufunc: *mut PyUFuncObject,
    casting: NPY_CASTING,
    operands: *mut *mut PyArrayObject,
    types: *mut ffi::PyObject,
    out: *mut *mut PyArray_Descr,
) -> c_int {
    // SAFETY: NumPy calls this with the interpreter attached and with a ufunc of this module. `operands` points at an array
    // object for each source, `out` at a place for each source and the result. The fields `nin` and `name` are those that
    // `new` gave, and each new descriptor is a reference that NumPy owns from then on.
    Python::attach(|py| unsafe {
        if !types.is_null() {
            // The caller names the types (`signature=` or `dtype=`).
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
                // A Python integer takes the type of the arrays.
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

/// NumPy 2 sets this flag on arrays that it made of a Python `int` (numpy/ndarraytypes.h).
const WAS_PYTHON_INT: c_int = 1 << 30;

/// Whether an operand is signed; `None` for a Python integer, which takes the type of the arrays.
///
/// # Errors
///
/// A `TypeError` for a type that NumPy could only convert with a loss. It says what to write.
fn sign(letter: &str, (array, flags): (Bound<'_, PyAny>, c_int), name: &str) -> PyResult<Option<bool>> {
    if flags & WAS_PYTHON_INT != 0 {
        return Ok(None);
    }
    let dtype = array.getattr("dtype")?;
    let (kind, size): (String, usize) = (dtype.getattr("kind")?.extract()?, dtype.getattr("itemsize")?.extract()?);
    let convert = format!("`{letter}.astype(numpy.uint32)`");
    let how = match (kind.as_str(), size) {
        ("b" | "u", 1 | 2 | 4) => return Ok(Some(false)),
        ("i", 1 | 2 | 4) => return Ok(Some(true)),
        ("u" | "i", _) => format!(
            "write {convert}, which keeps the lower 32 bits of each element (for a list `numpy.array({letter}, numpy.uint32)`)"
        ),
        ("f", 4) => {
            format!("write `{letter}.view(numpy.uint32)` for the bits of each element, or {convert} for its integer")
        }
        ("O", _) => format!("write {convert}"),
        _ => format!("write {convert} for the integer of each element, or `{letter}.view(numpy.uint32)` for the bits"),
    };
    Err(PyTypeError::new_err(format!("{name}: {letter} is {dtype}, and words are uint32 or int32: {how}")))
}

/// The loop of all ufuncs, with two sources or three.
///
/// # Safety
///
/// `args` and `steps` must have a pointer and a distance in bytes for each source and then for the result, `dimensions` the
/// number of elements, and `data` the pointer of a [`Body`]. The elements must be valid words, as [`Plan::run_strided`]
/// calls them. So NumPy calls the loops of a ufunc of [`new`], whose loops' types are all of 32 bits.
unsafe extern "C" fn inner<const SOURCES: usize>(
    args: *mut *mut c_char,
    dimensions: *mut npy_intp,
    steps: *mut npy_intp,
    data: *mut c_void,
) {
    // SAFETY: the arrays are as long as that, and `data` is the body, which lives as long as the ufunc that NumPy calls.
    let (body, len, operand) = unsafe {
        let operand = |i: usize| Strided::new((*args.add(i)).cast(), *steps.add(i));
        (&*data.cast::<Body>(), *dimensions as usize, operand)
    };
    let d = operand(SOURCES);
    let sources = std::array::from_fn(|i| if i < SOURCES { Some(operand(i)) } else { None });
    // SAFETY: each operand has `len` valid words. `fold_strided` also asks that d is one word, which its branch checks.
    unsafe {
        match sources {
            [Some(a), Some(b), None] if a == d && d.is_one_word() => body.plan.fold_strided(body.identity, d, b, len),
            _ => body.plan.run_strided(sources, d, len, NonZeroUsize::MIN),
        }
    }
}
