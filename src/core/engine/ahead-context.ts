/**
 * Provides the data that a call may read before its turn: its message and properties; everything else may still change.
 */
import { AppError } from '#kernel'
import type { SensorNode } from '../graph/graph.ts'
import type { PlugLog } from '../plug/plug.ts'
import { newExecution } from '../task/execution.ts'
import type { WaitingInput } from '../task/input.ts'
import { sentOf, type Message } from '../task/origin.ts'
import { SILENT, type TaskModel } from '../task/run.ts'
import { TaskState } from '../task/task-state.ts'
import { CallContext, NOTHING_FETCHED } from './call-context.ts'

export interface AheadLine {
  readonly level: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR'
  readonly message: string
}

export class AheadContext extends CallContext {
  readonly lines: AheadLine[] = []
  readonly abort: AbortController
  readonly #node: SensorNode
  readonly #number: number

  constructor(
    model: TaskModel,
    node: SensorNode,
    message: Message,
    { time, number, input }: WaitingInput,
    globalSettings: Readonly<Record<string, unknown>>,
  ) {
    const sent = input.kind === 'data' ? sentOf(input.sent ?? {}) : {}
    const state = new TaskState(model.graph, model.resources.length)
    const run = { model, state, sink: SILENT, now: time, at: time }
    const origin = { kind: 'data' as const, time, resource: message.resource, values: message, ...sent }
    const abort = new AbortController()
    const around = {
      globalSettings,
      streamVariables: [],
      signalOf: () => abort.signal,
      frozen: () => run,
      upToDate: () => undefined,
      serve: () => undefined,
      rootOf: (_: unknown, first: string) => first,
    }
    super(run, newExecution(node, origin), around, NOTHING_FETCHED)
    this.abort = abort
    this.#node = node
    this.#number = number
  }

  override get log(): PlugLog {
    const write = (level: AheadLine['level']) => (text: string) => void this.lines.push({ level, message: text })
    return { debug: write('DEBUG'), info: write('INFO'), warn: write('WARN'), error: write('ERROR') }
  }

  override get id(): string {
    return `${this.taskId}/ahead/${this.#number}/${this.#node.slot}`
  }

  override streamTime(key?: string): number | undefined {
    return key === undefined || this.isNew(key) ? this.now : undefined
  }

  override get late(): never {
    return this.#refuse('late readings')
  }

  override isNewOf(): never {
    return this.#refuse('other nodes')
  }

  override get internalState(): never {
    return this.#refuse('its memory')
  }

  override get rawData(): never {
    return this.#refuse('other nodes')
  }

  override get actuatorData(): never {
    return this.#refuse('answers of actuators')
  }

  override random(): never {
    return this.#refuse('chance')
  }

  override nodeData(): never {
    return this.#refuse('other nodes')
  }

  override taskMetadata(): never {
    return this.#refuse('metadata')
  }

  override nodeMetadata(): never {
    return this.#refuse('metadata')
  }

  override variable(): never {
    return this.#refuse('variables')
  }

  override secret(): never {
    return this.#refuse('secrets')
  }

  #refuse(what: string): never {
    const { name } = this.#node.call.plug
    throw new AppError('PLUG_FAILED', `plug ${name} declares that it reads only the message, but reads ${what}`)
  }
}
