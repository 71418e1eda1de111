//! The requests of one access site with what each costs: counted once, and kept until the run or the site changes. A
//! picture is drawn sixty times a second, and a trace may hold a hundred thousand steps.

use super::example::Memo;
use super::model::{self, AccessSite};
use gpu_core::emulator::{Space, Step, Trace, WarpTrace};
use std::rc::Rc;

/// What one site asked of memory, in the order of execution.
pub struct Requests {
    /// Of each request its warp in the trace, and its step there.
    places: Vec<(usize, usize)>,
    /// What all requests up to this one cost, itself included.
    cost_upto: Vec<usize>,
}

impl Requests {
    pub fn new(trace: &Trace, site: &AccessSite, cost: impl Fn(&Step) -> usize) -> Self {
        let executions = model::executions(trace, site);
        let upto = executions.iter().scan(0, |sum, execution| {
            *sum += cost(execution.step);
            Some(*sum)
        });
        let cost_upto = upto.collect();
        Self { places: executions.iter().map(|execution| (execution.number, execution.at)).collect(), cost_upto }
    }

    pub fn count(&self) -> usize {
        self.places.len()
    }

    /// What all requests cost.
    pub fn cost(&self) -> usize {
        self.cost_upto.last().copied().unwrap_or(0)
    }

    pub fn get<'a>(&self, trace: &'a Trace, request: usize) -> Option<(&'a WarpTrace, &'a Step)> {
        let (warp, at) = *self.places.get(request)?;
        let warp = trace.warps.get(warp)?;
        Some((warp, warp.steps.get(at)?))
    }

    /// The request in which the cost at `place` of all arises, and its place within that request.
    pub fn at_cost(&self, place: usize) -> Option<(usize, usize)> {
        let request = self.cost_upto.partition_point(|upto| *upto <= place);
        let before = request.checked_sub(1).map_or(0, |before| self.cost_upto[before]);
        (request < self.count()).then(|| (request, place - before))
    }
}

/// The sites of a picture, and the requests of the chosen one.
pub struct Sites {
    wanted: fn(Space) -> bool,
    cost: fn(&Step) -> usize,
    sites: Memo<u64, Vec<AccessSite>>,
    /// Of the trace with this fingerprint, at its site of this number.
    requests: Memo<(u64, usize), Requests>,
}

impl Sites {
    pub fn new(wanted: fn(Space) -> bool, cost: fn(&Step) -> usize) -> Self {
        Self { wanted, cost, sites: Memo::default(), requests: Memo::default() }
    }

    pub fn of(&self, trace: &Trace) -> Rc<Vec<AccessSite>> {
        self.sites.get(&model::fingerprint(trace), |_| model::access_sites(trace, self.wanted))
    }

    /// The site of this number, or the last one, with its requests.
    pub fn chosen(&self, trace: &Trace, number: usize) -> Option<(AccessSite, Rc<Requests>)> {
        let sites = self.of(trace);
        let number = number.min(sites.len().saturating_sub(1));
        let site = sites.get(number)?;
        let key = (model::fingerprint(trace), number);
        Some((site.clone(), self.requests.get(&key, |_| Requests::new(trace, site, self.cost))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::viz::example::Builder;
    use gpu_core::emulator::AccessKind;

    fn passes(step: &Step) -> usize {
        model::passes(step).len()
    }

    /// Loads of two warps in turn, with these distances between lanes.
    fn trace(strides: [u32; 3]) -> Trace {
        let mut b = Builder::new("two_warps", [1, 1, 1], [64, 1, 1]);
        let tile = b.array("tile", Space::Shared, 32 * 32 * 4);
        let warps = [b.warp([0, 0, 0], 0), b.warp([0, 0, 0], 1)];
        let site = b.site("ld.shared.f32", 3, tile, AccessKind::Read, 4);
        for (warp, stride) in [1, 0, 1].into_iter().zip(strides) {
            b.access(warps[warp], site, u32::MAX, |lane| i64::from(lane * stride));
        }
        b.finish()
    }

    #[test]
    fn every_pass_of_every_request_is_come_to() {
        let trace = trace([2, 1, 4]);
        let requests = Sites::new(|_| true, passes).chosen(&trace, 0).expect("a site").1;
        let seen: Vec<_> = (0..8).map(|place| requests.at_cost(place)).collect();
        assert_eq!((requests.count(), requests.cost()), (3, 7));
        assert_eq!(seen[..7], [(0, 0), (0, 1), (1, 0), (2, 0), (2, 1), (2, 2), (2, 3)].map(Some));
        assert_eq!(seen[7], None);
        let warps: Vec<u32> = (0..3).filter_map(|request| Some(requests.get(&trace, request)?.0.warp)).collect();
        assert_eq!(warps, [1, 0, 1], "in the order of execution");
    }

    #[test]
    fn what_was_counted_is_kept_until_the_run_changes() {
        let sites = Sites::new(|_| true, passes);
        let [first, second] = [trace([1, 1, 1]), trace([1, 1, 32])];
        let requests = |trace| sites.chosen(trace, 0).expect("a site").1;
        let counted = requests(&first);
        assert!(Rc::ptr_eq(&counted, &requests(&first)), "not counted again");
        assert_eq!((counted.cost(), requests(&second).cost()), (3, 34));
        assert!(Sites::new(|space| space == Space::Global, passes).chosen(&first, 0).is_none());
    }
}
