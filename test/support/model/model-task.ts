/**
 * Models a task in an obviously correct rather than fast way: everything is computed again whenever it is needed. The
 * model shares only types with the engine.
 *
 * It takes one input after the other, at the input's own time, when no sensor is at work. A timer of the rule is also
 * an input, before all others of its time. Ticks and timers of calls at work (time limit, pause before a retry) follow
 * the clock; ticks are then inputs that wait for their turn.
 */
import type { Rule, Sensor } from '../../../src/core/rule/rule.ts'
import type { Happening, ModelEvent } from './model-event.ts'
import { ModelRun } from './model-run.ts'
import { firstTimer, isAtWork, type Execution, type ModelTimer, type Touch } from './model-work.ts'
import * as read from './rule-reading.ts'
import { TASK_ID, type ScriptMessage } from './script.ts'
import type { TestPlug } from './test-plugs.ts'

const MAX_WAITING_TICKS = 100

interface ModelInput {
  time: number
  /** clocks whose ticks these are, all at one time */
  clocks: readonly Tick[]
  take: () => void
}

interface Tick {
  clock: string
  sensors: readonly Sensor[]
  scheduledAt: number
  happening: Happening
}

export class ModelTask {
  readonly events: ModelEvent[] = []
  running = false
  #run = 0
  /** set when the task takes no more inputs */
  #isOver = false
  #work: ModelRun
  /** inputs that wait for their turn, oldest first */
  #inputs: ModelInput[] = []
  #ownTicks = new Map<string, number>()
  #nextTick: number | undefined
  readonly #runsAtStart: boolean
  readonly #rule: Rule
  readonly #plugs: Readonly<Record<string, TestPlug>>

  /** `runsAtStart`: a scheduled run at the very start counts, as in a simulation. */
  constructor(rule: Rule, plugs: Readonly<Record<string, TestPlug>>, now: number, runsAtStart = false) {
    this.#runsAtStart = runsAtStart
    this.#rule = rule
    this.#plugs = plugs
    this.#work = this.#fresh(now, 0)
  }

  start(): void {
    const { clock } = this.#work
    this.#work = this.#fresh(clock, this.#work.invocation)
    this.#inputs = []
    this.#isOver = false
    this.running = true
    this.#run += 1
    this.#work.emit({ type: 'started', run: this.#run })
    const clocked = read.sensorsOf(this.#rule).filter((sensor) => read.hasOwnClock(this.#rule, sensor))
    this.#ownTicks = new Map(clocked.map(({ label }) => [label, clock]))
    const type = this.#rule.task?.type ?? 'reactive'
    this.#nextTick =
      type === 'periodic' || type === 'onetime' ? clock : this.#tickAfter(this.#runsAtStart ? clock - 1 : clock)
    this.advanceTo(clock)
  }

  stop(): void {
    this.#work.now = this.#work.clock
    if (this.running) this.#end('stopped')
  }

  /** Runs everything that is due up to and including `time`. */
  advanceTo(time: number): void {
    for (;;) {
      const byClock = this.running ? this.#clockTimers() : []
      const next = firstTimer([...byClock, ...(this.running && !this.#work.isBusy ? this.#timers() : [])])
      if (!next || next.due > time) break
      this.#work.clock = next.due
      // All due clocks tick before one of their inputs is taken.
      const ticks = byClock.filter(({ kind, due }) => due === next.due && kind !== 'wake')
      if (byClock.includes(next) && next.kind === 'wake') this.#beside(next.act)
      else if (byClock.includes(next)) for (const tick of ticks) this.#beside(tick.act)
      this.#goOn()
    }
    this.#work.clock = time
  }

  receive(messages: readonly ScriptMessage[]): void {
    const taken = messages.filter((message) => read.usesResource(this.#rule, message.resource))
    const waves: ScriptMessage[][] = [[]]
    for (const message of taken) {
      if (waves.at(-1)?.some((earlier) => earlier.resource === message.resource)) waves.push([])
      waves.at(-1)?.push(message)
    }
    for (const wave of waves) this.#input(() => this.#receiveTogether(wave))
  }

  push(label: string, given: { state?: string; rawData?: Record<string, unknown> }): void {
    this.#input(() => {
      this.#work.invocation += 1
      this.#work.dropFollowUp(label)
      const touch = { invocation: this.#work.invocation, origin: undefined, clock: undefined }
      this.#work.push(label, touch, given)
    })
  }

  run(label: string): void {
    const sensors = read.sensorsOf(this.#rule).filter((sensor) => sensor.label === label)
    this.#input(() => this.#invoke(sensors, [], () => ({})))
  }

  resume(label: string): void {
    this.#input(() => this.#work.resume(label))
  }

  settle(label: string, state: string | undefined): void {
    if (!this.running) return
    this.#beside(() => this.#work.settle(label, state))
    this.#goOn()
  }

  /** Serves calls at work without changing the time of the current input, if any. */
  #beside(act: () => void): void {
    if (!this.#work.isBusy) this.#work.now = this.#work.clock
    act()
  }

  #input(take: () => void): void {
    if (!this.running || this.#isOver) return
    this.#inputs.push({ time: this.#work.clock, clocks: [], take })
    this.#goOn()
  }

  /** Takes waiting inputs and due timers, in order of time, until a sensor is at work. */
  #goOn(): void {
    this.#finishWhenDone()
    while (this.running && !this.#work.isBusy) {
      const [input] = this.#inputs
      const timer = firstTimer(this.#timers())
      if (timer && timer.due <= (input?.time ?? this.#work.clock)) {
        this.#work.now = timer.due
        this.#takeTimers(timer.due)
      } else if (input) {
        this.#inputs.shift()
        this.#work.now = input.time
        input.take()
      } else return
      this.#finishWhenDone()
    }
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
    this.#invoke(sensors, begin, (label) => ({
      origin: messages.find((message) => message.resource === read.resourceOf(this.#rule, label)),
    }))
  }

  /** Handles all timers due at one time: evictions, then one pass for follow-ups, held results and expired pauses. */
  #takeTimers(due: number): void {
    const now = this.#timers().filter((timer) => timer.due === due)
    for (const { act, kind } of now) if (kind === 'evict') act()
    const labels = now.flatMap(({ kind, label }) => (kind === 'evict' ? [] : [label]))
    if (labels.length > 0) this.#work.begin({ due: new Set(labels) })
  }

  /**
   * Handles a due tick: it waits for its turn like any input, unless the sensors that it ran before are still at work.
   */
  #clockIsDue(clock: string, sensors: readonly Sensor[], scheduledAt: number, happening: Happening): void {
    const held = (reason: string): void => this.#work.emit({ type: 'held', node: clock, reason })
    const { executions, pass } = this.#work
    const own = executions.filter(({ touch }) => touch.clock === clock)
    const toRun = [...(pass?.selected ?? [])].filter(([, touch]) => touch.clock === clock)
    const isOpen = (one: Execution): boolean => isAtWork(one) || one.phase === 'looping'
    const isBusy = own.some((one) => read.isSensor(this.#rule, one.label) && isOpen(one)) || toRun.length > 0
    if (isBusy) return held('overlap')
    if (this.#inputs.filter(({ clocks }) => clocks.length > 0).length >= MAX_WAITING_TICKS) return held('queue')
    const last = this.#inputs.at(-1)
    const isNext = last !== undefined && last.clocks[0]?.scheduledAt === scheduledAt
    const clocks = [...(isNext ? last.clocks : []), { clock, sensors, scheduledAt, happening }]
    if (isNext) this.#inputs.pop()
    this.#inputs.push({ time: this.#work.clock, clocks, take: () => this.#takeTicks(clocks) })
  }

  #takeTicks(clocks: readonly Tick[]): void {
    const clockOf = (label: string): string | undefined =>
      clocks.find(({ sensors }) => sensors.some((sensor) => sensor.label === label))?.clock
    const sensors = clocks.flatMap((tick) => tick.sensors)
    const happenings = clocks.map(({ happening }) => happening)
    this.#invoke(sensors, happenings, (label) => ({ clock: clockOf(label) }))
  }

  #invoke(
    sensors: readonly Sensor[],
    begin: readonly Happening[],
    cameBy: (label: string) => Partial<Pick<Touch, 'origin' | 'clock'>>,
  ): void {
    if (sensors.length === 0) return
    this.#work.invocation += 1
    for (const happening of begin) this.#work.emit(happening)
    if (this.#rule.task?.resetObservations !== false) this.#reset(sensors.map((sensor) => sensor.label))
    const { invocation } = this.#work
    const touchOf = (label: string): Touch => ({ invocation, origin: undefined, clock: undefined, ...cameBy(label) })
    this.#work.begin({ selected: new Map(sensors.map(({ label }) => [label, touchOf(label)])) })
  }

  #reset(labels: readonly string[]): void {
    const everything = this.#rule.task?.resetScope === 'task'
    const all = read.sensorsOf(this.#rule).map((sensor) => sensor.label)
    this.#work.nodes.reset(everything ? all : new Set([...labels, ...read.sensorsDownstream(this.#rule, labels)]))
  }

  /** Returns what is due by the clock: time limits of calls, next attempts and ticks. */
  #clockTimers(): ModelTimer[] {
    const timers: ModelTimer[] = this.#wakes().filter(({ execution }) => isAtWork(execution))
    for (const sensor of read.sensorsOf(this.#rule)) {
      const { label, pollingPeriod = 0 } = sensor
      const due = this.#ownTicks.get(label)
      if (due === undefined) continue
      const act = (): void => {
        this.#ownTicks.set(label, due + pollingPeriod)
        this.#clockIsDue(label, [sensor], due, { type: 'tick', node: label, scheduledAt: due })
      }
      timers.push({ due, kind: 'ownTick', label, place: this.#place(label), id: 0, act })
    }
    const due = this.#nextTick
    if (due === undefined) return timers
    const act = (): void => {
      this.#nextTick = this.#tickAfter(due)
      this.#clockIsDue(TASK_ID, read.runsOnTick(this.#rule), due, { type: 'tick', scheduledAt: due })
    }
    return [...timers, { due, kind: 'tick', label: TASK_ID, place: 0, id: 0, act }]
  }

  #wakes(): (ModelTimer & { execution: Execution })[] {
    return this.#work.executions.flatMap((execution) => {
      const { due, label, id } = execution
      const act = (): void => this.#work.wake(execution)
      return due === undefined ? [] : [{ due, kind: 'wake', label, place: this.#place(label), id, act, execution }]
    })
  }

  /** Returns the place of a node in the rule. */
  #place(wanted: string): number {
    const nodes = [...read.sensorsOf(this.#rule), ...(this.#rule.actuators ?? [])]
    return nodes.findIndex(({ label }) => label === wanted)
  }

  /** Returns what is due by the time of inputs. */
  #timers(): ModelTimer[] {
    if (this.#isOver) return []
    const timers: ModelTimer[] = []
    for (const [label, { evictAt }] of this.#work.nodes.sensors) {
      if (evictAt === undefined) continue
      const act = (): void => this.#evict(label)
      timers.push({ due: evictAt, kind: 'evict', label, place: this.#place(label), id: 0, act })
    }
    for (const { due, label, id } of this.#work.followUps) {
      timers.push({ due, kind: 'followUp', label, place: this.#place(label), id, act: () => undefined })
    }
    timers.push(...this.#wakes().filter(({ execution }) => !isAtWork(execution)))
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

  /** Finishes a onetime task once its tick has come and no sensor has work left; actuators may continue. */
  #finishWhenDone(): void {
    if (!this.running || this.#rule.task?.type !== 'onetime') return
    if (
      this.#nextTick !== undefined ||
      this.#inputs.some(({ clocks }) => clocks.some(({ clock }) => clock === TASK_ID))
    )
      return
    const { executions, followUps } = this.#work
    if (followUps.length > 0 || executions.some(({ label }) => read.isSensor(this.#rule, label))) return
    this.#isOver = true
    this.#inputs = []
    this.#ownTicks = new Map()
    if (executions.length === 0) this.#end('finished')
  }

  #end(reason: 'finished' | 'stopped'): void {
    this.#work.emit({ type: 'stopped', reason })
    this.running = false
  }

  #fresh(now: number, invocation: number): ModelRun {
    const { events } = this
    return new ModelRun(this.#rule, this.#plugs, { now, invocation, events })
  }
}
