/** Provides system time, randomness and sealing. */
export { actAs, actingAs, actingWith, currentActor, currentRights, eachWith, withRightsOfNow } from './acting.ts'
export { Seal, SEALED } from './seal.ts'
export { workInBackground } from './thread-priority.ts'
export { machineTimers } from './timers.ts'
