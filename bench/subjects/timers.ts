/** Who keeps a hundred thousand periodic timers: Node itself, a heap and a wheel by hand, this engine's queue, and the whole engine. */
import { asyncScheduler, type SchedulerLike } from 'rxjs'
import { TimerQueue } from '../../src/core/engine/timer-queue.ts'
import { NO_TIMER, type TimerOwner } from '../../src/core/engine/timer-table.ts'
import { createEngine, definePlug, type Rule } from '../../src/index.ts'

export interface Periodic {
  periodMs: number
  /** from now to the first fire that counts */
  phaseMs: number
}

export interface RunningTimers {
  /** bytes of what belongs to the test and not to the timers */
  ownBytes(): number
  /** fires so far, when `fired` is not called for each */
  count?(): number
  /** from now on `fired` is called */
  listen?(): void
  close(): void | Promise<void>
}

type Fired = (lateMs: number) => void

export type TimersSubject = (periodics: readonly Periodic[], fired: Fired) => RunningTimers | Promise<RunningTimers>

/** As `createEngine` sets them for live use. */
const LIVE = { recheckMs: 60_000, restMs: 10 }

export const timerSubjects: ReadonlyMap<string, TimersSubject> = new Map<string, TimersSubject>([
  ['wakes', wakes],
  ['intervals', intervals],
  ['heap', plainHeap],
  ['wheel', hashedWheel],
  ['queue', ownQueue],
  ['engine', wholeEngine],
])

/** As often as the others wake, and nothing to do: what the machine itself takes. */
function wakes(periodics: readonly Periodic[], fired: Fired): RunningTimers {
  const perSecond = periodics.reduce((sum, { periodMs }) => sum + 1000 / periodMs, 0)
  const timer = setInterval(() => fired(0), Math.max(LIVE.restMs, 1000 / perSecond))
  return { ownBytes: () => 0, close: () => clearInterval(timer) }
}

function intervals(periodics: readonly Periodic[], fired: Fired): RunningTimers {
  const timers: NodeJS.Timeout[] = []
  for (const { periodMs, phaseMs } of periodics) {
    const place = timers.length
    let due = Date.now() + phaseMs
    const fire = (): void => {
      fired(Date.now() - due)
      due += periodMs
    }
    timers.push(
      setTimeout(() => {
        fire()
        timers[place] = setInterval(fire, periodMs)
      }, phaseMs),
    )
  }
  return {
    ownBytes: () => 0,
    close: () => {
      for (const timer of timers) clearTimeout(timer)
    },
  }
}

/** Two typed arrays and nothing else: what a heap costs at least. */
function plainHeap(periodics: readonly Periodic[], fired: Fired): RunningTimers {
  const size = periodics.length
  const due = new Float64Array(size)
  const period = Float64Array.from(periodics, ({ periodMs }) => periodMs)
  const heap = new Int32Array(size)
  const start = Date.now()
  const down = (from: number): void => {
    const item = heap[from] ?? 0
    const at = due[item] ?? 0
    let hole = from
    for (let child = 2 * hole + 1; child < size; child = 2 * hole + 1) {
      if (child + 1 < size && (due[heap[child + 1] ?? 0] ?? 0) < (due[heap[child] ?? 0] ?? 0)) child++
      if ((due[heap[child] ?? 0] ?? 0) >= at) break
      heap[hole] = heap[child] ?? 0
      hole = child
    }
    heap[hole] = item
  }
  for (const [i, { phaseMs }] of periodics.entries()) {
    due[i] = start + phaseMs
    heap[i] = i
  }
  for (let i = size >> 1; i >= 0; i--) down(i)
  let timer: NodeJS.Timeout
  const wake = (): void => {
    const now = Date.now()
    for (let top = heap[0] ?? 0; (due[top] ?? Infinity) <= now; top = heap[0] ?? 0) {
      fired(now - (due[top] ?? 0))
      due[top] = (due[top] ?? 0) + (period[top] ?? 0)
      down(0)
    }
    timer = setTimeout(wake, Math.max(0, (due[heap[0] ?? 0] ?? 0) - Date.now()))
  }
  wake()
  return { ownBytes: () => period.byteLength, close: () => clearTimeout(timer) }
}

/** 4,096 slots of 10 ms, a chain of numbers each; a timer further off goes round more than once. */
function hashedWheel(periodics: readonly Periodic[], fired: Fired): RunningTimers {
  const slotMs = 10
  const slots = new Int32Array(4096).fill(-1)
  const next = new Int32Array(periodics.length)
  const due = new Float64Array(periodics.length)
  const period = Float64Array.from(periodics, ({ periodMs }) => periodMs)
  const put = (item: number, at: number): void => {
    const slot = Math.ceil(at / slotMs) & (slots.length - 1)
    due[item] = at
    next[item] = slots[slot] ?? -1
    slots[slot] = item
  }
  const start = Date.now()
  for (const [i, { phaseMs }] of periodics.entries()) put(i, start + phaseMs)
  let turn = Math.floor(start / slotMs)
  const timer = setInterval(() => {
    const now = Date.now()
    for (const last = Math.floor(now / slotMs); turn < last; turn++) {
      const slot = (turn + 1) & (slots.length - 1)
      let item = slots[slot] ?? -1
      slots[slot] = -1
      while (item !== -1) {
        const following = next[item] ?? -1
        const at = due[item] ?? 0
        if (at <= now) {
          fired(now - at)
          put(item, at + (period[item] ?? 0))
        } else put(item, at)
        item = following
      }
    }
  }, slotMs)
  return { ownBytes: () => period.byteLength, close: () => clearInterval(timer) }
}

class Owner implements TimerOwner {
  firstTimer = NO_TIMER
  readonly order: number
  readonly #periodMs: number
  readonly #fired: Fired
  readonly #queue: TimerQueue
  #due: number

  constructor(order: number, periodMs: number, due: number, queue: TimerQueue, fired: Fired) {
    this.order = order
    this.#periodMs = periodMs
    this.#due = due
    this.#queue = queue
    this.#fired = fired
  }

  dueAt(): number {
    return this.#due
  }

  fire(_kind: unknown, _key: number, now: number): void {
    this.#fired(now - this.#due)
    this.#due += this.#periodMs
    this.ask()
  }

  ask(): void {
    this.#queue.ask(this, 'tick', this.#due, 0)
  }
}

function ownQueue(periodics: readonly Periodic[], fired: Fired): RunningTimers {
  const collect = globalThis.gc ?? (() => undefined)
  collect()
  const before = process.memoryUsage().heapUsed
  const start = Date.now()
  const onWake = (): void => {
    queue.run(Date.now())
    queue.arm()
  }
  const queue = new TimerQueue(asyncScheduler, onWake, LIVE)
  const owners = periodics.map(({ periodMs, phaseMs }, i) => new Owner(i, periodMs, start + phaseMs, queue, fired))
  collect()
  const own = process.memoryUsage().heapUsed - before
  for (const owner of owners) owner.ask()
  queue.arm()
  return { ownBytes: () => own, close: () => queue.close() }
}

/** Tasks that tick more seldom start within this share of the mix, so that the others need not tick a hundred times first. */
const MAX_PERIODS = 6

async function wholeEngine(periodics: readonly Periodic[], fired: Fired): Promise<RunningTimers> {
  let fires = 0
  const beat = definePlug({
    name: 'beat',
    version: '1.0.0',
    kind: 'sensor',
    states: ['Beat'],
    execute() {
      fires++
      return { state: 'Beat' }
    },
  })
  // Phases are made by starting each task at its own time, on a clock that is put to that of the machine at the end.
  let fixed: number | undefined
  const scheduler: SchedulerLike = {
    now: () => fixed ?? Date.now(),
    schedule: asyncScheduler.schedule.bind(asyncScheduler),
  }
  const engine = createEngine({ plugs: [beat], scheduler, why: false, ...LIVE })
  const rule: Rule = { sensors: [{ label: 'heart', name: 'beat' }], actuators: [], triggers: [] }
  const shortest = Math.min(...new Set(periodics.map(({ periodMs }) => periodMs)))
  const starts = periodics
    .map(({ periodMs, phaseMs }) => {
      const share = phaseMs / periodMs
      return { periodMs, before: Math.floor(share * Math.min(periodMs, MAX_PERIODS * shortest)) }
    })
    .toSorted((a, b) => b.before - a.before)
  const begin = Date.now()
  for (const { periodMs, before } of starts) {
    fixed = begin - before
    await engine.start(rule, { type: 'periodic', frequency: periodMs })
  }
  fixed = undefined
  return {
    ownBytes: () => 0,
    count: () => fires,
    listen() {
      engine.events$.subscribe((event) => void (event.type === 'tick' && fired(Date.now() - event.scheduledAt)))
    },
    close: () => engine.close(),
  }
}
