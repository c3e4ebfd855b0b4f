/**
 * Keeps the recent events of each task: as events, and as records of messages that rows processed, from which events
 * are created when read. (`RowHistory` holds the latest messages that rows have not handed over yet.)
 *
 * HISTORY-1 the history of a task contains its last events without a gap, in order, as subscribers receive them.
 * HISTORY-2 it is bounded per task and in total: the least recently active tasks are forgotten first.
 */
import { AppError } from '#kernel'
import type { EventPart, EventRecord } from './event-batch.ts'
import { ALL_TYPES, DETAIL_TYPES, typeBit } from './event-filter.ts'
import type { EngineEvent } from './events.ts'

export interface HistoryOptions {
  readonly perTask: number
  /**
   * maximum number of events of all tasks, and of messages of all tasks of one shape. Above it the histories of some
   * tasks are forgotten or shortened; default 100,000
   */
  readonly inAll?: number
}

const IN_ALL = 100_000
/** fraction of the tasks whose history is forgotten at the limit */
const FORGOTTEN = 1 / 4

/** The last events of a task, as returned by `Engine.history`. */
export interface TaskHistory {
  readonly events: readonly EngineEvent[]
  /** number of the task's newest event; numbers increase, with gaps */
  readonly last: number
  /** true when the list contains all events after the requested number */
  readonly isWhole: boolean
}

class Kept {
  parts: EventPart[] = []
  numbers: number[] = []
  first = 0
  events = 0
  lost: number

  constructor(lost: number) {
    this.lost = lost
  }

  get last(): number {
    return this.numbers.at(-1) ?? this.lost
  }

  get size(): number {
    return this.parts.length - this.first
  }
}

export class EventHistory {
  readonly perTask: number
  readonly inAll: number
  /** types that the engine emits, as bits */
  readonly #types: number
  readonly #tasks = new Map<string, Kept>()
  #kept = 0
  #last = 0
  #lost = 0

  /** `detail`: as `EngineOptions.detail`. Throws `VALIDATION`. */
  constructor({ perTask, inAll = IN_ALL }: HistoryOptions, detail: boolean) {
    if (!(Number.isInteger(perTask) && perTask > 0 && inAll > 0)) {
      throw new AppError(
        'VALIDATION',
        `the history limits are ${perTask} events per task and ${inAll} in total; use at least 1`,
      )
    }
    this.perTask = perTask
    this.inAll = inAll
    this.#types = detail ? ALL_TYPES : ALL_TYPES & ~DETAIL_TYPES
  }

  note(event: EngineEvent): void {
    // Results with an error are kept even without details.
    const isKept = (typeBit(event.type) & this.#types) !== 0 || (event.type === 'result' && !event.ok)
    if (isKept) this.#add(event.task, event, 1)
  }

  keep(task: string, record: EventRecord): void {
    const events = record.count(this.#types)
    if (events > 0) this.#add(task, record, events)
  }

  /** Forgets a task's events after some were missed, since its history must not contain a gap. */
  skip(task: string): void {
    this.#kept -= this.#tasks.get(task)?.size ?? 0
    this.#tasks.set(task, new Kept(++this.#last))
  }

  of(task: string, after = 0): TaskHistory {
    const kept = this.#tasks.get(task)
    if (kept === undefined) return { events: [], last: this.#lost, isWhole: after >= this.#lost }
    const events: EngineEvent[] = []
    for (let i = indexAfter(kept, after); i < kept.parts.length; i++) {
      const part = kept.parts[i] as EventPart
      if (part.type !== 'record') events.push(part)
      else events.push(...part.events().filter(({ type }) => (typeBit(type) & this.#types) !== 0))
    }
    const isWhole = after >= kept.lost && events.length <= this.perTask
    return { events: events.slice(-this.perTask), last: kept.last, isWhole }
  }

  forget(task: string): void {
    const kept = this.#tasks.get(task)
    if (kept === undefined) return
    this.#tasks.delete(task)
    this.#kept -= kept.size
  }

  #add(task: string, part: EventPart, events: number): void {
    let kept = this.#tasks.get(task)
    if (kept === undefined) this.#tasks.set(task, (kept = new Kept(this.#lost)))
    kept.parts.push(part)
    kept.numbers.push((this.#last += events))
    kept.events += events
    this.#kept++
    for (;;) {
      const oldest = this.#countOf(kept.parts[kept.first] as EventPart)
      if (kept.events - oldest < this.perTask || kept.size === 1) break
      kept.lost = kept.numbers[kept.first] as number
      kept.first++
      kept.events -= oldest
      this.#kept--
    }
    if (kept.first > kept.size) {
      kept.parts = kept.parts.slice(kept.first)
      kept.numbers = kept.numbers.slice(kept.first)
      kept.first = 0
    }
    if (this.#kept > this.inAll) this.#forgetQuietest()
  }

  #countOf(part: EventPart): number {
    return part.type === 'record' ? part.count(this.#types) : 1
  }

  #forgetQuietest(): void {
    const newest = Float64Array.from([...this.#tasks.values()], (kept) => kept.last).sort()
    const until = newest[(newest.length * FORGOTTEN) | 0] ?? 0
    for (const [task, kept] of this.#tasks) if (kept.last <= until) this.forget(task)
    this.#lost = until
  }
}

function indexAfter({ numbers, first }: Kept, after: number): number {
  let index = numbers.length
  while (index > first && (numbers[index - 1] as number) > after) index--
  return index
}
