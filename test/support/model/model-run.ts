/**
 * Models one run of a task: each input passes once through all nodes in rule order. model-task.ts decides when, never
 * while a sensor is at work. Sensors are called one at a time, and the pass waits for each; actuators are called when
 * they fire, one call at a time per actuator.
 */
import { durationMs } from '../../../src/kernel/duration.ts'
import type { PlugAnswer, PlugResult } from '../../../src/core/plug/plug.ts'
import type { Rule, Trigger } from '../../../src/core/rule/rule.ts'
import type { Happening, ModelEvent } from './model-event.ts'
import { ModelNodes } from './model-nodes.ts'
import { isAtWork, type Execution, type FollowUp, type Pass, type Touch } from './model-work.ts'
import * as read from './rule-reading.ts'
import { StreamMemory } from './stream-memory.ts'
import { LATER, type TestPlug } from './test-plugs.ts'
import { isExecutionTrigger, triggerHolds, type Past, type SourceView } from './trigger-holds.ts'

/** An event for triggers: a source was evaluated and is known, or a trigger held and its destination fired. */
type Deed = { source: string; known: string } | { trigger: Trigger; fired: string | null }

export class ModelRun {
  /** time of the current input */
  now: number
  /** time of the clock */
  clock: number
  /** number of the latest invocation */
  invocation: number
  executions: Execution[] = []
  followUps: FollowUp[] = []
  pass: Pass | undefined
  readonly nodes: ModelNodes
  readonly stream = new StreamMemory()
  readonly #order: readonly string[]
  readonly #views = new Map<string, SourceView>()
  readonly #history: Deed[] = []
  readonly #lastFired = new Map<string, number>()
  #ids = 0
  /** counts successes: the last one of each node, and the last one that each result saw */
  #successes = 0
  readonly #numbers = new Map<string, number>()
  readonly #seen = new Map<string, number>()
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
    this.#order = read.nodesInOrder(rule)
  }

  /** Whether a sensor's plug is being called, or will be retried. */
  get isBusy(): boolean {
    return this.executions.some((one) => read.isSensor(this.#rule, one.label) && isAtWork(one))
  }

  /** Begins the pass of an input. */
  begin(parts: Partial<Pass>): void {
    const fresh = { selected: new Map(), due: new Set<string>(), passed: 0, observed: new Map(), succeeded: new Map() }
    this.pass = { ...fresh, ...parts }
    this.goOn()
  }

  /** Continues the current pass until a sensor is at work. */
  goOn(): void {
    while (this.pass && !this.isBusy) {
      const label = this.#order[this.pass.passed++]
      if (label !== undefined) this.#visit(this.pass, label)
      else this.#beginNextItem()
    }
  }

  /** After a pass through all nodes, begins another one for the next item of the first looping sensor. */
  #beginNextItem(): void {
    this.pass = undefined
    const isLooping = (label: string): boolean => this.#executionOf(label)?.phase === 'looping'
    const looping = this.#order.find((label) => read.isSensor(this.#rule, label) && isLooping(label))
    if (looping !== undefined) this.begin({ due: new Set([looping]) })
  }

  /** Applies a state or raw data from outside. */
  push(label: string, touch: Touch, { state, rawData }: { state?: string; rawData?: Record<string, unknown> }): void {
    if (rawData !== undefined) this.nodes.sensor(label).rawData = rawData
    this.#succeeded(label)
    const pass = { observed: new Map<string, Touch>(), succeeded: new Map([[label, touch]]) }
    if (state !== undefined) {
      pass.observed.set(label, touch)
      this.#show(label, state, touch)
    }
    this.begin(pass)
  }

  /** Finishes the oldest open call of a node. */
  settle(label: string, state: string | undefined): void {
    const open = this.executions.find((execution) => execution.label === label && execution.phase === 'called')
    if (!open) return
    if (state === undefined) this.#failed(open)
    else this.#answered(open, read.isSensor(this.#rule, label) ? state : { message: state })
    this.goOn()
  }

  resume(label: string): void {
    const paused = this.executions.find((execution) => execution.label === label && execution.phase === 'paused')
    if (!paused) return
    paused.resumed = true
    this.begin({ due: new Set([label]) })
  }

  /** Handles what is due for an execution at work: its time limit, or its next attempt. */
  wake(execution: Execution): void {
    if (execution.phase !== 'retrying') this.#timedOut(execution)
    else if (!this.#pauses(execution)) this.#call(execution)
    this.goOn()
  }

  #visit(pass: Pass, label: string): void {
    const gate = this.#rule.relations?.find((relation) => relation.label === label)
    if (gate) return this.#decide(pass, label, gate.parentLabels)
    if (this.#fires(pass, label) || !read.isSensor(this.#rule, label)) return
    const selected = pass.selected.get(label)
    if (selected) this.#run(label, selected)
    else if (pass.due.has(label)) this.#takeDue(label)
  }

  #decide(pass: Pass, label: string, parents: readonly string[]): void {
    const last = this.#order.findLast((node) => parents.includes(node) && pass.observed.has(node))
    const touch = pass.observed.get(last ?? '')
    if (!touch) return
    const view = this.nodes.decide(label)
    if (view.state !== null) this.#succeeded(label)
    this.#saw(label, view, 'gate', touch)
    pass.observed.set(label, touch)
    pass.succeeded.set(label, touch)
  }

  /** Handles a due follow-up, the end of a wait or pause, or a resume. */
  #takeDue(label: string): void {
    const later = this.followUps.find((one) => one.label === label)
    const execution = this.#executionOf(label)
    if (later) {
      this.dropFollowUp(label)
      this.#arrive(later.label, later.touch, later.answer)
    } else if (execution?.phase === 'holding') this.#succeed(execution, execution.answer)
    else if (execution?.phase === 'looping' || execution?.resumed) this.#call(execution)
    else if (execution) this.#timedOut(execution)
  }

  #executionOf(label: string): Execution | undefined {
    return this.executions.find((execution) => execution.label === label)
  }

  /** Runs a node, replacing a sensor's execution that is only waiting. */
  #run(label: string, touch: Touch): void {
    const isSensor = read.isSensor(this.#rule, label)
    const waits = isSensor ? this.#executionOf(label) : undefined
    if (waits) this.#end(waits)
    this.#ids += 1
    const fresh = {
      phase: 'queued' as const,
      due: undefined,
      answer: {},
      failures: 0,
      calls: 0,
      sawUpTo: 0,
      resumed: false,
    }
    const execution: Execution = { id: this.#ids, label, touch, time: this.now, ...fresh, itemsLeft: undefined }
    this.dropFollowUp(label)
    this.executions.push(execution)
    if (!this.#pauses(execution)) this.#call(execution)
  }

  /** Pauses the execution if it must wait for a resume, and returns whether it does. */
  #pauses(execution: Execution): boolean {
    const node = read.nodeOf(this.#rule, execution.label)
    if (!node?.pauseExecution || execution.resumed) return false
    Object.assign(execution, { phase: 'paused', due: this.now + durationMs(node.pauseExecutionTimeout ?? 'PT1H') })
    return true
  }

  #call(execution: Execution): void {
    Object.assign(execution, { phase: 'queued', due: undefined })
    // an actuator makes one call at a time
    if (!read.isSensor(this.#rule, execution.label) && this.#executionOf(execution.label) !== execution) return
    const node = read.nodeOf(this.#rule, execution.label)
    execution.itemsLeft ??= read.itemsOf(this.#rule, execution.label) - 1
    execution.sawUpTo = this.#successes
    const answer = this.#ask(execution)
    execution.calls += 1
    if (answer === LATER) {
      Object.assign(execution, { phase: 'called', due: this.clock + durationMs(node?.timeout ?? 'PT50S') })
    } else if (answer instanceof Error) this.#failed(execution)
    else this.#answered(execution, answer)
  }

  #ask({ label, touch: { origin }, time, calls }: Execution): PlugAnswer | typeof LATER | Error {
    const node = read.nodeOf(this.#rule, label)
    const internalState = this.nodes.sensors.get(label)?.internalState
    // the inputs of an actuator are fixed when it fires
    const now = read.isSensor(this.#rule, label) ? this.now : time
    const resource = read.resourceOf(this.#rule, label)
    const stream = this.stream.seenBy(resource, origin, now)
    const news = this.stream.newsFor(resource, origin)
    const isNewOf = (other: string): boolean => (this.#numbers.get(other) ?? 0) > (this.#seen.get(label) ?? 0)
    try {
      const properties = { ...node?.properties, ...this.#readBy(label) }
      const call = { isNewOf, label, properties, stream, news, internalState, now, attempt: calls }
      return this.#plugs[node?.name ?? '']?.behave(call)
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error))
    }
  }

  /** Returns what a node finds in the raw data of the node that it reads. */
  #readBy(label: string): { from?: unknown } {
    const other = read.readBy(this.#rule, label)
    return other === undefined ? {} : { from: this.nodes.sensor(other).rawData?.['count'] }
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
    const { label, touch } = execution
    const { state, rawData } = answer
    const shown = { ...(state === undefined ? {} : { state }), ...(rawData === undefined ? {} : { rawData }) }
    this.emit({ type: 'result', node: label, ok: true, ...shown }, touch.invocation)
    this.#seen.set(label, execution.sawUpTo)
    this.#arrive(label, touch, answer)
    this.#finish(execution)
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
    const { label, touch } = execution
    this.emit({ type: 'result', node: label, ok: false }, touch.invocation)
    if (state !== undefined && read.isSensor(this.#rule, label)) {
      this.pass?.observed.set(label, touch)
      this.#show(label, state, touch)
    }
    this.#finish(execution)
  }

  /**
   * Continues with the next item of the loop, or ends: a sensor waits for another pass, an actuator continues at once.
   */
  #finish(execution: Execution): void {
    const { label, itemsLeft = 0 } = execution
    if (itemsLeft === 0) return this.#end(execution)
    Object.assign(execution, { itemsLeft: itemsLeft - 1, failures: 0, calls: 0, due: undefined })
    if (!read.isSensor(this.#rule, label)) return this.#call(execution)
    this.dropFollowUp(label)
    execution.phase = 'looping'
  }

  /** A time limit is also an error, but may set a state instead of causing another attempt. */
  #timedOut(execution: Execution): void {
    const state = read.sensorsOf(this.#rule).find((sensor) => sensor.label === execution.label)?.timeoutState
    if (state === undefined) this.#failed(execution)
    else this.#fail(execution, state)
  }

  #arrive(label: string, touch: Touch, answer: PlugResult): void {
    this.#succeeded(label)
    const node = this.nodes.sensors.get(label)
    if (!node) return
    if (answer.internalState !== undefined) node.internalState = answer.internalState
    if (answer.rawData !== undefined) node.rawData = answer.rawData
    if (answer.then) {
      this.#ids += 1
      const { after, ...later } = answer.then
      this.followUps.push({ id: this.#ids, label, touch, due: this.now + (after ?? 0), answer: later })
    }
    this.pass?.succeeded.set(label, touch)
    if (answer.state === undefined) return
    this.pass?.observed.set(label, touch)
    this.#show(label, answer.state, touch)
  }

  #succeeded(label: string): void {
    this.#successes += 1
    this.#numbers.set(label, this.#successes)
  }

  #show(label: string, state: string, touch: Touch): void {
    this.#saw(label, this.nodes.observe(label, state, this.now), 'state', touch)
  }

  #saw(label: string, view: SourceView, type: 'state' | 'gate', { invocation }: Touch): void {
    this.#views.set(label, view)
    if (view.state !== null) this.#history.push({ source: label, known: view.state })
    if (view.previous !== view.state) this.emit({ type, node: label, from: view.previous, to: view.state }, invocation)
  }

  /** Fires a node once if a trigger to it holds and has cooled down. */
  #fires(pass: Pass, node: string): boolean {
    const holding = (this.#rule.triggers ?? []).filter(
      (trigger) => trigger.destinationLabel === node && this.#holds(pass, trigger),
    )
    const cooledAt = ({ invocationPolicy = 0 }: Trigger): number =>
      (this.#lastFired.get(node) ?? -Infinity) + invocationPolicy * 1000
    const [earliest] = holding.toSorted((a, b) => cooledAt(a) - cooledAt(b))
    if (!earliest) return false
    const first = holding.find((trigger) => cooledAt(trigger) <= this.now)
    const { sourceLabel: source } = first ?? earliest
    const touch = (pass.observed.get(source) ?? pass.succeeded.get(source)) as Touch
    if (!first) {
      const until = cooledAt(earliest)
      this.emit({ type: 'held', node, source, reason: 'invocationPolicy', until }, touch.invocation)
      return false
    }
    if (this.#executionOf(node)?.phase === 'looping') {
      this.emit({ type: 'held', node, source, reason: 'overlap' }, touch.invocation)
      return false
    }
    this.#lastFired.set(node, this.now)
    for (const trigger of holding) {
      this.#history.push({ trigger, fired: this.#views.get(trigger.sourceLabel)?.state ?? null })
    }
    this.emit({ type: 'fired', node, source }, touch.invocation)
    this.#run(node, touch)
    return true
  }

  #holds({ observed, succeeded }: Pass, trigger: Trigger): boolean {
    const { sourceLabel: source } = trigger
    if (isExecutionTrigger(trigger)) {
      return succeeded.has(source) && (read.isSensor(this.#rule, source) || this.#views.get(source)?.state !== null)
    }
    const view = observed.has(source) ? this.#views.get(source) : undefined
    return view !== undefined && triggerHolds(trigger, view, this.#pastOf(trigger))
  }

  #pastOf(trigger: Trigger): Past {
    return this.#history.filter((deed) =>
      'trigger' in deed ? deed.trigger === trigger : deed.source === trigger.sourceLabel,
    )
  }

  dropFollowUp(label: string): void {
    this.followUps = this.followUps.filter((later) => later.label !== label)
  }

  #end(execution: Execution): void {
    this.executions = this.executions.filter((other) => other !== execution)
    const next = read.isSensor(this.#rule, execution.label) ? undefined : this.#executionOf(execution.label)
    if (next?.phase === 'queued') this.#call(next)
  }

  emit(happening: Happening, invocation = this.invocation): void {
    this.#events.push({ time: this.now, invocation, ...happening })
  }
}
