/**
 * Messages in which a value that is compared is no number, so that its sensor fails and has no state: a row takes them by
 * itself when nothing follows and the next message finds the row's bits as they should be. All else about them (the error,
 * what became unknown and when) is made up by taking them through the state machine when somebody looks.
 *
 * UNKNOWN-1 the bits of a sensor without a state are those of its last one, which is what triggers ask for; so are the
 *   gates', or the message goes by the full state
 * UNKNOWN-2 the two messages after it run all sensors, or go by the full state: a row does not know which of them had none
 */
import { UNKNOWN, type SensorNode } from '../graph/graph.ts'
import { numberOfText } from '../plug/field-type.ts'
import type { Message } from '../task/origin.ts'
import { formulaState, type FormulaValues } from './formula-code.ts'
import { shift, stateOf } from './interpreted-rows.ts'
import type { KeptMessage, Known } from './message-eras.ts'
import type { Part } from './message-parts.ts'
import type { TaskState } from '../task/task-state.ts'
import { hasUnknown } from './standing-nodes.ts'
import { outcomeWithout } from './possible-firings.ts'
import { isOfType } from './read-parameters.ts'
import { AFTER, BEFORE, COUNT, TIME } from './row-layout.ts'
import type { RowHandle } from './row-handle.ts'
import type { RowStore } from './row-store.ts'
import { parametersIn, type SensorFormula } from './sensor-formula.ts'

export class UnknownStates {
  readonly #rows: RowStore
  /** by sensors that fail, as bits of their positions, then by key bits before and now: whether a row can take it */
  readonly #known = new Map<number, Map<number, boolean>>()
  readonly #isPossible: boolean

  /** `tellsFailures`: each failure is told to somebody */
  constructor(rows: RowStore, tellsFailures: boolean) {
    const { sensors, inner } = rows.shape
    this.#rows = rows
    this.#isPossible =
      !tellsFailures &&
      !inner &&
      sensors.some(({ steps }) => steps?.takesTexts === true) &&
      sensors.every(({ steps, formula }) => steps !== undefined || formula?.numbers.length === 0)
  }

  /** Takes a message that runs all sensors; false when the full state has to. */
  take(handle: RowHandle, message: Message, now: number, known: Known, { missing, carried, lacks }: Part): boolean {
    const { era, message: last, before: lastEra } = known
    const rows = this.#rows
    const { row } = handle
    if (missing > 0 || carried.length > 0 || lacks.length > 0) return false
    if (!this.#isPossible || rows.hasUnknown(row) || !handle.task.model.settings.resetObservations) return false
    const isSeen = rows.count(row) === handle.materializedCount
    if (!isSeen && (last === undefined || lastEra === undefined || !rows.ranAll(lastEra))) return false
    const { nums, ints, layout, shape, keyMask } = rows
    const d = rows.at(row)
    const before = rows.after(row)
    let failed = 0
    let bits = 0
    for (const [position, { steps, formula, shift: at, mask }] of shape.sensors.entries()) {
      let state: number
      if (formula !== undefined) state = this.#calculated(formula, message, d)
      else {
        const value = numberIn(message[steps?.parameter ?? ''], steps?.takesTexts === true)
        if (value === undefined) return false
        state =
          steps === undefined || Number.isNaN(value)
            ? UNKNOWN
            : stateOf(steps, value, nums, d + layout.constants + steps.constant)
        if (state === UNKNOWN) failed |= 1 << position
      }
      if (state === UNKNOWN && formula !== undefined) return false
      bits |= state === UNKNOWN ? before & (mask << at) : state << at
    }
    if (failed === 0 || !this.#isEasy(handle, failed, before & keyMask, bits & keyMask)) return false
    const count = rows.count(row) + 1
    const prior = rows.before(row)
    const kept = {
      message: last,
      fields: lastEra?.fields,
      time: rows.time(row),
      index: -1,
      older: undefined,
    } as KeptMessage
    if (layout.earlier !== -1) {
      nums[d + layout.earlier] = rows.before(row)
      nums[d + layout.earlier + 1] = rows.time(row)
    }
    shift(rows, shape, layout, d)
    ints[2 * d + BEFORE] = before
    ints[2 * d + AFTER] = bits
    nums[d + COUNT] = count
    nums[d + TIME] = now
    const since = Array.from({ length: layout.nodes }, (_, n) => nums[d + layout.since + n] ?? 0)
    rows.hadUnknown = true
    handle.unknownAt = count
    handle.unknown = { message, count, time: now, era, before, since, last: isSeen ? undefined : kept, prior }
    const { state } = handle.task
    const silent = rows.partly(row)?.silent ?? 0
    handle.failed.push(state.invocations + count - handle.materializedCount - silent)
    if (handle.failed.length > MAX_FAILED) handle.failed.shift()
    return true
  }

  /** The count of a message after which a full state knows not all states, else -1. */
  placeIn(state: TaskState, count: number): number {
    if (!hasUnknown(state)) return -1
    this.#rows.hadUnknown = true
    return count
  }

  /** The state of a sensor that asks for truths, texts and finite numbers; UNKNOWN when one of them is none. */
  #calculated(formula: SensorFormula, message: Message, d: number): number {
    if (parametersIn(formula).some(([name, type]) => !isOfType(message[name], type))) return UNKNOWN
    const { nums, layout } = this.#rows
    const values: FormulaValues = {
      parameter: (name) => message[name],
      constant: (place) => nums[d + layout.constants + place] ?? 0,
      numbers: [],
    }
    return formulaState(formula, values)
  }

  #isEasy({ task }: RowHandle, failed: number, before: number, now: number): boolean {
    const rows = this.#rows
    let byKeys = this.#known.get(failed)
    if (byKeys === undefined) this.#known.set(failed, (byKeys = new Map<number, boolean>()))
    const key = (before << rows.shape.keyBits) | now
    const known = byKeys.get(key)
    if (known !== undefined) return known
    const { graph, settings } = task.model
    const answers = rows.shape.sensors.filter((_, position) => ((failed >> position) & 1) === 0)
    const order = rows.shape.sensors.map(({ slot }) => graph.sensors[slot] as SensorNode)
    const answering = new Set(answers.map(({ slot }) => graph.sensors[slot] as SensorNode))
    const needsAll = settings.gatesNeedFullObservation
    const { follows, isRegular } = outcomeWithout(
      graph,
      order,
      answering,
      rows.states(before),
      rows.states(now),
      needsAll,
    )
    byKeys.set(key, !follows && isRegular)
    return !follows && isRegular
  }
}

/** More are out of every window. */
const MAX_FAILED = 64

/** As `streamNumber`: NaN when that fails. Undefined: the plug has to be asked. */
function numberIn(value: unknown, takesTexts: boolean): number | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (!takesTexts || value === undefined) return undefined
  if (typeof value === 'boolean') return value ? 1 : 0
  return numberOfText(value) ?? Number.NaN
}
