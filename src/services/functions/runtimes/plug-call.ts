/** Defines the messages between the host and the process of a plug, in plain JSON. */
import type { PlugContext } from '../../../core/plug/plug.ts'

export interface PlugCallParams {
  readonly properties: Readonly<Record<string, unknown>>
  readonly streamData: Readonly<Record<string, unknown>>
  readonly news: readonly string[]
  /** labels of the nodes with new data */
  readonly newNodes: readonly string[]
  /** epoch ms by name; the empty name stands for the message */
  readonly times: Readonly<Record<string, number>>
  readonly rawData: PlugContext['rawData']
  readonly actuatorData: PlugContext['actuatorData']
  readonly internalState?: unknown
  readonly task: PlugContext['task']
  readonly node: PlugContext['node']
  readonly globalSettings: Readonly<Record<string, unknown>>
  readonly now: number
  readonly id: string
  readonly hops: number
  /** seed of randomness, from 1 to 2 ** 31 - 2 */
  readonly random: number
}

export interface PlugDeclaration {
  readonly name?: string
  readonly version?: string
  readonly type?: string
  readonly states?: readonly string[]
  readonly input?: readonly string[]
}
