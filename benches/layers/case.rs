use std::{
    fmt,
    future::Future,
    pin::pin,
    task::{Context, Poll, Waker},
};

/// One piece of work, done by a layer and, beside it, by as little code as can do the same.
///
/// The two differ in nothing but what the layer adds: the same request comes in, the same bytes are read and written, and
/// the same response goes out.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// How many things one call does, for what is measured by the piece: the frames of a stream, for one.
    pub(crate) pieces: u32,
    /// Whether the reach of a synchronous layer is asked of it.
    pub(crate) in_reach: bool,
    pub(crate) floor: Make,
    pub(crate) layer: Make,
}

/// Prepares the work and gives it, to be done any number of times.
pub(crate) type Make = fn() -> Work;
pub(crate) type Work = Box<dyn FnMut()>;

impl Case {
    pub(crate) const fn new(name: &'static str, floor: Make, layer: Make) -> Self {
        Self { name, pieces: 1, in_reach: true, floor, layer }
    }

    /// Measured by the piece, of which there are so many in a call.
    pub(crate) const fn pieces(mut self, pieces: u32) -> Self {
        self.pieces = pieces;
        self
    }

    /// Shown without a verdict.
    pub(crate) const fn shown_only(mut self) -> Self {
        self.in_reach = false;
        self
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// What a future is ready with at the first poll. There is no runtime whose cost could be taken for a layer's.
pub(crate) fn now<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("not ready at the first poll"),
    }
}

/// A closure as work whose result is looked at, so that no compiler leaves it out.
pub(crate) fn work<T>(mut each: impl FnMut() -> T + 'static) -> Work {
    Box::new(move || drop(std::hint::black_box(each())))
}

/// The benchmarks of a module: its cases, once by the floor and once by the layer.
macro_rules! benches {
    ($($case:expr),+ $(,)?) => {
        pub(crate) const CASES: &[$crate::case::Case] = &[$($case),+];

        #[divan::bench(name = "floor", args = CASES)]
        fn bench_floor(bencher: divan::Bencher<'_, '_>, case: &$crate::case::Case) {
            bencher.bench_local((case.floor)());
        }

        #[divan::bench(name = "layer", args = CASES)]
        fn bench_layer(bencher: divan::Bencher<'_, '_>, case: &$crate::case::Case) {
            bencher.bench_local((case.layer)());
        }
    };
}
pub(crate) use benches;
