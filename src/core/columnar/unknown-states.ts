/**
 * Takes messages in which a compared or calculated value is not a number. Its sensor fails and has no state, and
 * sensors that it would have run do not run. A row takes such a message when nothing follows from it, and the next one,
 * in which all sensors succeed again, even with consequences. All other effects (the error, which nodes became unknown
 * and when) are found on demand by replaying the messages in the state machine, together with the message before where
 * sensors run others or return numbers.
 *
 * UNKNOWN-1 the bits of a sensor without a state contain its last state, which triggers use. The last gate states are
 *   stored separately while they differ from what the bits say; the row then takes the next message here, too
 * UNKNOWN-2 the two messages after it run all sensors, or use the full state: a row does not know which sensors failed
 * UNKNOWN-3 sensors that do not run because of it are counted as skipped (`NotRunCounts`), and so are the firings that
 *   would have run them
 */
import { UNKNOWN, type SensorNode } from '../graph/graph.ts'
import type { Message } from '../task/origin.ts'
import type { TaskModel } from '../task/run.ts'
import type { Generate } from '../engine/executor.ts'
import { evaluationSource } from './formula-code.ts'
import { stepsSource, isOfType, numberIn } from './value-source.ts'
import {
  MAX_FAILED,
  MAX_REPLAYED,
  detouredHistory,
  type FieldSetHistory,
  type KeptMessage,
  type Known,
  type TimedMessage,
  ALL_RAN,
  type FiredAfter,
} from './field-set-history.ts'
import type { Fields } from './message-fields.ts'
import type { Part } from './message-parts.ts'
import type { TaskState } from '../task/task-state.ts'
import { hasUnknown } from './standing-nodes.ts'
import { evaluationOf, outcomeWithout } from './possible-firings.ts'
import {
  AFTER,
  AT_COUNT,
  BEFORE,
  blockAt,
  COUNT,
  FIELD_SETS,
  FIRED_AFTER,
  LAST,
  objectsAt,
  TIME,
} from './row-layout.ts'
import type { RowHandle } from './row-handle.ts'
import { NOTHING, type RowStore } from './row-store.ts'
import type { RowCode } from './row-code.ts'
import { failsWith, numbersReadBy, parametersIn } from './sensor-formula.ts'
import type { BatchShape, ShapeSensor } from './batch-shape.ts'

/** The consequences of a message, as an index in the store's followings, and the resulting gate states. */
interface Outcome {
  readonly what: number
  readonly gates: number
}

const HAS_TO_BE_ASKED = -2

/** Evaluates a sensor. `value`: the number that it compares, or the message; `at`: index of the task's first constant. */
type Evaluate = (value: unknown, nums: Float64Array, at: number, numbers: number[]) => number

/** The sensors that one sensor depends on, as bits of their positions. */
interface Source {
  readonly sensor: ShapeSensor
  /** the sensor that runs it; 0: the message does */
  readonly runBy: number
  /** the sensors whose numbers it reads */
  readonly reads: number
}

/** The batch, which fires the consequences. */
export interface UnknownFirings {
  /** whether firings have a subscriber */
  readonly isObserved: boolean
  readonly code: Pick<RowCode, 'follow'>
}

export class UnknownStates {
  readonly #rows: RowStore
  readonly #model: TaskModel
  /** by failing sensors (bits of positions), then by key bits before and now, then by gate states before */
  readonly #outcomes = new Map<number, Map<number, Map<number, Outcome>>>()
  readonly isPossible: boolean
  /** number of sensors that did not run because others failed */
  notRun = 0
  /** by position */
  readonly #sources: readonly Source[]
  readonly #replaysLast: boolean
  readonly #firesAgain: boolean
  readonly #firings: UnknownFirings
  readonly #generate: Generate
  /** by position; generated on first use */
  readonly #evaluations: (Evaluate | undefined)[] = []
  #failed = 0
  #missed = 0
  #bits = 0

  /** `hasFailureSubscriber`: whether each failure has a subscriber */
  constructor(
    rows: RowStore,
    model: TaskModel,
    firings: UnknownFirings,
    hasFailureSubscriber: boolean,
    generate: Generate,
  ) {
    this.#generate = generate
    const { sensors, inner } = rows.shape
    this.#sources = sourcesOf(rows.shape, model)
    this.#replaysLast = inner || sensors.some(({ formula }) => formula !== undefined && formula.numbers.length > 0)
    this.#rows = rows
    this.#model = model
    this.#firings = firings
    this.#firesAgain = model.graph.triggers.every(({ policyMs }) => policyMs <= 0)
    this.isPossible =
      !hasFailureSubscriber &&
      model.settings.resetObservations &&
      rows.shape.edgeMask === 0 &&
      model.graph.sensors.every(({ call }) => call.retry === undefined) &&
      sensors.some(({ steps, formula }) => steps?.takesTexts === true || (formula?.properties ?? []).length > 0) &&
      sensors.every(({ steps, formula }) => steps !== undefined || formula !== undefined)
  }

  /**
   * Takes a message that runs all sensors, when some fail now or failed before. Returns false when the full state must
   * take it.
   */
  take(handle: RowHandle, message: Message, now: number, known: Known, { missing, carried, lacks }: Part): boolean {
    if (!this.isPossible || missing > 0 || carried.length > 0 || lacks.length > 0) return false
    const rows = this.#rows
    // Events of firings assume that all sensors run.
    if (rows.shape.inner && this.#firings.isObserved) return false
    const { row } = handle
    const odd = rows.oddGates.get(row)
    if (!this.#read(message, row) || (this.#failed === 0 && odd === undefined)) return false
    const before = rows.after(row)
    const gates = odd?.now ?? rows.gatesOf(before)
    const outcome = this.#outcome(before, gates)
    if (outcome.what !== NOTHING && !this.#canFire) return false
    if (this.#failed !== 0 && !this.#note(handle, message, now, known)) return false
    this.#set(row, now, this.#bits, outcome.gates)
    if (this.#missed > 0) {
      rows.addNotRun(row, this.#missed, 0)
      this.notRun += this.#missed
    }
    if (this.#failed === 0) return this.#regain(row, message, known.fieldSets, outcome.what)
    if (handle.unknown?.from?.count === rows.count(row)) this.#copySince(row, handle.unknown.from.since)
    return true
  }

  /** Takes such a message as the next one of an indexed row. */
  takeAlone(handle: RowHandle, message: Message, fields: Fields, part: Part): boolean {
    const { objects, layout, clock, oddGates } = this.#rows
    const own = handle.row * layout.objects
    const last = this.#rows.fieldSetHistories.of(handle.row)
    const fieldSets = 'own' in last ? last.own : last
    const known = { fieldSets, message: objects[own + LAST] as Message | undefined, before: fieldSets }
    if (fieldSets.fields !== fields || !this.take(handle, message, clock[0] ?? 0, known, part)) return false
    objects[own + FIELD_SETS] = oddGates.has(handle.row) ? detouredHistory(fieldSets) : fieldSets
    objects[own + LAST] = message
    return true
  }

  /** Returns `count` if the full state does not know all states after that message, otherwise -1. */
  placeIn(state: TaskState, count: number): number {
    if (!hasUnknown(state)) return -1
    this.#rows.hadUnknown = true
    return count
  }

  #read(message: Message, row: number): boolean {
    const constants = this.#rows.at(row) + this.#rows.layout.constants
    const before = this.#rows.after(row)
    this.#failed = 0
    this.#missed = 0
    this.#bits = 0
    const numbers: number[] = []
    for (const [position, { sensor, runBy, reads }] of this.#sources.entries()) {
      const { shift: at, mask } = sensor
      const isRun = (this.#failed & runBy) === 0
      // A failing sensor keeps its last numbers, which a row does not know.
      if (isRun && (this.#failed & reads) !== 0) return false
      const state = isRun ? this.#shown(sensor, position, message, constants, numbers) : UNKNOWN
      if (state === HAS_TO_BE_ASKED) return false
      if (!isRun) this.#missed++
      if (state === UNKNOWN) this.#failed |= 1 << position
      this.#bits |= state === UNKNOWN ? before & (mask << at) : state << at
    }
    return true
  }

  #shown({ steps, formula }: ShapeSensor, position: number, message: Message, at: number, numbers: number[]): number {
    if (formula !== undefined) {
      if (formula.properties.some((property) => failsWith(property, message[property.parameter]))) return UNKNOWN
      const isAsWanted = parametersIn(formula).every(([name, type]) => isOfType(message[name], type))
      return isAsWanted ? this.#evaluation(position)(message, this.#rows.nums, at, numbers) : HAS_TO_BE_ASKED
    }
    const value = numberIn(message[steps?.parameter ?? ''], steps?.takesTexts === true)
    if (value === undefined || steps === undefined) return HAS_TO_BE_ASKED
    return Number.isNaN(value) ? UNKNOWN : this.#evaluation(position)(value, this.#rows.nums, at, numbers)
  }

  #evaluation(position: number): Evaluate {
    return (this.#evaluations[position] ??= this.#newEvaluation(this.#rows.shape.sensors[position] as ShapeSensor))
  }

  #newEvaluation({ steps, formula }: ShapeSensor): Evaluate {
    const limit = (place: number): string => `nums[at + ${place}]`
    const made = steps
      ? this.#generate(['v0', 'nums', 'at'], `return ${stepsSource(steps, [steps.parameter], limit)}`)
      : this.#generate(['message', 'nums', 'at', 'numbers'], formula ? evaluationSource(formula, HAS_TO_BE_ASKED) : '')
    return made as Evaluate
  }

  #note(
    handle: RowHandle,
    message: Message,
    now: number,
    { fieldSets, message: last, before: lastFieldSets }: Known,
  ): boolean {
    const rows = this.#rows
    const { row, materializedCount } = handle
    const count = rows.count(row)
    const own = { message, time: now }
    if (rows.hasUnknown(row)) {
      const unknownAt = rows.unknownAt[row] as number
      const seen = Math.max(unknownAt, materializedCount)
      const isNear = materializedCount >= unknownAt
      const fired = count > seen ? rows.fires(row) - rows.firesBefore(row, count) : 0
      if ((count > seen && last === undefined) || (fired > 0 && !this.#firesAgain)) return false
      const since = count > seen ? [{ message: last as Message, time: rows.time(row) }, own] : [own]
      const replayed: TimedMessage[] = isNear ? since : [...(handle.unknown?.replayed ?? []), ...since]
      if (replayed.length > MAX_REPLAYED) return false
      const earlier = isNear ? undefined : handle.unknown
      handle.unknown = { from: earlier?.from, replayed, fired: (earlier?.fired ?? 0) + fired }
    } else {
      const isSeen = count === materializedCount
      if (!isSeen && (last === undefined || lastFieldSets === undefined || !rows.ranAll(lastFieldSets))) return false
      const { missed, silent } = rows.notRun(row) ?? ALL_RAN
      const since: number[] = []
      for (let n = 0; n < rows.layout.nodes; n++) since.push(0)
      const from = { since, missed: { missed, silent }, prior: rows.before(row), last: undefined }
      if (isSeen || !this.#replaysLast) {
        const kept = { message: last, fields: lastFieldSets?.fields, time: rows.time(row), index: -1, older: undefined }
        const before = rows.after(row)
        const known = { ...from, count: count + 1, fieldSets, before, last: isSeen ? undefined : (kept as KeptMessage) }
        handle.unknown = { from: known, replayed: [own], fired: 0 }
      } else {
        const fired = rows.fires(row) - rows.firesBefore(row, count)
        if (fired > 0 && !this.#firesAgain) return false
        this.#copySince(row, since)
        const known = { ...from, count, fieldSets: lastFieldSets as FieldSetHistory, before: rows.before(row) }
        const replayed = [{ message: last as Message, time: rows.time(row) }, own]
        handle.unknown = { from: known, replayed, fired }
      }
    }
    rows.hadUnknown = true
    rows.unknownAt[row] = count + 1
    // Messages that run no sensor do not begin an invocation.
    handle.failed.push(count + 1 - (rows.notRun(row)?.silent ?? 0))
    if (handle.failed.length > MAX_FAILED) handle.failed.shift()
    return true
  }

  /** Stores the current message. `gates`: the resulting gate states. */
  #set(row: number, now: number, bits: number, gates: number): void {
    const rows = this.#rows
    const { nums, ints, layout } = rows
    const d = rows.at(row)
    const before = rows.after(row)
    const earlier = rows.oddGates.get(row)?.now ?? rows.gatesOf(before)
    if (layout.earlier !== -1) {
      nums[d + layout.earlier] = rows.before(row)
      nums[d + layout.earlier + 1] = rows.time(row)
    }
    this.#shift(row)
    ints[2 * d + BEFORE] = before
    ints[2 * d + AFTER] = bits
    nums[d + COUNT] = rows.count(row) + 1
    nums[d + TIME] = now
    if (gates === rows.gatesOf(bits) && earlier === rows.gatesOf(before)) rows.oddGates.delete(row)
    else rows.oddGates.set(row, { before: earlier, now: gates })
  }

  #copySince(row: number, since: number[]): void {
    const { nums, layout } = this.#rows
    const first = this.#rows.at(row) + layout.since
    for (let n = 0; n < layout.nodes; n++) since[n] = nums[first + n] ?? 0
  }

  /** Moves the row's current states to the previous ones; changed nodes entered their states at the last message. */
  #shift(row: number): void {
    const rows = this.#rows
    const { nums, ints, layout, shape } = rows
    const d = rows.at(row)
    const [before, after] = [rows.before(row), rows.after(row)]
    const odd = rows.oddGates.get(row)
    const gates = odd === undefined ? rows.gatesOf(before) ^ rows.gatesOf(after) : odd.before ^ odd.now
    const since = d + layout.since
    for (const { slot, shift, mask } of shape.sensors)
      if ((before ^ after) & (mask << shift)) nums[since + slot] = rows.time(row)
    for (let g = 0; g < shape.gates; g++) if ((gates >> g) & 1) nums[since + shape.sensors.length + g] = rows.time(row)
    ints[2 * d + BEFORE] = after
    if (odd !== undefined) rows.oddGates.set(row, { before: odd.now, now: odd.now })
  }

  get #canFire(): boolean {
    return this.#failed === 0 && !this.#firings.isObserved
  }

  /**
   * Handles a message after which the bits determine the gate states again. Node changes are stored now, because code
   * that reads only the bits would miss them. Consequences are computed from the state before it.
   */
  #regain(row: number, message: Message, fieldSets: FieldSetHistory, what: number): true {
    const rows = this.#rows
    const gates = rows.oddGates.get(row)?.before
    if (what !== NOTHING) {
      const handle = rows.handle(row)
      rows.fieldSets = fieldSets
      this.#firings.code.follow(row, what, message)
      // A call may have continued in the state machine, which refills the row.
      if (rows.handle(row) !== handle || rows.oddGates.get(row)?.before !== gates) return true
      if (gates !== undefined) keepGates(rows, row, gates)
    }
    this.#shift(row)
    rows.oddGates.delete(row)
    return true
  }

  #outcome(before: number, gates: number): Outcome {
    const rows = this.#rows
    const failed = this.#failed
    const [from, to] = [before & rows.keyMask, this.#bits & rows.keyMask]
    let byKeys = this.#outcomes.get(failed)
    if (byKeys === undefined) this.#outcomes.set(failed, (byKeys = new Map<number, Map<number, Outcome>>()))
    const key = (from << rows.shape.keyBits) | to
    let byGates = byKeys.get(key)
    if (byGates === undefined) byKeys.set(key, (byGates = new Map<number, Outcome>()))
    const known = byGates.get(gates)
    if (known !== undefined) return known
    const { graph } = this.#model
    const order = rows.shape.sensors.map(({ slot }) => graph.sensors[slot] as SensorNode)
    const answering = new Set(order.filter((_, position) => ((failed >> position) & 1) === 0))
    const states = { before: rows.states(from), now: rows.states(to), gates }
    const { firings, gates: after } = outcomeWithout(evaluationOf(this.#model), answering, states)
    const outcome = { what: rows.place(firings, to), gates: after }
    byGates.set(gates, outcome)
    return outcome
  }
}

function sourcesOf({ sensors }: BatchShape, { graph }: TaskModel): readonly Source[] {
  const bitOf = (slot: number | undefined): number => {
    const position = sensors.findIndex((sensor) => sensor.slot === slot)
    return position === -1 ? 0 : 1 << position
  }
  const givers = sensors.map(({ formula }) => {
    const { first = 0, numbers = [] } = formula ?? {}
    return { first, end: first + numbers.length }
  })
  return sensors.map((sensor, position) => {
    const trigger = graph.triggers.find(({ destination }) => destination === graph.sensors[sensor.slot])
    let reads = 0
    for (const place of sensor.formula === undefined ? [] : numbersReadBy(sensor.formula)) {
      const giver = givers.findIndex(({ first, end }) => first <= place && place < end)
      if (giver !== position) reads |= 1 << giver
    }
    return { sensor, runBy: bitOf(trigger?.source.slot), reads }
  })
}

function keepGates(rows: RowStore, row: number, gates: number): void {
  const { objects, past, layout } = rows
  const count = rows.count(row)
  for (let a = 0; a < layout.actuators; a++) {
    if (past[rows.pastAt(row) + blockAt(layout, a) + AT_COUNT] !== count) continue
    const place = row * layout.objects + objectsAt(a) + FIRED_AFTER
    const after = objects[place] as FieldSetHistory | FiredAfter
    const { fieldSets, missed, silent } = 'fieldSets' in after ? after : { fieldSets: after, missed: 0, silent: 0 }
    objects[place] = { fieldSets, missed, silent, gates }
  }
}
