/** Type of an injected `setTimeout`, so that pure code needs no clock. */

/** Runs `work` after ms and returns a function that cancels it. The timer must not keep the process alive. */
export type StartTimer = (ms: number, work: () => void) => () => void
