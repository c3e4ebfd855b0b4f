/**
 * A task, written to be obviously right rather than fast: everything that can be worked out is worked out anew each
 * time it is asked for. It shares types with the engine and nothing else.
 */
import type { Rule, Sensor } from '../../../src/core/rule/rule.ts'
import type { Happening, ModelEvent } from './model-event.ts'
import { ModelRun } from './model-run.ts'
import { firstTimer, type ModelTimer, type Wave } from './model-work.ts'
import * as read from './rule-reading.ts'
import type { ScriptMessage } from './script.ts'
import type { TestPlug } from './test-plugs.ts'

export class ModelTask {
  readonly events: ModelEvent[] = []
  running = false
  #run = 0
  #work: ModelRun
  #ownTicks = new Map<string, number>()
  #nextTick: number | undefined
  readonly #rule: Rule
  readonly #plugs: Readonly<Record<string, TestPlug>>
  readonly #maxInFlight: number

  constructor(rule: Rule, plugs: Readonly<Record<string, TestPlug>>, now: number, maxInFlight = 1000) {
    this.#rule = rule
    this.#plugs = plugs
    this.#maxInFlight = maxInFlight
    this.#work = this.#fresh(now, 0)
  }

  start(): void {
    this.#work = this.#fresh(this.#work.now, this.#work.invocation)
    this.#ownTicks = new Map()
    this.#nextTick = undefined
    this.running = true
    this.#run += 1
    this.#work.emit({ type: 'started', run: this.#run })
    for (const sensor of read.sensorsOf(this.#rule)) {
      if (!read.hasOwnClock(this.#rule, sensor)) continue
      this.#ownTicks.set(sensor.label, this.#work.now)
      this.#ownTick(sensor)
    }
    const type = this.#rule.task?.type ?? 'reactive'
    if (type === 'periodic' || type === 'onetime') this.#tick(this.#work.now)
    this.#nextTick = this.#tickAfter(this.#work.now)
    this.#finishWhenDone()
  }

  stop(): void {
    if (this.running) this.#end('stopped')
  }

  /** Lets everything happen that is due up to and at `time`. */
  advanceTo(time: number): void {
    for (;;) {
      const next = this.running ? firstTimer(this.#timers()) : undefined
      if (!next || next.due > time) break
      this.#work.now = next.due
      next.act()
      this.#finishWhenDone()
    }
    this.#work.now = time
  }

  receive(messages: readonly ScriptMessage[]): void {
    if (!this.running) return
    const taken = messages.filter((message) => read.usesResource(this.#rule, message.resource))
    const waves: ScriptMessage[][] = [[]]
    for (const message of taken) {
      if (waves.at(-1)?.some((earlier) => earlier.resource === message.resource)) waves.push([])
      waves.at(-1)?.push(message)
    }
    for (const wave of waves) this.#receiveTogether(wave)
    this.#finishWhenDone()
  }

  push(label: string, given: { state?: string; rawData?: unknown }): void {
    if (!this.running) return
    this.#work.invocation += 1
    this.#work.dropFollowUp(label)
    this.#work.apply(label, this.#work.invocation, undefined, given.state, given.rawData)
    this.#work.drain()
    this.#finishWhenDone()
  }

  run(label: string): void {
    if (!this.running) return
    const sensors = read.sensorsOf(this.#rule).filter((sensor) => sensor.label === label)
    this.#invoke(sensors, [], () => undefined)
    this.#finishWhenDone()
  }

  resume(label: string): void {
    if (!this.running) return
    this.#work.resume(label)
    this.#finishWhenDone()
  }

  settle(label: string, state: string | undefined): void {
    if (!this.running) return
    this.#work.settle(label, state)
    this.#finishWhenDone()
  }

  #receiveTogether(messages: readonly ScriptMessage[]): void {
    for (const message of messages) this.#work.stream.remember(message, this.#work.now)
    const sensors = messages.flatMap((message) =>
      read.runsOnData(this.#rule, message.resource).filter(({ name, properties }) => {
        const awaited = this.#plugs[name]?.waitsFor?.(properties ?? {})
        return awaited === undefined || message[awaited] !== undefined
      }),
    )
    const begin = messages.map((message): Happening => ({ type: 'data', resource: message.resource }))
    this.#invoke(sensors, begin, (label) =>
      messages.find((message) => message.resource === read.resourceOf(this.#rule, label)),
    )
  }

  #tick(scheduledAt: number): void {
    this.#invoke(read.runsOnTick(this.#rule), [{ type: 'tick', scheduledAt }], () => undefined)
  }

  #ownTick(sensor: Sensor): void {
    const scheduledAt = this.#ownTicks.get(sensor.label) ?? this.#work.now
    this.#ownTicks.set(sensor.label, scheduledAt + (sensor.pollingPeriod ?? 0))
    this.#invoke([sensor], [{ type: 'tick', node: sensor.label, scheduledAt }], () => undefined)
  }

  #invoke(sensors: readonly Sensor[], begin: readonly Happening[], originOf: Wave['originOf']): void {
    if (sensors.length === 0) return
    this.#work.invocation += 1
    for (const happening of begin) this.#work.emit(happening)
    if (this.#rule.task?.resetObservations !== false) this.#reset(sensors.map((sensor) => sensor.label))
    const waiting = read.groupsOf(this.#rule, sensors)
    this.#work.nextGroup({ invocation: this.#work.invocation, waiting, running: new Set(), originOf })
    this.#work.drain()
  }

  #reset(labels: readonly string[]): void {
    const everything = this.#rule.task?.resetScope === 'task'
    const roots = labels.filter((label) => !this.#work.atWork(label))
    const all = read.sensorsOf(this.#rule).map((sensor) => sensor.label)
    this.#work.nodes.reset(everything ? all : new Set([...roots, ...read.sensorsDownstream(this.#rule, roots)]))
  }

  #timers(): ModelTimer[] {
    const labels = [...read.sensorsOf(this.#rule), ...(this.#rule.actuators ?? [])].map((node) => node.label)
    const place = (label: string): number => labels.indexOf(label)
    const timers: ModelTimer[] = []
    for (const [label, { evictAt }] of this.#work.nodes.sensors) {
      if (evictAt === undefined) continue
      timers.push({ due: evictAt, kind: 'evict', place: place(label), id: 0, act: () => this.#evict(label) })
    }
    for (const later of this.#work.followUps) {
      const act = (): void => this.#work.followUp(later)
      timers.push({ due: later.due, kind: 'followUp', place: place(later.label), id: later.id, act })
    }
    for (const execution of this.#work.executions) {
      if (execution.due === undefined) continue
      const act = (): void => this.#work.wake(execution)
      timers.push({
        due: execution.due,
        kind: 'wake',
        place: place(execution.label),
        id: execution.id,
        act,
      })
    }
    for (const sensor of read.sensorsOf(this.#rule)) {
      const due = this.#ownTicks.get(sensor.label)
      if (due === undefined) continue
      timers.push({ due, kind: 'ownTick', place: place(sensor.label), id: 0, act: () => this.#ownTick(sensor) })
    }
    const due = this.#nextTick
    if (due !== undefined) {
      const act = (): void => {
        this.#nextTick = this.#tickAfter(due)
        this.#tick(due)
      }
      timers.push({ due, kind: 'tick', place: 0, id: 0, act })
    }
    return timers
  }

  #evict(label: string): void {
    const from = this.#work.nodes.evict(label)
    if (from !== null) this.#work.emit({ type: 'evicted', node: label, from })
  }

  #tickAfter(time: number): number | undefined {
    const task = this.#rule.task
    const every = task?.frequency ?? (task?.pollingInterval ?? Number.NaN) * 1000
    if (task?.type === 'periodic') return time + every
    const cron = /^0\/(\d+) \* \* \* \* \?$/.exec(task?.cron ?? '')
    if (task?.type !== 'scheduled' || !cron) return undefined
    const step = Number(cron[1]) * 1000
    return (Math.floor(time / step) + 1) * step
  }

  #finishWhenDone(): void {
    if (!this.running || this.#rule.task?.type !== 'onetime') return
    if (this.#work.executions.length === 0 && this.#work.followUps.length === 0) this.#end('finished')
  }

  #end(reason: 'finished' | 'stopped'): void {
    this.#work.emit({ type: 'stopped', reason })
    this.running = false
  }

  #fresh(now: number, invocation: number): ModelRun {
    const { events } = this
    return new ModelRun(this.#rule, this.#plugs, { now, invocation, events, maxInFlight: this.#maxInFlight })
  }
}
