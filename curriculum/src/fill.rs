//! Tables to fill in: a fenced block `fill NAME` of a lesson, a Markdown table whose cells in square brackets are asked for.
//!
//! ````text
//! ```fill threads
//! | n   | blocks | threads |
//! |-----|--------|---------|
//! | 257 | [2]    | [512]   |
//! | 300 | [2]    | [512 or 2 x 256] |
//! ```
//! ````
//!
//! ` or ` stands between answers that are all right. Numbers may be typed with separators.

/// A table of a lesson that the learner completes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FillTable {
    /// Unique in its unit.
    pub name: String,
    pub head: Vec<String>,
    /// As long as the head, each.
    pub rows: Vec<Vec<FillCell>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FillCell {
    /// Markdown.
    Given(String),
    /// What is asked for: the answers that are right, the first one to be shown.
    Asked(Vec<String>),
}

impl FillTable {
    /// Reads the lines between the fences.
    ///
    /// # Errors
    /// What was expected instead.
    pub(crate) fn parse(name: &str, lines: &[&str]) -> Result<Self, String> {
        if !crate::is_slug(name) {
            return Err(format!("```fill with a name such as `threads` (found `{name}`)"));
        }
        let cells = |line: &str| -> Option<Vec<String>> {
            let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
            Some(inner.split('|').map(|cell| cell.trim().to_owned()).collect())
        };
        let table: Option<Vec<Vec<String>>> =
            lines.iter().filter(|line| !line.trim().is_empty()).map(|line| cells(line)).collect();
        let Some([head, rule, rows @ ..]) = table.as_deref() else {
            return Err("a table whose lines begin and end with `|`".to_owned());
        };
        if !rule.iter().all(|cell| cell.contains('-')) || rows.is_empty() {
            return Err("a head, a line of dashes and rows".to_owned());
        }
        if let Some(row) = rows.iter().find(|row| row.len() != head.len()) {
            return Err(format!("{} cells in each row (found `{}`)", head.len(), row.join(" | ")));
        }
        let cell = |text: &String| match text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(asked) => FillCell::Asked(asked.split(" or ").map(|answer| answer.trim().to_owned()).collect()),
            None => FillCell::Given(text.clone()),
        };
        let rows: Vec<Vec<FillCell>> = rows.iter().map(|row| row.iter().map(cell).collect()).collect();
        let table = Self { name: name.to_owned(), head: head.clone(), rows };
        if table.asked().next().is_none() {
            return Err("a cell in square brackets, which the learner fills in".to_owned());
        }
        if table.asked().flatten().any(String::is_empty) {
            return Err("an answer in every pair of brackets".to_owned());
        }
        Ok(table)
    }

    /// The right answers of each cell that is asked for, row by row.
    pub fn asked(&self) -> impl Iterator<Item = &Vec<String>> {
        self.rows.iter().flatten().filter_map(|cell| match cell {
            FillCell::Asked(answers) => Some(answers),
            FillCell::Given(_) => None,
        })
    }

    /// Whether each typed cell is right; a missing one is not.
    pub fn mark(&self, typed: &[String]) -> Vec<bool> {
        let typed = |index: usize| typed.get(index).map_or("", String::as_str);
        self.asked()
            .enumerate()
            .map(|(index, answers)| answers.iter().any(|right| is_same(right, typed(index))))
            .collect()
    }

    pub fn is_solved(&self, typed: &[String]) -> bool {
        self.mark(typed).iter().all(|right| *right)
    }

    /// As Markdown, with `?` for what is asked: for places where nothing can be typed.
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
        let mut text = line(self.head.iter().map(String::as_str).collect());
        text += &line(vec!["---"; self.head.len()]);
        for row in &self.rows {
            let shown = row.iter().map(|cell| match cell {
                FillCell::Given(text) => text.as_str(),
                FillCell::Asked(_) => "?",
            });
            text += &line(shown.collect());
        }
        text
    }
}

/// Numbers by value, words without regard to case and spaces.
fn is_same(right: &str, typed: &str) -> bool {
    let number = |text: &str| text.replace([',', '_', ' '], "").parse::<f64>().ok();
    match (number(right), number(typed)) {
        (Some(right), Some(typed)) => (right - typed).abs() <= 1e-9 * right.abs().max(1.0),
        _ => {
            let plain = |text: &str| text.to_lowercase().split_whitespace().collect::<String>();
            !typed.trim().is_empty() && plain(right) == plain(typed)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &str) -> Result<FillTable, String> {
        let text = format!("| n | threads |\n|---|---|\n{rows}");
        FillTable::parse("threads", &text.lines().collect::<Vec<_>>())
    }

    #[test]
    fn cells_in_brackets_are_asked_for_and_marked() {
        let table = table("| 257 | [512 or two blocks] |\n| [1,024] | 1024 |\n").unwrap();
        let typed = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        assert_eq!(table.mark(&typed(["512", "1024"])), [true, true]);
        assert_eq!(table.mark(&typed(["Two  Blocks", "1 024.0"])), [true, true]);
        assert_eq!(table.mark(&typed(["", "1023"])), [false, false]);
        assert!(!table.is_solved(&[]) && table.is_solved(&typed(["512", "1_024"])));
        assert_eq!(table.markdown(), "| n | threads |\n| --- | --- |\n| 257 | ? |\n| ? | 1024 |\n");
    }

    #[test]
    fn a_table_that_asks_nothing_or_has_holes_is_refused() {
        assert!(table("| 1 | 2 |").unwrap_err().contains("square brackets"));
        assert!(table("| 1 | [] |").unwrap_err().contains("every pair"));
        assert!(table("| [1] |").unwrap_err().contains("2 cells"));
        assert!(table("").is_err() && FillTable::parse("No Name", &[]).is_err());
    }
}
