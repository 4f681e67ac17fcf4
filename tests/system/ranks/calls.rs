//! A call on several ranks, step by step, as the cases use it.

use std::time::Duration;

use stencil_mex::platform::watch::Watch;
use stencil_mex::ranks::{Bytes, Call, Others, UnderWay, World};
use stencil_mex::stencil::Error;

/// Output of a rank that succeeded.
pub const DONE: &str = "[all was as it should be]";

/// Delay of a rank that others wait for.
const LATE: Duration = Duration::from_millis(150);

pub const OPTION: &str = "StencilConstantMemory:option: No such option.";

pub fn bytes(seed: usize, len: usize) -> Vec<u8> {
    let mut state = seed as u64 ^ 0x9e37_79b9_7f4a_7c15;
    let mut next = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as u8
    };
    (0..len).map(|_| next()).collect()
}

pub fn nap() {
    std::thread::sleep(LATE);
}

pub fn begin(world: &'static World) -> Call {
    world.call().expect("a call")
}

/// Ends a call that all others end, too.
pub fn end(mut call: Call) {
    call.end(&Watch::new()).expect("all ranks are here");
}

/// Messages of the host's memory, and receive buffers of these sizes.
pub fn exchange<'c>(
    call: &'c Call,
    sends: Vec<(usize, Vec<u8>)>,
    receives: &[(usize, usize)],
) -> Result<Box<dyn UnderWay + 'c>, Error> {
    let sends = sends.into_iter().map(|(to, message)| (to, message.into())).collect();
    let rooms = receives.iter().map(|&(from, len)| Ok((from, Bytes::zeros(len, "a test")?)));
    call.exchange(sends, rooms.collect::<Result<_, Error>>()?)
}

pub fn wait(under_way: Box<dyn UnderWay + '_>) -> Result<Vec<Vec<u8>>, Error> {
    under_way.wait(&Watch::new())?.into_iter().map(Bytes::into_host).collect()
}

/// Sends to the next rank and receives from the one before, and so in the other direction.
pub fn ring(call: &Call, seed: usize, len: usize) -> Result<(), Error> {
    let (rank, ranks) = (call.rank(), call.ranks());
    if ranks == 1 {
        return Ok(());
    }
    let (next, last) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
    let sends = vec![(next, bytes(seed + 2 * rank, len)), (last, bytes(seed + 2 * rank + 1, len))];
    let mut under_way = exchange(call, sends, &[(last, len), (next, len)])?;
    under_way.advance()?;
    let received = wait(under_way)?;
    let expected = [bytes(seed + 2 * last, len), bytes(seed + 2 * next + 1, len)];
    assert!(received == expected, "rank {rank} received other bytes than were sent, of {len}");
    Ok(())
}

/// A call that works, with others before and behind it.
pub fn works(world: &'static World, seed: usize) {
    let call = begin(world);
    let all = call.gather(&bytes(seed + call.rank(), 40), &Watch::new()).expect("a gathering");
    for (rank, one) in all.iter().enumerate() {
        assert_eq!(*one, bytes(seed + rank, 40), "of rank {rank}");
    }
    ring(&call, seed, 100).expect("a ring");
    end(call);
}

/// Checks that this is an error that another rank reported.
pub fn assert_told<T: std::fmt::Debug>(result: Result<T, Error>, text: &str) {
    match result {
        Err(Error::Rank(told)) => assert_eq!(told, text),
        other => panic!("{other:?} instead of {text:?}"),
    }
}

pub fn left(rank: usize) -> String {
    format!("Rank {rank} has left: its script ended, or raised an error elsewhere.")
}
