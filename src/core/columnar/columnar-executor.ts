/** The columnar executor of an engine groups rows into batches by shape and decides which tasks may be rows. */
import type { Counts } from '../engine/counts.ts'
import type {
  Executor,
  ExecutorHost,
  ExecutedTask,
  Generate,
  MessageListener,
  MessageSource,
  TaskExecutor,
} from '../engine/executor.ts'
import { noPlainCounts, statsOf, type EngineStats, type PlainReason } from '../engine/stats.ts'
import { type Graph, UNKNOWN } from '../graph/graph.ts'
import type { RuleProperties } from '../graph/rule-properties.ts'
import type { Message } from '../task/origin.ts'
import { remembersReadings } from '../task/readings/admit.ts'
import { isStamped, measuredAt } from '../task/readings/reading.ts'
import type { Readings } from '../task/readings/readings.ts'
import type { TaskModel } from '../task/run.ts'
import type { SensorState } from '../task/state.ts'
import type { TaskState } from '../task/task-state.ts'
import { DETAIL_TYPES, FIRED, HELD } from '../engine/event-filter.ts'
import { ColumnarTask, hasSensorCalls, type Batches } from './columnar-task.ts'
import { FieldsTable, type Fields } from './message-fields.ts'
import { SingleListenerIndex } from './single-listener-index.ts'
import { RuleBatch } from './rule-batch.ts'
import type { BatchTask, RowHandle, Batch, TakenSource } from './row-handle.ts'
import { RowPlugCalls } from './row-plug-calls.ts'
import { fitOf, type BatchFit } from './batch-shape.ts'
import { gateStates } from './possible-firings.ts'
import { hasUnknown } from './standing-nodes.ts'
import { ColumnarSource } from './columnar-source.ts'
import { numbersInPlace } from './fixed-memory.ts'

interface KnownFit {
  readonly properties: RuleProperties
  readonly fit: BatchFit | undefined
}

/** Each batch generates code. This limit keeps rules of many different shapes from filling the memory. */
const MAX_BATCHES = 500
/** A batch whose calls end up in the state machine this often usually costs more than it saves. */
const OPENED_AT_LEAST = 64
const OPENED_SHARE = 1 / 8

export class ColumnarExecutor implements Executor, Batches {
  /**
   * epoch ms: time of the current message; clock when the last stamped message or late result arrived. Avoids boxing
   */
  readonly clock = numbersInPlace(2).fill(Number.NEGATIVE_INFINITY)
  readonly singleListeners = new SingleListenerIndex()
  /** counts messages that tasks took in their full states, except messages that a row began */
  readonly plain = noPlainCounts()
  /** why the current message bypasses rows, if the message itself is the cause */
  reason: PlainReason = 'sent'
  readonly #calls: RowPlugCalls
  readonly #host: ExecutorHost
  readonly #generate: Generate
  readonly #batches = new Map<string, RuleBatch>()
  readonly #stamped = new Map<string, RuleBatch>()
  /** fits by settings; each set of settings keeps the rule that was queried last */
  readonly #fits = new WeakMap<Graph, Map<string, KnownFit>>()
  readonly #fields: FieldsTable

  constructor(host: ExecutorHost, generate: Generate) {
    this.#calls = new RowPlugCalls(host)
    this.#host = host
    this.#generate = generate
    this.#fields = new FieldsTable(generate)
  }

  /** Delivers the message if its resource has exactly one listener and that listener is a row. */
  accept(message: Message, now: number): boolean {
    if (message.timestamp !== undefined) return this.#acceptTimed(message, now)
    this.clock[0] = now
    return this.singleListeners.take(message)
  }

  #acceptTimed(message: Message, now: number): boolean {
    if (!isStamped(message)) {
      this.clock[0] = now
      return this.singleListeners.takeHostStamped(message)
    }
    const time = measuredAt(message, now)
    if (time === undefined) return false
    this.clock[0] = time
    this.clock[1] = now
    return this.singleListeners.takeStamped(message, time, now)
  }

  counted(own: Counts): Counts {
    const all = { ...own }
    for (const { counts } of this.#all()) {
      all.steps += counts.steps
      all.firings += counts.firings
      all.calls += counts.calls
      all.held += counts.held
      all.dropped += counts.dropped
    }
    return all
  }

  stats(): EngineStats {
    const why = { ...this.plain }
    let [all, vectorized] = [0, 0]
    for (const { ways } of this.#all()) {
      all += ways.taken
      vectorized += ways.vectorized
      why.answer += ways.opened
    }
    return statsOf(why, vectorized, all - vectorized)
  }

  isObserved(): boolean {
    return !this.canTell(this.#host.events.singleTypes)
  }

  source<L extends MessageListener>(resource: string): MessageSource<L> {
    return new ColumnarSource<L>(resource, this)
  }

  forTask(task: ExecutedTask): TaskExecutor {
    return new ColumnarTask(task, this)
  }

  /**
   * Returns whether rows can produce these event types. Only the state machine emits the events of messages as they
   * happen.
   */
  canTell(types: number): boolean {
    return (types & (DETAIL_TYPES | FIRED | HELD)) === 0
  }

  listenersChanged(): void {
    for (const batch of this.#all()) batch.listenersChanged()
  }

  /** Returns how a task fits into a row, or undefined when it cannot run as one. */
  fit(model: TaskModel): BatchFit | undefined {
    const { graph, properties, settings, resources } = model
    let bySettings = this.#fits.get(graph)
    if (bySettings === undefined) this.#fits.set(graph, (bySettings = new Map<string, KnownFit>()))
    const { type, parallel, resetObservations, resetScope, gatesNeedFullObservation, pollingFixedRate } = settings
    const key = [
      type,
      parallel,
      resetObservations,
      resetScope,
      gatesNeedFullObservation,
      pollingFixedRate,
      resources.length,
    ].join()
    const known = bySettings.get(key)
    if (known?.properties === properties) return known.fit
    const fit = this.#shared(fitOf(model))
    bySettings.set(key, { properties, fit })
    return fit
  }

  #shared(fit: BatchFit | undefined): BatchFit | undefined {
    if (fit === undefined) return undefined
    const { key } = fit.shape
    const { shape = fit.shape } = this.#batches.get(key) ?? this.#stamped.get(key) ?? {}
    return { shape, constants: fit.constants }
  }

  /**
   * Creates a handle for a task whose last message, processed by the state machine, was `message`; or returns why it
   * cannot.
   */
  attach(task: BatchTask, fit: BatchFit, message: Message, source: TakenSource): RowHandle | PlainReason {
    if (!isAtRest(task, message, fit)) return 'open'
    const batch = this.#batch(task.model, fit, task.state.readings !== null)
    if (batch === undefined) return 'limit'
    return isNotWorthIt(batch) ? 'often' : batch.attach(task, fit, source)
  }

  /** Called when the state machine finishes a message that a row began. Returns true when the handle can be kept. */
  canReattach(handle: RowHandle, message: Message): boolean {
    handle.batch.opened++
    if (isNotWorthIt(handle.batch) || !isAtRest(handle.task, message, handle.fit)) return false
    if (handle.batch.isStamped !== (handle.task.state.readings !== null)) return false
    handle.batch.reattach(handle)
    return true
  }

  *#all(): Iterable<RuleBatch> {
    yield* this.#batches.values()
    yield* this.#stamped.values()
  }

  #batch(model: TaskModel, { shape }: BatchFit, isStamped: boolean): RuleBatch | undefined {
    const batches = isStamped ? this.#stamped : this.#batches
    const known = batches.get(shape.key)
    if (known !== undefined || this.#batches.size + this.#stamped.size >= MAX_BATCHES) return known
    const batch = new RuleBatch(
      shape,
      model,
      this.#calls,
      this.clock,
      this.#host,
      this.#fields,
      this.#generate,
      isStamped,
    )
    batches.set(shape.key, batch)
    return batch
  }

  fieldsOf(message: Message): Fields | undefined {
    return this.#fields.of(message)
  }
}

function hasNothingOpen(task: BatchTask, message: Message): boolean {
  const { state } = task
  if (state.readings !== null && !isNewest(task, state.readings, message)) return false
  if (state.status !== 'running' || !state.isFree || hasSensorCalls(state) || state.evaluation !== null) return false
  return state.streams[0]?.values === message && state.sensors.every(isQuiet)
}

function isQuiet({ follow, late }: SensorState): boolean {
  return follow === null && late.length === 0
}

function isNewest({ state, model }: BatchTask, readings: Readings, message: Message): boolean {
  const { time, clock, newest, ahead } = readings
  if (ahead.list.length > 0 || remembersReadings(model.settings)) return false
  if (model.settings.reorderMs > 0 || model.settings.time !== 'event' || !isStamped(message)) return false
  const { time: own, lag = 0 } = newest.get(message.resource) ?? {}
  return own === time && clock === time + lag && newest.size === 1 && state.streams[0]?.at === time
}

function isAtRest(task: BatchTask, message: Message, { shape }: BatchFit): boolean {
  const { state, model } = task
  if (!hasNothingOpen(task, message)) return false
  const [stream] = state.streams
  // A sensor that reads several values reports which ones came from earlier messages. A row only searches its own
  // messages.
  const isAlone = !stream?.carried || stream.carried.size === 0
  if (!isAlone && shape.sensors.some(({ waitsFor = [] }) => waitsFor.length > 1)) return false
  if (!state.sensors.every(({ memory }) => memory !== UNKNOWN)) return false
  return !hasUnknown(state) || isRegular(state, model)
}

/**
 * Returns whether each gate was last in the state that follows from the sensors; row bits cannot express anything else.
 */
function isRegular(state: TaskState, { graph, settings }: TaskModel): boolean {
  const sensors = state.sensors.map(({ memory }) => memory)
  const gates = gateStates(graph, sensors, settings.gatesNeedFullObservation)
  return state.gates.every(({ memory }, g) => memory === gates[g])
}

function isNotWorthIt({ opened, taken }: Batch): boolean {
  return opened >= OPENED_AT_LEAST && opened > taken * OPENED_SHARE
}
