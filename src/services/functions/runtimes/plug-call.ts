/** What goes between the host and a plug in its process. Plain JSON. */
import type { PlugContext } from '../../../core/plug/plug.ts'

/** What a call of a plug may know. */
export interface PlugCallParams {
  readonly properties: Readonly<Record<string, unknown>>
  readonly streamData: Readonly<Record<string, unknown>>
  /** names of the values that the message itself has */
  readonly news: readonly string[]
  /** labels of nodes whose data is new */
  readonly newNodes: readonly string[]
  /** epoch ms of values by name; under the empty name that of the message */
  readonly times: Readonly<Record<string, number>>
  readonly rawData: PlugContext['rawData']
  readonly actuatorData: PlugContext['actuatorData']
  readonly internalState?: unknown
  readonly task: PlugContext['task']
  readonly node: PlugContext['node']
  readonly globalSettings: Readonly<Record<string, unknown>>
  /** epoch ms of the engine's clock */
  readonly now: number
  readonly id: string
  readonly hops: number
  /** from 1 up to 2 ** 31 - 2: chance of the task */
  readonly random: number
}

/** What a plug says that it is. */
export interface PlugDeclaration {
  readonly name?: string
  readonly version?: string
  readonly type?: string
  readonly states?: readonly string[]
  readonly input?: readonly string[]
}
