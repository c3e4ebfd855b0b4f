/**
 * Defines where a row's numbers are stored. One buffer contains what each message touches, another what only firings
 * touch. Both are viewed as integers and as doubles, and each row spans as few cache lines as possible.
 */
import type { BatchShape } from './batch-shape.ts'
import { isCalled } from './computed-sensors.ts'

/** Doubles before the first row. A large buffer starts 16 bytes into a page, and rows should start at cache lines. */
export const HEAD = 6
/** One of the doubles before the rows takes writes that concern no row, which saves a branch. */
export const NOWHERE = 0

/** The first double of a row contains two integers: the state bits before and after the last message. */
export const BEFORE = 0
export const AFTER = 1
/**
 * Next, as doubles: count and time of the last message, the constants, and when each node had entered the state that it
 * had before that message.
 */
export const COUNT = 1
export const TIME = 2
const CONSTANTS = 3

/** The past of a row contains a block for each actuator: its last firing ... */
export const FIRED = 0
/**
 * ... then, for the message that fired it: count (-1: none since the last synchronization), firings before it, state
 * bits before and after it ...
 */
export const AT_COUNT = 1
export const AT_FIRES = 2
export const AT_BITS = 3
/** ... then when each node had entered its state before that message, and when each actuator had last fired. */
export const AT_SINCE = 4
/**
 * Flag in the highest bit. In the bits before: the actuator had fired since the last synchronization. In the bits
 * after: it has been held back since.
 */
export const FLAG = 1 << 30
export const STATE_BITS = FLAG - 1
/** Stored after all blocks, where only holds reach: each actuator's last hold, and the trigger that was held back. */
export const HELD = 0
export const HELD_BY = 1
const HOLD_NUMS = 2
/**
 * Last part of a past: what messages did not run: the state bits that each sensor had before its last run (-1: each
 * message ran all; meaningless while the last message ran all), and the numbers of skipped sensors and of messages
 * without sensors since the last synchronization.
 */
const NOT_RUN_NUMS = 3
export const PRIOR = 0
export const MISSED = 1
export const SILENT = 2

/**
 * Offsets of a row's objects in one list: last message (while indexed), handle, firings since the last synchronization,
 * field-set history of the last message (while indexed) ...
 */
export const LAST = 0
export const HANDLE = 1
export const FIRES = 2
export const FIELD_SETS = 3
const OWN_OBJECTS = 4
/**
 * ... and for each actuator: the message that last fired it, its plug, its properties if they are fixed, and what
 * preceded that message
 */
export const FIRED_BY = 0
export const PLUG = 1
export const PROPERTIES = 2
export const FIRED_AFTER = 3
const ACTUATOR_OBJECTS = 4

const LINE = 8

export interface Layout {
  /** doubles per row, and per past of a row */
  readonly size: number
  readonly pastSize: number
  readonly objects: number
  /** number of sensors and gates */
  readonly nodes: number
  readonly actuators: number
  readonly constants: number
  readonly since: number
  /** whether the plugs of sensors are called */
  readonly isCalled: boolean
  /**
   * where rows with called sensors store the state bits before the message before the last, and its time; otherwise -1
   */
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
  const pastSize = lines((blockSize + HOLD_NUMS) * actuators + NOT_RUN_NUMS)
  const objects = OWN_OBJECTS + ACTUATOR_OBJECTS * actuators
  return { size, pastSize, objects, nodes, actuators, constants: CONSTANTS, since, isCalled: calls, earlier, blockSize }
}

function lines(doubles: number): number {
  return Math.ceil(doubles / LINE) * LINE
}

/** Returns the offset of an actuator's first object within a row. */
export function objectsAt(actuator: number): number {
  return OWN_OBJECTS + ACTUATOR_OBJECTS * actuator
}

/** Returns the offset of an actuator's block within the past of a row. */
export function blockAt(layout: Layout, actuator: number): number {
  return layout.blockSize * actuator
}

/** Returns the offset of an actuator's last hold. */
export function holdAt(layout: Layout, actuator: number): number {
  return layout.blockSize * layout.actuators + HOLD_NUMS * actuator
}

/** Returns the offset of the numbers about what messages did not run. */
export function notRunAt(layout: Layout): number {
  return (layout.blockSize + HOLD_NUMS) * layout.actuators
}

/** Returns the offset within a block of when an actuator had last fired before. */
export function firedBeforeAt(layout: Layout, actuator: number): number {
  return AT_SINCE + layout.nodes + actuator
}
