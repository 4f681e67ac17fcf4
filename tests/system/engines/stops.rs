//! Runs that are stopped while they are under way.

use std::time::{Duration, Instant};

use stencil_mex::platform::watch::Watch;
use stencil_mex::stencil::{
    Boundary, CoefficientSource, Compute, Convolution, Derivative, Error, Lines, Source, Target,
};

use super::checks::{Outcome, POISON, check_sweeps, ends_of_check, filter, is_slow, ordinary, stencil, tame};
use crate::common::ends::{self, AnyEngine, Stage};

/// A run whose watch was stopped before it does nothing; one that is stopped from another thread ends soon, and the
/// engine is as good as before.
pub fn stopped(engine: &AnyEngine) -> Outcome {
    // Far more than any engine does in the time that is given.
    const ENDLESS: usize = 1 << 40;
    // A launch cannot be stopped: over a million points, one would take minutes on the stand-in.
    let side = if is_slow(engine) { 1 << 5 } else { 1 << 10 };
    let input = ordinary(side * side, 1);
    let ways = [Lines::new(side * side, 1), Lines::new(side, side), Lines::strided(side, side, 1), Lines::new(16, 1)];
    for lines in ways {
        let endless = stencil(lines, &tame(21, 2))?.with_sweeps(ENDLESS);
        expect_stops(engine, &input[..lines.elements()], |from, to, watch| engine.stencil(&endless, from, to, watch))?;
    }
    for size in [[side, side, 1], [4, 4, 1]] {
        let endless = Convolution::new(size, filter(tame(225, 2), [15, 15, 1])?).with_sweeps(ENDLESS);
        expect_stops(engine, &input[..endless.elements()], |from, to, watch| {
            engine.convolution(&endless, from, to, watch)
        })?;
    }
    let derivative = Derivative::new(Lines::new(input.len(), 1), 0.1, CoefficientSource::Constant);
    for ends in ends::ALL {
        let watch = Watch::new();
        watch.stop();
        let mut stage = Stage::new(engine, ends, &input, POISON).map_err(|error| error.to_string())?;
        let (from, to) = stage.ends();
        if engine.derivative(&derivative, from, to, &watch) != Err(Error::Interrupted) {
            return Err(format!("{ends}: a derivative that was stopped before it began has ended well"));
        }
        stage.results(engine).map_err(|error| format!("a derivative that was stopped, {ends}: {error}"))?;
    }
    check_sweeps(engine, &ordinary(70_000, 1), Lines::new(70_000, 1), &[0.25, 0.5, 0.25], Boundary::Circular, 3)
}

/// Stops such runs, which end only then, and checks what they leave.
pub fn expect_stops(
    engine: &AnyEngine,
    input: &[f64],
    run: impl Fn(Source<f64>, Target<f64>, &Watch) -> Result<(), Error>,
) -> Outcome {
    for ends in ends_of_check(engine, 0) {
        let mut stage = Stage::new(engine, ends, input, POISON).map_err(|error| error.to_string())?;
        expect_stop(|watch| {
            let (from, to) = stage.ends();
            run(from, to, watch)
        })
        .and_then(|()| stage.results(engine).map(drop))
        .map_err(|error| format!("{ends}: {error}"))?;
    }
    Ok(())
}

/// Stops a run before it begins, and another when it has begun.
fn expect_stop(mut run: impl FnMut(&Watch) -> Result<(), Error>) -> Outcome {
    let watch = Watch::new();
    watch.stop();
    if run(&watch) != Err(Error::Interrupted) || watch.done() > 0 {
        return Err("a run that was stopped before it began has done something".into());
    }
    let watch = Watch::new();
    let stopped_at = std::thread::scope(|scope| {
        let stopper = scope.spawn(|| {
            // Long enough to be under way: it counts its updates meanwhile.
            let began = Instant::now();
            while watch.done() == 0 && began.elapsed() < Duration::from_secs(5) {
                std::thread::sleep(Duration::from_millis(5));
            }
            watch.stop();
            Instant::now()
        });
        let result = run(&watch);
        let ended = Instant::now();
        (stopper.join(), result, ended)
    });
    let (Ok(stopped), result, ended) = stopped_at else {
        return Err("the thread that stops the run failed".into());
    };
    // A step may take a tenth of a second; more on a busy machine.
    let waited = ended.saturating_duration_since(stopped);
    match result {
        _ if watch.done() == 0 => Err("nothing was counted in five seconds".into()),
        Err(Error::Interrupted) if waited < Duration::from_secs(1) => Ok(()),
        Err(Error::Interrupted) => Err(format!("ended {waited:?} after it was stopped")),
        other => Err(format!("{other:?} from a run that was stopped")),
    }
}
