/** The quiet way of one engine: its lanes by shape, and who may sit in them. */
import type { Counts } from '../engine/counts.ts'
import type {
  Accepted,
  Executor,
  ExecutorHost,
  ExecutedTask,
  MessageListener,
  MessageSource,
  TaskExecutor,
} from '../engine/executor.ts'
import type { Graph } from '../graph/graph.ts'
import type { Message } from '../task/origin.ts'
import type { TaskModel } from '../task/run.ts'
import type { TaskState } from '../task/task-state.ts'
import { UNKNOWN } from '../graph/graph.ts'
import { ColumnarTask, type Batches } from './columnar-task.ts'
import { fieldNames, fieldsOf, type Fields } from './fields.ts'
import { HotRows } from './hot-rows.ts'
import { QuietLane } from './lane.ts'
import type { QuietTask, Seat, SeatLane, TakenSource } from './seat.ts'
import { QuietCalls } from './quiet-calls.ts'
import { fitOf, type QuietFit } from './shape.ts'
import { QuietSource } from './source.ts'

/** Lanes and field checks are code: rules of very many shapes shall not fill the memory with it. */
const MAX_LANES = 500
const MAX_FIELD_LISTS = 200
/** A lane whose calls end up in the fold this often costs more than it saves. */
const OPENED_AT_LEAST = 64
const OPENED_SHARE = 1 / 8

export class ColumnarExecutor implements Executor, Batches {
  /** epoch ms at which the message at hand was taken, and of the clock when a late answer was taken last; cells cost no box */
  readonly clock = new Float64Array([Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY])
  readonly hotRows = new HotRows()
  readonly #calls: QuietCalls
  readonly #host: ExecutorHost
  readonly #lanes = new Map<string, QuietLane>()
  readonly #fits = new WeakMap<Graph, Map<string, QuietFit | undefined>>()
  readonly #fields = new Map<string, Fields | undefined>()

  constructor(host: ExecutorHost) {
    this.#calls = new QuietCalls(host.globalSettings, host.keepsLog)
    this.#host = host
  }

  /** Into the one row that listens to the message's resource, if there is one. */
  accept(message: Message, now: number): Accepted {
    this.clock[0] = now
    return this.hotRows.take(message)
  }

  /** Together with what was done in rows. */
  counted(own: Counts): Counts {
    const all = { ...own }
    for (const { counts } of this.#lanes.values()) {
      all.steps += counts.steps
      all.firings += counts.firings
      all.calls += counts.calls
      all.held += counts.held
      all.dropped += counts.dropped
    }
    return all
  }

  source<L extends MessageListener>(resource: string): MessageSource<L> {
    return new QuietSource<L>(resource, this)
  }

  forTask(task: ExecutedTask): TaskExecutor {
    return new ColumnarTask(task, this)
  }

  /** Whether a quiet call went on in the fold since this was asked last. */
  mayHaveTimers(): boolean {
    const { hasOpened } = this.#calls
    if (hasOpened) this.#calls.hasOpened = false
    return hasOpened
  }

  /** How a task can run quietly; undefined when it cannot. */
  fit(model: TaskModel): QuietFit | undefined {
    const { graph, settings, resources } = model
    let bySettings = this.#fits.get(graph)
    if (bySettings === undefined) this.#fits.set(graph, (bySettings = new Map<string, QuietFit | undefined>()))
    const { type, parallel, resetObservations, gatesNeedFullObservation, pollingFixedRate } = settings
    const key = [type, parallel, resetObservations, gatesNeedFullObservation, pollingFixedRate, resources.length].join()
    if (!bySettings.has(key)) bySettings.set(key, fitOf(model))
    return bySettings.get(key)
  }

  /** A seat for a task whose last message, taken the full way, is this; undefined while something of it is open. */
  sit(task: QuietTask, fit: QuietFit, message: Message, source: TakenSource): Seat | undefined {
    if (!isAtRest(task.state, message)) return undefined
    const lane = this.#lane(task.model, fit)
    return lane === undefined || isNotWorthIt(lane) ? undefined : lane.sit(task, fit, source)
  }

  /** A message that was begun quietly went on in the fold; true when the seat can be kept. */
  canComeBack(seat: Seat, message: Message): boolean {
    seat.lane.opened++
    if (isNotWorthIt(seat.lane) || !isAtRest(seat.task.state, message)) return false
    seat.lane.comeBack(seat)
    return true
  }

  #lane(model: TaskModel, { shape }: QuietFit): QuietLane | undefined {
    const known = this.#lanes.get(shape.key)
    if (known !== undefined || this.#lanes.size >= MAX_LANES) return known
    const lane = new QuietLane(shape, model, this.#calls, this.clock, this.#host)
    this.#lanes.set(shape.key, lane)
    return lane
  }

  fieldsOf(message: Message): Fields | undefined {
    const key = JSON.stringify(fieldNames(message))
    if (!this.#fields.has(key) && this.#fields.size < MAX_FIELD_LISTS) {
      this.#fields.set(key, fieldsOf(message, this.#host.generate))
    }
    return this.#fields.get(key)
  }
}

/** Nothing is open, and each sensor has its state from this very message. */
function isAtRest(state: TaskState, message: Message): boolean {
  const stream = state.streams[0]
  if (state.status !== 'running' || !state.isFree || state.inFlight.size > 0 || state.groups.length > 0) return false
  if (stream?.values !== message) return false
  if (stream.carried !== null && stream.carried.size > 0) return false
  return state.sensors.every((sensor) => {
    return sensor.state !== UNKNOWN && sensor.origin?.values === message && sensor.follow === null && !sensor.error
  })
}

function isNotWorthIt({ opened, taken }: SeatLane): boolean {
  return opened >= OPENED_AT_LEAST && opened > taken * OPENED_SHARE
}
