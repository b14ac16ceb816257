//! What applies a video instruction to the threads of a warp: the loops of [`vop::bulk`], or where code is loaded over a network, the evaluator
//! for one thread after another. Both compute the same.

#[cfg(not(target_family = "wasm"))]
pub(super) use vop::bulk::Plan;

#[cfg(target_family = "wasm")]
pub(super) use small::Plan;

#[cfg(target_family = "wasm")]
mod small {
    use vop::{Form, Semantics};

    use crate::column::WARP;
    use crate::level::Level;

    /// A form, and whose value of d it has.
    #[derive(Debug)]
    pub(in crate::engine) struct Plan {
        form: Form,
        semantics: Semantics,
    }

    impl Plan {
        pub(in crate::engine) fn new(form: Form, semantics: Semantics) -> Plan {
            Plan { form, semantics }
        }

        pub(in crate::engine) fn with_level(form: Form, semantics: Semantics, _: Level) -> Option<Plan> {
            Some(Plan::new(form, semantics))
        }

        pub(in crate::engine) fn run_chunk(
            &self,
            a: &[u32; WARP],
            b: &[u32; WARP],
            c: &[u32; WARP],
            d: &mut [u32; WARP],
        ) {
            for i in 0..WARP {
                d[i] = self.form.eval_as(self.semantics, a[i], b[i], c[i]);
            }
        }
    }
}
