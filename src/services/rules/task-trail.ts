/**
 * What happened lately in each task, for its log and its stream of events. Kept in memory and bounded: the events
 * tell about what is durable elsewhere, and are not themselves what has to survive.
 *
 * T1  events of a task have rising numbers; a reader that comes back with the last number it saw misses none of those
 *     that are still kept, and is told when some are not
 * T2  a slow reader is let go, never waited for
 */
import type { Subscription } from 'rxjs'
import type { EngineEvent } from '../../core/engine/events.ts'
import type { EventStreamOptions, GapEvent, StreamEvent } from './inspection-schema.ts'
import type { RunReports, TaskRef, TenantEvent } from './runner.ts'

const KEPT_PER_TASK = 200
const KEPT_IN_ALL = 50_000
/** events that may wait for one reader */
const MOST_WAITING = 1000

interface Kept {
  readonly number: number
  readonly event: EngineEvent
}

interface Trail {
  readonly kept: Kept[]
  /** number of the newest event that is kept no more; 0: none was lost */
  lost: number
}

interface Reader {
  take(kept: Kept): void
  end(): void
}

export class TaskTrail {
  /** by tenant and id; the task that was quiet for longest comes first */
  readonly #trails = new Map<string, Trail>()
  readonly #readers = new Map<string, Set<Reader>>()
  readonly #life: string
  readonly #subscription: Subscription
  #ended = false
  #number = 0
  #kept = 0
  /** number of the newest event of all trails that were forgotten whole */
  #lost = 0

  /** `life`: tells the numbers of this process from those of others. */
  constructor(reports: RunReports, life: string) {
    this.#life = life
    this.#subscription = reports.events$.subscribe((told) => this.note(told))
  }

  /** how many streams are open */
  get readers(): number {
    let count = 0
    for (const readers of this.#readers.values()) count += readers.size
    return count
  }

  note({ tenant, event }: TenantEvent): void {
    const key = keyOf({ tenant, id: event.task })
    const kept = { number: ++this.#number, event }
    const trail = this.#trails.get(key) ?? { kept: [], lost: this.#lost }
    this.#trails.delete(key)
    this.#trails.set(key, trail)
    trail.kept.push(kept)
    this.#kept++
    if (trail.kept.length > KEPT_PER_TASK) {
      const gone = trail.kept.splice(0, KEPT_PER_TASK / 2)
      trail.lost = gone.at(-1)?.number ?? trail.lost
      this.#kept -= gone.length
    }
    if (this.#kept > KEPT_IN_ALL) this.#forgetQuietest()
    for (const reader of this.#readers.get(key) ?? []) reader.take(kept)
  }

  /** Oldest first. */
  events(task: TaskRef): readonly Kept[] {
    return this.#trails.get(keyOf(task))?.kept ?? []
  }

  /** The task is gone: its readers are done. */
  forget(task: TaskRef): void {
    const key = keyOf(task)
    this.#kept -= this.#trails.get(key)?.kept.length ?? 0
    this.#trails.delete(key)
    for (const reader of this.#readers.get(key) ?? []) reader.end()
  }

  async *stream(task: TaskRef, now: number, { lastEventId, signal }: EventStreamOptions): AsyncGenerator<StreamEvent> {
    const waiting: Kept[] = []
    let wake: () => void = () => undefined
    let ended = signal.aborted || this.#ended
    const end = (): void => {
      ended = true
      wake()
    }
    const take = (kept: Kept): void => {
      if (waiting.length >= MOST_WAITING) return end()
      waiting.push(kept)
      wake()
    }
    const leave = this.#join(keyOf(task), { take, end })
    signal.addEventListener('abort', end, { once: true })
    try {
      const { missed, kept } = this.#since(task, lastEventId)
      if (missed) yield { id: this.#id((kept[0]?.number ?? this.#number + 1) - 1), event: gap(task.id, now) }
      for (const each of kept) yield { id: this.#id(each.number), event: each.event }
      for (;;) {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          yield { id: this.#id(next.number), event: next.event }
        }
        if (ended) return
        await new Promise<void>((resolve) => (wake = resolve))
      }
    } finally {
      leave()
      signal.removeEventListener('abort', end)
    }
  }

  /** Every stream ends, those that are opened later at once. */
  endStreams(): void {
    this.#ended = true
    for (const readers of this.#readers.values()) for (const reader of readers) reader.end()
  }

  close(): void {
    this.#subscription.unsubscribe()
    this.endStreams()
  }

  /** Without a last id there is nothing to catch up with. */
  #since(task: TaskRef, lastEventId: string | undefined): { missed: boolean; kept: readonly Kept[] } {
    if (lastEventId === undefined) return { missed: false, kept: [] }
    const trail = this.#trails.get(keyOf(task))
    const kept = trail?.kept ?? []
    const [life, text = ''] = lastEventId.split('.')
    if (life !== this.#life || !/^\d{1,15}$/.test(text)) return { missed: true, kept }
    const last = Number(text)
    return { missed: last < (trail?.lost ?? this.#lost), kept: kept.filter(({ number }) => number > last) }
  }

  #id(number: number): string {
    return `${this.#life}.${number}`
  }

  #join(key: string, reader: Reader): () => void {
    const readers = this.#readers.get(key) ?? new Set()
    this.#readers.set(key, readers)
    readers.add(reader)
    return () => {
      readers.delete(reader)
      if (readers.size === 0 && this.#readers.get(key) === readers) this.#readers.delete(key)
    }
  }

  #forgetQuietest(): void {
    const oldest = this.#trails.entries().next().value
    if (oldest === undefined) return
    const [key, trail] = oldest
    this.#trails.delete(key)
    this.#kept -= trail.kept.length
    this.#lost = Math.max(this.#lost, trail.kept.at(-1)?.number ?? trail.lost)
  }
}

function gap(task: string, time: number): GapEvent {
  return { type: 'gap', task, time }
}

function keyOf({ tenant, id }: TaskRef): string {
  return `${tenant}\n${id}`
}
