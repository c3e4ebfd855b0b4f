/** Runs several tasks through steps: messages, time, user commands, and crashes. */
import {
  CoreEngine,
  createRegistry,
  type EngineEvent,
  type Message,
  type Plug,
  type PlugServices,
  type Ports,
  type Rule,
  type SavedTask,
  type Task,
  type TaskSettings,
  type Template,
  VirtualClock,
} from '#core'
import { Preparer, type RuleGraph } from '#core/spi'
import { AppError } from '#kernel'
import { labelsOf, lookAt, type Moment } from '../checked-run.ts'
import { lengthText } from '../moment-text.ts'
import { isSettledWithin } from '../patience.ts'
import { silentText } from '../rule-paths.ts'
import { conditionOf, type Condition } from '../temporal/condition.ts'
import type { MemoryServices, WorldAround, WorldState } from './memory-world.ts'

export interface WorldTask {
  readonly rule: Rule | Template
  /** overrides the settings of the rule */
  readonly settings?: TaskSettings
  /** rules with which a user may replace the running one */
  readonly changes?: readonly (Rule | Template)[]
}

export interface World {
  /** by name, which prefixes labels: `heating/relay` */
  readonly tasks: Readonly<Record<string, WorldTask>>
  /** creates the services that plugs act on, for each run, such as `memoryWorld()` */
  readonly services: (around: WorldAround) => MemoryServices
  /** creates the plugs for the services of a run, such as `(services) => createBuiltins({ services })` */
  readonly plugs: (services: PlugServices) => readonly Plug[]
}

/** One step. `gap`: ms that pass before it. */
export type WorldStep = { readonly gap: number } & (
  | { readonly kind: 'message'; readonly message: Message }
  | { readonly kind: 'wait' }
  | { readonly kind: 'stop' | 'start'; readonly task: string }
  | { readonly kind: 'push'; readonly task: string; readonly node: string; readonly state: string }
  | { readonly kind: 'change'; readonly task: string; readonly rule: number }
  /** the process crashes and continues from its saved state; services keep running */
  | { readonly kind: 'crash' }
)

/** A snapshot of the whole world. Labels are prefixed with the task's name: `heating/relay`. */
export interface WorldMoment extends Moment {
  readonly step?: WorldStep
  /** alarms, metadata, stored messages and commands */
  readonly world: WorldState
  isRunning(task: string): boolean
}

/** Creates a condition on the whole world, such as an open alarm. */
export function inWorld(text: string, holds: (world: WorldMoment) => boolean): Condition {
  return { ...conditionOf((moment) => holds(moment as WorldMoment)), text }
}

export interface WorldRun {
  readonly moments: readonly WorldMoment[]
  readonly until: number
}

const START = Date.UTC(2025, 2, 3, 6)

/** Combines all nodes of all tasks into one rule, with the task's name before each label. */
export function wholeGraph({ tasks }: World): RuleGraph {
  const named = <Node extends { readonly label: string }>(of: 'sensors' | 'relations' | 'actuators') =>
    Object.entries(tasks).flatMap(([name, { rule }]) =>
      ((rule[of] ?? []) as unknown as readonly Node[]).map((node) => ({ ...node, label: `${name}/${node.label}` })),
    )
  return { sensors: named('sensors'), relations: named('relations'), actuators: named('actuators') }
}

export interface WorldTimes {
  readonly tail: number
  /** real time in ms to wait for plugs */
  readonly patience: number
}

/** Runs the steps. Throws the errors of `engine.start` for any task, and `PROPERTY` when a plug does not finish. */
export async function runWorld(world: World, steps: readonly WorldStep[], times: WorldTimes): Promise<WorldRun> {
  return new Running(world, times).run(steps)
}

class Running {
  readonly #world: World
  readonly #clock = new VirtualClock(START)
  readonly #services: MemoryServices
  readonly #preparer: Preparer
  readonly #labels
  readonly #moments: WorldMoment[] = []
  readonly #latest = new Map<string, Message>()
  readonly #forwarded: Message[] = []
  #events: EngineEvent[] = []
  #engine: CoreEngine
  #newest: Message | undefined
  readonly #times: WorldTimes
  /** labels of sensors and actuators that have finished at least once */
  readonly #answered = new Set<string>()

  constructor(world: World, times: WorldTimes) {
    this.#world = world
    this.#times = times
    this.#services = world.services({
      now: () => this.#clock.now(),
      forward: (resource, message) => void this.#forwarded.push({ ...message, resource }),
    })
    this.#preparer = new Preparer(createRegistry(world.plugs(this.#services)))
    this.#labels = labelsOf(wholeGraph(world))
    this.#engine = this.#newEngine()
  }

  async run(steps: readonly WorldStep[]): Promise<WorldRun> {
    await this.#services.ready()
    for (const [id, { rule, settings }] of Object.entries(this.#world.tasks))
      await this.#engine.start(rule, { ...settings, id, start: true })
    await this.#settle()
    this.#look(undefined)
    for (const step of steps) {
      await this.#pass(step.gap)
      await this.#do(step)
      await this.#settle()
      this.#look(step)
    }
    await this.#pass(this.#times.tail)
    await this.#engine.close()
    return { moments: this.#moments, until: this.#clock.now() }
  }

  async #do(step: WorldStep): Promise<void> {
    switch (step.kind) {
      case 'message': {
        const message = { ...step.message, timestamp: this.#clock.now() }
        this.#latest.set(message.resource, message)
        this.#newest = message
        this.#services.arrived(message)
        this.#engine.receive(message)
        return
      }
      case 'wait':
        return
      case 'stop':
        if (this.#isRunning(step.task)) await this.#engine.stop(step.task)
        return
      case 'start':
        if (!this.#isRunning(step.task)) await this.#engine.start(step.task)
        return
      case 'push':
        if (this.#isRunning(step.task)) this.#task(step.task)?.push(step.node, { state: step.state })
        return
      case 'change': {
        const rule = this.#world.tasks[step.task]?.changes?.[step.rule]
        if (rule !== undefined && this.#isRunning(step.task))
          await this.#engine.change(step.task, rule, this.#world.tasks[step.task]?.settings ?? {})
        return
      }
      case 'crash':
        return this.#crash()
    }
  }

  async #crash(): Promise<void> {
    const saved = [...this.#engine.tasks.values()].map((task) => JSON.parse(JSON.stringify(task.save())) as SavedTask)
    await this.#engine.close()
    this.#engine = this.#newEngine()
    for (const task of saved) await this.#engine.restore(task)
  }

  /** Advances the time, with a stop at each instant at which something happens. */
  async #pass(ms: number): Promise<void> {
    const time = this.#clock.now() + ms
    for (let at = this.#clock.nextAt(); at !== undefined && at <= time; at = this.#clock.nextAt()) {
      this.#clock.advanceTo(at)
      await this.#settle()
      this.#look(undefined)
    }
    this.#clock.advanceTo(time)
  }

  /** Runs until everything is idle. Throws if rules trigger each other endlessly. */
  async #settle(): Promise<void> {
    for (let round = 0; this.#engine.openCalls > 0 || this.#forwarded.length > 0; round++) {
      if (round > 1000) throw new AppError('PROPERTY', 'rules forward messages to each other endlessly')
      if (!(await isSettledWithin(this.#engine, this.#times.patience))) throw this.#outOfPatience()
      for (const message of this.#forwarded.splice(0)) {
        this.#latest.set(message.resource, message)
        this.#engine.receive(message)
      }
    }
  }

  #outOfPatience(): AppError {
    const subject = silentText(wholeGraph(this.#world), this.#answered)
    const patience = lengthText(this.#times.patience)
    return new AppError(
      'PROPERTY',
      `${subject} did not return within ${patience}; increase patience if that is expected`,
    )
  }

  #look(step: WorldStep | undefined): void {
    const events = this.#events
    this.#events = []
    const newest = this.#newest
    const nodeOf = (label: string) => {
      const [task = '', ...node] = label.split('/')
      return this.#task(task)?.node(node.join('/'))
    }
    const running = new Set(
      [...this.#engine.tasks.values()].filter(({ status }) => status === 'running').map(({ id }) => id),
    )
    this.#moments.push({
      time: this.#clock.now(),
      ...(step && { step }),
      ...(step?.kind === 'message' && newest && { message: newest }),
      fired: events.flatMap((event) =>
        event.type === 'fired'
          ? [{ ...event, node: `${event.task}/${event.node}`, source: `${event.task}/${event.source}` }]
          : [],
      ),
      failed: events.flatMap((event) =>
        event.type === 'result' && !event.ok ? [{ ...event, node: `${event.task}/${event.node}` }] : [],
      ),
      world: this.#services.state(),
      isRunning: (task) => running.has(task),
      ...lookAt(this.#labels, nodeOf, new Map(this.#latest), newest),
    })
  }

  #task(id: string): Task | undefined {
    return this.#engine.tasks.get(id)
  }

  #isRunning(id: string): boolean {
    return this.#task(id)?.status === 'running'
  }

  #newEngine(): CoreEngine {
    const { resources, data } = this.#services
    const ports: Ports = {
      metadata: (id) => resources.get(id),
      latestValue: async (id, metric) => (await data.latest(id)).find((one) => one.metric === metric)?.value,
    }
    const options = { plugs: [], scheduler: this.#clock, ids: () => 'task', seed: 1, ports }
    const engine = new CoreEngine(options, this.#preparer.plugs, this.#preparer)
    engine.events$.subscribe((event) => {
      this.#events.push(event)
      if (event.type === 'result') this.#answered.add(`${event.task}/${event.node}`)
    })
    return engine
  }
}
