/**
 * Holds the last number of each member of a group: plain JSON that changes in place, with an index and an order that are
 * made again after a restart.
 */
import { keptPlain } from '#plug'
import { RankedSlots } from './ranked-slots.ts'

/** The members are slots of parallel lists, linked from the oldest number to the newest. */
export interface MemberValues {
  readonly ids: string[]
  readonly numbers: number[]
  readonly times: number[]
  readonly later: number[]
  readonly earlier: number[]
  readonly free: number[]
  /** slots; -1: none */
  oldest: number
  newest: number
  count: number
  /** the sum and the error of its rounding, so that it stays exact while numbers come and go */
  sum: number
  error: number
}

const NONE = -1
const INDEXES = new WeakMap<MemberValues, Map<string, number>>()
const ORDERS = new WeakMap<MemberValues, RankedSlots>()

export function memberValues(state: unknown): MemberValues {
  return keptPlain(isMemberValues(state) ? state : empty())
}

function empty(): MemberValues {
  const lists = { ids: [], numbers: [], times: [], later: [], earlier: [], free: [] }
  return { ...lists, oldest: NONE, newest: NONE, count: 0, sum: 0, error: 0 }
}

/** Sets the number of a member. Times must not decrease between calls, over all members. */
export function setValue(values: MemberValues, id: string, at: number, number: number): void {
  removeValue(values, id)
  const slot = values.free.pop() ?? values.ids.length
  values.ids[slot] = id
  values.numbers[slot] = number
  values.times[slot] = at
  values.later[slot] = NONE
  values.earlier[slot] = values.newest
  if (values.newest === NONE) values.oldest = slot
  else values.later[values.newest] = slot
  values.newest = slot
  values.count++
  add(values, number)
  indexOf(values).set(id, slot)
  ORDERS.get(values)?.insert(slot)
}

export function removeValue(values: MemberValues, id: string): void {
  const slot = indexOf(values).get(id)
  if (slot !== undefined) removeSlot(values, slot)
}

/** Removes numbers of a time up to `limit`, epoch ms. */
export function removeUntil(values: MemberValues, limit: number): void {
  while (values.oldest !== NONE && at(values.times, values.oldest) <= limit) removeSlot(values, values.oldest)
}

/** Returns the time of the oldest number, epoch ms; undefined without one. */
export function oldestTime(values: MemberValues): number | undefined {
  return values.oldest === NONE ? undefined : at(values.times, values.oldest)
}

/** Returns the members by their numbers, made when first needed. */
export function orderOf(values: MemberValues): RankedSlots {
  let order = ORDERS.get(values)
  if (order === undefined) {
    order = new RankedSlots(values.numbers, values.ids)
    for (let slot = values.oldest; slot !== NONE; slot = at(values.later, slot)) order.insert(slot)
    ORDERS.set(values, order)
  }
  return order
}

export function sumOf({ sum, error }: MemberValues): number {
  return sum + error
}

function removeSlot(values: MemberValues, slot: number): void {
  ORDERS.get(values)?.remove(slot)
  indexOf(values).delete(values.ids[slot] ?? '')
  const [earlier, later] = [at(values.earlier, slot), at(values.later, slot)]
  if (earlier === NONE) values.oldest = later
  else values.later[earlier] = later
  if (later === NONE) values.newest = earlier
  else values.earlier[later] = earlier
  values.free.push(slot)
  values.count--
  if (values.count === 0) Object.assign(values, { sum: 0, error: 0 })
  else add(values, -at(values.numbers, slot))
}

/** Adds with twice the precision: the exact error of each sum is added up beside it. */
function add(values: MemberValues, number: number): void {
  const sum = values.sum + number
  const part = sum - values.sum
  values.error += values.sum - (sum - part) + (number - part)
  values.sum = sum
}

function indexOf(values: MemberValues): Map<string, number> {
  let index = INDEXES.get(values)
  if (index === undefined) {
    index = new Map()
    for (let slot = values.oldest; slot !== NONE; slot = at(values.later, slot)) index.set(values.ids[slot] ?? '', slot)
    INDEXES.set(values, index)
  }
  return index
}

function at(list: readonly number[], index: number): number {
  return list[index] ?? NONE
}

function isMemberValues(state: unknown): state is MemberValues {
  return typeof state === 'object' && state !== null && 'ids' in state && 'oldest' in state
}
