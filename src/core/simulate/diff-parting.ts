/** Finds the first divergence of two runs, which need not be a firing. */
import type { EngineEvent } from '../engine/events.ts'
import type { TriggerExplanation } from '../task/explain.ts'
import type { Message } from '../task/origin.ts'
import type { Side } from './diff-firings.ts'
import type { Step } from './playback.ts'

export interface Parting {
  readonly time: number
  readonly input: PartingInput
  readonly node: string | null
  readonly old: PartingSide
  readonly new: PartingSide
}

/** The input that both runs processed. `number` counts messages from 1. */
export interface PartingInput {
  readonly kind: Step['kind']
  readonly number?: number
  readonly message?: Message
}

export interface PartingSide {
  /** the event that differs; null: only the other run has it */
  readonly event: WatchedEvent | null
  /** state and data of the node afterwards; `state` is its most likely state when certain */
  readonly state: string | null
  readonly rawData?: unknown
  /** the obstacles of a destination that did not fire */
  readonly blocked?: readonly TriggerExplanation[]
}

/**
 * Events that are compared. Results, logs and data are excluded: they repeat properties, which differ from the first
 * message on.
 */
export type WatchedEvent = Extract<
  EngineEvent,
  { type: 'state' | 'gate' | 'fired' | 'held' | 'evicted' | 'stopped' | 'failed' }
>

export interface Witness {
  /** explains the triggers into a node; undefined when unknown */
  blocked(node: string): readonly TriggerExplanation[] | undefined
  state(node: string): { state: string | null; rawData?: unknown }
}

const WATCHED: ReadonlySet<EngineEvent['type']> = new Set([
  'state',
  'gate',
  'fired',
  'held',
  'evicted',
  'stopped',
  'failed',
])
export function isWatched(event: EngineEvent): event is WatchedEvent {
  return WATCHED.has(event.type)
}

export function partingOf(
  time: number,
  input: PartingInput,
  events: Readonly<Record<Side, readonly WatchedEvent[]>>,
  witnesses: Readonly<Record<Side, Witness>>,
  isCommon: (event: WatchedEvent) => boolean,
): Parting | null {
  const old = events.old.filter((event) => isCommon(event))
  const fresh = events.new.filter((event) => isCommon(event))
  const [before, after] = firstDifference(old, fresh)
  const node = before?.node ?? after?.node ?? null
  if (before === undefined && after === undefined) return null
  const side = (event: WatchedEvent | undefined, witness: Witness, other: WatchedEvent | undefined): PartingSide => {
    const blocked = event === undefined && other?.type === 'fired' && node !== null ? witness.blocked(node) : undefined
    return {
      event: event ?? null,
      ...(node === null ? { state: null } : witness.state(node)),
      ...(blocked && { blocked }),
    }
  }
  return {
    time,
    input,
    node,
    old: side(before, witnesses.old, after),
    new: side(after, witnesses.new, before),
  }
}

/** Returns the first events that differ when both are of one node, otherwise the event that only one run has. */
function firstDifference(
  old: readonly WatchedEvent[],
  fresh: readonly WatchedEvent[],
): readonly [WatchedEvent | undefined, WatchedEvent | undefined] {
  const length = Math.max(old.length, fresh.length)
  for (let i = 0; i < length; i++) {
    const before = old[i]
    const after = fresh[i]
    if (before !== undefined && after !== undefined && essence(before) === essence(after)) continue
    if (before === undefined || after === undefined || before.node === after.node) return [before, after]
    // one of the runs has an extra event: the event that does not occur later in the other run
    const isExtra = !fresh.slice(i).some((event) => essence(event) === essence(before))
    return isExtra ? [before, undefined] : [undefined, after]
  }
  return [undefined, undefined]
}

/** Returns the parts of an event that are compared, without numbers, ids and reasons. */
function essence(event: WatchedEvent): string {
  const { type, node } = event
  switch (event.type) {
    case 'state':
    case 'gate':
      return JSON.stringify([type, node, event.to])
    case 'fired':
      return JSON.stringify([type, node, event.source])
    case 'held':
      return JSON.stringify([type, node, event.source, event.reason])
    default:
      return JSON.stringify([type, node])
  }
}
