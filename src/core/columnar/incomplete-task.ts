/**
 * A task of which a sensor never had a state, while its messages run others. Nothing can fire before that one answers, so
 * that a message changes no more than states, since when nodes have them, and what is counted. The full state learns of it
 * when somebody looks, or when a message comes that is more than that.
 *
 * INCOMPLETE-1 all messages that it takes have the fields of the last one that the full state took
 * INCOMPLETE-2 whatever the sensors show that they run, no trigger may hold
 * INCOMPLETE-3 sensors that they do not run, and gates behind none of those that they run, stay as they are
 */
import { isExact } from '#kernel'
import { UNKNOWN, type GateNode, type SensorNode } from '../graph/graph.ts'
import { decide } from '../graph/relations.ts'
import type { Message } from '../task/origin.ts'
import type { TaskModel } from '../task/run.ts'
import type { Observed } from '../task/state.ts'
import type { TaskState } from '../task/task-state.ts'
import type { BatchFit, BatchShape, ShapeSensor } from './batch-shape.ts'
import type { SensorSteps } from './computed-sensors.ts'
import { stateOf } from './row-states.ts'
import type { Fields } from './message-fields.ts'
import { mayFire } from './possible-firings.ts'
import { ALL, replay } from './replay.ts'
import type { BatchTask } from './row-handle.ts'

/** What messages do that run some sensors of a shape, while the others have certain states. */
interface Effect {
  /** in the order in which they run */
  readonly runs: readonly RunSensor[]
  /** those behind them */
  readonly gates: readonly GateNode[]
  /** by state bits of the sensors: the states of the gates */
  readonly gateStates: Map<number, readonly number[]>
}

interface RunSensor {
  readonly index: number
  readonly shift: number
  readonly mask: number
  readonly steps: SensorSteps
}

/** Of a sensor or gate: what a message may change and another one does not change again. */
type Kept = Pick<Observed, 'state' | 'memory' | 'since'>

/** Of one shape; tasks that want another one take their messages on their full state. */
const MAX_EFFECTS = 64

/** What messages do to incomplete tasks, by shape, then by fields and states of what they do not run. */
export class IncompleteEffects {
  readonly #all = new WeakMap<BatchShape, Map<string, Effect | undefined>>()

  /** Undefined when something may follow, or is not known without a call. The task is at rest. */
  of({ model, state }: BatchTask, { shape }: BatchFit, fields: Fields): Effect | undefined {
    if (!shape.takesParts) return undefined
    const runs = shape.sensors.filter(({ waitsFor }) => waitsFor?.some((name) => fields.has(name)) ?? true)
    const sensors = runs.map(({ slot }) => model.graph.sensors[slot] as SensorNode)
    // One that fails has no state either, and comes back with any message.
    if (sensors.length === 0 || sensors.some(({ slot }) => !isKnown(state, slot))) return undefined
    let known = this.#all.get(shape)
    if (known === undefined) this.#all.set(shape, (known = new Map<string, Effect | undefined>()))
    const moving = new Set<object>([...sensors, ...sensors.flatMap(({ gates }) => gates)])
    const nodes = [...model.graph.sensors, ...model.graph.gates]
    const standing = nodes.map((node) => (moving.has(node) ? '' : state.observed[node.index]?.state))
    const key = [fields.id, ...standing].join()
    if (!known.has(key) && known.size < MAX_EFFECTS) known.set(key, effectOf(runs, sensors, model, state, fields))
    return known.get(key)
  }
}

function isKnown(state: TaskState, slot: number): boolean {
  const sensor = state.sensors[slot]
  return sensor !== undefined && sensor.state !== UNKNOWN && sensor.error === null
}

function effectOf(
  runs: readonly ShapeSensor[],
  sensors: readonly SensorNode[],
  { graph, settings }: TaskModel,
  state: TaskState,
  fields: Fields,
): Effect | undefined {
  const { gatesNeedFullObservation: needsAll } = settings
  const standing = graph.sensors.filter((one) => !sensors.includes(one) && state.sensors[one.slot]?.state !== UNKNOWN)
  if (mayFire(graph, sensors, standing, needsAll)) return undefined
  const own: RunSensor[] = []
  for (const [n, { shift, mask, steps, reads }] of runs.entries()) {
    if (steps === undefined || !reads.every((name) => fields.has(name))) return undefined
    own.push({ index: sensors[n]?.index ?? 0, shift, mask, steps })
  }
  const gates = graph.gates.filter((gate) => sensors.some((sensor) => sensor.gates.includes(gate)))
  return {
    runs: own,
    gates,
    gateStates: new Map<number, readonly number[]>(),
  }
}

/** Sensors and gates when some sensors show these states; all but the gates behind them stay as they are. */
function statesWith(
  gates: readonly GateNode[],
  { observed }: TaskState,
  needsAll: boolean,
  sensors: readonly { readonly index: number }[],
  stateAt: (n: number) => number,
): readonly { readonly state: number }[] {
  const nodes = observed.map(({ state }) => ({ state }))
  for (const [n, { index }] of sensors.entries()) nodes[index] = { state: stateAt(n) }
  for (const gate of gates) nodes[gate.index] = { state: decide(gate, nodes, needsAll) }
  return nodes
}

export class IncompleteTask {
  readonly #task: BatchTask
  readonly #effect: Effect
  readonly #constants: readonly number[]
  readonly #fields: Fields
  /** of the sensors, then of the gates, as they were before the last message */
  readonly #nodes: readonly Kept[]
  /** the last message that the full state does not know, when it came, and what sensors showed */
  #message: Message | undefined
  #time = 0
  #bits = 0
  /** messages that the full state does not know */
  #count = 0

  private constructor(task: BatchTask, effect: Effect, { constants }: BatchFit, fields: Fields) {
    this.#task = task
    this.#effect = effect
    this.#constants = constants
    this.#fields = fields
    this.#nodes = indexes(effect).map((index) => keptOf(task.state.observed[index] as Observed))
  }

  /** Of a task at rest whose last message had these fields; undefined when the next one may do more. */
  static of(task: BatchTask, fit: BatchFit, fields: Fields, effects: IncompleteEffects): IncompleteTask | undefined {
    const effect = effects.of(task, fit, fields)
    if (effect === undefined) return undefined
    const made = new IncompleteTask(task, effect, fit, fields)
    return made.#isRegular() ? made : undefined
  }

  /** Whether gates are what the sensors say. */
  #isRegular(): boolean {
    const { runs, gates } = this.#effect
    const bits = runs.reduce((all, { shift }, n) => all | ((this.#nodes[n]?.state ?? 0) << shift), 0)
    const states = this.#gateStates(bits)
    return gates.every((_, g) => this.#nodes[runs.length + g]?.state === states[g])
  }

  /** False when the full state has to take it. */
  take(message: Message, now: number, fields: Fields): boolean {
    if (fields !== this.#fields) return false
    let bits = 0
    for (const { steps, shift } of this.#effect.runs) {
      const value = message[steps.parameter]
      if (typeof value !== 'number' || !isExact(value)) return false
      bits |= stateOf(steps, value, this.#constants, steps.constant) << shift
    }
    if (this.#message !== undefined) this.#settle()
    this.#message = message
    this.#time = now
    this.#bits = bits
    this.#count++
    return true
  }

  /** Nodes are what the last message made them. */
  #settle(): void {
    const { runs, gates } = this.#effect
    const time = this.#time
    for (const [n, { shift, mask }] of runs.entries()) {
      const node = this.#nodes[n] as Kept
      const state = (this.#bits >> shift) & mask
      if (state === node.state) continue
      node.state = node.memory = state
      node.since = time
    }
    const states = this.#gateStates(this.#bits)
    for (const g of gates.keys()) {
      const node = this.#nodes[runs.length + g] as Kept
      const state = states[g] ?? UNKNOWN
      node.state = state
      if (state === UNKNOWN || state === node.memory) continue
      node.memory = state
      node.since = time
    }
  }

  #gateStates(bits: number): readonly number[] {
    const { runs, gates, gateStates } = this.#effect
    const known = gateStates.get(bits)
    if (known !== undefined) return known
    const { model, state } = this.#task
    const { gatesNeedFullObservation: needsAll } = model.settings
    const nodes = statesWith(gates, state, needsAll, runs, (n) => {
      const { shift = 0, mask = 0 } = runs[n] ?? {}
      return (bits >> shift) & mask
    })
    const made = gates.map(({ index }) => nodes[index]?.state ?? UNKNOWN)
    gateStates.set(bits, made)
    return made
  }

  /** Brings the full state up to date. */
  synchronize(): void {
    const message = this.#message
    if (message === undefined) return
    const { state } = this.#task
    const { runs } = this.#effect
    const earlier = this.#count - 1
    state.invocations += earlier
    state.inputs += earlier * (1 + runs.length)
    state.executions += earlier * runs.length
    for (const [n, index] of indexes(this.#effect).entries()) Object.assign(state.observed[index] ?? {}, this.#nodes[n])
    replay(this.#task, message, this.#time, (execution) => this.#task.call(execution), ALL)
    this.#settle()
    this.#message = undefined
    this.#count = 0
  }
}

function indexes({ runs, gates }: Effect): readonly number[] {
  return [...runs.map(({ index }) => index), ...gates.map(({ index }) => index)]
}

function keptOf({ state, memory, since }: Observed): Kept {
  return { state, memory, since }
}
