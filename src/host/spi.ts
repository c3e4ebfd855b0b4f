/**
 * Entry point of the host room for the command line: options, keys and clocks. `running.ts` is the one for running
 * hosts.
 */
export { isOrdered, LOOK_MS, orderFollowing, withdrawOrder } from './clock-order.ts'
export { type Config, type Environment, type Given, type Option, OPTIONS, readConfig } from './config.ts'
export { type StoreChoice, storeOf } from './option-values.ts'
export { readKey, tokenKey } from './data-folder.ts'
export type { DemoRequest } from './hosted-service.ts'
export { openMedium } from './open-medium.ts'
export { requirePackages } from './requirements.ts'
export { SEAL_KEYS } from './seal-key.ts'
export { compactHeap, keepHeapSteady } from './steady-heap.ts'
export { isTenant } from './tenant.ts'
export { machineTimers, type Timers } from './timers.ts'
export { nodeTransport } from './transport/node-transport.ts'
export { ownVersion } from './version.ts'
export { labelsOf } from './wiring/models.ts'
