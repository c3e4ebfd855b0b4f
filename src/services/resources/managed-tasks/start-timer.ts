/** How work in the background starts a timer. */

/** Does the work after so many ms; gives how to call it off. A host's timers must not keep its process alive. */
export type StartTimer = (ms: number, work: () => void) => () => void
