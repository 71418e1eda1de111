//! `progress.toml`: what the learner has done, under names that survive a re-ordering of the course.

use crate::course::Course;
use crate::review::{self, Card, Date};
use crate::unit::{Step, Unit};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The learner's progress. Plain data; saving it is [`super::Store::save_progress`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Address shown last, by day id, so that the window opens there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_day: Option<String>,
    /// Id of the step that was open in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_step: Option<String>,
    /// By day id.
    #[serde(default)]
    pub days: BTreeMap<String, DayProgress>,
    /// Spaced review by `day-id/question-id`.
    #[serde(default)]
    pub review: BTreeMap<String, Card>,
    /// The ready check's questions by id: the first answers, which decide on the pace that is proposed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ready: BTreeMap<String, AnswerProgress>,
    /// Entries of a newer version of the app; kept as they are.
    #[serde(flatten)]
    pub other: toml::Table,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DayProgress {
    /// Ids of finished steps ([`Step::id`]).
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub steps: BTreeSet<String>,
    /// By exercise key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub exercises: BTreeMap<String, ExerciseProgress>,
    /// By question id: the last answer.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub answers: BTreeMap<String, AnswerProgress>,
    /// What was typed into the tables of the lesson, by table: each cell that is asked for, row by row.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tables: BTreeMap<String, Vec<String>>,
    /// The learner's own words by reflection id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reflections: BTreeMap<String, String>,
    #[serde(flatten)]
    pub other: toml::Table,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExerciseProgress {
    /// First day on which the check passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<Date>,
    /// Hint steps revealed so far.
    #[serde(default)]
    pub hints_shown: u32,
    /// The solution was shown before the check had passed.
    #[serde(default)]
    pub solution_seen: bool,
    /// Best share of the machine's ceiling, by device name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub best_share: BTreeMap<String, f64>,
    #[serde(flatten)]
    pub other: toml::Table,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AnswerProgress {
    /// Of the first answer in the quiz, or of the last one in a review.
    pub correct: bool,
    /// Answers so far, those after the first one too.
    pub tries: u32,
    /// The last answer; None in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<Given>,
    #[serde(flatten)]
    pub other: toml::Table,
}

/// What was answered, in words: they survive another order of the choices.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Given {
    /// The texts of the choices, the number as it was typed, or cells as `row,column`.
    #[serde(default)]
    pub answer: Vec<String>,
    /// What a prediction was compared with, in its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<f64>,
}

/// How far a day is, for the course tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Steps, exercises and questions finished, and how many there are.
    pub finished: u32,
    pub total: u32,
}

impl Done {
    /// 0 to 1; a day with nothing to do (planned) is at 0.
    pub fn share(self) -> f32 {
        if self.total == 0 { 0.0 } else { self.finished as f32 / self.total as f32 }
    }

    pub fn is_complete(self) -> bool {
        self.total > 0 && self.finished == self.total
    }
}

/// A question and how well it is remembered.
#[derive(Clone, Copy, Debug)]
pub struct Remembered<'c> {
    pub unit: &'c Unit,
    pub question: &'c crate::quiz::Question,
    /// Chance of a right answer today, by the model of `crate::review::fsrs`.
    pub chance: f64,
    /// Days after the last answer at which that chance is 0.9.
    pub stability_days: f64,
    pub last: Date,
    pub due: Date,
}

/// Concepts of a list of questions: name, questions, mean chance today, and the earliest day on which one is due; the least
/// remembered first.
pub fn by_concept<'c>(remembered: &[Remembered<'c>]) -> Vec<(&'c str, usize, f64, Date)> {
    let mut concepts: BTreeMap<&'c str, (usize, f64, Date)> = BTreeMap::new();
    for one in remembered {
        let entry = concepts.entry(&one.question.concept).or_insert((0, 0.0, one.due));
        *entry = (entry.0 + 1, entry.1 + one.chance, entry.2.min(one.due));
    }
    let mut list: Vec<_> =
        concepts.into_iter().map(|(name, (count, sum, due))| (name, count, sum / count as f64, due)).collect();
    list.sort_by(|one, other| one.2.total_cmp(&other.2));
    list
}

impl AnswerProgress {
    fn tried(&mut self, given: Given) {
        self.tries = self.tries.saturating_add(1);
        self.given = Some(given);
    }
}

impl Progress {
    pub fn step_done(&mut self, day: &Unit, step: Step) {
        self.days.entry(day.id.clone()).or_default().steps.insert(day.step_id(step).to_owned());
    }

    pub fn is_step_done(&self, day: &Unit, step: Step) -> bool {
        self.days.get(&day.id).is_some_and(|progress| progress.steps.contains(day.step_id(step)))
    }

    /// The check of an exercise passed.
    pub fn passed(&mut self, day: &Unit, exercise: &str, today: Date) {
        self.exercise_mut(day, exercise).passed.get_or_insert(today);
    }

    pub fn exercise(&self, day: &Unit, exercise: &str) -> Option<&ExerciseProgress> {
        self.days.get(&day.id)?.exercises.get(exercise)
    }

    pub fn has_passed(&self, day: &Unit, exercise: &str) -> bool {
        self.exercise(day, exercise).is_some_and(|exercise| exercise.passed.is_some())
    }

    pub fn exercise_mut(&mut self, day: &Unit, exercise: &str) -> &mut ExerciseProgress {
        self.days.entry(day.id.clone()).or_default().exercises.entry(exercise.to_owned()).or_default()
    }

    /// Forgets everything about a day: steps, passed checks, answers, reflections and reviews.
    pub fn forget(&mut self, day: &Unit) {
        self.days.remove(&day.id);
        let own = format!("{}/", day.id);
        self.review.retain(|key, _| !key.starts_with(&own));
    }

    /// Notes an answer and when the question is to come back. Also for answers given in a review.
    pub fn answered(&mut self, day: &Unit, question: &str, correct: bool, given: Given, today: Date) {
        let answers = &mut self.days.entry(day.id.clone()).or_default().answers;
        let answer = answers.entry(question.to_owned()).or_default();
        answer.correct = correct;
        answer.tried(given);
        let key = format!("{}/{question}", day.id);
        let card = review::answered(self.review.get(&key), correct, today);
        self.review.insert(key, card);
    }

    /// What was typed into a table of a lesson; nothing where it was not touched.
    pub fn filled(&self, day: &Unit, table: &str) -> &[String] {
        self.days.get(&day.id).and_then(|progress| progress.tables.get(table)).map_or(&[], Vec::as_slice)
    }

    /// Whether every table of a step is filled in right.
    pub fn has_filled_step(&self, day: &Unit, step: Step) -> bool {
        let blocks = day.lesson.section(step).map_or(&[][..], |section| &section.blocks);
        blocks.iter().all(|block| match block {
            crate::unit::Block::Fill(table) => table.is_solved(self.filled(day, &table.name)),
            _ => true,
        })
    }

    /// Notes an answer to a question of the ready check; these do not come back for review.
    pub fn ready_answered(&mut self, question: &str, correct: bool, given: Given) {
        let answer = AnswerProgress { correct, tries: 1, given: Some(given), ..AnswerProgress::default() };
        self.ready.insert(question.to_owned(), answer);
    }

    /// Notes a further answer to a question, which changes nothing of what the first one counted. None is the ready
    /// check, else a day's id.
    pub fn tried_again(&mut self, day: Option<&str>, question: &str, given: Given) {
        let answers = match day {
            Some(day) => self.days.get_mut(day).map(|day| &mut day.answers),
            None => Some(&mut self.ready),
        };
        if let Some(answer) = answers.and_then(|answers| answers.get_mut(question)) {
            answer.tried(given);
        }
    }

    /// Questions to ask again today as (day, question id), most urgent first. Questions that the course no longer
    /// has are left out and not forgotten.
    pub fn due<'a>(&self, course: &'a Course, today: Date, limit: usize) -> Vec<(&'a Unit, &'a crate::quiz::Question)> {
        let cards = self.review.iter().map(|(key, card)| (key.as_str(), card));
        let found = review::due(cards, today, usize::MAX).into_iter().filter_map(|key| {
            let (id, question) = key.split_once('/')?;
            let day = course.unit_by_id(id)?;
            Some((day, day.quiz.question(question)?))
        });
        found.take(limit).collect()
    }

    /// Every question that was answered, with its chance of a right answer today; the least remembered first.
    pub fn remembered<'c>(&self, course: &'c Course, today: Date) -> Vec<Remembered<'c>> {
        let found = self.review.iter().filter_map(|(key, card)| {
            let (id, question) = key.split_once('/')?;
            let unit = course.unit_by_id(id)?;
            let question = unit.quiz.question(question)?;
            let (memory, last) = card.memory();
            let chance = card.chance(today);
            Some(Remembered { unit, question, chance, stability_days: memory.stability, last, due: card.due })
        });
        let mut found: Vec<Remembered<'c>> = found.collect();
        found.sort_by(|one, other| one.chance.total_cmp(&other.chance));
        found
    }

    /// How much of a unit is done: its steps or parts, exercises passed, questions answered right. Questions that only a GPU
    /// can answer are extra: a day must come to its end on every machine.
    pub fn done(&self, day: &Unit) -> Done {
        if !day.is_written() {
            return Done::default();
        }
        let questions = || day.quiz.questions.iter().filter(|question| !question.needs_gpu());
        let sections = &day.lesson.sections;
        let total = sections.len() + day.exercise_keys().count() + questions().count();
        let Some(progress) = self.days.get(&day.id) else { return Done { finished: 0, total: total as u32 } };
        let steps = sections.iter().filter(|section| progress.steps.contains(&section.id)).count();
        let passed = |key: &&str| progress.exercises.get(*key).is_some_and(|e| e.passed.is_some());
        let exercises = day.exercise_keys().filter(passed).count();
        let right = |id: &String| progress.answers.get(id).is_some_and(|answer| answer.correct);
        let answered = questions().filter(|question| right(&question.id)).count();
        Done { finished: (steps + exercises + answered) as u32, total: total as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::UnitKind;

    #[test]
    fn it_is_readable_and_keeps_what_it_does_not_know() {
        let text = "last_day = \"first-kernel\"\nbadge = \"gold\"\n\n[days.first-kernel]\nsteps = [\"challenge\"]\nmood = 3\n\n\
                    [days.first-kernel.exercises.main]\npassed = \"2026-11-21\"\nhints_shown = 1\nsolution_seen = false\n\n\
                    [review.\"first-kernel/linear-index\"]\nbox = 0\ndue = \"2026-11-22\"\nseen = 1\nmissed = 1\n";
        let progress: Progress = toml::from_str(text).unwrap();
        let written = toml::to_string(&progress).unwrap();
        assert_eq!(toml::from_str::<Progress>(&written).unwrap(), progress);
        for part in ["badge = \"gold\"", "mood = 3", "passed = \"2026-11-21\"", "due = \"2026-11-22\""] {
            assert!(written.contains(part), "{part} in\n{written}");
        }
    }

    #[test]
    fn answers_feed_the_review_and_survive_a_moved_day() {
        let course = Course::embedded();
        let day = course.unit("first-kernel").unwrap();
        let mut progress = Progress::default();
        progress.answered(day, "linear-index", false, Given::default(), Date(100));
        progress.answered(day, "gone-question", false, Given::default(), Date(100));
        assert_eq!(progress.due(&course, Date(100), 9).len(), 0);
        let mut moved = course.clone();
        let moved_day = moved.weeks[0].days.remove(3);
        moved.weeks[2].days.push(Unit {
            address: "week3/day8-first-kernel".into(),
            kind: UnitKind::Day { week: 3, number: 8 },
            ..moved_day
        });
        for course in [&course, &moved] {
            let due = progress.due(course, Date(101), 9);
            if day.quiz.question("linear-index").is_some() {
                assert_eq!(due.iter().map(|(_, q)| q.id.as_str()).collect::<Vec<_>>(), ["linear-index"]);
            }
        }
    }

    #[test]
    fn what_is_remembered_fades_and_is_told_by_concept() {
        let course = Course::embedded();
        let day = course.unit("first-kernel").unwrap();
        let mut progress = Progress::default();
        let [first, second] = [0, 1].map(|at| day.quiz.questions[at].id.as_str());
        progress.answered(day, first, true, Given::default(), Date(100));
        progress.answered(day, second, false, Given::default(), Date(100));
        progress.answered(day, "gone-question", false, Given::default(), Date(100));
        let now = progress.remembered(&course, Date(101));
        assert_eq!(now.iter().map(|one| one.question.id.as_str()).collect::<Vec<_>>(), [second, first]);
        assert!(now[0].chance < 0.85 && now[1].chance > 0.95, "{now:?}");
        let later = progress.remembered(&course, Date(130));
        assert!(later.iter().zip(&now).all(|(later, now)| later.chance < now.chance));
        let concepts = by_concept(&now);
        assert_eq!(concepts.iter().map(|(_, count, ..)| count).sum::<usize>(), 2);
        assert_eq!(concepts[0].3, Date(101));
    }

    #[test]
    fn a_forgotten_day_starts_anew_and_leaves_the_others() {
        let course = Course::embedded();
        let mut progress = Progress::default();
        let [first, second] = ["first-kernel", "naive-matmul"].map(|id| course.unit(id).unwrap());
        for day in [first, second] {
            progress.step_done(day, Step::Challenge);
            progress.passed(day, "main", Date(1));
            progress.answered(day, "any-question", false, Given::default(), Date(1));
        }
        progress.forget(first);
        assert_eq!(progress.done(first).finished, 0);
        assert!(progress.is_step_done(second, Step::Challenge) && progress.exercise(second, "main").is_some());
        assert_eq!(progress.review.keys().collect::<Vec<_>>(), ["naive-matmul/any-question"]);
    }

    #[test]
    fn a_day_is_complete_when_all_its_parts_are() {
        let course = Course::embedded();
        let mut progress = Progress::default();
        let mut with_gpu = 0;
        for day in course.days() {
            for step in Step::ALL {
                progress.step_done(day, step);
            }
            for key in day.exercise_keys() {
                progress.passed(day, key, Date(1));
            }
            for question in day.quiz.questions.iter().filter(|question| !question.needs_gpu()) {
                assert!(!progress.done(day).is_complete());
                progress.answered(day, &question.id, true, Given::default(), Date(1));
            }
            assert_eq!(progress.done(day).is_complete(), day.is_written(), "{}", day.address);
            for question in day.quiz.questions.iter().filter(|question| question.needs_gpu()) {
                with_gpu += 1;
                progress.answered(day, &question.id, false, Given::default(), Date(1));
                assert!(progress.done(day).is_complete(), "{}: {} is extra", day.address, question.id);
            }
        }
        assert!(with_gpu > 0, "no question needs a GPU any more: then `done` need not know of them");
    }

    #[test]
    fn every_answer_is_counted_and_the_last_one_kept() {
        let course = Course::embedded();
        let day = course.unit("first-kernel").unwrap();
        let given = |text: &str| Given { answer: vec![text.to_owned()], measured: None };
        let mut progress = Progress::default();
        progress.tried_again(Some(&day.id), "guard", given("never asked"));
        assert!(progress.days.is_empty());
        progress.answered(day, "guard", false, given("a race"), Date(1));
        progress.tried_again(Some(&day.id), "guard", given("a `c`, with \"quotes\""));
        progress.ready_answered("what", true, given("64"));
        progress.tried_again(None, "what", Given { measured: Some(4.5), ..given("4") });
        let read: Progress = toml::from_str(&toml::to_string(&progress).unwrap()).unwrap();
        assert_eq!(read, progress);
        let answer = &read.days[&day.id].answers["guard"];
        assert_eq!((answer.correct, answer.tries), (false, 2), "the first one counts");
        assert_eq!(answer.given, Some(given("a `c`, with \"quotes\"")));
        assert_eq!(read.ready["what"].given.as_ref().and_then(|given| given.measured), Some(4.5));
        // Files of earlier versions hold no answers.
        let old: Progress = toml::from_str("[days.d.answers.q]\ncorrect = true\ntries = 1\n").unwrap();
        assert_eq!(old.days["d"].answers["q"].given, None);
    }
}
