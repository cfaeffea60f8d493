//! How much work an answer makes, counted where a stranger's text could make it grow faster than itself. Only tests
//! count: an answer of a megabyte must not keep a checker busy for longer than reading it takes.

/// `count` steps more.
#[inline]
pub(crate) fn more(count: usize) {
    #[cfg(test)]
    counted::STEPS.with(|steps| steps.set(steps.get() + count));
    #[cfg(not(test))]
    let _ = count;
}

/// The steps that `work` takes.
#[cfg(test)]
pub(crate) fn of(work: impl FnOnce()) -> usize {
    let before = counted::STEPS.get();
    work();
    counted::STEPS.get() - before
}

#[cfg(test)]
mod counted {
    thread_local!(pub(super) static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) });
}
