/** Provides system time, randomness and sealing. */
export { Seal, SEALED } from './seal.ts'
export { workInBackground } from './thread-priority.ts'
export { machineTimers } from './timers.ts'
