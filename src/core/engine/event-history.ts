/**
 * What happened lately in each task: events, and records of messages that rows took, of which events are made when
 * somebody asks. (What rows have kept of their last messages and not handed over yet is in `RowHistory`.)
 *
 * HISTORY-1 what is kept of a task are its last events without a gap, in their order, as they are told.
 * HISTORY-2 it is bounded by task and in all: the tasks in which nothing happened for longest are forgotten first.
 */
import { AppError } from '#kernel'
import type { EventPart, EventRecord } from './event-batch.ts'
import { ALL_TYPES, DETAIL_TYPES, typeBit } from './event-filter.ts'
import type { EngineEvent } from './events.ts'

export interface HistoryOptions {
  /** events that are kept of each task */
  readonly perTask: number
  /** default 100,000; events of all tasks, and beside them messages of all tasks of one form: above it tasks are forgotten, or fewer kept of each */
  readonly inAll?: number
}

const IN_ALL = 100_000
/** of the tasks, so many go when too much is kept */
const FORGOTTEN = 1 / 4

/** The last events of a task, as `Engine.history` gives them. */
export interface TaskHistory {
  /** oldest first */
  readonly events: readonly EngineEvent[]
  /** number of the newest event of the task: numbers rise, with gaps */
  readonly last: number
  /** whether all that happened since the number that was asked for is there */
  readonly isWhole: boolean
}

/** The last parts of one task. */
class Kept {
  parts: EventPart[] = []
  /** of the last event of each part */
  numbers: number[] = []
  /** place of the oldest of them */
  first = 0
  events = 0
  /** number of the newest event that is not kept */
  lost: number

  constructor(lost: number) {
    this.lost = lost
  }

  /** of the newest event */
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
  /** types that are told at all */
  readonly #types: number
  readonly #tasks = new Map<string, Kept>()
  #kept = 0
  /** number of the newest event of all tasks */
  #last = 0
  /** the same of those that were forgotten because too much was kept */
  #lost = 0

  /** `detail`: as `EngineOptions.detail`. `VALIDATION` */
  constructor({ perTask, inAll = IN_ALL }: HistoryOptions, detail: boolean) {
    if (!(Number.isInteger(perTask) && perTask > 0 && inAll > 0)) {
      throw new AppError(
        'VALIDATION',
        `a history keeps at least one event of a task, not ${perTask}, and of all, not ${inAll}`,
      )
    }
    this.perTask = perTask
    this.inAll = inAll
    this.#types = detail ? ALL_TYPES : ALL_TYPES & ~DETAIL_TYPES
  }

  note(event: EngineEvent): void {
    // Of details that nobody is told of, a failure is no detail.
    const isTold = (typeBit(event.type) & this.#types) !== 0 || (event.type === 'result' && !event.ok)
    if (isTold) this.#add(event.task, event, 1)
  }

  /** What a message did in a task, after all that was noted of it. */
  keep(task: string, record: EventRecord): void {
    const events = record.count(this.#types)
    if (events > 0) this.#add(task, record, events)
  }

  /** Something happened in a task that was not kept. */
  skip(task: string): void {
    this.#kept -= this.#tasks.get(task)?.size ?? 0
    this.#tasks.set(task, new Kept(++this.#last))
  }

  /** Those after a number, or all. */
  of(task: string, after = 0): TaskHistory {
    const kept = this.#tasks.get(task)
    if (kept === undefined) return { events: [], last: this.#lost, isWhole: after >= this.#lost }
    const events: EngineEvent[] = []
    for (let i = placeAfter(kept, after); i < kept.parts.length; i++) {
      const part = kept.parts[i] as EventPart
      if (part.type !== 'record') events.push(part)
      else events.push(...part.events().filter(({ type }) => (typeBit(type) & this.#types) !== 0))
    }
    const isWhole = after >= kept.lost && events.length <= this.perTask
    return { events: events.slice(-this.perTask), last: kept.last, isWhole }
  }

  /** The task is gone. */
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

/** Of the oldest part that is newer than a number. */
function placeAfter({ numbers, first }: Kept, after: number): number {
  let place = numbers.length
  while (place > first && (numbers[place - 1] as number) > after) place--
  return place
}
