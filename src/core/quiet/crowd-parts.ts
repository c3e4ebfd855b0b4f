/** What the crowds of one lane share: which rows can go in crowds, when they fire, and which nodes change. */
import type { TaskModel } from '../task/run.ts'
import type { Generate } from './generate.ts'
import { generatedCrowd } from './generated-rows.ts'
import type { CrowdCode, CrowdCondition } from './row-code.ts'
import type { RowStore } from './row-store.ts'
import type { QuietShape } from './shape.ts'

export interface CrowdParts extends CrowdCode {
  readonly store: RowStore
  /** how many numbers of a message rows compare */
  readonly parameters: number
  /** the nodes that change, as bits by index, by state bits before (above) and now */
  readonly changes: Int32Array
  /** those that may change while values go from some to others, by the state bits of the least (above) and the greatest */
  readonly mayChange: Int32Array
  /** the nodes that change when firing begins or ends and at no other time, as bits by index */
  readonly turning: number
  /** the only one that leads to the actuator */
  readonly trigger: number
}

/** bits of states, of which all pairs go into a table */
const MOST_BITS = 6
const MOST_NODES = 30

/**
 * Undefined when rows of the lane go by themselves: crowds are for comparing sensors with few states, and one actuator that
 * fires by what they show now, whatever they showed before and however often. `row`: one with a task of the shape.
 */
export function crowdPartsOf(
  store: RowStore,
  row: number,
  { graph }: TaskModel,
  generate: Generate,
): CrowdParts | undefined {
  const { shape, layout } = store
  const { sensors, bits } = shape
  const [trigger, another] = graph.triggers.filter(({ destination }) => destination.kind === 'actuator')
  if (trigger === undefined || another !== undefined || trigger.policyMs > 0 || layout.actuators !== 1) return undefined
  if (bits !== shape.keyBits || bits > MOST_BITS || layout.nodes > MOST_NODES) return undefined
  if (sensors.some(({ steps }) => steps === undefined)) return undefined
  const counts = graph.sensors.map(({ states }) => states.length)
  const all = Array.from({ length: 2 ** bits }, (_, states) => states).filter((states) => {
    return sensors.every(({ slot, shift, mask }) => ((states >> shift) & mask) < (counts[slot] ?? 0))
  })
  const firesAfter = (before: number, now: number): number => {
    const place = (before << bits) | now
    return store.followings[store.known(row, store.table[place] ?? 0, before, now)]?.length ?? 0
  }
  const [first = 0] = all
  let turning = 2 ** layout.nodes - 1
  const fires = new Uint8Array(2 ** bits)
  const changes = new Int32Array(2 ** (2 * bits))
  const mayChange = new Int32Array(2 ** (2 * bits))
  for (const now of all) {
    fires[now] = firesAfter(first, now)
    if (all.some((before) => firesAfter(before, now) !== fires[now])) return undefined
    for (const before of all) {
      changes[(before << bits) | now] = changed(shape, store.gateBits, before, now)
      const between = all.filter((states) => isBetween(shape, states, before, now))
      mayChange[(before << bits) | now] = between.reduce(
        (nodes, states) => nodes | changed(shape, store.gateBits, between[0] ?? 0, states),
        0,
      )
    }
  }
  for (const before of all) {
    for (const now of all) {
      const nodes = changes[(before << bits) | now] ?? 0
      turning &= fires[before] === fires[now] ? ~nodes : nodes
    }
  }
  const condition = conditionOf(shape, all, fires)
  if (condition === undefined) return undefined
  const parameters = new Set(sensors.map(({ steps }) => steps?.parameter)).size
  const code = generatedCrowd(store, condition, generate)
  return { ...code, store, parameters, changes, mayChange, turning, trigger: graph.triggers.indexOf(trigger) }
}

function changed({ sensors, gates }: QuietShape, gateBits: Int32Array, before: number, now: number): number {
  let nodes = 0
  for (const { slot, shift, mask } of sensors) if ((before ^ now) & (mask << shift)) nodes |= 1 << slot
  const changedGates = (gateBits[before] ?? 0) ^ (gateBits[now] ?? 0)
  for (let g = 0; g < gates; g++) if (changedGates & (1 << g)) nodes |= 1 << (sensors.length + g)
  return nodes
}

/** Whether rows may show these states while their values go from where they show the first to where they show the last. */
function isBetween({ sensors }: QuietShape, states: number, first: number, last: number): boolean {
  return sensors.every(({ shift, mask, steps }) => {
    const ranges = steps?.states ?? []
    const from = ranges.indexOf((first >> shift) & mask)
    const to = ranges.lastIndexOf((last >> shift) & mask)
    return ranges.slice(from, to + 1).includes((states >> shift) & mask)
  })
}

/** Undefined when neither those that fire nor all others are told by their sensors one by one. */
function conditionOf(shape: QuietShape, all: readonly number[], fires: Uint8Array): CrowdCondition | undefined {
  const firing = all.filter((states) => fires[states] === 1)
  const others = all.filter((states) => fires[states] === 0)
  if (isProduct(shape, firing)) return { allowed: allowedRanges(shape, firing), isNegated: false }
  if (isProduct(shape, others)) return { allowed: allowedRanges(shape, others), isNegated: true }
  return undefined
}

/** Whether they are all combinations of what single sensors show in them. */
function isProduct({ sensors }: QuietShape, some: readonly number[]): boolean {
  const counts = sensors.map(({ shift, mask }) => new Set(some.map((states) => (states >> shift) & mask)).size)
  return counts.reduce((product, count) => product * count, 1) === some.length
}

function allowedRanges({ sensors }: QuietShape, some: readonly number[]): readonly number[] {
  return sensors.map(({ shift, mask, steps }) => {
    const shown = new Set(some.map((states) => (states >> shift) & mask))
    return (steps?.states ?? []).reduce((ranges, state, range) => ranges | (Number(shown.has(state)) << range), 0)
  })
}
