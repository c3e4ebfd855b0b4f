/**
 * The context that a plug receives for a row's call. It serves message and rule data directly. Access to the task's
 * state first opens the call in the state machine; the context then forwards everything to it.
 */
import type { GraphNode } from '../graph/graph.ts'
import { nodeOf, triggerOf } from './batch-shape.ts'
import type { FiringContext, FiringPlaces } from './firing-loop.ts'
import { readParts } from '../language/placeholders/read-path.ts'
import { messageValue } from '../task/message-value.ts'
import { carriedValue, carriedValues } from './field-set-history.ts'
import type { Scope } from '../language/placeholders/scope.ts'
import type { Downtime } from '../plug/downtime.ts'
import { messageNumber, messageText } from '../plug/message-values.ts'
import type { NodeData, NumberOptions, PlugContext, PlugLog } from '../plug/plug.ts'
import type { Message } from '../task/origin.ts'
import type { Execution, Stream } from '../task/state.ts'
import type { RowEffect } from './seen-task.ts'
import type { BatchTask, Opened, OpenView, RowHandle, Batch } from './row-handle.ts'

export interface ContextOwner {
  readonly globalSettings: Readonly<Record<string, unknown>>
  /** whether log lines of plugs are stored or have a subscriber */
  readonly hasLog: boolean
  /** Brings the task's full state to the context's call. */
  open(context: RowContext): Opened
  /** Opens an actuator's call, for which the full state need not move. */
  begin(context: RowContext): Opened
}

/** A call that remains open in the full state while its row takes more messages. */
export class Begun implements Opened {
  readonly effect: RowEffect
  readonly #task: Pick<BatchTask, 'viewOf'>
  #view: OpenView | undefined

  constructor(effect: RowEffect, task: Pick<BatchTask, 'viewOf'>) {
    this.effect = effect
    this.#task = task
  }

  get execution(): Execution {
    return this.effect.execution
  }

  /** Created when the plug first needs it. */
  get view(): OpenView {
    return (this.#view ??= this.#task.viewOf(this.effect))
  }
}

const NO_LATE: readonly Message[] = []

const NO_LOG: PlugLog = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
}

export class RowContext implements FiringContext, Scope {
  prepared: unknown = undefined
  opened: Opened | null = null
  /** the open actuator call, once the plug needs more than the row has */
  begun: Begun | null = null
  /** batch of the calling row; a handle would cost a memory access */
  batch: Batch | null
  isSensor: boolean
  /** position of the sensor or slot of the actuator */
  nodeAt = 0
  triggerAt = 0
  /** state bits of the sensors before */
  bits = 0
  /** The rows that are firing one after the other; setting `place` moves to the next call. */
  firing: FiringPlaces | null = null
  place = 0
  readonly #owner: ContextOwner
  #row: number
  #properties: Readonly<Record<string, unknown>> = {}
  readonly #own: Message | null
  /** whether the row waits for this call */
  isOpen = false
  /** clock when the call began, if it returned a promise, epoch ms */
  since = 0
  /** undefined unless the call returned a promise */
  #handle: RowHandle | undefined
  #time = 0

  constructor(owner: ContextOwner, batch: Batch | null = null, row = 0, message: Message | null = null) {
    this.#owner = owner
    this.batch = batch
    this.#row = row
    this.isSensor = message !== null
    this.#own = message
  }

  get row(): number {
    return this.firing === null ? this.#row : (this.firing.rowAt[this.place] as number)
  }

  set row(row: number) {
    this.firing = null
    this.#row = row
  }

  get properties(): Readonly<Record<string, unknown>> {
    const { firing } = this
    return firing === null ? this.#properties : (firing.properties[this.place] as Readonly<Record<string, unknown>>)
  }

  set properties(properties: Readonly<Record<string, unknown>>) {
    this.#properties = properties
  }

  /** Preserves what a call sees that returned a promise. `time`: of its message. */
  keep(handle: RowHandle, time: number, since: number): void {
    this.#handle = handle
    this.#time = time
    this.since = since
    this.isOpen = true
  }

  get isKept(): boolean {
    return this.#handle !== undefined
  }

  /** Opens a call that returned a promise. Once it has ended, the plug sees its task as it is. */
  openLater(): Opened {
    const { task } = this.handle()
    if (this.isOpen) task.detach()
    return (this.opened ??= task.over(this.#node(), this.message, this.now))
  }

  #view(): OpenView {
    if (this.opened !== null) return this.opened.view
    return (this.isSensor ? this.#owner.open(this) : this.#owner.begin(this)).view
  }

  get now(): number {
    return this.opened?.view.now ?? (this.isKept ? this.#time : this.handle().batch.timeOf(this.handle()))
  }

  get id(): string {
    return this.#view().id
  }

  get hops(): number {
    // Messages sent by rules never run in rows, so a row's message has zero hops.
    return this.opened?.view.hops ?? 0
  }

  get root(): string {
    return this.#view().root ?? this.id
  }

  get unordered(): boolean {
    return this.#view().unordered === true
  }

  get task(): PlugContext['task'] {
    return { TASK_ID: this.taskId, RESOURCE: this.taskResource, NODE_NAME: this.nodeName }
  }

  get node(): PlugContext['node'] {
    if (this.opened !== null) return this.opened.view.node
    const { batch, task } = this.handle()
    const trigger = triggerOf(batch.shape, task.model.graph, this.isSensor, this.nodeAt, this.triggerAt)
    return { NAME: this.nodeName, RESOURCE: this.nodeResource, TRIGGER: trigger?.source.label }
  }

  get taskId(): string {
    return this.opened?.view.taskId ?? this.handle().task.model.id
  }

  get taskResource(): string | undefined {
    return this.opened === null ? this.handle().task.model.resource : this.opened.view.taskResource
  }

  get nodeName(): string {
    return this.opened?.view.nodeName ?? this.#node().label
  }

  get nodeResource(): string | undefined {
    if (this.opened !== null) return this.opened.view.nodeResource
    const node = this.#node()
    return node.kind === 'gate' || node.resource === -1 ? undefined : this.handle().task.model.resources[0]
  }

  get internalState(): unknown {
    if (!this.isSensor) return undefined
    if (this.opened !== null || this.isKept) return this.#view().internalState
    return this.batch?.memoryOf(this.row, this.nodeAt)
  }

  get downtime(): Downtime | undefined {
    return this.isSensor ? this.#view().downtime : undefined
  }

  get globalSettings(): Readonly<Record<string, unknown>> {
    return this.#owner.globalSettings
  }

  get signal(): AbortSignal {
    return this.#view().signal
  }

  get log(): PlugLog {
    if (this.opened === null && !this.#owner.hasLog) return NO_LOG
    if (this.opened === null && this.batch?.records !== undefined) return this.#owner.open(this).view.log
    const { log } = this.#view()
    return this.begun === null || this.batch?.history === undefined ? log : this.#keptLog(log, this.begun, this.batch)
  }

  #keptLog(log: PlugLog, { execution }: Begun, batch: Batch): PlugLog {
    const write = (level: keyof PlugLog) => (message: string) => {
      if (this.opened === null && execution.isInFlight) batch.emitSoFar(this.row)
      log[level](message)
    }
    return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
  }

  random(): number {
    // Random numbers belong to the execution, which exists only once the call is open.
    return this.#view().random()
  }

  number(name: string, options?: NumberOptions): number {
    return messageNumber(this, name, options)
  }

  text(name: string): string {
    return messageText(this, name)
  }

  streamValue(key: string): unknown {
    if (this.opened !== null) return this.opened.view.streamValue(key)
    return messageValue(this.message, key) ?? this.#carried(key)
  }

  #carried(key: string): unknown {
    const value = messageValue(this.message, key)
    if (value === null) return null
    // After the call, the task may have newer messages.
    if (this.isKept) return this.#view().streamValue(key)
    const handle = this.handle()
    const { batch, task, offset, materializedCount } = handle
    const { streamValidity } = task.model
    return carriedValue(
      batch.fieldSetsOf(handle),
      key,
      this.now,
      streamValidity,
      offset + materializedCount,
      task.state.streams[0],
    )
  }

  streamTime(key?: string): number | undefined {
    if (this.opened === null && (key === undefined || this.isNew(key))) return this.now
    return this.#view().streamTime(key)
  }

  isNew(key: string): boolean {
    return this.opened === null ? messageValue(this.message, key) !== undefined : this.opened.view.isNew(key)
  }

  get late(): readonly Message[] {
    return NO_LATE
  }

  isNewOf(label: string): boolean {
    return this.#view().isNewOf(label)
  }

  get streamData(): Readonly<Record<string, unknown>> {
    if (this.opened !== null || this.isKept) return this.#view().streamData
    const { batch, task, offset, materializedCount } = this.handle()
    const fieldSets = batch.fieldSetsOf(this.handle())
    const [stream] = task.state.streams
    const { message } = this
    if (fieldSets.kept === undefined && isCovered(stream, message)) return { ...message }
    return carriedValues(fieldSets, message, this.now, task.model.streamValidity, offset + materializedCount, stream)
  }

  get rawData(): Readonly<Record<string, NodeData>> {
    return this.#view().rawData
  }

  get actuatorData(): PlugContext['actuatorData'] {
    return this.#view().actuatorData
  }

  lookup(path: readonly string[]): unknown {
    return this.opened === null ? readParts(path, this) : this.opened.view.lookup(path)
  }

  nodeData(label: string): NodeData | undefined {
    const isInRow = !this.isSensor && this.opened === null && this.begun === null
    return (isInRow ? this.batch?.calledData(this.row, label) : undefined) ?? this.#view().nodeData(label)
  }

  taskMetadata(): unknown {
    return this.#view().taskMetadata()
  }

  nodeMetadata(): unknown {
    return this.#view().nodeMetadata()
  }

  secret(key: string): unknown {
    return this.#view().secret(key)
  }

  variable(name: string): unknown {
    return this.#view().variable(name)
  }

  loopItem(): unknown {
    return undefined
  }

  handle(): RowHandle {
    return this.#handle ?? (this.batch as Batch).handleAt(this.row) // set before each call
  }

  get message(): Message {
    if (this.#own !== null) return this.#own
    const handle = this.handle()
    return handle.batch.messageOf(handle)
  }

  #node(): GraphNode {
    const { batch, task } = this.handle()
    return nodeOf(batch.shape, task.model.graph, this.isSensor, this.nodeAt)
  }
}

function isCovered(stream: Stream | null | undefined, message: Message): boolean {
  if (!stream) return true
  if ((stream.carried?.size ?? 0) > 0) return false
  for (const key in stream.values) if (messageValue(message, key) === undefined) return false
  return true
}
