//! Declarations of registers and variables: their types, spaces and names.

use std::ops::Range;

pub use vop::isa::scalar::ScalarType as Scalar;

macro_rules! words {
    ($(#[$outer:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// How PTX writes it, without the dot.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// What a word (without its dot) means; `None` for any other word.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($word => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

/// The type of a register, or of an element of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Type {
    /// The type of one component.
    pub scalar: Scalar,
    /// The number of components: 1, or the 2, 4 or 8 of `.v2`, `.v4`, `.v8`.
    pub vector: u8,
}

impl Type {
    /// A type of one component.
    pub const fn scalar(scalar: Scalar) -> Type {
        Type { scalar, vector: 1 }
    }

    /// Bytes that a value takes in memory. `None` for `.pred` and the opaque types, which are not stored.
    pub fn bytes(self) -> Option<u64> {
        let bits = self.scalar.bits()?;
        (bits >= 8).then(|| u64::from(bits / 8) * u64::from(self.vector))
    }
}

words! {
    /// A state space (section 5.1), as far as variables and parameters are declared in it.
    Space {
        /// `.reg`: only formal parameters of functions appear in it as a [`Variable`]; see [`Register`].
        Reg = "reg",
        /// `.param`
        Param = "param",
        /// `.global`
        Global = "global",
        /// `.shared`
        Shared = "shared",
        /// `.const`
        Const = "const",
        /// `.local`
        Local = "local",
        /// `.tex` (deprecated)
        Tex = "tex",
    }
}

words! {
    /// A linking directive (section 11.6).
    Linkage {
        /// `.extern`
        Extern = "extern",
        /// `.visible`
        Visible = "visible",
        /// `.weak`
        Weak = "weak",
        /// `.common`
        Common = "common",
    }
}

/// One name of a `.reg` declaration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Register {
    /// The type.
    pub ty: Type,
    /// Where the name stands, without the `<n>`.
    pub name: Range<usize>,
    /// The `n` of `%r<n>`, which declares `%r0` to `%r(n-1)`.
    pub count: Option<u32>,
}

/// The `.ptr` attribute of a parameter that is a pointer (section 7.1.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pointer {
    /// The space that is pointed into; none stands for generic addresses.
    pub space: Option<Space>,
    /// The alignment in bytes of what is pointed to.
    pub alignment: Option<u64>,
}

/// One name of a declaration of variables, or one formal parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// The linking directive in front.
    pub linkage: Option<Linkage>,
    /// The state space.
    pub space: Space,
    /// The argument of `.align`, in bytes.
    pub align: Option<u64>,
    /// The type of one element.
    pub ty: Type,
    /// What `.ptr` says; for parameters of kernels.
    pub pointer: Option<Pointer>,
    /// Where the name stands. A parameter that nobody uses may be called `_`.
    pub name: Range<usize>,
    /// The `n` of `x<n>`, which declares `x0` to `x(n-1)`.
    pub count: Option<u32>,
    /// The dimensions of an array, outermost first; `None` for `[]`. Empty if it is no array.
    pub dimensions: Vec<Option<u64>>,
    /// Where the initialiser stands, from behind the `=`: `{1, 2}`, `0f40200000`, `generic(x)`.
    pub initializer: Option<Range<usize>>,
}

impl Variable {
    /// The number of elements. `None` if a dimension is left open (it then follows from the initialiser, or from the launch
    /// for `.extern .shared`), or if the product does not fit.
    pub fn elements(&self) -> Option<u64> {
        self.dimensions.iter().try_fold(1u64, |product, &dimension| product.checked_mul(dimension?))
    }

    /// The number of bytes that it takes. `None` as in [`Variable::elements`], and for opaque types.
    pub fn bytes(&self) -> Option<u64> {
        self.ty.bytes()?.checked_mul(self.elements()?)
    }

    /// Its alignment in bytes: what `.align` says, else the size of an element (section 5.4.5).
    pub fn alignment(&self) -> u64 {
        self.align.or(self.ty.bytes()).unwrap_or(1)
    }
}

/// A label.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// Where the name stands, without the colon.
    pub name: Range<usize>,
    /// The index of its statement.
    pub statement: usize,
}

/// Something with a name.
pub(super) trait Declared {
    fn name(&self) -> &Range<usize>;
    fn count(&self) -> Option<u32>;
}

impl Declared for Register {
    fn name(&self) -> &Range<usize> {
        &self.name
    }
    fn count(&self) -> Option<u32> {
        self.count
    }
}

impl Declared for Variable {
    fn name(&self) -> &Range<usize> {
        &self.name
    }
    fn count(&self) -> Option<u32> {
        self.count
    }
}

impl Declared for Label {
    fn name(&self) -> &Range<usize> {
        &self.name
    }
    fn count(&self) -> Option<u32> {
        None
    }
}

/// The declarations of one kind in a scope, in order of position, and sorted by name where there are many.
#[derive(Clone, Debug)]
pub(super) struct Declarations<T> {
    pub(super) items: Vec<T>,
    /// Indexes of `items`, by name and position. Empty where looking at every item is cheaper.
    order: Vec<u32>,
}

impl<T> Default for Declarations<T> {
    fn default() -> Self {
        Declarations { items: Vec::new(), order: Vec::new() }
    }
}

impl<T: Declared> Declarations<T> {
    const FEW: usize = 16;

    pub(super) fn sort(&mut self, text: &str) {
        if self.items.len() <= Self::FEW {
            return;
        }
        self.order = (0..self.items.len() as u32).collect();
        self.order.sort_by_key(|&index| {
            let name = self.items[index as usize].name();
            (&text[name.clone()], name.start)
        });
    }

    /// The last item before `at` that declares `name`: its index, and the number if the item is counted (`%r<10>`).
    pub(super) fn find(&self, text: &str, name: &str, at: usize) -> Option<(usize, Option<u32>)> {
        let (prefix, number) = vop::register_number(name);
        let counted = number.and_then(|number| {
            let index = self.last(text, prefix, at, |item| item.count().is_some_and(|count| number < count))?;
            Some((index, Some(number)))
        });
        counted.or_else(|| Some((self.last(text, name, at, |item| item.count().is_none())?, None)))
    }

    fn last(&self, text: &str, name: &str, at: usize, accept: impl Fn(&T) -> bool) -> Option<usize> {
        let matches = |item: &T| &text[item.name().clone()] == name && item.name().start < at && accept(item);
        if self.order.is_empty() {
            return self.items.iter().rposition(matches);
        }
        let name_of = |&index: &u32| &text[self.items[index as usize].name().clone()];
        let end = self.order.partition_point(|index| name_of(index) <= name);
        let same = self.order[..end].iter().rev().take_while(|index| name_of(index) == name);
        same.map(|&index| index as usize).find(|&index| matches(&self.items[index]))
    }
}
