/** Lets one call of a plug read its task, as the plug's context and as the scope of placeholders. */
import { nextSeed, ownValue, randomOf, seedOf } from '#kernel'
import type { ActuatorNode, SensorNode } from '../graph/graph.ts'
import { readParts } from '../language/placeholders/read-path.ts'
import type { Scope } from '../language/placeholders/scope.ts'
import type { Downtime } from '../plug/downtime.ts'
import { messageNumber, messageText } from '../plug/message-values.ts'
import type { NodeData, NumberOptions, PlugContext, PlugLog } from '../plug/plug.ts'
import { downtimeOf } from '../task/downtime.ts'
import type { Message, Origin } from '../task/origin.ts'
import { isNewOf } from '../task/news.ts'
import { lateOf } from '../task/readings/absorbed.ts'
import { effectId, ownResourceFor, resourceFor, type TaskRun } from '../task/run.ts'
import { actuatorState, sensorState, stateName, type Execution } from '../task/state.ts'
import { isNewValue, streamTime, streamValue, streamValues } from '../task/stream.ts'
import { traceLog } from '../task/trace.ts'

export interface CallDependencies {
  readonly globalSettings: Readonly<Record<string, unknown>>
  readonly streamVariables: readonly string[]
  signalOf(execution: Execution, call: number): AbortSignal
  frozen(run: TaskRun, execution: Execution): TaskRun
  upToDate(): void
  serve(): void
  /** Returns the id that began the chain of an origin. `first`: becomes that id if the chain has none yet. */
  rootOf(origin: Origin, first: string): string
}

export interface Fetched {
  readonly taskMetadata?: unknown
  readonly nodeMetadata?: unknown
  readonly secrets?: ReadonlyMap<string, unknown>
  readonly variables?: ReadonlyMap<string, unknown>
  /** replaces the values of fetched secrets in a text; absent: none were fetched */
  readonly redact?: (text: string) => string
}

export const NOTHING_FETCHED: Fetched = {}

type ActuatorData = { message?: string; rawData?: unknown; collectedTime: number }

export class CallContext implements PlugContext, Scope {
  properties: Readonly<Record<string, unknown>> = {}
  prepared: unknown = undefined
  #run: TaskRun
  readonly #live: TaskRun
  readonly #execution: Execution
  readonly #around: CallDependencies
  readonly #fetched: Fetched
  readonly #now: number
  readonly #call: number
  readonly #attempt: number
  #seed: number | undefined
  #outlasts = false
  readonly #itemAt: number
  #item: { readonly item: unknown } | undefined

  /** `live`: the current task, if `run` is a snapshot */
  constructor(run: TaskRun, execution: Execution, around: CallDependencies, fetched: Fetched, live = run) {
    this.#run = run
    this.#live = live
    this.#execution = execution
    this.#around = around
    this.#fetched = fetched
    this.#now = execution.touches === null ? run.now : execution.placedAt
    this.#call = execution.calls
    this.#attempt = execution.attempt
    this.#itemAt = execution.item
  }

  freeze(): void {
    this.#run = this.#around.frozen(this.#run, this.#execution)
  }

  outlasts(): void {
    this.#outlasts = true
  }

  #seen(): TaskRun {
    if (this.#outlasts && !this.#execution.isInFlight) this.#around.upToDate()
    return this.#run
  }

  forItem<T>(item: unknown, evaluate: () => T): T {
    this.#item = { item }
    return evaluate()
  }

  get now(): number {
    return this.#now
  }

  get id(): string {
    const { items, item } = this.#execution
    const effect = effectId(this.#run, this.#execution)
    return items === null ? effect : `${effect}#${item}`
  }

  get hops(): number {
    return this.#execution.origin.hops ?? 0
  }

  get root(): string {
    const { origin } = this.#execution
    return origin.root ?? this.#around.rootOf(origin, this.id)
  }

  get unordered(): boolean {
    const { node, via, resumed } = this.#execution
    return node.call.unordered || resumed || via === null
  }

  get task(): PlugContext['task'] {
    return { TASK_ID: this.taskId, RESOURCE: this.taskResource, NODE_NAME: this.nodeName }
  }

  get node(): PlugContext['node'] {
    const trigger = this.#execution.via?.trigger.source.label
    return { NAME: this.nodeName, RESOURCE: this.nodeResource, TRIGGER: trigger }
  }

  get taskId(): string {
    return this.#run.model.id
  }

  get taskResource(): string | undefined {
    return ownResourceFor(this.#run, this.#execution)
  }

  get nodeName(): string {
    return this.#execution.node.label
  }

  get nodeResource(): string | undefined {
    return resourceFor(this.#run, this.#execution)
  }

  get internalState(): unknown {
    const { node } = this.#execution
    return node.kind === 'sensor' ? sensorState(this.#seen().state, node).internalState : undefined
  }

  get downtime(): Downtime | undefined {
    const { node } = this.#execution
    return node.kind === 'sensor' ? downtimeOf(this.#run, node) : undefined
  }

  get globalSettings(): Readonly<Record<string, unknown>> {
    return this.#around.globalSettings
  }

  get signal(): AbortSignal {
    return this.#around.signalOf(this.#execution, this.#call)
  }

  get log(): PlugLog {
    // Log lines are dropped once the call is over or its task has stopped.
    const write = (level: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR') => (message: string) => {
      const { state } = this.#live
      if (state.status !== 'running' || !state.inFlight.has(this.#execution)) return
      if (this.#outlasts) this.#around.serve()
      traceLog(this.#live, level, this.#fetched.redact?.(message) ?? message, this.nodeName)
    }
    return { debug: write('DEBUG'), info: write('INFO'), warn: write('WARN'), error: write('ERROR') }
  }

  random(): number {
    const { id } = this.#execution
    const { seed } = this.#run.started ?? this.#run.state
    this.#seed = nextSeed(this.#seed ?? seedOf(`${seed}/${id}/${this.#itemAt}/${this.#attempt}`))
    return randomOf(this.#seed)
  }

  number(name: string, options?: NumberOptions): number {
    return messageNumber(this, name, options)
  }

  text(name: string): string {
    return messageText(this, name)
  }

  streamValue(key: string): unknown {
    return streamValue(this.#seen(), this.#execution, key)
  }

  streamTime(key?: string): number | undefined {
    return streamTime(this.#seen(), this.#execution, key)
  }

  isNew(key: string): boolean {
    return isNewValue(this.#run, this.#execution, key)
  }

  isNewOf(label: string): boolean {
    return isNewOf(this.#execution, label)
  }

  get leaves(): boolean {
    return this.#execution.origin.kind === 'leave'
  }

  get late(): readonly Message[] {
    return lateOf(this.#run, this.#execution)
  }

  get streamData(): Readonly<Record<string, unknown>> {
    return streamValues(this.#seen(), this.#execution)
  }

  get rawData(): Readonly<Record<string, NodeData>> {
    const all: Record<string, NodeData> = { GLOBAL: this.streamData }
    for (const node of this.#run.model.graph.sensors) {
      const data = this.#sensorData(node)
      if (data !== undefined) all[node.label] = data
    }
    return all
  }

  get actuatorData(): Readonly<Record<string, ActuatorData>> {
    const all: Record<string, ActuatorData> = {}
    for (const node of this.#run.model.graph.actuators) {
      const { answer } = actuatorState(this.#seen().state, node)
      if (answer !== null) all[node.label] = answer
    }
    return all
  }

  lookup(path: readonly string[]): unknown {
    return readParts(path, this)
  }

  nodeData(label: string): NodeData | undefined {
    const node = this.#run.model.graph.byLabel.get(label)
    if (node === undefined) return undefined
    if (node.kind === 'sensor') return this.#sensorData(node)
    if (node.kind === 'actuator') return this.#actuatorAnswer(node)
    const state = stateName(node, this.#seen().state.observed[node.index]?.state ?? -1)
    return state === null ? undefined : { state }
  }

  #sensorData(node: SensorNode): NodeData | undefined {
    const sensor = sensorState(this.#seen().state, node)
    if (sensor.collectedTime === -1) return undefined
    const state = stateName(node, sensor.state)
    return { ...sensor.rawData, ...(state !== null && { state }), collectedTime: sensor.collectedTime }
  }

  #actuatorAnswer(node: ActuatorNode): NodeData | undefined {
    const { answer } = actuatorState(this.#seen().state, node)
    if (answer === null) return undefined
    const raw = typeof answer.rawData === 'object' ? answer.rawData : {}
    return {
      ...raw,
      ...(answer.message !== undefined && { message: answer.message }),
      collectedTime: answer.collectedTime,
    }
  }

  taskMetadata(): unknown {
    return this.#fetched.taskMetadata
  }

  nodeMetadata(): unknown {
    return this.#fetched.nodeMetadata
  }

  secret(key: string): unknown {
    return this.#fetched.secrets?.get(key)
  }

  variable(name: string): unknown {
    if (this.#around.streamVariables.includes(name)) {
      const live = this.streamValue(name)
      if (live !== undefined) return live
    }
    return this.#fetched.variables?.get(name) ?? ownValue(this.#run.model.settings.variables, name)
  }

  loopItem(): unknown {
    return this.#item === undefined ? this.#execution.items?.[this.#itemAt] : this.#item.item
  }
}
