/** What rows do in a page or process that forbids generated code. */
import type { Message } from '../task/origin.ts'
import type { AlternatingEra, Era } from './message-eras.ts'
import type { Part } from './message-parts.ts'
import { isOfType, parametersOf, typesOf } from './read-parameters.ts'
import { type RowCode, type RowEvents, type TakeAll, type TakePart, type Values } from './row-code.ts'
import {
  AFTER,
  AT_BITS,
  AT_COUNT,
  AT_FIRES,
  AT_SINCE,
  BEFORE,
  blockAt,
  COUNT,
  ERA,
  FIRED,
  FIRED_AFTER,
  FIRED_BY,
  firedBeforeAt,
  FIRES,
  FLAG,
  HELD,
  HELD_BY,
  holdAt,
  LAST,
  objectsAt,
  HANDLE,
  TIME,
  type Layout,
} from './row-layout.ts'
import { chosen } from './followings.ts'
import { NOTHING, type RowStore, type SensorCall } from './row-store.ts'
import type { ShapeSensor, BatchShape } from './batch-shape.ts'
import type { SensorSteps } from './computed-sensors.ts'
import { formulaState, workOut, type FormulaValues } from './formula-code.ts'

/** Rows without generated code. */
export function interpretedRows(rows: RowStore, batch: RowEvents): RowCode {
  const { shape, layout } = rows
  const parameters = parametersOf(shape)
  const readers = shape.sensors.map(({ steps }) => (steps ? parameters.indexOf(steps.parameter) : -1))
  const keyMask = 2 ** shape.keyBits - 1
  const types = typesOf(shape)
  const values: unknown[] = parameters.map(() => 0)
  const { isCalled } = layout

  const read = (message: Values, { runs }: Part): boolean => {
    const sensors = shape.sensors.filter(({ slot }) => runs[slot])
    for (const name of parametersOf({ ...shape, sensors })) {
      const i = parameters.indexOf(name)
      const value = message[name]
      if (!isOfType(value, types.get(name))) return false
      values[i] = value
    }
    return true
  }
  let place = 0
  const worked: FormulaValues = {
    parameter: (name) => values[parameters.indexOf(name)],
    constant: (constant) => rows.nums[place + layout.constants + constant] ?? 0,
    numbers: [],
  }
  const canTake = (row: number): boolean => {
    place = rows.at(row)
    return workOut(shape, worked)
  }
  const follow = (row: number, what: number, message: Values): void => {
    const { objects } = rows
    const own = row * layout.objects
    const handle = objects[own + HANDLE]
    if (handle === undefined) return
    batch.current = message as Message
    batch.currentRow = row
    const now = rows.clock[0] ?? 0
    let firings = 0
    let held = 0
    const list = rows.followings[rows.known(row, what)] ?? []
    batch.records?.follows(row, list, earlierOf(rows, row))
    batch.history?.follows(row)
    if (list[0]?.isEarly === true) rows.keepPast(row)
    for (const [i, first] of list.entries()) {
      const { past, pastInts } = rows
      const { actuator } = first
      const b = rows.pastAt(row) + blockAt(layout, actuator)
      const firedAt = past[b + FIRED] ?? 0
      const one = chosen(first, now, firedAt)
      const until = firedAt + one.policyMs
      const isHeld = now < until
      // One that nobody wants to hear of still counts among those of its message.
      const tells = isHeld && list.length === 1 ? batch.tellsHeld : batch.tells
      if (tells && !batch.tellFiring(row, list, i, one, until)) return
      if (isHeld) {
        const hold = rows.pastAt(row) + holdAt(layout, actuator)
        past[hold + HELD] = now
        past[hold + HELD_BY] = one.trigger
        pastInts[2 * (b + AT_BITS) + 1] = (pastInts[2 * (b + AT_BITS) + 1] ?? 0) | FLAG
        held++
        continue
      }
      const place = own + objectsAt(actuator)
      keep(rows, row, actuator, rows.count(row))
      objects[place + FIRED_BY] = message
      objects[place + FIRED_AFTER] = rows.firedAfter(row)
      const after = 2 * rows.at(row) + AFTER
      rows.ints[after] = ((rows.ints[after] ?? 0) & ~one.edgeMask) | one.edges
      objects[own + FIRES] = rows.fires(row) + 1
      past[b + FIRED] = now
      firings++
      if (!batch.fire(row, place, actuator, one.trigger)) return
      if (objects[own + HANDLE] !== handle) break
    }
    batch.followed(firings, held)
  }
  const take = (row: number, message: Values, part: Part): void => {
    const isWhole = part.missing === 0
    const d = rows.at(row)
    const before = rows.ints[2 * d + AFTER] ?? 0
    if (layout.earlier !== -1) {
      rows.nums[d + layout.earlier] = rows.ints[2 * d + BEFORE] ?? 0
      rows.nums[d + layout.earlier + 1] = rows.nums[d + TIME] ?? 0
    }
    shift(rows, shape, layout, d)
    const count = (rows.nums[d + COUNT] ?? 0) + 1
    rows.nums[d + COUNT] = count
    rows.nums[d + TIME] = rows.clock[0] ?? 0
    let bits = before & (isWhole ? shape.edgeMask : ~part.mask)
    const rawData = isCalled ? batch.beginCalls(row, message) : []
    if (rawData === null) return
    for (let p = 0; p < shape.sensors.length; p++) {
      const { slot, steps, formula, shift: at } = shape.sensors[p] as ShapeSensor
      if (!part.runs[slot]) continue
      const state = formula
        ? formulaState(formula, worked)
        : steps === undefined
          ? batch.call(rows.sensorCalls[row * shape.sensors.length + p] as SensorCall, p, bits, rawData, undefined)
          : stateOf(steps, values[readers[p] ?? 0] as number, rows.nums, d + layout.constants + steps.constant)
      if (state < 0) return
      bits |= state << at
    }
    if (isCalled ? !batch.endCalls(row, bits) : batch.tellsInner && !batch.tellInner(row, bits, message)) return
    rows.ints[2 * d + AFTER] = rows.seen(bits, part)
    if (batch.records !== undefined) {
      const time = rows.nums[d + TIME] ?? 0
      batch.records.add(row, message, count, time, before, bits, shape.inner ? earlierOf(rows, row) : undefined)
    }
    if (batch.history !== undefined) {
      batch.history.add(row, message, count, rows.nums[d + TIME] ?? 0, before, bits)
      if (isCalled) batch.history.gave(row, count)
      if (shape.inner) batch.history.follows(row)
    }
    const what = part.table[((before & keyMask) << shape.keyBits) | (bits & keyMask)] ?? 0
    if (what !== NOTHING) follow(row, isWhole ? what : rows.knownOf(row, part, what), message)
  }
  const takePart: TakePart = (row, message, fields, part) => {
    if (rows.isWaiting(row) || !read(message, part) || !canTake(row)) return false
    if (part.missing > 0 ? rows.hasUnknown(row) : rows.oddGates.has(row)) return false
    const { objects } = rows
    const own = row * layout.objects
    const era = objects[own + ERA] as Era | AlternatingEra
    const turns = era.fields !== fields
    if (turns && !rows.eras.turn(row, fields, part)) return false
    if (part.missing > 0) rows.takesPart(row, part, turns && rows.ranAll(era))
    rows.era = undefined
    take(row, message, part)
    objects[own + LAST] = message
    batch.taken++
    batch.current = undefined
    return true
  }
  const takeAll: TakeAll = (list, from, message, part, isFirst) => {
    if (!read(message, part)) return from
    for (let i = from; i < list.length; i++) {
      const row = list[i] ?? 0
      if (rows.isWaiting(row) || !canTake(row)) return i
      if (part.missing > 0 ? rows.hasUnknown(row) : rows.oddGates.has(row)) return i
      if (part.missing > 0) rows.takesPart(row, part, isFirst)
      take(row, message, part)
    }
    return list.length
  }
  return {
    takeOne: (_, others) => others,
    takePart: () => takePart,
    takeAll: () => takeAll,
    follow,
  }
}

/** Since when each node had its state before the message, then when each actuator had fired. */
function earlierOf(rows: RowStore, row: number): readonly number[] {
  const { nums, past, layout } = rows
  const since = rows.at(row) + layout.since
  const p = rows.pastAt(row)
  const earlier = Array.from({ length: layout.nodes }, (_, n) => nums[since + n] ?? 0)
  for (let a = 0; a < layout.actuators; a++) earlier.push(past[p + blockAt(layout, a) + FIRED] ?? 0)
  return earlier
}

/** Copies what a synchronize needs of the message at which an actuator fires. */
function keep(rows: RowStore, row: number, actuator: number, count: number): void {
  const { nums, ints, past, pastInts, layout } = rows
  const d = rows.at(row)
  const p = rows.pastAt(row)
  const b = p + blockAt(layout, actuator)
  const fires = rows.firesBefore(row, count)
  for (let a = 0; a < layout.actuators; a++) {
    const other = p + blockAt(layout, a)
    // One that fired earlier in this very message had fired before it when its own block says.
    const fired = past[other + AT_COUNT] === count ? firedBeforeAt(layout, a) : FIRED
    past[b + firedBeforeAt(layout, a)] = past[other + fired] ?? 0
  }
  const hadFired = past[b + AT_COUNT] === -1 ? 0 : FLAG
  past[b + AT_COUNT] = count
  past[b + AT_FIRES] = fires
  pastInts[2 * (b + AT_BITS)] = (ints[2 * d + BEFORE] ?? 0) | hadFired
  pastInts[2 * (b + AT_BITS) + 1] = ints[2 * d + AFTER] ?? 0
  for (let n = 0; n < layout.nodes; n++) past[b + AT_SINCE + n] = nums[d + layout.since + n] ?? 0
}

/** What a row showed becomes what it showed before; nodes that had changed have their state since the last message. */
export function shift({ ints, nums, gateBits }: RowStore, shape: BatchShape, layout: Layout, d: number): void {
  const before = ints[2 * d + BEFORE] ?? 0
  const after = ints[2 * d + AFTER] ?? 0
  const changed = before ^ after
  if (changed === 0) return
  const last = nums[d + TIME] ?? 0
  const since = d + layout.since
  for (const { slot, shift: at, mask } of shape.sensors) if (changed & (mask << at)) nums[since + slot] = last
  const keyMask = 2 ** shape.keyBits - 1
  const gates = (gateBits[before & keyMask] ?? 0) ^ (gateBits[after & keyMask] ?? 0)
  for (let g = 0; g < shape.gates; g++) if (gates & (1 << g)) nums[since + shape.sensors.length + g] = last
  ints[2 * d + BEFORE] = after
}

/** The state index of a comparison: `at` is the place of its first cut. */
export function stateOf(steps: SensorSteps, value: number, nums: ArrayLike<number>, at: number): number {
  for (let i = 0; i < steps.cuts; i++) {
    const cut = nums[at + i] ?? 0
    if (value < cut) return steps.states[2 * i] ?? 0
    if (value === cut) return steps.states[2 * i + 1] ?? 0
  }
  return steps.states[2 * steps.cuts] ?? 0
}
