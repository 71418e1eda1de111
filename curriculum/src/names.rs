//! Names of folders.

/// A folder name taken apart: `day4-first-kernel` is 4 and `first-kernel`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Numbered<'a> {
    pub number: u32,
    pub slug: &'a str,
}

/// Reads `PREFIXn` or `PREFIXn-slug`. None for anything else.
pub(crate) fn numbered<'a>(name: &'a str, prefix: &str) -> Option<Numbered<'a>> {
    let rest = name.strip_prefix(prefix)?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let number = rest[..end].parse().ok().filter(|n| *n > 0)?;
    let slug = match &rest[end..] {
        "" => "",
        tail => tail.strip_prefix('-').filter(|s| is_slug(s))?,
    };
    Some(Numbered { number, slug })
}

/// Lower-case words joined by single hyphens, so that it is the same on every file system.
pub fn is_slug(text: &str) -> bool {
    !text.is_empty()
        && text
            .split('-')
            .all(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_names_are_taken_apart() {
        assert_eq!(numbered("day4-first-kernel", "day"), Some(Numbered { number: 4, slug: "first-kernel" }));
        assert_eq!(numbered("week2", "week"), Some(Numbered { number: 2, slug: "" }));
        for bad in ["day", "day0-x", "day4-", "day4_x", "day4-First", "week4", "dayx-y", "day4--x"] {
            assert_eq!(numbered(bad, "day"), None, "{bad}");
        }
    }
}
