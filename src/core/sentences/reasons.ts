/** Names each coded reason for which a node does not fire, and states the rule behind it. */
import type { HeldReason } from '../engine/events.ts'
import type { Obstacle } from '../task/explain.ts'

export interface Reason {
  /** a few words for a heading */
  readonly name: string
  /** the rule of the engine behind the reason, as a sentence */
  readonly rule: string
}

export const REASONS: Readonly<Record<Obstacle['reason'], Reason>> = {
  state: { name: 'Other state', rule: 'A trigger fires only in the states that its condition names.' },
  unknown: { name: 'Unknown', rule: 'A trigger never fires while its source is unknown.' },
  unchanged: { name: 'No change', rule: 'A trigger on a change fires once, and not again while the state stays.' },
  'cool-down': {
    name: 'Cool-down',
    rule: 'After a firing, a trigger does not fire its node again until the cool-down ends.',
  },
  'never executed': { name: 'Not run yet', rule: 'A sensor is unknown until it has run for the first time.' },
  error: { name: 'Failed', rule: 'A sensor that fails keeps the state that it had before.' },
  overlap: { name: 'Unfinished work', rule: 'A sensor does not run again until its earlier work has ended.' },
  stopped: { name: 'Task not running', rule: 'Only a running task processes inputs.' },
}

const HELD: Readonly<Record<HeldReason, string>> = {
  invocationPolicy: 'it is in its cool-down',
  overlap: 'its earlier work has not ended',
  queue: 'too many ticks are waiting',
}

/** Describes a firing or tick that was held back. */
export function heldText({ node, source, reason }: { node: string; source?: string; reason: HeldReason }): string {
  return `${node} was held back${source === undefined ? '' : ` from ${source}`}: ${HELD[reason]}`
}
