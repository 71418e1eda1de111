//! The ready check's questions in the terminal.

use super::out;
use crate::ready::Answers;
use curriculum::quiz::{Answer, Kind, Question, Quiz, mark, parse_number};
use std::io::BufRead as _;

/// Asks each question on standard output and reads the answers from standard input; ends early where that ends.
pub fn ask(quiz: &Quiz) -> Answers {
    let mut answers = Answers::default();
    let count = quiz.questions.len();
    let mut lines = std::io::stdin().lock().lines().map_while(Result::ok);
    for (index, question) in quiz.questions.iter().enumerate() {
        out::print(&format!("\n{} of {count}: {}\n", index + 1, text(question)));
        let Some(answer) = lines.next() else { break };
        let marked = read(question, &answer).and_then(|answer| mark(question, &answer));
        match marked {
            Ok(mark) => {
                answers.add(&question.concept, mark.correct);
                let word = if mark.correct { "Right.".to_owned() } else { format!("No. {}", mark.message) };
                out::print(&format!("{word} {}\n", question.why));
            }
            // An answer that is none counts as not given.
            Err(problem) => out::print(&format!("Left out: {problem}\n")),
        }
    }
    answers
}

fn text(question: &Question) -> String {
    let mut text = question.prompt.clone();
    match &question.kind {
        Kind::Single { choices } | Kind::Multiple { choices } => {
            for (choice, letter) in choices.iter().zip('a'..) {
                text += &format!("\n  {letter}  {}", choice.text);
            }
            let many = matches!(question.kind, Kind::Multiple { .. });
            text += if many { "\nAll right letters: " } else { "\nLetter: " };
        }
        Kind::Numeric { unit, .. } if unit.is_empty() => text += "\nNumber: ",
        Kind::Numeric { unit, .. } => text += &format!("\nNumber of {unit}: "),
        Kind::Cell { .. } | Kind::Predict { .. } => text += "\n(only in the window; press Enter)",
    }
    text
}

/// From what was typed to an answer.
fn read(question: &Question, typed: &str) -> Result<Answer, String> {
    let typed = typed.trim();
    match &question.kind {
        Kind::Single { choices } | Kind::Multiple { choices } => {
            let mut chosen = Vec::new();
            for letter in typed.chars().filter(|letter| letter.is_ascii_alphabetic()) {
                let index = letter.to_ascii_lowercase() as usize - 'a' as usize;
                if index >= choices.len() {
                    return Err(format!("there is no choice `{letter}`"));
                }
                chosen.push(index);
            }
            match (&question.kind, chosen[..].first()) {
                (_, None) => Err("no letter was typed".to_owned()),
                (Kind::Single { .. }, Some(first)) => Ok(Answer::Choice(*first)),
                _ => Ok(Answer::Choices(chosen.into_iter().collect())),
            }
        }
        Kind::Numeric { unit, .. } => parse_number(typed, unit).map(Answer::Number),
        Kind::Cell { .. } | Kind::Predict { .. } => Err("it needs the window".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_can_be_asked_and_answered_in_a_terminal() {
        let quiz = curriculum::Course::embedded().ready;
        for question in &quiz.questions {
            assert!(!text(question).contains("only in the window"), "{}", question.id);
            let typed = match &question.kind {
                Kind::Single { choices } => {
                    let right = choices.iter().position(|choice| choice.right).unwrap();
                    char::from(b'a' + right as u8).to_string()
                }
                Kind::Numeric { answer, .. } => answer.to_string(),
                other => panic!("{}: {}", question.id, other.name()),
            };
            let answer = read(question, &typed).unwrap();
            assert!(mark(question, &answer).unwrap().correct, "{}", question.id);
            assert!(read(question, "").is_err());
        }
    }
}
