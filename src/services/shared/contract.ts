/** What the contracts of services share. */
export type { EffectOfTask } from './effect-order.ts'
