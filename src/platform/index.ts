/** The machine's time, chance and seals. */
export { Seal, SEALED } from './seal.ts'
export { workInBackground } from './thread-priority.ts'
export { machineTimers } from './timers.ts'
