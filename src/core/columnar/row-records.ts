/**
 * Records the messages that rows take while a subscriber receives all events of messages: the number of events of each,
 * and the data to create them later (record-events.ts). The tasks remain rows.
 *
 * RECORD-1 a record counts, by type, the events that the state machine would emit for the message, and creates them
 *   with the same bytes in the same order, at any later time.
 * RECORD-2 a message that continues in the state machine has no record: its events up to that point are emitted.
 */
import { ALL_TYPES, DATA, FIRED, GATE, HELD, RESULT, STATE, typeBit } from '../engine/event-filter.ts'
import type { EventRecord } from '../engine/event-batch.ts'
import type { ExecutorHost } from '../engine/executor.ts'
import type { EngineEvent } from '../engine/events.ts'
import { firingsOf, type Firing } from '../engine/firing.ts'
import type { Message } from '../task/origin.ts'
import type { TaskModel } from '../task/run.ts'
import { LATER, type KeptAnswer } from './ordinary-answers.ts'
import { evaluationOf, gateChanges } from './possible-firings.ts'
import { eventsOf, type SensorData, type RecordedTask, type TakenMessage, type Totals } from './record-events.ts'
import type { EpochSource, MessageRecords, RecordEpoch } from './row-code.ts'
import type { RowHandle } from './row-handle.ts'
import { RowHistory } from './row-history.ts'
import type { Following } from './followings.ts'
import type { RowStore } from './row-store.ts'
import { VectorEpoch, type EpochOwner, type VectorRecord } from './vector-records.ts'

export class RowRecord implements EventRecord, TakenMessage {
  readonly of: RecordedTask
  readonly totals: Totals
  readonly message: Message
  readonly number: number
  readonly time: number
  readonly at: number
  readonly before: number
  readonly after: number
  readonly sensorData: SensorData | undefined
  earlier: readonly number[] | undefined
  answers: KeptAnswer[] | undefined = undefined
  emitted = 0
  /** number of actuators that have finished */
  answered = 0
  /** how often sensors changed, gates changed, actuators fired, and actuators were held back */
  readonly states: number
  readonly gates: number
  fired = 0
  held = 0
  /** the held actuators of those fired by the states, as bits */
  whichHeld = 0
  /** set when its events are emitted in another way */
  isVoid = false
  #events: readonly EngineEvent[] | undefined = undefined

  constructor(
    of: RecordedTask,
    totals: Totals,
    message: Message,
    number: number,
    time: number,
    at: number,
    before: number,
    after: number,
    states: number,
    gates: number,
    sensorData: SensorData | undefined,
    earlier: readonly number[] | undefined,
  ) {
    this.of = of
    this.totals = totals
    this.message = message
    this.number = number
    this.time = time
    this.at = at
    this.before = before
    this.after = after
    this.states = states
    this.gates = gates
    this.sensorData = sensorData
    this.earlier = earlier
  }

  get type(): 'record' {
    return 'record'
  }

  get graph(): TaskModel['graph'] {
    return this.of.model.graph
  }

  get kind(): number | undefined {
    if (this.isVoid || this.emitted > 0 || this.answers?.includes(LATER) === true) return undefined
    return kindOf(this.before, this.after, this.whichHeld)
  }

  count(types: number): number {
    if (this.isVoid) return 0
    if (this.emitted > 0 || this.answers?.includes(LATER) === true) {
      return this.events().filter(({ type }) => (typeBit(type) & types) !== 0).length
    }
    const { totals, states, gates, fired, held } = this
    const { sensors, inner } = totals
    if (types === ALL_TYPES) return 1 + sensors + states + 2 * fired + inner + gates + held
    let count = 0
    if ((types & DATA) !== 0) count++
    if ((types & RESULT) !== 0) count += sensors + fired
    if ((types & STATE) !== 0) count += states
    if ((types & GATE) !== 0) count += gates
    if ((types & FIRED) !== 0) count += inner + fired
    if ((types & HELD) !== 0) count += held
    return count
  }

  firings(why: boolean): readonly Firing[] {
    return this.events().flatMap((event) => firingsOf(event, why))
  }

  events(): readonly EngineEvent[] {
    return (this.#events ??= this.isVoid ? [] : eventsOf(this).slice(this.emitted))
  }
}

const NO_CALLS = -1
/** bits of states, and of held actuators, in the number of a kind */
const KIND_MASK = 2 ** 16 - 1

function kindOf(before: number, after: number, whichHeld: number): number | undefined {
  if (((before | after | whichHeld) & ~KIND_MASK) !== 0) return undefined
  return (before * (KIND_MASK + 1) + after) * (KIND_MASK + 1) + whichHeld
}

export class RowRecords implements MessageRecords, EpochOwner {
  readonly #rows: RowStore
  readonly #host: ExecutorHost
  readonly #model: TaskModel
  readonly #totals: Totals
  /** history of all rows, if one is kept */
  readonly history: RowHistory | undefined
  /** by row; undefined until its next record */
  readonly #tasks: (RecordedTask | undefined)[] = []
  readonly #gates: Int16Array
  /** positions, as bits, of sensors that returned raw data for the current message; NO_CALLS: none is called */
  answeredPositions = NO_CALLS
  #record: RowRecord | undefined
  #row = -1
  #vector: VectorRecord | undefined
  /** how many gates change with each message; -1: the number varies; undefined: not determined yet */
  #sameGates: number | undefined

  constructor(rows: RowStore, model: TaskModel, host: ExecutorHost) {
    this.#rows = rows
    this.#model = model
    this.#host = host
    const { graph, settings } = model
    this.#totals = {
      sensors: rows.shape.sensors.length,
      inner: graph.triggers.filter(({ destination }) => destination.kind === 'sensor').length,
      resets: settings.resetObservations,
    }
    this.#gates = new Int16Array(rows.table.length)
    const { sensors, resets } = this.#totals
    const least = 1 + (resets ? 2 : 1) * sensors
    const { keeps } = host
    // One more, because an event emitted during a message follows complete messages.
    const kept = keeps && { perRow: Math.ceil(keeps.perTask / least) + 1, inAll: keeps.inAll }
    this.history = kept && new RowHistory(rows, kept, (row) => this.#sensorDataOf(row))
  }

  /** Called when the row changes its task, or the task returns after `count` messages of the row. */
  forget(row: number, count = 0): void {
    this.#tasks[row] = undefined
    this.history?.forget(row, count)
    if (row === this.#row) this.#row = -1
  }

  add(
    row: number,
    message: Message,
    number: number,
    time: number,
    before: number,
    after: number,
    earlier: readonly number[] | undefined,
  ): void {
    if (this.history === undefined && this.#isCounted(row, before, after)) {
      this.#record = undefined
      return
    }
    const at = this.#rows.clockOf(row, time)
    const record = this.#make(row, message, number, time, at, before, after, this.#sensorDataOf(row), earlier)
    this.#record = record
    this.#row = row
    this.#host.events.record(record)
  }

  #isCounted(row: number, before: number, after: number): boolean {
    const kind = kindOf(before, after, 0)
    if (kind === undefined) return false
    const { model } = this.#tasks[row] ?? this.#newTask(row)
    return this.#host.events.countsKind(kind, model.graph)
  }

  #sensorDataOf(row: number): SensorData | undefined {
    const { answeredPositions } = this
    return answeredPositions === NO_CALLS
      ? undefined
      : { rawData: this.#rows.rawData[row] ?? [], positions: answeredPositions }
  }

  #make(
    row: number,
    message: Message,
    number: number,
    time: number,
    at: number,
    before: number,
    after: number,
    sensorData: SensorData | undefined,
    earlier: readonly number[] | undefined,
  ): RowRecord {
    const of = this.#tasks[row] ?? this.#newTask(row)
    // A task's objects are scattered in memory, so read the totals that all tasks of the shape share.
    const totals = this.#totals
    const gates = this.#gatesOf(before, after)
    const states = totals.resets ? totals.sensors : this.#changed(before, after)
    return new RowRecord(of, totals, message, number, time, at, before, after, states, gates, sensorData, earlier)
  }

  /**
   * Moves the kept messages up to number `last` to the history of the row's task, which must not have left the row
   * since.
   */
  handOver(row: number, last: number): void {
    const { history } = this
    if (history === undefined) return
    const { taken, isWhole } = history.take(row, last)
    if (!isWhole) this.#host.events.skipRecords((this.#tasks[row] ?? this.#newTask(row)).model.id)
    for (const { message, number, time, at, before, after, sensorData, earlier, answers, emitted } of taken) {
      const record = this.#make(row, message, number, time, at, before, after, sensorData, earlier)
      record.emitted = emitted
      const { task, model } = record.of
      if (earlier !== undefined) {
        const list = this.#rows.followingOf(task.model, before, after)
        this.#followed(record, list, earlier)
      }
      record.answers = answers
      this.#host.events.keepRecord(model.id, record)
    }
  }

  /** Emits the events of a row's current message up to an actuator call, because an event outside the row follows. */
  emitSoFar(row: number): void {
    const { history } = this
    const number = this.#rows.count(row)
    this.handOver(row, number - 1)
    const atHand = history?.atHand(row, number)
    if (history === undefined || atHand === undefined) return
    const { taken, answered } = atHand
    const events = eventsOf({ ...taken, of: this.#tasks[row] ?? this.#newTask(row) }, answered)
    for (const event of events.slice(taken.emitted)) this.#host.events.emitRecorded(event)
    history.setEmitted(row, number, events.length)
  }

  /** Returns a function that emits the events of a row's current message, except those emitted elsewhere. */
  emitter(row: number): (event: EngineEvent) => void {
    const { emitRecorded } = this.#host.events
    const { answers, emitted = 0 } = this.history?.atHand(row, this.#rows.count(row))?.taken ?? {}
    if (emitted === 0 && answers?.includes(LATER) !== true) return emitRecorded
    const { byLabel } = (this.#rows.handle(row) as RowHandle).task.model.graph // a row that takes a message has a handle
    let [answered, left] = [0, emitted]
    return (event) => {
      const isAnswer = event.type === 'result' && byLabel.get(event.node)?.kind === 'actuator'
      if (isAnswer && answers?.[answered++] === LATER) return
      if (left-- <= 0) emitRecorded(event)
    }
  }

  follows(row: number, list: readonly Following[], earlier: readonly number[]): void {
    const record = this.#record
    if (record !== undefined && row === this.#row) this.#followed(record, list, earlier)
  }

  #followed(record: RowRecord, list: readonly Following[], earlier: readonly number[]): void {
    record.earlier = earlier
    const { nodes } = this.#rows.layout
    const { time } = record
    for (const [i, following] of list.entries()) {
      if (time < (earlier[nodes + following.actuator] as number) + following.policyMs) {
        record.held++
        record.whichHeld |= 1 << i
      } else record.fired++
    }
  }

  beginEpoch(from: EpochSource): RecordEpoch {
    const tasks = from.rows.map((row) => this.#tasks[row] ?? this.#newTask(row))
    return new VectorEpoch(from, this.#rows, tasks, this.#totals, this.#sameGates ?? 0, this)
  }

  began(record: VectorRecord): void {
    this.#vector = record
    this.#host.events.record(record)
  }

  ended(): void {
    this.#vector = undefined
  }

  /**
   * Returns whether each message changes the same number of sensors and gates, as a shared record of many rows
   * requires.
   */
  canVectorize(all: readonly number[]): boolean {
    if (!this.#totals.resets) return false
    if (this.#sameGates === undefined) {
      const [first = 0] = all
      const count = this.#gatesOf(first, first)
      const isSame = all.every((before) => all.every((now) => this.#gatesOf(before, now) === count))
      this.#sameGates = isSame ? count : -1
    }
    return this.#sameGates !== -1
  }

  /** Adds the result of the row's next fired actuator. */
  answered(row: number, answer: KeptAnswer): void {
    this.history?.answered(row, this.#rows.count(row), answer)
    if (this.#vector !== undefined) {
      this.#vector.answered(row, answer)
      return
    }
    const record = row === this.#row ? this.#record : undefined
    if (record === undefined) return
    const place = record.answered++
    if (answer !== undefined) (record.answers ??= [])[place] = answer
  }

  /** Called when the row's message continues in the state machine. */
  opened(row: number, number: number): void {
    this.history?.opened(row, number)
    this.handOver(row, number)
    if (this.#vector !== undefined) {
      this.#vector.isOpened = true
      return
    }
    const record = this.#record
    if (record === undefined || row !== this.#row || record.number !== number) return
    record.isVoid = true
    this.#record = undefined
  }

  #gatesOf(before: number, after: number): number {
    const { keyMask, shape } = this.#rows
    const entry = ((before & keyMask) << shape.keyBits) | (after & keyMask)
    const known = this.#gates[entry] as number
    return known === 0 ? this.#changes(before, after, entry) : known - 1
  }

  #changed(before: number, after: number): number {
    let changed = 0
    for (const { mask, shift } of this.#rows.shape.sensors) if (((before ^ after) & (mask << shift)) !== 0) changed++
    return changed
  }

  #changes(before: number, after: number, entry: number): number {
    const rows = this.#rows
    const changes = gateChanges(evaluationOf(this.#model), rows.states(before), rows.states(after))
    this.#gates[entry] = changes + 1
    return changes
  }

  #newTask(row: number): RecordedTask {
    const { task, materializedCount } = this.#rows.handle(row) as RowHandle // a row that takes a message has a handle
    const { model, state } = task
    const { length } = this.#rows.shape.sensors
    const made: RecordedTask = {
      rows: this.#rows,
      task,
      model,
      run: state.run,
      inputs: state.inputs - materializedCount * (1 + length),
      invocations: state.invocations - materializedCount,
      why: this.#host.why,
    }
    this.#tasks[row] = made
    return made
  }
}
