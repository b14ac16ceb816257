//! An opcode: its name, and modifiers that the decoder takes one by one.

use vop_ptx::module::Scalar;

/// `ld.global.nc.u32` as `ld` and the modifiers that have not been taken.
#[derive(Clone, Debug)]
pub(crate) struct Opcode<'a> {
    pub(crate) name: &'a str,
    modifiers: Vec<&'a str>,
}

impl<'a> Opcode<'a> {
    pub(crate) fn new(text: &'a str) -> Opcode<'a> {
        let mut words = text.split('.');
        let name = words.next().unwrap_or("");
        Opcode { name, modifiers: words.collect() }
    }

    /// The modifiers that have not been taken.
    pub(crate) fn modifiers(&self) -> &[&'a str] {
        &self.modifiers
    }

    /// Whether this modifier is there.
    pub(crate) fn has(&self, modifier: &str) -> bool {
        self.modifiers.contains(&modifier)
    }

    /// Takes this modifier; whether it was there.
    pub(crate) fn take(&mut self, modifier: &str) -> bool {
        self.take_if(|word| (word == modifier).then_some(())).is_some()
    }

    /// Takes the first modifier that means something to `meaning`.
    pub(crate) fn take_if<T>(&mut self, meaning: impl Fn(&'a str) -> Option<T>) -> Option<T> {
        let (index, found) = self.modifiers.iter().enumerate().find_map(|(i, word)| Some((i, meaning(word)?)))?;
        self.modifiers.remove(index);
        Some(found)
    }

    /// Takes one of these modifiers.
    pub(crate) fn take_of(&mut self, words: &[&str]) -> Option<&'a str> {
        self.take_if(|word| words.contains(&word).then_some(word))
    }

    /// Takes all modifiers that mean nothing to a machine where every write is seen at once.
    pub(crate) fn drop_all(&mut self, ignored: impl Fn(&str) -> bool) {
        self.modifiers.retain(|word| !ignored(word));
    }

    /// Takes the first type.
    pub(crate) fn take_type(&mut self) -> Option<Scalar> {
        self.take_if(Scalar::from_name)
    }

    /// The first modifier that has not been taken.
    pub(crate) fn rest(&self) -> Option<&'a str> {
        self.modifiers.first().copied()
    }
}
