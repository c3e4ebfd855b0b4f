/**
 * Who hears of an engine's events, and of which: one by one as they happen, or those of one input together when it is
 * done. Whoever wants all tasks is told first, then whoever wants that very task, each in the order in which they came.
 * Who leaves hears no more; who comes while an input is being taken hears from the next one on.
 */
import type { Observable, Subscriber } from 'rxjs'
import { ListBatch, type EventBatch } from './event-batch.ts'
import { typeBit, typesOf, type EventFilter } from './event-filter.ts'
import { GuardedObservable } from './event-stream.ts'
import type { EngineEvent } from './events.ts'

interface EventListener {
  readonly subscriber: Subscriber<EngineEvent>
  /** types that it wants, as bits */
  readonly types: number
  readonly why: boolean
}

interface BatchListener {
  readonly subscriber: Subscriber<EventBatch>
  readonly types: number
  readonly why: boolean
  /** what it has not been told yet */
  pending: EngineEvent[]
}

/** Those who listen to all tasks, or to the same one. The lists are replaced when they change. */
class Group {
  /** types that one of them wants, as bits */
  types = 0
  /** the same of those who hear each event alone */
  eventTypes = 0
  events: readonly EventListener[] = []
  batches: readonly BatchListener[] = []

  count(): void {
    this.eventTypes = this.events.reduce((types, one) => types | one.types, 0)
    this.types = this.batches.reduce((types, one) => types | one.types, this.eventTypes)
  }
}

export interface SubscriptionsHost {
  report(error: unknown): void
  /** What is wanted has changed, of the task with that id or of all. */
  changed(task: string | undefined): void
  /** whether an input is being taken */
  isBusy(): boolean
}

export class EventSubscriptions {
  readonly #all = new Group()
  /** by task */
  readonly #single = new Map<string, Group>()
  readonly #host: SubscriptionsHost
  readonly #report: (error: unknown) => void
  /** how many want `fired` events with their why */
  #whys = 0
  /** types that somebody wants of whatever task, as bits */
  anyTypes = 0
  /** those who have something pending */
  #pending: BatchListener[] = []
  /** those who came while an input was being taken */
  #joining: (() => void)[] = []

  constructor(host: SubscriptionsHost) {
    this.#host = host
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
      const listener: BatchListener = { subscriber, types, why, pending: [] }
      return this.#join(
        filter,
        (group) => (group.batches = [...group.batches, listener]),
        (group) => (group.batches = group.batches.filter((one) => one !== listener)),
      )
    })
  }

  /** Types that somebody wants of all tasks, as bits. */
  get types(): number {
    return this.#all.types
  }

  /** The same of one task alone. */
  typesOf(task: string): number {
    return this.#single.get(task)?.types ?? 0
  }

  /** Types that somebody wants to hear of one by one, of all tasks, as bits. */
  get eventTypes(): number {
    return this.#all.eventTypes
  }

  /** Whether somebody wants `fired` events with their why. */
  get wantsWhy(): boolean {
    return this.#whys > 0
  }

  /** `type`: of the event, as a bit. */
  emit(event: EngineEvent, type: number): void {
    if ((this.#all.types & type) !== 0) this.#tell(this.#all, event, type)
    if (this.#single.size === 0) return
    const single = this.#single.get(event.task)
    if (single !== undefined && (single.types & type) !== 0) this.#tell(single, event, type)
  }

  /** The same, for who does not know the bit. */
  readonly tell = (event: EngineEvent): void => this.emit(event, typeBit(event.type))

  /** The input at hand is done. */
  flush(): void {
    if (this.#pending.length > 0) this.#flush()
    if (this.#joining.length > 0) {
      const joining = this.#joining
      this.#joining = []
      for (const join of joining) join()
    }
  }

  complete(): void {
    for (const { events, batches } of [this.#all, ...this.#single.values()]) {
      for (const { subscriber } of events) subscriber.complete()
      for (const { subscriber } of batches) subscriber.complete()
    }
  }

  #flush(): void {
    const listeners = this.#pending
    this.#pending = []
    for (const listener of listeners) {
      const { pending, subscriber } = listener
      listener.pending = []
      subscriber.next(new ListBatch(pending))
    }
  }

  #tell({ events, batches }: Group, event: EngineEvent, type: number): void {
    for (const { types, why, subscriber } of events) {
      if ((types & type) !== 0) subscriber.next(why ? event : withoutWhy(event))
    }
    for (const listener of batches) {
      if ((listener.types & type) === 0) continue
      if (listener.pending.push(listener.why ? event : withoutWhy(event)) === 1) this.#pending.push(listener)
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
    if (this.#host.isBusy()) this.#joining.push(join)
    else join()
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
    this.anyTypes = this.#all.types
    for (const { types } of this.#single.values()) this.anyTypes |= types
    for (const task of tasks) this.#host.changed(task)
  }
}

function withoutWhy(event: EngineEvent): EngineEvent {
  if (event.type !== 'fired' || event.why === undefined) return event
  const { why: _, ...rest } = event
  return rest
}
