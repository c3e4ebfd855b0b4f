/**
 * The state of one task. What only a task with work needs (node states, values of messages, what is in flight) is made
 * when it is first asked for: most of a large fleet waits for a message or a tick, and would hold it for nothing.
 */
import { UNKNOWN, type Graph } from '../graph/graph.ts'
import { EffectQueues } from './effect-queues.ts'
import { CallQueue, InFlight } from './execution-lists.ts'
import type { WaitingInput } from './input.ts'
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

/** What a task has that has had something to do. */
export interface Work extends NodeStates {
  /** by place in `model.resources` */
  readonly streams: (Stream | null)[]
  /** everything in flight, oldest first */
  readonly inFlight: InFlight<Execution>
  /** executions to call next */
  readonly calls: CallQueue<Execution>
  /** calls that act and whose turn has come */
  readonly ready: CallQueue<Execution>
  /** calls that act and are not over, by what they touch */
  readonly effectQueues: EffectQueues
}

/** The same in a smaller form. */
export interface SmallWork {
  readonly streams: Work['streams']
  /** A new one, as it was. */
  unpack(): Work
  /** It was unpacked to stay so. */
  unpacked(): void
}

type Nodes = Pick<Graph, 'sensors' | 'gates' | 'actuators'>

/** Lists that are empty for most tasks are replaced when they change, so that the empty one is shared. */
const NONE: readonly never[] = []
const NO_INPUTS: WaitingInput[] = []
/** All clocks began with the run. */
export const NO_CLOCKS: ClocksBegan = {}

export class TaskState implements Work {
  status: TaskStatus = 'stopped'
  /** how often it was started */
  run = 0
  /** inputs taken in this run */
  inputs = 0
  /** effects begun by the input at hand */
  effects = 0
  invocations = 0
  executions = 0
  startTime = -1
  lastExecutionTime = -1
  finishedTime = -1
  nextTickAt = Number.POSITIVE_INFINITY
  /** the execution that the lane waits for: its plug is at work or will be asked again */
  holder: Execution | null = null
  /** inputs that came while the lane was held, oldest first; replaced when it changes, unless it is a list of its own */
  waiting: WaitingInput[] = NO_INPUTS
  /** number of the input at hand, when it waited; else 0 */
  current = 0
  /** inputs that came to the lane in this run */
  arrived = 0
  /** inputs and effects that were dropped in this run because too many waited, or because the task wants it so */
  dropped = 0
  /** epoch ms of the input at hand */
  time = 0
  /** occurrences that were missed and left out */
  skippedTicks = 0
  /** when this state was restored; occurrences before were missed. -Infinity: never */
  restoredAt = Number.NEGATIVE_INFINITY
  seed = 0
  clocksBegan = NO_CLOCKS
  /** null while none of its messages was stamped */
  readings: Readings | null = null
  /** null: none since it was started */
  downtime: TaskDowntime | null = null
  /** invocations with a failed execution, among the last 64 */
  failures: readonly number[] = NONE
  /** of the input at hand; null: it is over */
  evaluation: Evaluation | null = null
  readonly #graph: Nodes
  readonly #resourceCount: number
  #work: Work | null = null
  /** in place of `#work` */
  #small: SmallWork | null = null

  /** Of a task that never ran. */
  constructor(graph: Nodes, resourceCount: number) {
    this.#graph = graph
    this.#resourceCount = resourceCount
  }

  /** Null while all of it is as in a task that never ran. */
  get work(): Work | null {
    return this.#small === null ? this.#work : this.#made()
  }

  /** To read from: what there is, or what would be made, which is not kept. */
  shown(): Work {
    return this.#work ?? this.#small?.unpack() ?? freshWork(this.#graph, this.#resourceCount)
  }

  /** What is in flight, without a look at a state that is kept small: there it is nothing. */
  get open(): Iterable<Execution> {
    return this.#work?.inFlight ?? NONE
  }

  /** Keeps in a smaller form what a task with work needs, until it is asked for. Nothing of it is in flight. */
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

  /** Nothing is at work and nothing waits: the next input is taken at once. */
  get isFree(): boolean {
    return this.holder === null && this.waiting.length === 0
  }

  /** Has an input wait behind those that wait already. */
  wait(time: number, input: WaitingInput['input'], kept?: WaitingInput['kept']): WaitingInput {
    const waiting: WaitingInput = { time, number: ++this.arrived, input, kept }
    if (this.waiting === NO_INPUTS) this.waiting = [waiting]
    else this.waiting.push(waiting)
    return waiting
  }

  /** Fresh node states: nothing observed, nothing fired, nothing in flight. Counters stay. */
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
    actuators: graph.actuators.map(() => ({
      firedAt: Number.NEGATIVE_INFINITY,
      firing: null,
      held: null,
      edges: NONE,
      error: null,
      answer: null,
    })),
    observed: [...sensors, ...gates],
    streams: Array.from({ length: resourceCount }, () => null),
    inFlight: new InFlight(),
    calls: new CallQueue(),
    ready: new CallQueue(),
    effectQueues: new EffectQueues(),
  }
}

function freshGate(): GateState {
  return { state: UNKNOWN, memory: UNKNOWN, previous: UNKNOWN, before: UNKNOWN, since: -1, lost: -1 }
}

function freshSensor(): SensorState {
  return {
    state: UNKNOWN,
    memory: UNKNOWN,
    previous: UNKNOWN,
    before: UNKNOWN,
    since: -1,
    lost: -1,
    firedAt: Number.NEGATIVE_INFINITY,
    firing: null,
    held: null,
    edges: NONE,
    error: null,
    collectedTime: -1,
    rawData: undefined,
    internalState: undefined,
    evictAt: Number.POSITIVE_INFINITY,
    origin: null,
    via: null,
    running: null,
    follow: null,
    ownTickAt: Number.POSITIVE_INFINITY,
    taken: null,
    news: NONE,
    late: NONE,
    evictLag: 0,
  }
}
