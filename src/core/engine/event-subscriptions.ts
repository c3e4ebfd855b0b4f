/**
 * Who hears of an engine's events, and of which: one by one as they happen, or those of one input together when it is
 * done. Whoever wants all tasks is told first, then whoever wants that very task, each in the order in which they came.
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
}

interface BatchListener {
  readonly subscriber: Subscriber<EventBatch>
  readonly types: number
  /** what it has not been told yet */
  pending: EngineEvent[]
}

/** Those who listen to all tasks, or to the same one. */
class Group {
  /** types that one of them wants, as bits */
  types = 0
  readonly events = new Set<EventListener>()
  readonly batches = new Set<BatchListener>()

  count(): void {
    this.types = 0
    for (const { types } of this.events) this.types |= types
    for (const { types } of this.batches) this.types |= types
  }
}

export class EventSubscriptions {
  readonly #all = new Group()
  /** by task */
  readonly #single = new Map<string, Group>()
  readonly #report: (error: unknown) => void
  readonly #changed: (task: string | undefined) => void
  #pending: BatchListener[] = []

  /** `changed`: what is wanted has changed, of the task with that id or of all. */
  constructor(report: (error: unknown) => void, changed: (task: string | undefined) => void) {
    this.#report = report
    this.#changed = changed
  }

  /** `VALIDATION` */
  events(filter: EventFilter): Observable<EngineEvent> {
    const types = typesOf(filter)
    const tasks = filter.tasks && [...new Set(filter.tasks)]
    return new GuardedObservable<EngineEvent>(this.#report, (subscriber) => {
      const listener: EventListener = { subscriber, types }
      return this.#join(tasks, (group) => group.events, listener)
    })
  }

  /** `VALIDATION` */
  batches(filter: EventFilter): Observable<EventBatch> {
    const types = typesOf(filter)
    const tasks = filter.tasks && [...new Set(filter.tasks)]
    return new GuardedObservable<EventBatch>(this.#report, (subscriber) => {
      const listener: BatchListener = { subscriber, types, pending: [] }
      return this.#join(tasks, (group) => group.batches, listener)
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

  emit(event: EngineEvent): void {
    const type = typeBit(event.type)
    this.#tell(this.#all, event, type)
    if (this.#single.size === 0) return
    const single = this.#single.get(event.task)
    if (single !== undefined) this.#tell(single, event, type)
  }

  /** The input at hand is done. */
  flush(): void {
    if (this.#pending.length === 0) return
    const listeners = this.#pending
    this.#pending = []
    for (const listener of listeners) {
      const { pending, subscriber } = listener
      listener.pending = []
      subscriber.next(new ListBatch(pending))
    }
  }

  complete(): void {
    for (const { events, batches } of [this.#all, ...this.#single.values()]) {
      for (const { subscriber } of events) subscriber.complete()
      for (const { subscriber } of batches) subscriber.complete()
    }
  }

  #tell({ types, events, batches }: Group, event: EngineEvent, type: number): void {
    if ((types & type) === 0) return
    for (const listener of events) if ((listener.types & type) !== 0) listener.subscriber.next(event)
    for (const listener of batches) {
      if ((listener.types & type) !== 0 && listener.pending.push(event) === 1) this.#pending.push(listener)
    }
  }

  #join<L>(tasks: readonly string[] | undefined, list: (group: Group) => Set<L>, listener: L): () => void {
    if (tasks === undefined) {
      list(this.#all).add(listener)
      this.#count(undefined)
    }
    for (const task of tasks ?? []) {
      const group = this.#single.get(task) ?? new Group()
      this.#single.set(task, group)
      list(group).add(listener)
      this.#count(task)
    }
    return () => {
      if (tasks === undefined) {
        list(this.#all).delete(listener)
        this.#count(undefined)
      }
      for (const task of tasks ?? []) {
        const group = this.#single.get(task)
        if (group !== undefined) list(group).delete(listener)
        this.#count(task)
      }
    }
  }

  #count(task: string | undefined): void {
    const group = task === undefined ? this.#all : this.#single.get(task)
    if (group === undefined) return
    group.count()
    if (task !== undefined && group.types === 0) this.#single.delete(task)
    this.#changed(task)
  }
}
