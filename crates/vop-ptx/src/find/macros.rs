//! Instructions that macros write: at each use if the file has uses, otherwise where the macro's body has them.

use std::collections::HashSet;
use std::ops::Range;

use super::found::{Context, Found, FoundKind};
use super::lex::Text;

/// The uses that are reported though no instruction came of them.
const MOST_UNREAD: usize = 1 << 16;

/// A text that a macro's use writes.
pub(super) struct Written {
    /// The places in definitions that spell it, those of its instructions left out.
    spelled: Vec<Range<usize>>,
    /// Where the use is.
    at: Range<usize>,
    macro_name: Option<Range<usize>>,
}

impl Written {
    pub(super) fn of(text: &Text, found: &[Found]) -> Option<Written> {
        let taken = Places::new(found.iter().flat_map(|one| one.map.spelled()).collect());
        let spelled: Vec<_> = text.mapped.map().spelled().filter(|place| !taken.meets(place)).collect();
        let at = text.mapped.source_offset(0)..text.mapped.source_offset(usize::MAX);
        (!spelled.is_empty()).then(|| Written { spelled, at, macro_name: text.macro_name.clone() })
    }
}

/// Leaves out what macros' bodies hold in part, where the file has uses that say more; marks uses that say nothing more.
pub(super) fn prefer_uses(found: &mut Vec<Found>, written: Vec<Written>) {
    let is_open = |one: &Found| one.context.definition && (one.kind != FoundKind::Statement || one.map.has_pastes());
    if !found.iter().any(|one| one.context.definition) {
        return;
    }
    let whole: HashSet<(usize, String)> = found
        .iter()
        .filter(|one| one.context.definition && !is_open(one))
        .map(|one| (one.spelled_offset(0), one.text.clone()))
        .collect();
    let mut used = Vec::new();
    for one in found.iter_mut().filter(|one| !one.context.definition) {
        one.context.repeats = whole.contains(&(one.spelled_offset(0), one.text.clone()));
        used.extend(one.map.origins());
    }
    let used = Places::new(used);
    // Uses of which no instruction came, though the body holds a part of one.
    let mut open: Vec<(usize, &Found)> = Vec::new();
    open.extend(
        found.iter().filter(|one| is_open(one)).filter_map(|one| Some((one.map.literals().next()?.start, one))),
    );
    open.sort_by_key(|(start, _)| *start);
    let mut unread = Vec::new();
    let mut read = HashSet::new();
    for text in written {
        // Those that begin in one of its pieces.
        let begin = |place: &Range<usize>| {
            let at = |end: usize| open.partition_point(|(start, _)| *start < end);
            at(place.start)..at(place.end)
        };
        let candidates: Vec<usize> = text.spelled.iter().flat_map(begin).collect();
        if candidates.is_empty() || unread.len() >= MOST_UNREAD {
            continue;
        }
        let pieces = Places::new(text.spelled);
        for i in candidates {
            let one = open[i].1;
            if pieces.covers(&one.map) {
                read.insert(i);
                let context = Context { macro_name: text.macro_name.clone(), ..Context::default() };
                let map = one.map.clone().at_use(&text.at);
                let has_semicolon = one.has_semicolon;
                unread.push(Found { text: one.text.clone(), kind: one.kind, map, context, has_semicolon });
            }
        }
    }
    let unread_starts: HashSet<usize> = read.iter().map(|&i| open[i].1.spelled_offset(0)).collect();
    found.retain(|one| {
        let is_used =
            one.map.spelled().any(|place| used.meets(&place)) || unread_starts.contains(&one.spelled_offset(0));
        !(is_open(one) && is_used)
    });
    found.extend(unread);
}

/// Places of a file.
pub(super) struct Places {
    /// By where they begin, each with the furthest end of those up to it.
    sorted: Vec<(Range<usize>, usize)>,
}

impl Places {
    pub(super) fn new(mut places: Vec<Range<usize>>) -> Places {
        places.retain(|place| !place.is_empty());
        places.sort_by_key(|place| (place.start, place.end));
        let mut furthest = 0;
        let sorted = places.into_iter().map(|place| {
            furthest = furthest.max(place.end);
            (place, furthest)
        });
        Places { sorted: sorted.collect() }
    }

    /// Whether one of them has a byte of `place`.
    pub(super) fn meets(&self, place: &Range<usize>) -> bool {
        let begun = self.sorted.partition_point(|(one, _)| one.start < place.end);
        begun > 0 && self.sorted[begun - 1].1 > place.start
    }

    /// Whether they have a byte of each literal that spells a text.
    fn covers(&self, map: &super::mapped::OffsetMap) -> bool {
        let mut literals = map.literals().peekable();
        literals.peek().is_some() && literals.all(|place| self.meets(&place))
    }
}
