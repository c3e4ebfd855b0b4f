/** Represents the state of one task; parts that only a task with work needs are created on demand. */
import type { Graph } from '../graph/graph.ts'
import { EffectQueues } from './effect-queues.ts'
import { CallQueue, InFlight } from './execution-lists.ts'
import { freshActuator, freshGate, freshSensor } from './fresh-nodes.ts'
import type { WaitingInput } from './input.ts'
import { GroupState } from './members/group-state.ts'
import type { Readings } from './readings/readings.ts'
import type { ClocksBegan, TaskDowntime } from './saved.ts'
import type {
  ActuatorState,
  Evaluation,
  Execution,
  GateState,
  NodeStates,
  SensorState,
  Stream,
  TaskStatus,
} from './state.ts'

export interface Work extends NodeStates {
  readonly streams: (Stream | null)[]
  readonly inFlight: InFlight<Execution>
  readonly calls: CallQueue<Execution>
  readonly ready: CallQueue<Execution>
  /** unfinished acting calls, by what they touch */
  readonly effectQueues: EffectQueues
}

export interface SmallWork {
  readonly streams: Work['streams']
  unpack(): Work
  unpacked(): void
}

type Nodes = Pick<Graph, 'sensors' | 'gates' | 'actuators' | 'groups'>

/** Lists that are empty for most tasks; shared, since a change replaces the list. */
const NONE: readonly never[] = []
const NO_INPUTS: WaitingInput[] = []
export const NO_CLOCKS: ClocksBegan = {}

export class TaskState implements Work {
  status: TaskStatus = 'stopped'
  run = 0
  inputs = 0
  effects = 0
  invocations = 0
  executions = 0
  startTime = -1
  lastExecutionTime = -1
  finishedTime = -1
  nextTickAt = Number.POSITIVE_INFINITY
  /** the execution that holds the lane: its plug is at work or will be called again */
  holder: Execution | null = null
  /** oldest first; shared while empty, so a change may have to replace it */
  waiting: WaitingInput[] = NO_INPUTS
  /** number of the current input if it waited; otherwise 0 */
  current = 0
  /** number of inputs that arrived in this run */
  arrived = 0
  /** number of inputs and effects that were dropped in this run, because too many waited or by the task's settings */
  dropped = 0
  time = 0
  skippedTicks = 0
  /** time of the restore; earlier occurrences were missed. -Infinity: never restored */
  restoredAt = Number.NEGATIVE_INFINITY
  seed = 0
  clocksBegan = NO_CLOCKS
  /** null until a stamped message arrives */
  readings: Readings | null = null
  /** the last downtime since the task's start; null: none */
  downtime: TaskDowntime | null = null
  failures: readonly number[] = NONE
  evaluation: Evaluation | null = null
  /** members of the groups of the rule, in the order of the graph */
  groups: readonly GroupState[] = NONE
  readonly #graph: Nodes
  readonly #resourceCount: number
  #work: Work | null = null
  #small: SmallWork | null = null

  constructor(graph: Nodes, resourceCount: number) {
    this.#graph = graph
    this.#resourceCount = resourceCount
    if (graph.groups.length > 0) this.groups = graph.groups.map((group) => new GroupState(group))
  }

  /** Returns null while nothing differs from a task that never worked. */
  get work(): Work | null {
    return this.#small === null ? this.#work : this.#made()
  }

  /** Returns the current work for reading, or a fresh one that is not stored. */
  shown(): Work {
    return this.#work ?? this.#small?.unpack() ?? freshWork(this.#graph, this.#resourceCount)
  }

  /** Returns unfinished executions without unpacking: packed work contains none. */
  get open(): Iterable<Execution> {
    return this.#work?.inFlight ?? NONE
  }

  /** Replaces work that has no unfinished executions by its packed form. */
  shrink(small: SmallWork): void {
    this.#small = small
    this.#work = null
  }

  get sensors(): readonly SensorState[] {
    return this.#made().sensors
  }

  get gates(): readonly GateState[] {
    return this.#made().gates
  }

  get actuators(): readonly ActuatorState[] {
    return this.#made().actuators
  }

  get observed(): Work['observed'] {
    return this.#made().observed
  }

  get streams(): (Stream | null)[] {
    return this.#small?.streams ?? this.#made().streams
  }

  get inFlight(): InFlight<Execution> {
    return this.#made().inFlight
  }

  get calls(): CallQueue<Execution> {
    return this.#made().calls
  }

  get ready(): CallQueue<Execution> {
    return this.#made().ready
  }

  get effectQueues(): EffectQueues {
    return this.#made().effectQueues
  }

  /** Whether the next input can be processed at once: nothing is at work and nothing waits. */
  get isFree(): boolean {
    return this.holder === null && this.waiting.length === 0
  }

  wait(time: number, input: WaitingInput['input'], kept?: WaitingInput['kept']): WaitingInput {
    const waiting: WaitingInput = { time, number: ++this.arrived, input, kept }
    if (this.waiting === NO_INPUTS) this.waiting = [waiting]
    else this.waiting.push(waiting)
    return waiting
  }

  forgetNodes(): void {
    this.#work?.inFlight.clear()
    this.#work = null
    this.#small = null
    this.nextTickAt = Number.POSITIVE_INFINITY
    this.clocksBegan = NO_CLOCKS
    this.evaluation = null
    this.holder = null
    this.waiting = NO_INPUTS
    this.arrived = 0
    this.current = 0
    this.dropped = 0
    this.readings = null
    this.downtime = null
    if (this.groups.length > 0) this.groups = this.#graph.groups.map((group) => new GroupState(group))
  }

  #made(): Work {
    return this.#work ?? this.#make()
  }

  #make(): Work {
    const small = this.#small
    const work = small?.unpack() ?? freshWork(this.#graph, this.#resourceCount)
    this.#work = work
    this.#small = null
    small?.unpacked()
    return work
  }
}

function freshWork(graph: Nodes, resourceCount: number): Work {
  const sensors = graph.sensors.map(() => freshSensor())
  const gates = graph.gates.map(() => freshGate())
  return {
    sensors,
    gates,
    actuators: graph.actuators.map(() => freshActuator()),
    observed: [...sensors, ...gates],
    streams: Array.from({ length: resourceCount + graph.groups.length }, () => null),
    inFlight: new InFlight(),
    calls: new CallQueue(),
    ready: new CallQueue(),
    effectQueues: new EffectQueues(),
  }
}
