/**
 * Computes what the vectorized batches of one batch share: which rows can be vectorized, when they fire, and which
 * nodes change.
 */
import type { Graph, SensorNode } from '../graph/graph.ts'
import type { TaskModel } from '../task/run.ts'
import type { Generate } from '../engine/executor.ts'
import type { Plug } from '../plug/plug.ts'
import { firingLoop, type FireRows, type FiringOwner } from './firing-loop.ts'
import { generatedVectors } from './generated-vectors.ts'
import { parametersOf } from './value-source.ts'
import { evaluationOf, outcomeWithout } from './possible-firings.ts'
import { type VectorCode, type VectorCondition } from './row-code.ts'
import type { RowStore } from './row-store.ts'
import type { ShapeSensor, BatchShape } from './batch-shape.ts'

export interface VectorDependencies extends VectorCode {
  /** Returns the firing code for rows that call one plug, or several (undefined). */
  fireRows(plug: Plug | undefined, owner: FiringOwner): FireRows
  readonly store: RowStore
  /** all possible state bits of rows */
  readonly all: readonly number[]
  /** decides which rows fire */
  readonly condition: VectorCondition
  /** number of message values that rows compare */
  readonly parameters: number
  /** names of the compared values */
  readonly names: readonly string[]
  /** nodes that change, as bits by index, for each pair of state bits (before in the high bits) */
  readonly changes: Int32Array
  /**
   * nodes that may change while values vary between two extremes, by state bits of the minima (high bits) and maxima
   */
  readonly mayChange: Int32Array
  /** nodes that change exactly when firing begins or ends, as bits by index */
  readonly turning: number
  /** the only trigger that leads to the actuator */
  readonly trigger: number
  /** undefined: rows individually take messages with failing sensors */
  readonly failing: FailingSensors | undefined
  /** Returns whether a message that runs these sensors (by slot) decides the condition. */
  decides(runs: readonly boolean[]): boolean
}

/** Sensors that fail when a compared value is not a number. */
export interface FailingSensors {
  /** by parameter: positions, as bits, of the sensors that compare it; 0: only their plugs can tell what is a number */
  readonly readers: readonly number[]
  /**
   * Returns, by state bits, the gates that are undecided while these sensors fail, as bits by slot. Returns undefined
   * when a firing is still possible.
   */
  undecided(failed: number): Int32Array | undefined
}

const MAX_VECTOR_BITS = 6
const MAX_VECTOR_NODES = 30

/**
 * Returns undefined when the rows cannot be vectorized. Vectorizing requires comparing sensors with few states that do
 * not run each other, and one actuator that fires on their current states alone, every time. `row`: one with a task of the shape; `mayFail`: rows
 * take messages in which sensors fail.
 */
export function vectorPartsOf(
  store: RowStore,
  row: number,
  model: TaskModel,
  generate: Generate,
  mayFail: boolean,
): VectorDependencies | undefined {
  const { graph } = model
  const { shape, layout } = store
  const { sensors, bits } = shape
  const [trigger, another] = graph.triggers.filter(({ destination }) => destination.kind === 'actuator')
  if (trigger === undefined || another !== undefined || layout.actuators !== 1) return undefined
  if (trigger.change !== undefined || trigger.policyMs > 0 || shape.edgeMask !== 0) return undefined
  if (shape.inner || bits !== shape.keyBits || bits > MAX_VECTOR_BITS || layout.nodes > MAX_VECTOR_NODES)
    return undefined
  if (sensors.some(({ steps }) => steps === undefined)) return undefined
  const all = statesOf(shape, graph)
  const fires = firesOf(store, row, all)
  const condition = conditionOf(shape, all, fires)
  if (condition === undefined) return undefined
  const changes = changesOf(store, all)
  const loops = new Map<Plug | undefined, FireRows>()
  return {
    ...generatedVectors(shape, condition, generate),
    fireRows(plug, owner) {
      const made = loops.get(plug) ?? firingLoop(plug, owner, shape.key, generate)
      loops.set(plug, made)
      return made
    },
    store,
    all,
    condition,
    parameters: parametersOf(shape).length,
    names: parametersOf(shape),
    changes,
    mayChange: mayChangeOf(shape, all, changes),
    turning: turningOf(store, all, fires, changes),
    trigger: graph.triggers.indexOf(trigger),
    failing: mayFail ? failingSensors(store, model, all) : undefined,
    decides: (runs) => graph.sensors.some(({ slot, triggers }) => runs[slot] === true && triggers.includes(trigger)),
  }
}

function failingSensors(store: RowStore, model: TaskModel, all: readonly number[]): FailingSensors {
  const { graph } = model
  const { sensors } = store.shape
  const readers = parametersOf(store.shape).map((name) => {
    const own = sensors.map(({ steps }) => steps?.parameter === name)
    if (sensors.some(({ steps }, p) => own[p] === true && steps?.takesTexts !== true)) return 0
    return own.reduce((bits, isReader, p) => bits | (Number(isReader) << p), 0)
  })
  const order = sensors.map(({ slot }) => graph.sensors[slot] as SensorNode)
  const known = new Map<number, Int32Array | undefined>()
  const find = (failed: number): Int32Array | undefined => {
    const answering = new Set(order.filter((_, position) => ((failed >> position) & 1) === 0))
    const undecided = new Int32Array(2 ** store.shape.bits)
    for (const states of all) {
      const of = (gates: number) => {
        const own = store.states(states)
        const input = { before: own, now: own, gates }
        return outcomeWithout(evaluationOf(model), answering, input)
      }
      const [none, every] = [of(0), of(2 ** graph.gates.length - 1)]
      if (none.firings.length > 0) return undefined
      undecided[states] = none.gates ^ every.gates
    }
    return undecided
  }
  const undecided = (failed: number): Int32Array | undefined => {
    if (!known.has(failed)) known.set(failed, find(failed))
    return known.get(failed)
  }
  return { readers, undecided }
}

function statesOf({ sensors, bits }: BatchShape, graph: Graph): readonly number[] {
  return Array.from({ length: 2 ** bits }, (_, states) => states).filter((states) =>
    sensors.every(({ slot, shift, mask }) => ((states >> shift) & mask) < (graph.sensors[slot]?.states.length ?? 0)),
  )
}

function firesOf(store: RowStore, row: number, all: readonly number[]): readonly boolean[] {
  const [before = 0] = all
  const fires: boolean[] = []
  for (const now of all) {
    const known = store.known(row, store.table[(before << store.shape.bits) | now] ?? 0, before, now)
    fires[now] = store.followings[known]?.length === 1
  }
  return fires
}

function changesOf({ shape, gateBits }: RowStore, all: readonly number[]): Int32Array {
  const changes = new Int32Array(2 ** (2 * shape.bits))
  for (const before of all) {
    for (const now of all) changes[(before << shape.bits) | now] = changed(shape, gateBits, before, now)
  }
  return changes
}

function mayChangeOf({ sensors, bits }: BatchShape, all: readonly number[], changes: Int32Array): Int32Array {
  const spans = sensors.map(spansOf)
  const mayChange = new Int32Array(changes.length)
  for (const least of all) {
    for (const greatest of all) {
      const between = all.filter((states) =>
        sensors.every(({ shift, mask }, p) => {
          const span = spans[p]?.[(least >> shift) & mask]?.[(greatest >> shift) & mask] ?? 0
          return ((span >> ((states >> shift) & mask)) & 1) === 1
        }),
      )
      const [one = 0] = between
      const nodes = between.reduce((union, states) => union | (changes[(one << bits) | states] ?? 0), 0)
      mayChange[(least << bits) | greatest] = nodes
    }
  }
  return mayChange
}

function turningOf(
  { shape, layout }: RowStore,
  all: readonly number[],
  fires: readonly boolean[],
  changes: Int32Array,
): number {
  let turning = 2 ** layout.nodes - 1
  for (const before of all) {
    for (const now of all) {
      const nodes = changes[(before << shape.bits) | now] ?? 0
      turning &= fires[before] === fires[now] ? ~nodes : nodes
    }
  }
  return turning
}

function changed({ sensors, gates }: BatchShape, gateBits: Int32Array, before: number, now: number): number {
  let nodes = 0
  for (const { slot, shift, mask } of sensors) if ((before ^ now) & (mask << shift)) nodes |= 1 << slot
  const changedGates = (gateBits[before] ?? 0) ^ (gateBits[now] ?? 0)
  for (let g = 0; g < gates; g++) if (changedGates & (1 << g)) nodes |= 1 << (sensors.length + g)
  return nodes
}

function spansOf({ mask, steps }: ShapeSensor): readonly (readonly number[])[] {
  const ranges = steps?.states ?? []
  const states = Array.from({ length: mask + 1 }, (_, state) => state)
  return states.map((least) =>
    states.map((greatest) => {
      const between = ranges.slice(ranges.indexOf(least), ranges.lastIndexOf(greatest) + 1)
      return between.reduce((bits, state) => bits | (1 << state), 0)
    }),
  )
}

function conditionOf(
  shape: BatchShape,
  all: readonly number[],
  fires: readonly boolean[],
): VectorCondition | undefined {
  const firing = all.filter((states) => fires[states] === true)
  const others = all.filter((states) => fires[states] === false)
  if (isProduct(shape, firing)) return { allowed: allowedRanges(shape, firing), isNegated: false }
  if (isProduct(shape, others)) return { allowed: allowedRanges(shape, others), isNegated: true }
  return undefined
}

function isProduct({ sensors }: BatchShape, some: readonly number[]): boolean {
  const counts = sensors.map(({ shift, mask }) => new Set(some.map((states) => (states >> shift) & mask)).size)
  return counts.reduce((product, count) => product * count, 1) === some.length
}

function allowedRanges({ sensors }: BatchShape, some: readonly number[]): readonly number[] {
  return sensors.map(({ shift, mask, steps }) => {
    const shown = new Set(some.map((states) => (states >> shift) & mask))
    return (steps?.states ?? []).reduce((ranges, state, range) => ranges | (Number(shown.has(state)) << range), 0)
  })
}
