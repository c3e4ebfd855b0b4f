/** Provides system time, randomness and sealing. */
export { actAs, actingAs, currentActor } from './acting.ts'
export { Seal, SEALED } from './seal.ts'
export { workInBackground } from './thread-priority.ts'
export { machineTimers } from './timers.ts'
