/**
 * The work of one run of a model task: executions, their results, observations and firings. Who asks for work, and
 * when, is model-task.ts: never while a sensor is at work. Sensors are called one at a time; actuators are called when
 * they fire, but each one call after the other.
 */
import { durationMs } from '../../../src/kernel/duration.ts'
import type { PlugAnswer, PlugResult } from '../../../src/core/plug/plug.ts'
import type { Rule, Trigger } from '../../../src/core/rule/rule.ts'
import type { Happening, ModelEvent } from './model-event.ts'
import { ModelNodes } from './model-nodes.ts'
import { isAtWork, type Execution, type FollowUp, type Wave } from './model-work.ts'
import * as read from './rule-reading.ts'
import type { ScriptMessage } from './script.ts'
import { StreamMemory } from './stream-memory.ts'
import { LATER, type TestPlug } from './test-plugs.ts'
import { isExecutionTrigger, triggerHolds } from './trigger-holds.ts'

export class ModelRun {
  /** time of the input at hand */
  now: number
  /** what the clock says */
  clock: number
  /** number of the latest invocation */
  invocation: number
  executions: Execution[] = []
  followUps: FollowUp[] = []
  readonly nodes: ModelNodes
  readonly stream = new StreamMemory()
  readonly #lastFired = new Map<string, number>()
  readonly #cascade: Execution[] = []
  readonly #group: Execution[] = []
  #ids = 0
  readonly #rule: Rule
  readonly #plugs: Readonly<Record<string, TestPlug>>
  readonly #events: ModelEvent[]

  constructor(
    rule: Rule,
    plugs: Readonly<Record<string, TestPlug>>,
    from: { now: number; invocation: number; events: ModelEvent[] },
  ) {
    this.#rule = rule
    this.#plugs = plugs
    this.now = from.now
    this.clock = from.now
    this.invocation = from.invocation
    this.#events = from.events
    this.nodes = new ModelNodes(rule, plugs)
  }

  /** Whether a sensor is at work. */
  get isBusy(): boolean {
    return this.executions.some((one) => read.isSensor(this.#rule, one.label) && isAtWork(one))
  }

  /** Answers the oldest execution of a node that is still called. */
  settle(label: string, state: string | undefined): void {
    const open = this.executions.find((execution) => execution.label === label && execution.phase === 'called')
    if (!open) return
    if (state === undefined) this.#failed(open)
    else this.#answered(open, read.isSensor(this.#rule, label) ? state : { message: state })
    this.drain()
  }

  resume(label: string): void {
    const paused = this.executions.find((execution) => execution.label === label && execution.phase === 'paused')
    if (!paused) return
    paused.resumed = true
    this.#requeue(paused)
    this.drain()
  }

  nextGroup(wave: Wave): void {
    while (wave.running.size === 0) {
      const labels = wave.waiting.shift()
      if (!labels) return
      for (const label of labels) {
        const before = this.#executionOf(label)
        if (before && isAtWork(before)) {
          this.emit({ type: 'held', node: label, reason: 'overlap' }, wave.invocation)
        } else {
          if (before) this.#supersede(before, wave.invocation)
          this.#begin(this.#group, label, wave.invocation, wave.originOf(label), wave)
        }
      }
    }
  }

  #executionOf(label: string): Execution | undefined {
    return this.executions.find((execution) => execution.label === label)
  }

  /** A sensor that only waits begins anew: nothing comes of what it waits for, and the groups behind it do not run. */
  #supersede(execution: Execution, invocation: number): void {
    if (execution.wave && execution.invocation !== invocation) execution.wave.waiting = []
    this.#end(execution)
  }

  #begin(queue: Execution[], label: string, invocation: number, origin: ScriptMessage | undefined, wave?: Wave): void {
    this.#ids += 1
    const fresh = { phase: 'queued' as const, due: undefined, answer: {}, failures: 0, calls: 0, resumed: false }
    const execution: Execution = { id: this.#ids, label, invocation, origin, wave, time: this.now, ...fresh }
    this.dropFollowUp(label)
    this.executions.push(execution)
    wave?.running.add(execution)
    if (!this.#pauses(execution)) queue.push(execution)
  }

  /** Whether the execution has to wait for a resume; then it does. */
  #pauses(execution: Execution): boolean {
    const node = read.nodeOf(this.#rule, execution.label)
    if (!node?.pauseExecution || execution.resumed) return false
    Object.assign(execution, { phase: 'paused', due: this.now + durationMs(node.pauseExecutionTimeout ?? 'PT1H') })
    return true
  }

  drain(): void {
    while (!this.#isCalling) {
      const next = this.#cascade.shift() ?? this.#group.shift()
      if (!next) return
      this.#call(next)
    }
  }

  /** Whether a sensor's plug has been called, or will be tried again. */
  get #isCalling(): boolean {
    return this.executions.some((one) => {
      return read.isSensor(this.#rule, one.label) && (one.phase === 'called' || one.phase === 'retrying')
    })
  }

  #requeue(execution: Execution): void {
    if (this.#pauses(execution)) return
    Object.assign(execution, { phase: 'queued', due: undefined })
    this.#cascade.push(execution)
  }

  #call(execution: Execution): void {
    // an actuator does one thing after the other
    if (!read.isSensor(this.#rule, execution.label) && this.#executionOf(execution.label) !== execution) return
    const node = read.nodeOf(this.#rule, execution.label)
    const answer = this.#ask(execution)
    execution.calls += 1
    if (answer === LATER) {
      Object.assign(execution, { phase: 'called', due: this.clock + durationMs(node?.timeout ?? 'PT50S') })
    } else if (answer instanceof Error) this.#failed(execution)
    else this.#answered(execution, answer)
  }

  #ask({ label, origin, time, calls }: Execution): PlugAnswer | typeof LATER | Error {
    const node = read.nodeOf(this.#rule, label)
    const internalState = this.nodes.sensors.get(label)?.internalState
    // what an actuator is given is fixed when it fires
    const now = read.isSensor(this.#rule, label) ? this.now : time
    const resource = read.resourceOf(this.#rule, label)
    const stream = this.stream.seenBy(resource, origin, now)
    const news = this.stream.newsFor(resource, origin)
    try {
      const call = { label, properties: node?.properties ?? {}, stream, news, internalState, now, attempt: calls }
      return this.#plugs[node?.name ?? '']?.behave(call)
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error))
    }
  }

  #answered(execution: Execution, given: PlugAnswer): void {
    const answer: PlugResult = typeof given === 'string' ? { state: given } : (given ?? {})
    const sensor = read.isSensor(this.#rule, execution.label)
    if (answer.state !== undefined && sensor && !this.nodes.declared(execution.label).includes(answer.state)) {
      this.#failed(execution)
    } else if (answer.after !== undefined) {
      Object.assign(execution, { phase: 'holding', due: this.now + answer.after, answer })
    } else this.#succeed(execution, answer)
  }

  #succeed(execution: Execution, answer: PlugResult): void {
    const { state, rawData } = answer
    const shown = { ...(state === undefined ? {} : { state }), ...(rawData === undefined ? {} : { rawData }) }
    this.emit({ type: 'result', node: execution.label, ok: true, ...shown }, execution.invocation)
    this.#arrive(execution, answer)
    this.#end(execution)
  }

  #failed(execution: Execution): void {
    const { label, failures } = execution
    const retry = read.nodeOf(this.#rule, label)?.retryConfig
    if (retry && failures < retry.maxRetries) {
      const most = durationMs(retry.maxBackoff ?? 'PT1M')
      const due = this.clock + Math.min(most, durationMs(retry.minBackoff ?? 'PT1S') * 2 ** failures)
      Object.assign(execution, { phase: 'retrying', due, failures: failures + 1 })
      return
    }
    this.#fail(execution, retry?.errorState)
  }

  #fail(execution: Execution, state: string | undefined): void {
    const { label, invocation, origin } = execution
    this.emit({ type: 'result', node: label, ok: false }, invocation)
    if (state !== undefined) this.#observe(label, state, invocation, origin)
    this.#end(execution)
  }

  /** A time limit is an error as well, but one that can have a state of its own instead of another attempt. */
  #timedOut(execution: Execution): void {
    const state = read.sensorsOf(this.#rule).find((sensor) => sensor.label === execution.label)?.timeoutState
    if (state === undefined) this.#failed(execution)
    else this.#fail(execution, state)
  }

  #arrive(by: { label: string; invocation: number; origin: ScriptMessage | undefined }, answer: PlugResult): void {
    const { label, invocation, origin } = by
    const node = this.nodes.sensors.get(label)
    if (!node) return
    if (answer.internalState !== undefined) node.internalState = answer.internalState
    if (answer.then) {
      this.#ids += 1
      const { after, ...later } = answer.then
      this.followUps.push({ id: this.#ids, label, invocation, origin, due: this.now + (after ?? 0), answer: later })
    }
    this.apply(label, invocation, origin, answer.state, answer.rawData ?? {})
  }

  /** A state is observed; raw data alone fires only what asks for no more than an execution. */
  apply(label: string, invocation: number, origin: ScriptMessage | undefined, state?: string, rawData?: unknown): void {
    if (state !== undefined) return this.#observe(label, state, invocation, origin)
    if (rawData === undefined) return
    for (const trigger of this.#rule.triggers ?? []) {
      if (trigger.sourceLabel === label && isExecutionTrigger(trigger)) this.#fire(trigger, invocation, origin)
    }
  }

  #observe(label: string, state: string, invocation: number, origin: ScriptMessage | undefined): void {
    const { sensor, gates, views } = this.nodes.observe(label, state, this.now)
    if (sensor.from !== sensor.to) this.emit({ type: 'state', ...sensor }, invocation)
    for (const gate of gates) if (gate.from !== gate.to) this.emit({ type: 'gate', ...gate }, invocation)
    for (const trigger of this.#rule.triggers ?? []) {
      const view = views.get(trigger.sourceLabel)
      if (view && triggerHolds(trigger, view)) this.#fire(trigger, invocation, origin)
    }
  }

  #fire(trigger: Trigger, invocation: number, origin: ScriptMessage | undefined): void {
    const { sourceLabel: source, destinationLabel: node } = trigger
    const cooledAt = (this.#lastFired.get(node) ?? -Infinity) + (trigger.invocationPolicy ?? 0) * 1000
    const held = (reason: string, until?: number): void =>
      this.emit({ type: 'held', node, source, reason, ...(until === undefined ? {} : { until }) }, invocation)
    if (this.now < cooledAt) return held('invocationPolicy', cooledAt)
    const before = read.isSensor(this.#rule, node) ? this.#executionOf(node) : undefined
    if (before && isAtWork(before)) return held('overlap')
    this.#lastFired.set(node, this.now)
    if (before) this.#supersede(before, invocation)
    this.emit({ type: 'fired', node, source }, invocation)
    this.#begin(this.#cascade, node, invocation, origin)
  }

  dropFollowUp(label: string): void {
    this.followUps = this.followUps.filter((later) => later.label !== label)
  }

  #end(execution: Execution): void {
    this.executions = this.executions.filter((other) => other !== execution)
    const next = read.isSensor(this.#rule, execution.label) ? undefined : this.#executionOf(execution.label)
    if (next && !this.#cascade.includes(next)) this.#call(next)
    if (!execution.wave) return
    execution.wave.running.delete(execution)
    this.nextGroup(execution.wave)
  }

  followUp(later: FollowUp): void {
    this.followUps = this.followUps.filter((other) => other !== later)
    this.#arrive(later, later.answer)
    this.drain()
  }

  wake(execution: Execution): void {
    if (execution.phase === 'retrying') this.#again(execution)
    else if (execution.phase === 'holding') this.#succeed(execution, execution.answer)
    else this.#timedOut(execution)
    this.drain()
  }

  /** The next attempt. A sensor's comes before all else; one that paused in vain waits for a resume again. */
  #again(execution: Execution): void {
    if (this.#pauses(execution)) return
    Object.assign(execution, { phase: 'queued', due: undefined })
    this.#call(execution)
  }

  emit(happening: Happening, invocation = this.invocation): void {
    this.#events.push({ time: this.now, invocation, ...happening })
  }
}
