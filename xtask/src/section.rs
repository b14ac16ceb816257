//! Parts of pages that a command writes, between two lines that mark them.

/// `page` with `content` between its markers `<!-- NAME: … -->` and `<!-- NAME: end -->`, each a line of its own.
///
/// # Errors
/// A marker is missing, or they are in the wrong order; a sentence says so.
pub fn replaced(page: &str, name: &str, content: &str) -> Result<String, String> {
    let (begins, ends) = (format!("<!-- {name}: "), format!("<!-- {name}: end -->\n"));
    let begin = page.find(&begins).and_then(|at| Some(at + page[at..].find('\n')? + 1));
    let (Some(begin), Some(end)) = (begin, page.find(&ends)) else {
        return Err(format!("a marker of the section `{name}` is missing"));
    };
    if end < begin {
        return Err(format!("the markers of the section `{name}` are in the wrong order"));
    }
    Ok(format!("{}\n{content}\n{}", &page[..begin], &page[end..]))
}

#[cfg(test)]
mod tests {
    use super::replaced;

    #[test]
    fn what_is_between_markers_is_replaced() {
        let page = "a\n<!-- x: by hand -->\nold\n<!-- x: end -->\nb\n";
        let new = "a\n<!-- x: by hand -->\n\nnew\n\n<!-- x: end -->\nb\n";
        assert_eq!(replaced(page, "x", "new\n").as_deref(), Ok(new));
        assert_eq!(replaced(new, "x", "new\n").as_deref(), Ok(new));
        assert!(replaced(page, "y", "new\n").unwrap_err().contains("missing"));
        assert!(replaced("<!-- x: end -->\n<!-- x: -->\n", "x", "").is_err());
    }
}
