/**
 * Where a row's numbers stand. The rows of a lane lie in one buffer, seen as whole numbers and as doubles, each row in
 * as few cache lines as can be: what every message touches comes first.
 */
import type { QuietShape } from './shape.ts'

/** Whole numbers: state bits before the last message, and after it. They fill the first double. */
export const BEFORE = 0
export const AFTER = 1
/** Doubles: count and time of the last message; then the constants, then since when each node had its state before it. */
export const COUNT = 1
export const TIME = 2
const CONSTANTS = 3

/** From `fires` on: firings since the last rebuild, the same before the message `FIRES_COUNT`, and that one's count. */
export const FIRES = 0
export const FIRES_BEFORE = 1
export const FIRES_COUNT = 2
const FIRES_NUMS = 3

/** For each actuator: last firing, the one before the present message, last hold (-1: none since it fired), its trigger */
export const FIRED = 0
export const FIRED_BEFORE = 1
export const HELD = 2
export const HELD_BY = 3
/** of the message at which it fired last: its count (-1: none since the rebuild), firings before it, state bits ... */
export const AT_COUNT = 4
export const AT_FIRES = 5
export const AT_BITS = 6
/** ... whether the actuator had fired since the rebuild (1) ... */
export const AT_EARLIER = 7
/** ... then since when each node had its state before it, and when each actuator had fired */
export const AT_SINCE = 8

const LINE = 8

export interface Layout {
  /** doubles per row */
  readonly size: number
  /** sensors and gates */
  readonly nodes: number
  readonly actuators: number
  readonly constants: number
  readonly since: number
  /** with called sensors: state bits before the message before the last, and its time; else -1 */
  readonly earlier: number
  readonly fires: number
  readonly blocks: number
  readonly blockSize: number
}

export function layoutOf(shape: QuietShape): Layout {
  const { actuators } = shape
  const nodes = shape.sensors.length + shape.gates
  const since = CONSTANTS + shape.constants
  const called = shape.sensors.some(({ steps }) => steps === undefined)
  const earlier = called ? since + nodes : -1
  const fires = since + nodes + (called ? 2 : 0)
  const blocks = fires + FIRES_NUMS
  const blockSize = AT_SINCE + nodes + actuators
  const size = Math.ceil((blocks + blockSize * actuators) / LINE) * LINE
  return { size, nodes, actuators, constants: CONSTANTS, since, earlier, fires, blocks, blockSize }
}

/** Place of an actuator's first number in a row. */
export function blockAt(layout: Layout, actuator: number): number {
  return layout.blocks + layout.blockSize * actuator
}
