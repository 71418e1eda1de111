//! What Markdown becomes, and that whatever it holds can be drawn.

use super::*;

#[test]
fn a_lesson_becomes_blocks() {
    let doc = Document::parse(
        "# Title {#top}\n\nText with **bold *both***, `code`, $n^2$ and [a link](week1/day4).\n\n\
         $$ x = 1 $$\n\n```cuda title\nint i;\n```\n\n1. one\n   - inner\n2. two\n\n> [!TIP]\n> Look.\n\n\
         | a | b |\n|--:|---|\n| $1$ | two |\n\n---\n",
    );
    let kinds: Vec<_> = doc
        .blocks
        .iter()
        .map(|block| match block {
            Block::Heading { level: 1, id: Some(id), .. } if id == "top" => "heading",
            Block::Paragraph(_) => "paragraph",
            Block::Formula { .. } => "formula",
            Block::Code { language, info, text, .. } if language == "cuda" && info == "title" && text == "int i;" => {
                "code"
            }
            Block::List { start: Some(1), items } if items.len() == 2 && items[0].blocks.len() == 2 => "list",
            Block::Quote { alert: Some(AlertKind::Tip), .. } => "quote",
            Block::Table { columns, head, rows, .. } if columns[0] == Column::Right && head.len() == 2 => {
                assert_eq!(rows.len(), 1);
                "table"
            }
            Block::Rule => "rule",
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(kinds, ["heading", "paragraph", "formula", "code", "list", "quote", "table", "rule"]);
    assert_eq!(doc.links, ["week1/day4"]);
}

#[test]
fn folds_hold_their_blocks() {
    let doc = Document::parse("<details><summary>Why?</summary>\n\nBecause.\n\n- a\n\n</details>\n\nAfter.");
    let [Block::Fold { summary, blocks, .. }, Block::Paragraph(after)] = doc.blocks.as_slice() else {
        panic!("{:?}", doc.blocks)
    };
    assert_eq!((summary.as_str(), blocks.len()), ("Why?", 2));
    assert_eq!(after.plain(), "After.");
}

#[test]
fn broken_markup_still_gives_its_words() {
    for text in [
        "<details>\n\nnever closed",
        "> <details>\n>\n> in a quote\n\nafter",
        "- <details>\n\n  in an item\n",
        "</details>",
        "$unclosed",
        "| a |\n|---|\n| b | c | d |",
        "**",
        "[x](",
        "\u{0}",
    ] {
        let doc = Document::parse(text);
        assert!(!doc.blocks.is_empty() || text.starts_with("</"), "{text:?} gave nothing");
    }
}

/// How deep blocks lie in one another.
fn depth(blocks: &[Block]) -> usize {
    let of = |block: &Block| match block {
        Block::Quote { blocks, .. } | Block::Fold { blocks, .. } => 1 + depth(blocks),
        Block::List { items, .. } => 1 + items.iter().map(|item| depth(&item.blocks)).max().unwrap_or(0),
        _ => 0,
    };
    blocks.iter().map(of).max().unwrap_or(0)
}

#[test]
fn whatever_a_text_holds_drawing_it_ends() {
    let deep = [
        format!("{} x\n\nafter", ">".repeat(15_000)),
        format!("{}x\n\nafter", "- ".repeat(9_000)),
        format!("{}x\n\nafter", "> - ".repeat(5_000)),
        format!("{}\n\nafter", "<details>\n\n".repeat(5_000)),
        // What looks like a block of code and is none.
        format!("    ```\n\n{} x\n\nafter", "> ".repeat(9_000)),
        format!("- ```\n  ```\n\n{} x\n\nafter", "> ".repeat(9_000)),
    ];
    for text in deep {
        let doc = Document::parse(&text);
        assert!(depth(&doc.blocks) <= MOST_NESTED, "{}", &text[..40]);
        assert!(format!("{doc:?}").contains("after"), "{}", &text[..40]);
    }
    let long = ["word ".repeat(1_000_000), "a\n\n".repeat(1_000_000), format!("```\n{}", "x\n".repeat(2_000_000))];
    for text in long {
        let doc = Document::parse(&text);
        assert!(doc.blocks.len() <= MOST_EVENTS, "{}", &text[..10]);
        assert!(doc.blocks.iter().all(|block| format!("{block:?}").len() < 3 * MOST_CODE_BYTES));
    }
    let rows = Document::parse(&format!("| a |\n|---|\n{}", "| b |\n".repeat(20_000)));
    assert!(matches!(&rows.blocks[0], Block::Table { rows, .. } if rows.len() == MOST_ROWS));
}
