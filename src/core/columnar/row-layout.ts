/**
 * Where a row's numbers stand. What every message touches lies in one buffer, what only firings touch in another, each
 * seen as whole numbers and as doubles, each row in as few cache lines as can be.
 */
import type { BatchShape } from './batch-shape.ts'
import { isCalled } from './computed-sensors.ts'

/** Doubles before the first row. A large buffer begins 16 bytes after a page, and rows shall begin where lines do. */
export const HEAD = 6
/** One of them takes writes that concern no row, which saves a branch. */
export const NOWHERE = 0

/** A row begins with whole numbers: state bits before the last message, and after it. They fill the first double. */
export const BEFORE = 0
export const AFTER = 1
/** Doubles: count and time of the last message; then the constants, then since when each node had its state before it. */
export const COUNT = 1
export const TIME = 2
const CONSTANTS = 3

/** A row's past has for each actuator: its last firing ... */
export const FIRED = 0
/** ... of that message: its count (-1: none since the last synchronization), firings before it, state bits before and after it ... */
export const AT_COUNT = 1
export const AT_FIRES = 2
export const AT_BITS = 3
/** ... then since when each node had its state before it, and when each actuator had fired. */
export const AT_SINCE = 4
/** What the highest bit says beside the bits before: the actuator had fired since the last synchronization; beside those after: it was held since. */
export const FLAG = 1 << 30
export const STATE_BITS = FLAG - 1
/** Behind all of them, where only holds come by: for each actuator its last hold and the trigger that was held. */
export const HELD = 0
export const HELD_BY = 1
const HOLD_NUMS = 2
/** The last doubles of a past: when the message was taken that a row keeps while it is indexed, and its number among those of its source ... */
const KEPT_NUMS = 2
export const KEPT_TIME = 0
export const KEPT_INDEX = 1
/**
 * ... then what messages did not run: state bits of each sensor before it ran last (-1: all messages ran all), which mean
 * nothing while the last message ran all; and since the last synchronization, sensors that were not run, and messages that
 * ran none. Beside the kept message: alternating field-set histories write both.
 */
const NOT_RUN_NUMS = 3
export const PRIOR = 0
export const MISSED = 1
export const SILENT = 2

/**
 * Objects of a row, next to each other in one list: its last message while it is indexed, its handle, firings since the
 * last synchronization, the field-set history of its last message while it is indexed, the message that it keeps when the field-set history alternates ...
 */
export const LAST = 0
export const HANDLE = 1
export const FIRES = 2
export const FIELD_SETS = 3
export const KEPT = 4
const OWN_OBJECTS = 5
/** ... and for each actuator: the message at which it fired last, its plug, its properties when they need nothing else, what came before that message */
export const FIRED_BY = 0
export const PLUG = 1
export const PROPERTIES = 2
export const FIRED_AFTER = 3
const ACTUATOR_OBJECTS = 4

const LINE = 8

export interface Layout {
  /** doubles per row, and of its past */
  readonly size: number
  readonly pastSize: number
  /** objects per row */
  readonly objects: number
  /** sensors and gates */
  readonly nodes: number
  readonly actuators: number
  readonly constants: number
  readonly since: number
  /** its sensors' plugs are called */
  readonly isCalled: boolean
  /** state bits before the message before the last, and its time, where sensors are called; else -1 */
  readonly earlier: number
  readonly blockSize: number
}

export function layoutOf(shape: BatchShape): Layout {
  const { actuators } = shape
  const nodes = shape.sensors.length + shape.gates
  const since = CONSTANTS + shape.constants
  const calls = shape.sensors.some(isCalled)
  const hasEarlier = calls
  const earlier = hasEarlier ? since + nodes : -1
  const size = lines(since + nodes + (hasEarlier ? 2 : 0))
  const blockSize = AT_SINCE + nodes + actuators
  const pastSize = lines((blockSize + HOLD_NUMS) * actuators + KEPT_NUMS + NOT_RUN_NUMS)
  const objects = OWN_OBJECTS + ACTUATOR_OBJECTS * actuators
  return { size, pastSize, objects, nodes, actuators, constants: CONSTANTS, since, isCalled: calls, earlier, blockSize }
}

function lines(doubles: number): number {
  return Math.ceil(doubles / LINE) * LINE
}

/** Place of an actuator's first object in those of a row. */
export function objectsAt(actuator: number): number {
  return OWN_OBJECTS + ACTUATOR_OBJECTS * actuator
}

/** Place of an actuator's first number in the past of a row. */
export function blockAt(layout: Layout, actuator: number): number {
  return layout.blockSize * actuator
}

/** Place of what is known of its last hold. */
export function holdAt(layout: Layout, actuator: number): number {
  return layout.blockSize * layout.actuators + HOLD_NUMS * actuator
}

/** Place of what is known of the message that it keeps. */
export function keptAt(layout: Layout): number {
  return (layout.blockSize + HOLD_NUMS) * layout.actuators
}

/** Place of what is known of messages that did not run all of its sensors. */
export function notRunAt(layout: Layout): number {
  return keptAt(layout) + KEPT_NUMS
}

/** Place in a block of when an actuator had fired before. */
export function firedBeforeAt(layout: Layout, actuator: number): number {
  return AT_SINCE + layout.nodes + actuator
}
