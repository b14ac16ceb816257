//! The variables of a module by name: that of PTX, or that of C++.

use vop_ptx::module::{Scalar, Variable};

use super::Program;
use crate::memory::BufferId;
use crate::symbol;

/// A `.global` or `.const` variable.
#[derive(Clone, Debug)]
pub(crate) struct FoundVariable<'p> {
    /// Its name in PTX.
    pub(crate) symbol: &'p str,
    /// Where it is in the memory of its program.
    pub(crate) id: BufferId,
    /// The type of an element, and the length of each axis if all are declared.
    pub(crate) scalar: Scalar,
    pub(crate) shape: Option<Vec<u64>>,
}

impl Program {
    /// The names of all variables in PTX.
    pub(crate) fn variable_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.variables.iter().map(|variable| self.module.slice(&variable.name))
    }

    /// The variables that a name may mean, see [`symbol::find`].
    pub(crate) fn find_variables(&self, name: &str) -> Vec<FoundVariable<'_>> {
        let mut symbols = symbol::find(name, self.variable_names());
        symbols.dedup();
        symbols.into_iter().filter_map(|symbol| self.found_variable(symbol)).collect()
    }

    fn found_variable<'p>(&'p self, symbol: &'p str) -> Option<FoundVariable<'p>> {
        let index = self.variable_names().position(|name| name == symbol)?;
        let start = self.variables.get(index)?.name.start;
        let mut declared = self.module.scopes().iter().flat_map(|scope| scope.variables());
        let Variable { ty, dimensions, .. } = declared.find(|variable| variable.name.start == start)?;
        let mut shape = dimensions.iter().copied().collect::<Option<Vec<u64>>>();
        if let Some(shape) = shape.as_mut().filter(|_| ty.vector > 1) {
            shape.push(ty.vector.into());
        }
        Some(FoundVariable { symbol, id: BufferId(index), scalar: ty.scalar, shape })
    }
}
