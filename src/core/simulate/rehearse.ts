/**
 * Rehearses a rule over messages, side by side with another rule and with variants of itself: returns counts per node,
 * the difference to the other rule, and the firings of each variant. Memory does not grow with the number of messages.
 */
import type { Task } from '../engine/api.ts'
import { batchOf, recordOf, type EventBatch } from '../engine/event-batch.ts'
import { DETAIL_TYPES, typeBit } from '../engine/event-filter.ts'
import type { EngineEvent, EventType, HeldReason } from '../engine/events.ts'
import type { Compared } from './diff-comparison.ts'
import { type DiffOptions, LaneComparison } from './diff.ts'
import {
  type Lane,
  type MessageIterator,
  play,
  type PlaybackHooks,
  type Played,
  type PlaybackOptions,
} from './playback.ts'

/** A rule of a rehearsal, compiled with its own plugs. */
export type RehearsedLane = Pick<Lane, 'rule' | 'settings' | 'preparer'>

export interface RehearseOptions extends PlaybackOptions, Pick<DiffOptions, 'tolerance'> {
  readonly compareWith?: RehearsedLane | undefined
  readonly variants?: readonly RehearsedLane[]
  /** used instead of `messages` */
  readonly source?: MessageIterator
  /** plays the lanes: the rule, the other rule if there is one, and the variants; default `play` */
  readonly player?: (lanes: readonly Lane[], hooks: PlaybackHooks) => Promise<Played>
  /** epoch ms; earlier events do not count. Default: all events count */
  readonly since?: number
  /** receives events of the rule itself, not of the other rule or variants */
  readonly onEvents?: (events: EventBatch) => void
  /** types of events that `onEvents` needs; default all */
  readonly types?: readonly EventType[]
}

export interface NodeCounts {
  readonly node: string
  /** number of calls of its plug */
  runs: number
  /** number of changes of its state, including the first; a renewed observation does not count */
  changes: number
  /** number of failed calls */
  errors: number
  fired: number
  readonly held: Partial<Record<HeldReason, number>>
}

export interface Rehearsed extends Omit<Played, 'tasks'> {
  readonly nodes: readonly NodeCounts[]
  readonly comparison?: Omit<Compared, 'parted'>
  /** numbers of firings, by variant */
  readonly fired: readonly number[]
}

/** Runs the rehearsal. Throws like `simulate`, and `VALIDATION` for an invalid tolerance. */
export async function rehearse(rule: RehearsedLane, options: RehearseOptions): Promise<Rehearsed> {
  const { compareWith, variants = [], source, onEvents, types, tolerance, player, since, ...playback } = options
  const nodes = new NodeTally()
  const fired = variants.map(() => 0)
  const comparison = compareWith && new LaneComparison(tolerance)
  const counted = (take: (events: EventBatch) => void) => (batch: EventBatch) => {
    const events = since === undefined ? batch : from(since, batch)
    if (events !== undefined) take(events)
  }
  const compare = (side: 'old' | 'new') => {
    const note = comparison?.listener(side)
    return (events: EventBatch): void => {
      if (note === undefined || events.count('fired') === 0) return
      for (const event of events) if (event.type === 'fired') note(event)
    }
  }
  const compared = compare('new')
  const own = counted((events) => {
    nodes.note(events)
    onEvents?.(events)
    compared(events)
  })
  const needsRecords = onEvents !== undefined && (types?.some((type) => (typeBit(type) & DETAIL_TYPES) !== 0) ?? true)
  const lanes: Lane[] = [
    { ...rule, batches: { next: own, ...(!needsRecords && { countsKind: nodes.countsKind }) } },
    ...(compareWith
      ? [{ ...compareWith, name: 'the other rule', batches: { filter: FIRED, next: counted(compare('old')) } }]
      : []),
    ...variants.map((variant, i) => {
      const next = counted(({ length }) => void (fired[i] = (fired[i] ?? 0) + length))
      return { ...variant, why: false, batches: { filter: FIRED, next } }
    }),
  ]
  const hooks: PlaybackHooks = {
    source,
    ...(comparison && {
      onStep: (step, [newTask, oldTask]) => comparison.step(step, oldTask as Task, newTask as Task),
    }),
  }
  const { tasks: _tasks, ...played } = await (player === undefined
    ? play(lanes, playback, hooks)
    : player(lanes, hooks))
  return { ...played, nodes: nodes.counts, ...(comparison && { comparison: comparison.end() }), fired }
}

const FIRED = { types: ['fired'] } as const

function from(since: number, batch: EventBatch): EventBatch | undefined {
  if ((recordOf(batch)?.time ?? Number.NEGATIVE_INFINITY) >= since) return batch
  const events = [...batch].filter(({ time }) => time >= since)
  return events.length === 0 ? undefined : batchOf(events)
}

/** Activity of the nodes in all batches of one kind. */
interface KindTally {
  times: number
  /** nothing fires or is held back */
  readonly isQuiet: boolean
  readonly counts: ReadonlyMap<string, NodeCounts>
  /** states of the nodes afterwards */
  readonly states: ReadonlyMap<string, string>
}

class NodeTally {
  readonly #byNode = new Map<string, NodeCounts>()
  /** by kind, for one graph */
  readonly #kinds = new Map<number, KindTally>()
  #graph: object | undefined
  /** last known state of each node, before the batches of `#latest` */
  readonly #states = new Map<string, string>()
  #latest: KindTally | undefined

  get counts(): readonly NodeCounts[] {
    this.#addKinds()
    return [...this.#byNode.values()]
  }

  note(events: EventBatch): void {
    const { kind, graph } = recordOf(events) ?? {}
    if (kind !== undefined && graph !== this.#graph) {
      this.#addKinds()
      this.#graph = graph
    }
    const known = kind === undefined ? undefined : this.#kinds.get(kind)
    if (known !== undefined) {
      known.times++
      this.#latest = known
      return
    }
    this.#leaveKind()
    const counts = kind === undefined ? this.#byNode : new Map<string, NodeCounts>()
    const before = this.#states.size
    for (const event of events) this.#note(event, counts)
    // the known kinds lack the state of a node that changed for the first time
    const isFirst = this.#states.size > before
    if (isFirst) this.#addKinds()
    if (kind === undefined) return
    for (const one of counts.values()) addCounts(this.#byNode, one)
    if (isFirst) return
    const isQuiet = events.count('fired') + events.count('held') === 0
    this.#kinds.set(kind, { times: 0, isQuiet, counts, states: new Map(this.#states) })
  }

  /** Counts a batch of a known kind in which nothing fires. */
  readonly countsKind = (kind: number, graph: object): boolean => {
    const known = graph === this.#graph ? this.#kinds.get(kind) : undefined
    if (known?.isQuiet !== true) return false
    known.times++
    this.#latest = known
    return true
  }

  #addKinds(): void {
    this.#leaveKind()
    for (const { times, counts } of this.#kinds.values()) {
      for (const one of counts.values()) addCounts(this.#byNode, one, times)
    }
    this.#kinds.clear()
  }

  #leaveKind(): void {
    for (const [node, state] of this.#latest?.states ?? []) this.#states.set(node, state)
    this.#latest = undefined
  }

  #note(event: EngineEvent, all: Map<string, NodeCounts>): void {
    const { type } = event
    if (type === 'result') {
      const counts = countsOf(all, event.node)
      counts.runs++
      if (!event.ok) counts.errors++
    } else if (type === 'state' || type === 'gate') {
      if (event.to === null || this.#states.get(event.node) === event.to) return
      this.#states.set(event.node, event.to)
      countsOf(all, event.node).changes++
    } else if (type === 'fired') countsOf(all, event.node).fired++
    else if (type === 'held') {
      const { held } = countsOf(all, event.node)
      held[event.reason] = (held[event.reason] ?? 0) + 1
    }
  }
}

function countsOf(all: Map<string, NodeCounts>, node: string): NodeCounts {
  const known = all.get(node)
  if (known !== undefined) return known
  const made: NodeCounts = { node, runs: 0, changes: 0, errors: 0, fired: 0, held: {} }
  all.set(node, made)
  return made
}

/** Adds counts to the counts of the same node. */
export function addCounts(all: Map<string, NodeCounts>, { node, held, ...more }: NodeCounts, times = 1): void {
  const sum = countsOf(all, node)
  sum.runs += times * more.runs
  sum.changes += times * more.changes
  sum.errors += times * more.errors
  sum.fired += times * more.fired
  for (const [reason, count] of Object.entries(held) as [HeldReason, number][]) {
    sum.held[reason] = (sum.held[reason] ?? 0) + times * count
  }
}
