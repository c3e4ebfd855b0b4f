/**
 * Who hears of an engine's events, and of which: one by one as they happen, or those of one input together when it is
 * done. Whoever wants all tasks is told first, then whoever wants that very task, each in the order in which they came.
 * Who leaves hears no more; who comes while an input is being taken hears from the next one on.
 */
import type { Observable, Subscriber } from 'rxjs'
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
import type { EndOfInput } from './end-of-input.ts'
import type { EventHistory } from './event-history.ts'
import { GuardedObservable } from './event-stream.ts'
import type { EngineEvent } from './events.ts'

interface EventListener extends Wanted {
  readonly subscriber: Subscriber<EngineEvent>
}

interface BatchListener extends Wanted {
  readonly subscriber: Subscriber<EventBatch>
  /** it wants what happens at every message of all tasks: rows keep records for it, instead of making events */
  readonly takesRecords: boolean
  /** its place among those who are told of one input */
  readonly rank: number
  /** what it has not been told yet, when that is one record and nothing else, as it mostly is while rows take messages */
  record: EventRecord | undefined
  /** else; never both */
  readonly pending: EventPart[]
}

/** Whoever wants all tasks has a lower rank than whoever wants some. */
const AFTER_ALL = 2 ** 40

/** What follows from a message in a row. */
const FIRINGS = FIRED | HELD

/** Those who listen to all tasks, or to the same one. The lists are replaced when they change. */
class Group {
  /** types that one of them wants, as bits */
  types = 0
  /** the same of events that rows cannot emit: their tasks take messages on their full states */
  toldTypes = 0
  events: readonly EventListener[] = []
  batches: readonly BatchListener[] = []
  /** those batches for which rows keep records */
  recorded: readonly BatchListener[] = []
  /** other batches that want what fires, or is held back */
  firings: readonly BatchListener[] = []
  /** types of what fires or is held back that those batches want, as bits */
  recordedFirings = 0

  count(): void {
    this.recorded = this.batches.filter(({ takesRecords }) => takesRecords)
    this.firings = this.batches.filter(({ takesRecords, types }) => !takesRecords && (types & FIRINGS) !== 0)
    const union = (all: readonly Wanted[]): number => all.reduce((types, one) => types | one.types, 0)
    this.recordedFirings = union(this.firings) & FIRINGS
    this.types = union([...this.events, ...this.batches])
    const told = this.batches.filter(({ takesRecords }) => !takesRecords)
    this.toldTypes = union(this.events) | (union(told) & ~FIRINGS)
  }
}

export interface SubscriptionsHost {
  readonly end: EndOfInput
  report(error: unknown): void
  /** What is wanted has changed, of the task with that id or of all. */
  changed(task: string | undefined): void
  /** whether an input is being taken */
  isBusy(): boolean
  /** whether what happens at every message is told at all */
  readonly detail: boolean
  /** keeps what happens, whether or not somebody listens */
  readonly history: EventHistory | undefined
}

export class EventSubscriptions {
  readonly #all = new Group()
  /** by task */
  readonly #single = new Map<string, Group>()
  readonly #host: SubscriptionsHost
  readonly #history: EventHistory | undefined
  readonly #report: (error: unknown) => void
  /** how many want `fired` events with their why */
  #whys = 0
  /** types that somebody wants of whatever task, as bits */
  anyTypes = 0
  /** those who have something pending */
  #first: BatchListener | undefined
  #more: BatchListener[] = []
  /** how many came so far to whom events are told together */
  #batches = 0
  /** those who came during the input at hand */
  #joining: (() => void)[] = []

  constructor(host: SubscriptionsHost) {
    this.#host = host
    this.#history = host.history
    this.anyTypes = this.types
    this.#report = (error) => host.report(error)
  }

  /** `VALIDATION` */
  events(filter: EventFilter): Observable<EngineEvent> {
    const types = typesOf(filter)
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

  /** `VALIDATION` */
  batches(filter: EventFilter): Observable<EventBatch> {
    const types = typesOf(filter)
    const { why = true } = filter
    return new GuardedObservable<EventBatch>(this.#report, (subscriber) => {
      const takesRecords = this.#host.detail && filter.tasks === undefined && (types & DETAIL_TYPES) !== 0
      const rank = this.#batches++ + (filter.tasks === undefined ? 0 : AFTER_ALL)
      const listener: BatchListener = { subscriber, types, why, takesRecords, rank, record: undefined, pending: [] }
      return this.#join(
        filter,
        (group) => (group.batches = [...group.batches, listener]),
        (group) => (group.batches = group.batches.filter((one) => one !== listener)),
      )
    })
  }

  /** Types that somebody wants of all tasks, or that are kept of them, as bits. */
  get types(): number {
    return this.#history === undefined ? this.#all.types : ALL_TYPES
  }

  /** The same of one task alone. */
  typesOf(task: string): number {
    return this.#single.get(task)?.types ?? 0
  }

  /** Types that somebody wants of all tasks as they happen, and that rows cannot emit, as bits. */
  get toldTypes(): number {
    return this.#all.toldTypes
  }

  /** Types of what fires or is held back of which rows keep records, as bits. */
  get recordedFirings(): number {
    return this.#all.recordedFirings
  }

  /** Whether rows keep records of their messages. */
  get takesRecords(): boolean {
    return this.#all.recorded.length > 0
  }

  /** Whether somebody wants `fired` events with their why. */
  get wantsWhy(): boolean {
    return this.#whys > 0
  }

  /** The same, or they are kept. */
  get keepsWhy(): boolean {
    return this.#whys > 0 || this.#history !== undefined
  }

  /** `type`: of the event, as a bit. */
  emit(event: EngineEvent, type: number): void {
    this.#history?.note(event)
    if ((this.#all.types & type) !== 0) this.#tell(this.#all, event, type)
    if (this.#single.size === 0) return
    const single = this.#single.get(event.task)
    if (single !== undefined && (single.types & type) !== 0) this.#tell(single, event, type)
  }

  keepRecord(task: string, record: EventRecord): void {
    this.#history?.keep(task, record)
  }

  skipRecords(task: string): void {
    this.#history?.skip(task)
  }

  /** What a row's message did, for those who take records. */
  record(record: EventRecord): void {
    for (const listener of this.#all.recorded) this.#addRecord(listener, record)
  }

  /** What a row's message fired, for those who are told when the input is done. */
  recordFirings(record: EventRecord): void {
    for (const listener of this.#all.firings) this.#addRecord(listener, record)
  }

  /** An event of a row's message of which there will be no record, for those who take records, and for the history. */
  readonly tellRecorded = (event: EngineEvent): void => {
    this.#history?.note(event)
    const type = typeBit(event.type)
    for (const listener of this.#all.recorded) if ((listener.types & type) !== 0) this.#add(listener, event)
  }

  /** The same, for who does not know the bit. */
  readonly tell = (event: EngineEvent): void => this.emit(event, typeBit(event.type))

  /** The input at hand is done. */
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
    const first = this.#first as BatchListener // who flushes has looked
    const more = this.#more
    this.#first = undefined
    if (more.length === 0) return flushTo(first)
    this.#more = []
    // What they heard of first depends on who tells it.
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

  #tell({ events, batches }: Group, event: EngineEvent, type: number): void {
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
