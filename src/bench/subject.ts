/** Sets up what a benchmark process measures: the engine with the rule's tasks, or their generated limit. */
import {
  actsWith,
  CoreEngine,
  createRegistry,
  type EngineEvent,
  type Message,
  type Plug,
  VirtualClock,
  type Why,
} from '#core'
import { type EngineStats, Preparer, resolveResources } from '#core/spi'
import { AppError } from '#kernel'
import { generatorHere } from '#platform/generate'
import type { NoLimit } from './limit-source.ts'
import { type Limit, limitsOf, type LimitTask } from './limit.ts'
import type { BenchWork, Listen } from './request.ts'

/** Takes the messages of a feed, each at its time (epoch ms). */
export interface Driven {
  take(this: void, message: Message, time: number): void
  readonly open: number
  settled(): Promise<void>
  readonly heard: number
  ways(): EngineStats | undefined
}

export interface EngineDriven extends Driven {
  /** Same as `take`, but returns false when tasks ignore the resource. */
  isHeard(this: void, message: Message, time: number): boolean
  readonly engine: CoreEngine
}

/** Runs the engine at the times of the recording. Calls with outside effects are only counted. */
export async function engineDriven(work: BenchWork, plugs: readonly Plug[], feed: Feed): Promise<EngineDriven> {
  const clock = new VirtualClock(feed.begin)
  const generate = generatorHere()
  let ids = 0
  const engine = new CoreEngine({
    plugs: dryPlugs(plugs),
    scheduler: clock,
    ids: () => `bench-${ids++}`,
    seed: 1,
    ports: {},
    ...(generate && { generate }),
  })
  for (let copy = 0; copy < work.copies; copy++) {
    await engine.start(work.rule, {
      id: `task-${copy}`,
      start: true,
      variables: { ...work.variables },
      ...(work.resource !== undefined && { resource: copyName(work.resource, copy) }),
    })
  }
  return {
    engine,
    isHeard(message, time) {
      clock.advanceTo(time)
      return engine.receive(message)
    },
    take(message, time) {
      clock.advanceTo(time)
      engine.receive(message)
    },
    get open() {
      return engine.openCalls
    },
    settled: () => engine.settled(),
    heard: 0,
    ways: () => engine.stats(),
  }
}

export function listenedTo(driven: EngineDriven, listen: Listen): Driven {
  let heard = 0
  const { engine } = driven
  if (listen === 'all') engine.eventBatches().subscribe(({ length }) => (heard += length))
  if (listen === 'fired') engine.fired$.subscribe(() => heard++)
  if (listen === 'why') {
    engine.fired$.subscribe(({ why }) => {
      if (why !== undefined && partsOf(why) > 0) heard++
    })
  }
  return {
    take: driven.take,
    get open() {
      return driven.open
    },
    settled: driven.settled,
    get heard() {
      return heard
    },
    ways: driven.ways,
  }
}

function partsOf({ input, trigger, sensors, gates }: Why): number {
  let parts = trigger.to === null ? 0 : 1
  for (const { state } of sensors) if (state !== null) parts++
  for (const { row } of gates) for (const parent in row) if (row[parent] !== null) parts++
  return parts + (input.values === undefined ? 0 : 1)
}

export interface ActuatorFiring {
  readonly task: number
  readonly slot: number
}

export function actuatorFiring(event: EngineEvent, limits: Tasks): ActuatorFiring | undefined {
  if (event.type !== 'fired') return undefined
  const slot = limits.actuators.get(event.node)
  return slot === undefined ? undefined : { task: Number(event.task.slice('task-'.length)), slot }
}

export interface Tasks {
  readonly limits: readonly Limit[] | NoLimit
  readonly actuators: ReadonlyMap<string, number>
}

export async function tasksOf(work: BenchWork, plugs: readonly Plug[], feed: Feed): Promise<Tasks> {
  const preparer = new Preparer(createRegistry(plugs))
  const tasks: LimitTask[] = []
  let actuators: ReadonlyMap<string, number> = new Map()
  for (let copy = 0; copy < work.copies; copy++) {
    const resource = work.resource === undefined ? undefined : copyName(work.resource, copy)
    const prepared = preparer.prepare(work.rule, {
      variables: { ...work.variables },
      ...(resource !== undefined && { resource }),
    })
    const { graph } = prepared
    actuators = new Map(graph.actuators.map(({ label, slot }) => [label, slot]))
    const [first, ...more] = await resolveResources(`task-${copy}`, prepared, {})
    if (first === undefined || more.length > 0)
      return { limits: { reason: 'its nodes are about several resources' }, actuators }
    tasks.push({ resource: first, rule: prepared })
  }
  const generate = generatorHere()
  if (generate === undefined) return { limits: { reason: 'this process cannot generate code' }, actuators }
  const observed = new Set(tasks.map(({ resource }) => resource))
  return {
    limits: limitsOf(
      tasks,
      feed.messages.filter(({ resource }) => observed.has(resource)),
      generate,
    ),
    actuators,
  }
}

/** Drives a limit, and reads the time only where a cool-down may end. */
export function limitDriven(limit: Limit, act: (task: number, slot: number) => void): Driven {
  let now = 0
  const takeOne = limit.open({ act, now: () => now })
  return {
    take(message, time) {
      now = time
      takeOne(message)
    },
    open: 0,
    settled: () => Promise.resolve(),
    heard: 0,
    ways: () => undefined,
  }
}

export function limitAt({ limits }: Tasks, index: number): Limit {
  const limit = 'reason' in limits ? undefined : limits[index]
  if (limit === undefined) throw new AppError('USAGE', `limit ${index} of this rule does not exist`)
  return limit
}

/** Replaces calls with outside effects. They return nothing, or `Success` where a sensor has that state. */
function dryPlugs(plugs: readonly Plug[]): readonly Plug[] {
  return plugs.map((plug) => {
    if (plug.acts === false) return plug
    const spared = plug.kind === 'sensor' && plug.states.includes('Success') ? 'Success' : undefined
    const execute: Plug['execute'] = (context) => (actsWith(plug, context.properties) ? spared : plug.execute(context))
    return { ...plug, steps: undefined, execute }
  })
}

/** maximum number of objects per pass, including copies */
const MOST = 1_000_000
/** ms between messages of a recording with a single instant */
const STEP_MS = 1000

/** Provides the endless messages of a benchmark; time advances with each pass. */
export class Feed {
  readonly messages: readonly Message[]
  readonly #times: Float64Array
  readonly #span: number

  /** `recorded`: messages with `timestamp` in epoch ms. `resource`: each copy gets its messages under a new name. */
  constructor(recorded: readonly Message[], resource: string | undefined, copies: number) {
    const most = Math.max(1, Math.floor(MOST / copies))
    const used = recorded.slice(0, most)
    const messages: Message[] = []
    const times: number[] = []
    for (const { timestamp, ...message } of used) {
      const isCopied = message.resource === resource
      for (let copy = 0; copy < (isCopied ? copies : 1); copy++) {
        // makes all messages one object shape, as a parser does
        messages.push({ ...message, resource: isCopied ? copyName(message.resource, copy) : message.resource })
        times.push(Number(timestamp))
      }
    }
    if (messages.length === 0) throw new AppError('USAGE', 'the messages are empty; use at least one')
    this.messages = messages
    this.#times = Float64Array.from(times)
    const first = times.reduce((least, time) => Math.min(least, time), Number.POSITIVE_INFINITY)
    const last = times.reduce((most_, time) => Math.max(most_, time), Number.NEGATIVE_INFINITY)
    this.#span = last > first ? last - first + (last - first) / Math.max(1, used.length - 1) : STEP_MS * used.length
  }

  get length(): number {
    return this.messages.length
  }

  /** epoch ms of the first message */
  get begin(): number {
    return this.#times[0] as number
  }

  cursor(): Cursor {
    return new Cursor(this.messages, this.#times, this.#span)
  }
}

export class Cursor {
  readonly #messages: readonly Message[]
  readonly #times: Float64Array
  readonly #span: number
  #index = 0
  #passed = 0

  constructor(messages: readonly Message[], times: Float64Array, span: number) {
    this.#messages = messages
    this.#times = times
    this.#span = span
  }

  get message(): Message {
    return this.#messages[this.#index] as Message
  }

  get time(): number {
    return (this.#times[this.#index] as number) + this.#passed
  }

  next(): void {
    if (++this.#index < this.#messages.length) return
    this.#index = 0
    this.#passed += this.#span
  }
}

function copyName(resource: string, copy: number): string {
  return copy === 0 ? resource : `${resource}~${copy + 1}`
}
