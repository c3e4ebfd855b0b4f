/** Injected `setTimeout`, for pure code. */

/** Runs `work` after ms; returns a function that cancels it. Timers of a host must not keep its process alive. */
export type StartTimer = (ms: number, work: () => void) => () => void
