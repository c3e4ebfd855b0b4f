/** How work that comes later is begun, for those that have no timers of their own. */

/** Does the work after so many ms; gives how to call it off. A host's timers must not keep its process alive. */
export type StartTimer = (ms: number, work: () => void) => () => void
