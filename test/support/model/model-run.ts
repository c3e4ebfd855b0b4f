/**
 * The work of one run of a model task: executions, their results, observations and firings. Who asks for work, and
 * when, is model-task.ts.
 */
import { durationMs } from '../../../src/kernel/duration.ts'
import type { PlugAnswer, PlugResult } from '../../../src/core/plug/plug.ts'
import type { Rule, Trigger } from '../../../src/core/rule/rule.ts'
import type { Happening, ModelEvent } from './model-event.ts'
import { ModelNodes } from './model-nodes.ts'
import type { Execution, FollowUp, Wave } from './model-work.ts'
import * as read from './rule-reading.ts'
import type { ScriptMessage } from './script.ts'
import { StreamMemory } from './stream-memory.ts'
import { LATER, type TestPlug } from './test-plugs.ts'
import { isExecutionTrigger, triggerHolds } from './trigger-holds.ts'

export class ModelRun {
  now: number
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
  readonly #maxInFlight: number
  readonly #events: ModelEvent[]

  constructor(
    rule: Rule,
    plugs: Readonly<Record<string, TestPlug>>,
    from: { now: number; invocation: number; events: ModelEvent[]; maxInFlight: number },
  ) {
    this.#rule = rule
    this.#plugs = plugs
    this.now = from.now
    this.invocation = from.invocation
    this.#events = from.events
    this.#maxInFlight = from.maxInFlight
    this.nodes = new ModelNodes(rule, plugs)
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
  }

  nextGroup(wave: Wave): void {
    while (wave.running.size === 0) {
      const labels = wave.waiting.shift()
      if (!labels) return
      for (const label of labels) {
        if (this.atWork(label)) this.emit({ type: 'held', node: label, reason: 'overlap' }, wave.invocation)
        else this.#begin(this.#group, label, wave.invocation, wave.originOf(label), wave)
      }
    }
  }

  #begin(queue: Execution[], label: string, invocation: number, origin: ScriptMessage | undefined, wave?: Wave): void {
    this.#ids += 1
    const fresh = { phase: 'queued' as const, due: undefined, answer: {}, failures: 0, resumed: false }
    const execution: Execution = { id: this.#ids, label, invocation, origin, wave, ...fresh }
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
    for (;;) {
      const next = this.#cascade.shift() ?? this.#group.shift()
      if (!next) return
      this.#call(next)
    }
  }

  #requeue(execution: Execution): void {
    if (this.#pauses(execution)) return
    Object.assign(execution, { phase: 'queued', due: undefined })
    this.#cascade.push(execution)
    this.drain()
  }

  #call(execution: Execution): void {
    const node = read.nodeOf(this.#rule, execution.label)
    const answer = this.#ask(execution)
    if (answer === LATER) {
      Object.assign(execution, { phase: 'called', due: this.now + durationMs(node?.timeout ?? 'PT50S') })
    } else if (answer instanceof Error) this.#failed(execution)
    else this.#answered(execution, answer)
  }

  #ask({ label, origin }: Execution): PlugAnswer | typeof LATER | Error {
    const node = read.nodeOf(this.#rule, label)
    const internalState = this.nodes.sensors.get(label)?.internalState
    const resource = read.resourceOf(this.#rule, label)
    const stream = this.stream.seenBy(resource, origin, this.now)
    const news = this.stream.newsFor(resource, origin)
    try {
      const call = { label, properties: node?.properties ?? {}, stream, news, internalState, now: this.now }
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
      const due = this.now + Math.min(most, durationMs(retry.minBackoff ?? 'PT1S') * 2 ** failures)
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
    const busy = read.isSensor(this.#rule, node) ? this.executions.find((e) => e.label === node) : undefined
    if (busy && !['holding', 'paused'].includes(busy.phase)) return held('overlap')
    if (!busy && this.executions.length >= this.#maxInFlight) return held('queue')
    this.#lastFired.set(node, this.now)
    if (busy) this.#end(busy)
    this.emit({ type: 'fired', node, source }, invocation)
    this.#begin(this.#cascade, node, invocation, origin)
  }

  atWork(label: string): boolean {
    return this.executions.some((execution) => execution.label === label)
  }

  dropFollowUp(label: string): void {
    this.followUps = this.followUps.filter((later) => later.label !== label)
  }

  #end(execution: Execution): void {
    this.executions = this.executions.filter((other) => other !== execution)
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
    if (execution.phase === 'retrying') return this.#requeue(execution)
    if (execution.phase === 'holding') this.#succeed(execution, execution.answer)
    else this.#timedOut(execution)
    this.drain()
  }

  emit(happening: Happening, invocation = this.invocation): void {
    this.#events.push({ time: this.now, invocation, ...happening })
  }
}
