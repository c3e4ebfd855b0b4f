/**
 * Keeps the recent events of each task in memory, for its log and its stream.
 *
 * A task is watched only while its stream has a reader, and shortly afterwards, in case the reader reconnects.
 *
 * EVENTS-1 events of a task have rising numbers; a reader that returns with its last number misses none of the events
 *   still kept, and gets a gap event if some are gone
 * EVENTS-2 a slow reader is disconnected; events never wait for it
 */
import type { Subscription } from 'rxjs'
import type { EngineEvent } from '#core'
import type { EventStreamOptions, GapEvent, StreamEvent } from '../inspection/inspection-schema.ts'
import type { RunReports } from '../runner.ts'

const KEPT_PER_TASK = 200
const KEPT_IN_ALL = 50_000
const MAX_WAITING = 1000
/** ms for which a task is still watched after its last reader left */
const WATCHED_AFTER = 60_000

interface Kept {
  readonly number: number
  readonly event: EngineEvent
}

interface History {
  readonly lifecycle: Kept[]
  readonly steps: Kept[]
  /** number of the newest dropped event; 0: none was dropped */
  lost: number
  /** the engine's number of the last event that was copied */
  taken: number
}

interface Reader {
  take(kept: Kept): void
  end(): void
}

interface Watch {
  readonly subscription: Subscription
  readonly readers: Set<Reader>
  /** when the last reader left, epoch ms; Infinity while a reader is connected */
  leftAt: number
}

export class TaskEventHistory {
  /** by task; the least recently active task comes first */
  readonly #histories = new Map<string, History>()
  readonly #watches = new Map<string, Watch>()
  readonly #reports: RunReports
  readonly #life: string
  readonly #now: () => number
  readonly #subscription: Subscription
  #ended = false
  #number = 0
  #kept = 0
  #lost = 0

  /** `life` distinguishes the numbers of this process. `now` returns epoch ms. */
  constructor(reports: RunReports, life: string, now: () => number) {
    this.#reports = reports
    this.#life = life
    this.#now = now
    this.#subscription = reports.lifecycle$.subscribe((event) => this.#takeOver(event.task))
  }

  get readers(): number {
    let count = 0
    for (const { readers } of this.#watches.values()) count += readers.size
    return count
  }

  #takeOver(task: string): void {
    const known = this.#histories.get(task)
    const { events, last, isWhole } = this.#reports.history(task, known?.taken ?? 0)
    if (events.length === 0) return
    const history = known ?? { lifecycle: [], steps: [], lost: this.#lost, taken: 0 }
    history.taken = last
    if (!isWhole) history.lost = ++this.#number
    this.#histories.delete(task)
    this.#histories.set(task, history)
    const readers = this.#watches.get(task)?.readers
    for (const event of events) {
      const kept = this.#keep(history, event)
      if (readers !== undefined) for (const reader of readers) reader.take(kept)
    }
    if (this.#kept > KEPT_IN_ALL) this.#forgetQuietest()
  }

  #keep(history: History, event: EngineEvent): Kept {
    const kept = { number: ++this.#number, event }
    const list = isLifecycle(event) ? history.lifecycle : history.steps
    list.push(kept)
    this.#kept++
    if (list.length > KEPT_PER_TASK) {
      const gone = list.splice(0, KEPT_PER_TASK / 2)
      history.lost = Math.max(history.lost, gone.at(-1)?.number ?? 0)
      this.#kept -= gone.length
    }
    return kept
  }

  events(task: string): readonly Kept[] {
    this.#takeOver(task)
    const history = this.#histories.get(task)
    if (history === undefined) return []
    return [...history.lifecycle, ...history.steps].sort((a, b) => a.number - b.number)
  }

  forget(task: string): void {
    const history = this.#histories.get(task)
    if (history) this.#kept -= sizeOf(history)
    this.#histories.delete(task)
    const watch = this.#watches.get(task)
    if (watch === undefined) return
    for (const reader of watch.readers) reader.end()
    this.#unwatch(task, watch)
  }

  async *stream(task: string, now: number, { lastEventId, signal }: EventStreamOptions): AsyncGenerator<StreamEvent> {
    const waiting: Kept[] = []
    let wake: () => void = () => undefined
    let ended = signal.aborted || this.#ended
    const end = (): void => {
      ended = true
      wake()
    }
    const take = (kept: Kept): void => {
      if (waiting.length >= MAX_WAITING) return end()
      waiting.push(kept)
      wake()
    }
    const leave = this.#join(task, { take, end })
    // a disconnected reader never requests another event, so end on abort
    const abort = (): void => {
      end()
      leave()
    }
    signal.addEventListener('abort', abort, { once: true })
    try {
      const { missed, kept } = this.#since(task, lastEventId)
      if (missed) yield { id: this.#id((kept[0]?.number ?? this.#number + 1) - 1), event: gap(task, now) }
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
      signal.removeEventListener('abort', abort)
    }
  }

  endStreams(): void {
    this.#ended = true
    for (const { readers } of this.#watches.values()) for (const reader of readers) reader.end()
  }

  close(): void {
    this.#subscription.unsubscribe()
    for (const { subscription } of this.#watches.values()) subscription.unsubscribe()
    this.endStreams()
  }

  #since(task: string, lastEventId: string | undefined): { missed: boolean; kept: readonly Kept[] } {
    if (lastEventId === undefined) return { missed: false, kept: [] }
    const kept = this.events(task)
    const [life, text = ''] = lastEventId.split('.')
    if (life !== this.#life || !/^\d{1,15}$/.test(text)) return { missed: true, kept }
    const last = Number(text)
    const lost = this.#histories.get(task)?.lost ?? this.#lost
    return { missed: last < lost, kept: kept.filter(({ number }) => number > last) }
  }

  #id(number: number): string {
    return `${this.#life}.${number}`
  }

  #join(task: string, reader: Reader): () => void {
    this.#unwatchLeft()
    this.#takeOver(task)
    const watch = this.#watches.get(task) ?? this.#watch(task)
    watch.readers.add(reader)
    watch.leftAt = Number.POSITIVE_INFINITY
    return () => {
      if (watch.readers.delete(reader) && watch.readers.size === 0) watch.leftAt = this.#now()
    }
  }

  #watch(task: string): Watch {
    const readers = new Set<Reader>()
    const subscription = this.#reports.watch(task).subscribe((event) => {
      this.#takeOver(task)
      if ((event.at ?? event.time) - watch.leftAt > WATCHED_AFTER) this.#unwatch(task, watch)
    })
    const watch: Watch = { subscription, readers, leftAt: Number.POSITIVE_INFINITY }
    this.#watches.set(task, watch)
    return watch
  }

  #unwatch(key: string, watch: Watch): void {
    watch.subscription.unsubscribe()
    if (this.#watches.get(key) === watch) this.#watches.delete(key)
  }

  /** Stops watching tasks without readers. Called when the next reader arrives, since an idle task costs nothing. */
  #unwatchLeft(): void {
    const now = this.#now()
    for (const [key, watch] of this.#watches) if (now - watch.leftAt > WATCHED_AFTER) this.#unwatch(key, watch)
  }

  #forgetQuietest(): void {
    const oldest = this.#histories.entries().next().value
    if (oldest === undefined) return
    const [key, history] = oldest
    this.#histories.delete(key)
    this.#kept -= sizeOf(history)
    const newest = Math.max(history.lifecycle.at(-1)?.number ?? 0, history.steps.at(-1)?.number ?? 0)
    this.#lost = Math.max(this.#lost, newest, history.lost)
  }
}

function sizeOf({ lifecycle, steps }: History): number {
  return lifecycle.length + steps.length
}

function isLifecycle(event: EngineEvent): boolean {
  switch (event.type) {
    case 'result':
      return !event.ok
    case 'started':
    case 'stopped':
    case 'failed':
    case 'log':
      return true
    default:
      return false
  }
}

function gap(task: string, time: number): GapEvent {
  return { type: 'gap', task, time }
}
