//! From the judged cases to the verdict: which failure is told, and which hints in which order.

use super::case::{Guessed, Judged};
use super::{Session, explain};
use crate::compile::parameters;
use crate::oracle::guess;
use crate::spec::Resolved;
use crate::verdict::{CaseReport, Verdict};
use std::time::Instant;

impl Session<'_> {
    pub(super) fn verdict(mut self, started: Instant) -> Verdict {
        self.settle_guesses();
        let passed = self.impossible.is_none()
            && !self.judged.is_empty()
            && self.judged.iter().all(|judged| judged.report.passed);
        let mut hints: Vec<String> = Vec::new();
        let usage = self.judged.iter().rev().find_map(|judged| judged.report.counters.as_ref());
        let failed = self.judged.iter().filter(|judged| !judged.report.passed);
        // The case that the verdict's sentence is about: of equally telling ones the first that knows the mistake, or else that
        // names a thread.
        let told = failed.min_by_key(|judged| (case_rank(&judged.report), unknown(judged), !judged.placed));
        let mut by_weight: Vec<&Judged> = self.judged.iter().collect();
        by_weight.sort_by_key(|judged| case_rank(&judged.report));
        let all: Vec<&'static str> = by_weight.into_iter().flat_map(|judged| judged.hints.iter().copied()).collect();
        let failed = self.judged.iter().filter(|judged| !judged.report.passed);
        let whole: Vec<&[&'static str]> = failed.map(|judged| judged.hints.as_slice()).collect();
        // A hint answers to the sentence first: what another size looks like comes behind.
        let own = told.map_or_else(Vec::new, |judged| judged.hints.clone());
        let keys = explain::most_telling_first(own, &whole);
        let keys = keys.into_iter().chain(explain::most_telling_first(all, &whole));
        for key in keys.chain(usage.map(explain::usage_hints).unwrap_or_default()) {
            if !hints.iter().any(|known| known == key) {
                hints.push(key.to_owned());
            }
        }
        // An output of one element is wholly unwritten for many reasons: only where it is so at every size, and at one
        // with more to write, is nothing written the diagnosis.
        let nothing = |judged: &Judged| judged.hints.contains(&"nothing_written");
        let tells = self.judged.iter().any(|judged| judged.report.element_count > 1);
        if !tells || !self.judged.iter().all(nothing) {
            hints.retain(|key| key != "nothing_written");
        }
        // A smaller size may end where a larger one shows that the same is missing all along.
        let failed = self.judged.iter().filter(|judged| !judged.report.passed);
        let largest = failed.max_by_key(|judged| judged.report.element_count);
        if largest.is_some_and(|judged| judged.is_narrow && !judged.hints.contains(&"tail_missing")) {
            hints.retain(|key| key != "tail_missing");
        }
        // Larger sizes are not looked at so closely.
        if self.judged.iter().any(|judged| judged.is_undefined) {
            hints.retain(|key| !["never_written", "nothing_written", "tail_missing"].contains(&key.as_str()));
        }
        let failed = self.judged.iter().filter(|judged| !judged.report.passed);
        let worst = failed.min_by_key(|judged| (case_rank(&judged.report), unknown(judged), !judged.placed));
        let mut failure = worst.map(|judged| at_size(&judged.report.reason, &judged.report.name));
        let fault = worst.and_then(|judged| judged.report.faults.iter().min_by_key(|fault| explain::rank(fault.kind)));
        // The order and the types of the parameters come before everything that follows from them.
        let differ = parameters::differ(&self.compiled.declared, self.spec).filter(|_| !passed);
        if let Some(differ) = &differ {
            let rest = failure.as_ref().map(|failure| format!(". What came of it: {failure}")).unwrap_or_default();
            failure = Some(format!("{differ}{rest}"));
            hints.retain(|hint| hint != "wrong_signature");
            hints.insert(0, "wrong_signature".to_owned());
        }
        if let (None, Some(failure), Some(wide)) =
            (&differ, &mut failure, fault.and_then(|fault| parameters::wide(fault, self.spec)))
        {
            failure.push_str(&format!(" {wide}."));
            hints.insert(0, "wide_access".to_owned());
        }
        let (resolved, mut cases): (Vec<Resolved>, Vec<CaseReport>) =
            self.judged.into_iter().map(|judged| (judged.resolved, judged.report)).unzip();
        if let Some((name, message)) = self.impossible {
            hints.retain(|hint| hint != "bad_launch");
            hints.insert(0, "bad_launch".to_owned());
            failure = Some(at_size(&message, &name));
            cases.push(CaseReport { name, seed: self.seed, reason: message, ..CaseReport::default() });
        }
        let summary = failure.unwrap_or_else(|| explain::passed_sentence(&cases, &resolved));
        Verdict {
            passed,
            summary,
            cases,
            hints,
            trace: self.trace,
            captured: self.captured,
            notes: self.notes,
            seed: self.seed,
            compile_ms: self.compiled.compile_ms,
            total_ms: started.elapsed().as_secs_f64() * 1e3,
        }
    }

    /// Takes back guesses that cases with more to go by contradict, and none confirms: eight sums of three products
    /// each may well be what two mistakes give, by chance.
    fn settle_guesses(&mut self) {
        let (weak, strong): (Vec<_>, Vec<_>) = self
            .judged
            .iter_mut()
            .filter(|judged| judged.guessed.is_some())
            .partition(|judged| judged.guessed.as_ref().is_some_and(|guessed| guessed.wrong < guess::SAMPLE));
        for judged in weak {
            // Zeros may be what a sum of so few terms leaves of the same mistake.
            let strong =
                strong.iter().filter(|judged| judged.guessed.as_ref().is_some_and(|guessed| !guessed.is_zeros()));
            let strong: Vec<&&mut Judged> = strong.collect();
            let contradicted = |weak: &mut Guessed| {
                let mut surer = strong.iter().filter_map(|judged| judged.guessed.as_ref());
                !strong.is_empty() && !surer.any(|guessed| guessed.agrees(weak))
            };
            if let Some(guessed) = judged.guessed.take_if(contradicted) {
                judged.report.reason = guessed.reason_without;
                judged.hints = guessed.hints_without;
            }
        }
    }
}

/// How little the reason of a case says of the mistake.
fn unknown(judged: &Judged) -> u32 {
    match &judged.guessed {
        _ if judged.is_narrow => 0,
        Some(guessed) if guessed.key.is_some() => 0,
        Some(_) => 1,
        None => 2,
    }
}

/// Order in which failed cases should be looked at: those with the most telling fault first, passed ones last.
fn case_rank(case: &CaseReport) -> u32 {
    let fault = case.faults.iter().map(|fault| explain::rank(fault.kind)).min();
    fault.unwrap_or(if case.passed { u32::MAX } else { u32::MAX - 1 })
}

/// A reason with the size at which it showed, in the parentheses of the place when there is one.
fn at_size(reason: &str, size: &str) -> String {
    let reason = reason.trim_end_matches('.');
    match reason.strip_suffix(')') {
        Some(open) => format!("{open}, at {size})."),
        None => format!("{reason} (at {size})."),
    }
}
