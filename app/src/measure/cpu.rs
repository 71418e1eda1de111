//! Matrix products on this machine's CPU.

use super::goals::{CPU_GOALS, ceiling};
use super::{Program, Request, size_name};
use crate::scripts::Figure;
use cpu_matmul::{Rule, Variant, ceiling_gflops, ladder, measure, orders, physical_description};

pub(super) static MATMUL: Program = Program {
    name: "cpu-matmul",
    title: "Matrix product on this CPU",
    what: "Loops in the order i-j-k, in the order i-k-j, loops cut into pieces (blocks), and a library on all cores, at n = 512 and 1024: half a minute. And the ceiling: multiplications and additions on all cores, with no memory in the way.",
    sizes: &[512, 1024],
    goals: CPU_GOALS,
    run: |request, each| {
        // First, while nothing has warmed the machine up: what it is able to do for a moment is what bounds the rest.
        let most = ceiling_gflops(request.stop).ok_or("stopped")?;
        run(request, &ladder(), each)?;
        for n in request.sizes {
            each(ceiling(*n, physical_description(true), most));
        }
        Ok(())
    },
};

pub(super) static LOOP_ORDERS: Program = Program {
    name: "loop-orders",
    title: "Six loop orders on this CPU",
    what: "The same three loops in all six orders, on one core, at n = 512: some ten seconds.",
    sizes: &[512],
    goals: &[],
    run: |request, each| run(request, &orders(), each),
};

fn run(request: &Request<'_>, variants: &[Variant], each: &mut dyn FnMut(Figure)) -> Result<(), String> {
    for n in request.sizes {
        for variant in variants {
            let measured = measure(variant, *n, Rule::default(), request.stop).ok_or("stopped")?;
            each(Figure {
                name: size_name(*n),
                rung: variant.name.to_owned(),
                device: physical_description(variant.all_cores),
                median_ms: Some(measured.median_ms),
                gflops: Some(measured.gflops()),
                ok: measured.ok,
                ..Figure::default()
            });
        }
    }
    Ok(())
}
