/**
 * Manages subscriptions to events: those to all tasks come first, and one begun during an input starts with the next.
 * Unsubscribing takes effect immediately.
 */
import { concatMap, type Observable, type Subscriber } from 'rxjs'
import {
  countOf,
  leavingWhy,
  PartsBatch,
  RecordBatch,
  type EventBatch,
  type EventPart,
  type EventRecord,
  type Wanted,
} from './event-batch.ts'
import { ALL_TYPES, DETAIL_TYPES, FIRED, HELD, typeBit, typesOf, type EventFilter } from './event-filter.ts'
import type { PendingFlush } from './reentrancy-queue.ts'
import type { EventHistory } from './event-history.ts'
import type { Graph } from '../graph/graph.ts'
import { GuardedObservable } from './event-stream.ts'
import type { EngineEvent } from './events.ts'

interface EventListener extends Wanted {
  readonly subscriber: Subscriber<EngineEvent>
}

interface BatchListener extends Wanted {
  readonly subscriber: Subscriber<EventBatch>
  /** true when the subscriber wants details of all tasks: rows then keep records for it instead of creating events */
  readonly takesRecords: boolean
  /** counts a record of a kind whose record it does not need; false: it needs the record */
  readonly countsKind: CountsKind | undefined
  readonly rank: number
  /** the pending record if only one is pending, which is usual while rows process messages */
  record: EventRecord | undefined
  readonly pending: EventPart[]
}

export type CountsKind = (kind: number, graph: Graph) => boolean

/** Rank of subscribers to single tasks, after subscribers to all tasks. */
const AFTER_ALL = 2 ** 40

const FIRINGS = FIRED | HELD

class Group {
  types = 0
  singleTypes = 0
  events: readonly EventListener[] = []
  batches: readonly BatchListener[] = []
  recorded: readonly BatchListener[] = []
  firings: readonly BatchListener[] = []
  recordedFirings = 0

  count(): void {
    this.recorded = this.batches.filter(({ takesRecords }) => takesRecords)
    this.firings = this.batches.filter(({ takesRecords, types }) => !takesRecords && (types & FIRINGS) !== 0)
    const union = (all: readonly Wanted[]): number => all.reduce((types, one) => types | one.types, 0)
    this.recordedFirings = union(this.firings) & FIRINGS
    this.types = union([...this.events, ...this.batches])
    const others = this.batches.filter(({ takesRecords }) => !takesRecords)
    this.singleTypes = union(this.events) | (union(others) & ~FIRINGS)
  }
}

export interface SubscriptionsHost {
  readonly end: PendingFlush
  report(error: unknown): void
  changed(task: string | undefined): void
  isBusy(): boolean
  readonly detail: boolean
  readonly history: EventHistory | undefined
}

export class EventSubscriptions {
  readonly #all = new Group()
  readonly #single = new Map<string, Group>()
  readonly #host: SubscriptionsHost
  readonly #history: EventHistory | undefined
  readonly #report: (error: unknown) => void
  #whys = 0
  anyTypes = 0
  /** first listener with pending parts; `#more` holds the others */
  #first: BatchListener | undefined
  #more: BatchListener[] = []
  #batches = 0
  #joining: (() => void)[] = []

  constructor(host: SubscriptionsHost) {
    this.#host = host
    this.#history = host.history
    this.anyTypes = this.types
    this.#report = (error) => host.report(error)
  }

  events(filter: EventFilter): Observable<EngineEvent> {
    const types = typesOf(filter)
    if (filter.tasks === undefined && (types & ~FIRINGS) === 0) {
      return this.batches(filter).pipe(concatMap((batch) => [...batch]))
    }
    const { why = true } = filter
    return new GuardedObservable<EngineEvent>(this.#report, (subscriber) => {
      const listener: EventListener = { subscriber, types, why }
      return this.#join(
        filter,
        (group) => (group.events = [...group.events, listener]),
        (group) => (group.events = group.events.filter((one) => one !== listener)),
      )
    })
  }

  batches(filter: EventFilter, countsKind?: CountsKind): Observable<EventBatch> {
    const types = typesOf(filter)
    const { why = true } = filter
    return new GuardedObservable<EventBatch>(this.#report, (subscriber) => {
      const takesRecords = this.#host.detail && filter.tasks === undefined && (types & DETAIL_TYPES) !== 0
      const rank = this.#batches++ + (filter.tasks === undefined ? 0 : AFTER_ALL)
      const own = { subscriber, types, why, takesRecords, countsKind, rank }
      const listener: BatchListener = { ...own, record: undefined, pending: [] }
      return this.#join(
        filter,
        (group) => (group.batches = [...group.batches, listener]),
        (group) => (group.batches = group.batches.filter((one) => one !== listener)),
      )
    })
  }

  get types(): number {
    return this.#history === undefined ? this.#all.types : ALL_TYPES
  }

  typesOf(task: string): number {
    return this.#single.get(task)?.types ?? 0
  }

  get singleTypes(): number {
    return this.#all.singleTypes
  }

  get recordedFirings(): number {
    return this.#all.recordedFirings
  }

  get takesRecords(): boolean {
    return this.#all.recorded.length > 0
  }

  get needsWhy(): boolean {
    return this.#whys > 0
  }

  get keepsWhy(): boolean {
    return this.#whys > 0 || this.#history !== undefined
  }

  emit(event: EngineEvent, type: number): void {
    this.#history?.note(event)
    if ((this.#all.types & type) !== 0) this.#emitTo(this.#all, event, type)
    if (this.#single.size === 0) return
    const single = this.#single.get(event.task)
    if (single !== undefined && (single.types & type) !== 0) this.#emitTo(single, event, type)
  }

  keepRecord(task: string, record: EventRecord): void {
    this.#history?.keep(task, record)
  }

  skipRecords(task: string): void {
    this.#history?.skip(task)
  }

  countsKind(kind: number, graph: Graph): boolean {
    const [listener, another] = this.#all.recorded
    return another === undefined && listener?.countsKind?.(kind, graph) === true
  }

  record(record: EventRecord): void {
    for (const listener of this.#all.recorded) this.#addRecord(listener, record)
  }

  recordFirings(record: EventRecord): void {
    for (const listener of this.#all.firings) this.#addRecord(listener, record)
  }

  readonly emitRecorded = (event: EngineEvent): void => {
    this.#history?.note(event)
    const type = typeBit(event.type)
    for (const listener of this.#all.recorded) if ((listener.types & type) !== 0) this.#add(listener, event)
  }

  readonly emitPlain = (event: EngineEvent): void => this.emit(event, typeBit(event.type))

  flush(): void {
    if (this.#first !== undefined) this.#flush()
    if (this.#joining.length === 0) return
    const joining = this.#joining
    this.#joining = []
    for (const join of joining) join()
  }

  complete(): void {
    for (const { events, batches } of [this.#all, ...this.#single.values()]) {
      for (const { subscriber } of events) subscriber.complete()
      for (const { subscriber } of batches) subscriber.complete()
    }
  }

  #flush(): void {
    const first = this.#first as BatchListener // callers have checked that a listener is pending
    const more = this.#more
    this.#first = undefined
    if (more.length === 0) return flushTo(first)
    this.#more = []
    // Listeners were collected in an order that depends on the event.
    for (const listener of [first, ...more].sort((a, b) => a.rank - b.rank)) flushTo(listener)
  }

  #add(listener: BatchListener, part: EventPart): void {
    const { pending, record } = listener
    if (record !== undefined) {
      listener.record = undefined
      pending.push(record, part)
    } else if (pending.push(part) === 1) this.#waits(listener)
  }

  #addRecord(listener: BatchListener, record: EventRecord): void {
    if (listener.record !== undefined || listener.pending.length > 0) this.#add(listener, record)
    else {
      listener.record = record
      this.#waits(listener)
    }
  }

  #waits(listener: BatchListener): void {
    this.#host.end.hasWork = true
    if (this.#first === undefined) this.#first = listener
    else this.#more.push(listener)
  }

  #emitTo({ events, batches }: Group, event: EngineEvent, type: number): void {
    for (const { types, why, subscriber } of events) {
      if ((types & type) !== 0) subscriber.next(why ? event : leavingWhy(event))
    }
    for (const listener of batches) {
      if ((listener.types & type) !== 0) this.#add(listener, event)
    }
  }

  #join(filter: EventFilter, add: (group: Group) => void, remove: (group: Group) => void): () => void {
    const { tasks, why = true } = filter
    const ids = tasks === undefined ? [undefined] : [...new Set(tasks)]
    let hasJoined = false
    const join = (): void => {
      hasJoined = true
      if (why) this.#whys++
      this.#change(ids, add)
    }
    if (this.#host.isBusy()) {
      this.#joining.push(join)
      this.#host.end.hasWork = true
    } else join()
    return () => {
      this.#joining = this.#joining.filter((one) => one !== join)
      if (!hasJoined) return
      if (why) this.#whys--
      this.#change(ids, remove)
    }
  }

  #change(tasks: readonly (string | undefined)[], change: (group: Group) => void): void {
    for (const task of tasks) {
      const group = task === undefined ? this.#all : (this.#single.get(task) ?? new Group())
      change(group)
      group.count()
      if (task !== undefined && group.types === 0) this.#single.delete(task)
      else if (task !== undefined) this.#single.set(task, group)
    }
    this.anyTypes = this.types
    for (const { types } of this.#single.values()) this.anyTypes |= types
    for (const task of tasks) this.#host.changed(task)
  }
}

function flushTo(listener: BatchListener): void {
  const { record, pending, types, subscriber } = listener
  if (record !== undefined) {
    listener.record = undefined
    const length = record.count(types)
    if (length > 0) subscriber.next(new RecordBatch(record, length, listener))
    return
  }
  const parts = pending.splice(0)
  let length = 0
  for (const part of parts) length += countOf(part, types)
  if (length > 0) subscriber.next(new PartsBatch(parts, length, listener))
}
