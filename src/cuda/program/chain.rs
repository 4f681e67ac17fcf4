//! Replay of launches: a graph costs the host less than its kernels one by one, and the device begins each sooner.

use std::sync::Arc;

use super::{Attempts, Launch};
use crate::cuda::driver::context::{Context, Graph};
use crate::cuda::module::launch_bytes;
use crate::cuda::runtime::queue::Load;
use crate::platform::watch::Watch;
use crate::stencil::{Chain, Error, Noted};

/// Launches in their order.
struct Replay<C> {
    engine: C,
    launches: Vec<Launch>,
    bytes: usize,
    graph: Option<(Arc<Context>, Graph)>,
}

/// Returns a replay of the launches in this order.
///
/// # Errors
/// [`Error::Internal`] for launches that this engine has not noted.
pub(in crate::cuda) fn chain<C: Attempts + 'static>(engine: C, noted: Vec<Noted>) -> Result<Box<dyn Chain>, Error> {
    let foreign = || Error::Internal("A launch that another engine has noted.".into());
    let launches = noted.into_iter().map(|one| one.downcast().map(|launch| *launch).map_err(|_| foreign()));
    let launches = launches.collect::<Result<Vec<Launch>, _>>()?;
    let bytes = launches.iter().map(|launch| launch.bytes).sum();
    Ok(Box::new(Replay { engine, launches, bytes, graph: None }))
}

impl<C: Attempts> Chain for Replay<C> {
    fn run(&mut self, watch: &Watch) -> Result<(), Error> {
        let Replay { engine, launches, bytes, graph } = self;
        let mut failed = None;
        engine.attempt_once(watch, &mut |device| {
            // A launch that has begun works on its own results: it is never repeated.
            if let Some(error) = failed.take() {
                return Err(error);
            }
            watch.check()?;
            for Launch { context, .. } in &*launches {
                context.alive()?;
                if !Arc::ptr_eq(context, &device.context) {
                    return Err(Error::Internal("Steps on another device.".into()));
                }
            }
            if graph.is_none() {
                let stream = device.queue.stream().clone();
                let recorded = Graph::record(&stream, &|| {
                    launches.iter().try_for_each(|Launch { function, shape, argument, .. }| {
                        // SAFETY: the caller that noted it holds the arrays, and they were as long as the kernel
                        // requires.
                        unsafe { launch_bytes(function, stream.handle(), *shape, argument) }
                    })
                })?;
                *graph = Some((device.context.clone(), recorded));
            }
            let Some((_, graph)) = graph else { return Ok(()) };
            let load = Load { name: "steps", pace: None, bytes: *bytes };
            let beginning = device.queue.begin(&load)?;
            device.queue.stream();
            let launched = graph.launch().and_then(|()| device.queue.submitted(&load, beginning));
            launched.inspect_err(|error| failed = Some(error.clone()))
        })
    }
}
