/** Provides what a call may read that begins before its turn: its message and properties; all else may still change. */
import { AppError, ownValue } from '#kernel'
import type { SensorNode } from '../graph/graph.ts'
import { readParts } from '../language/placeholders/read-path.ts'
import type { Scope } from '../language/placeholders/scope.ts'
import { messageNumber, messageText } from '../plug/message-values.ts'
import type { NodeData, NumberOptions, PlugContext, PlugLog } from '../plug/plug.ts'
import type { WaitingInput } from '../task/input.ts'
import type { Message } from '../task/origin.ts'
import { resourceIndexOf, type TaskModel } from '../task/run.ts'

export interface AheadLine {
  readonly level: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR'
  readonly message: string
}

export class AheadContext implements PlugContext, Scope {
  properties: Readonly<Record<string, unknown>> = {}
  prepared: unknown = undefined
  readonly now: number
  readonly globalSettings: Readonly<Record<string, unknown>>
  readonly lines: AheadLine[] = []
  readonly abort = new AbortController()
  readonly log: PlugLog
  readonly hops: number
  readonly root: string
  readonly #model: TaskModel
  readonly #node: SensorNode
  readonly #message: Message
  readonly #number: number

  constructor(
    model: TaskModel,
    node: SensorNode,
    message: Message,
    { time, number, input }: WaitingInput,
    globalSettings: Readonly<Record<string, unknown>>,
  ) {
    this.#model = model
    this.#node = node
    this.#message = message
    this.#number = number
    this.now = time
    const sent = input.kind === 'data' ? input.sent : undefined
    this.hops = sent?.hops ?? 0
    this.root = sent?.root ?? this.id
    this.globalSettings = globalSettings
    const write = (level: AheadLine['level']) => (text: string) => void this.lines.push({ level, message: text })
    this.log = { debug: write('DEBUG'), info: write('INFO'), warn: write('WARN'), error: write('ERROR') }
  }

  get signal(): AbortSignal {
    return this.abort.signal
  }

  get id(): string {
    return `${this.taskId}/ahead/${this.#number}/${this.#node.slot}`
  }

  get taskId(): string {
    return this.#model.id
  }

  get taskResource(): string | undefined {
    return this.#model.resource
  }

  get nodeName(): string {
    return this.#node.label
  }

  get nodeResource(): string | undefined {
    return this.#model.resources[resourceIndexOf(this.#model, this.#node)]
  }

  get task(): PlugContext['task'] {
    return { TASK_ID: this.taskId, RESOURCE: this.taskResource, NODE_NAME: this.nodeName }
  }

  get node(): PlugContext['node'] {
    return { NAME: this.nodeName, RESOURCE: this.nodeResource, TRIGGER: undefined }
  }

  number(name: string, options?: NumberOptions): number {
    return messageNumber(this, name, options)
  }

  text(name: string): string {
    return messageText(this, name)
  }

  streamValue(key: string): unknown {
    return ownValue(this.#message, key)
  }

  streamTime(key?: string): number | undefined {
    return key === undefined || this.isNew(key) ? this.now : undefined
  }

  isNew(key: string): boolean {
    return this.streamValue(key) !== undefined
  }

  get late(): never {
    return this.#refuse('late readings')
  }

  isNewOf(): boolean {
    return this.#refuse('other nodes')
  }

  get streamData(): Readonly<Record<string, unknown>> {
    return { ...this.#message }
  }

  get internalState(): unknown {
    return this.#refuse('its memory')
  }

  get rawData(): Readonly<Record<string, NodeData>> {
    return this.#refuse('other nodes')
  }

  get actuatorData(): PlugContext['actuatorData'] {
    return this.#refuse('answers of actuators')
  }

  lookup(path: readonly string[]): unknown {
    return readParts(path, this)
  }

  random(): number {
    return this.#refuse('chance')
  }

  nodeData(): NodeData | undefined {
    return this.#refuse('other nodes')
  }

  taskMetadata(): unknown {
    return this.#refuse('metadata')
  }

  nodeMetadata(): unknown {
    return this.#refuse('metadata')
  }

  variable(): unknown {
    return this.#refuse('variables')
  }

  secret(): unknown {
    return this.#refuse('secrets')
  }

  loopItem(): unknown {
    return undefined
  }

  #refuse(what: string): never {
    const { name } = this.#node.call.plug
    throw new AppError('PLUG_FAILED', `plug ${name} declares that it reads only the message, but reads ${what}`)
  }
}
