import { messageNumber, messageText } from '../../src/core/plug/message-values.ts'
import type { Downtime } from '../../src/core/plug/downtime.ts'
import { plugOfNode } from '../../src/core/plug/plug-of-node.ts'
import type { NodeData, Plug, PlugContext } from '../../src/core/plug/plug.ts'
import { finishProperties } from '../../src/core/plug/properties.ts'
import { readAnswer } from '../../src/core/plug/result.ts'
import { isPlainObject, ownValue } from '../../src/kernel/json.ts'

/** Describes a plug call for a test; everything has a harmless default. */
export interface Call {
  properties?: Record<string, unknown>
  message?: Record<string, unknown>
  /** arrival of the message, epoch ms; default `now` */
  messageTime?: number
  /** last raw data by node label; its `state` is the node's state */
  nodes?: Record<string, NodeData>
  /** nodes without a new result since the last run */
  staleNodes?: readonly string[]
  /** readings that arrived after a newer one */
  late?: readonly Record<string, unknown>[]
  variables?: Record<string, unknown>
  internalState?: unknown
  /** epoch ms */
  now?: number
  downtime?: Downtime
  hops?: number
  /** the numbers that `random` returns, repeated */
  random?: readonly number[]
  nodeResource?: string
  taskResource?: string
  /** false: prepares nothing, as for properties with placeholders */
  prepare?: boolean
}

export interface Ran {
  state: string | undefined
  rawData: Readonly<Record<string, unknown>> | undefined
  internalState: unknown
  message: string | undefined
  after: number | undefined
  log: readonly string[]
}

/** Calls a plug as an engine does. Throws the plug's error, or an Error for an invalid result. */
export function runPlug(plug: Plug, call: Call = {}): Ran {
  const finished = finishProperties(plug, call.properties ?? {})
  if (finished.properties === undefined) throw new Error(finished.problems.map((problem) => problem.message).join('; '))
  const prepared = call.prepare === false ? undefined : plug.prepare?.(finished.properties)
  const log: string[] = []
  const answer = plug.execute(plugContext(call, finished.properties, prepared, log))
  if (answer instanceof Promise) throw new Error('the plug answered with a promise')
  return ranOf(plugOfNode(plug, finished.properties), answer, log)
}

function ranOf(plug: Plug, answer: unknown, log: readonly string[]): Ran {
  const read = readAnswer(plug, answer)
  if (!read.ok) throw new Error(read.error)
  const { rawData, internalState, message, after } = read
  return { state: plug.states[read.state], rawData, internalState, message, after, log }
}

/** Same for a plug that may return a promise. */
export async function runPlugLater(plug: Plug, call: Call = {}): Promise<Ran> {
  const finished = finishProperties(plug, call.properties ?? {})
  if (finished.properties === undefined) throw new Error(finished.problems.map((problem) => problem.message).join('; '))
  const log: string[] = []
  const prepared = call.prepare === false ? undefined : plug.prepare?.(finished.properties)
  const answer = await plug.execute(plugContext(call, finished.properties, prepared, log))
  return ranOf(plugOfNode(plug, finished.properties), answer, log)
}

/** Returns the problems that a plug's own check reports about constant properties. */
export function checkPlug(plug: Plug, properties: Record<string, unknown>): readonly string[] {
  return (plug.check?.(properties) ?? []).map((problem) => `${problem.property}: ${problem.message}`)
}

export function plugContext(
  call: Call,
  properties: Readonly<Record<string, unknown>>,
  prepared: unknown,
  log: string[],
): PlugContext {
  const message = call.message ?? {}
  const nodes = call.nodes ?? {}
  const random = call.random ?? [0.5]
  let drawn = 0
  const reading = { streamValue: (key: string): unknown => ownValue(message, key), streamData: { ...message } }
  const write = (level: string) => (text: string) => void log.push(`${level} ${text}`)
  return {
    properties,
    prepared,
    number: (name, options) => messageNumber(reading, name, options),
    text: (name) => messageText(reading, name),
    ...reading,
    streamTime: (key) =>
      call.message === undefined || (key !== undefined && ownValue(message, key) === undefined)
        ? undefined
        : (call.messageTime ?? call.now ?? 0),
    isNew: (key) =>
      (call.messageTime === undefined || call.messageTime === (call.now ?? 0)) && ownValue(message, key) !== undefined,
    isNewOf: (label) => ownValue(nodes, label) !== undefined && call.staleNodes?.includes(label) !== true,
    rawData: { ...nodes, GLOBAL: message },
    late: call.late ?? [],
    lookup: (path) => lookup({ streamdata: message, nodes: withRawData(nodes), variables: call.variables ?? {} }, path),
    actuatorData: {},
    internalState: call.internalState,
    task: { TASK_ID: 'task-1', RESOURCE: call.taskResource, NODE_NAME: 'node-1' },
    node: { NAME: 'node-1', RESOURCE: call.nodeResource, TRIGGER: undefined },
    globalSettings: {},
    now: call.now ?? 0,
    downtime: call.downtime,
    id: 'task-1/1/1/0',
    hops: call.hops ?? 0,
    random: () => random[drawn++ % random.length] ?? 0,
    log: { debug: write('DEBUG'), info: write('INFO'), warn: write('WARN'), error: write('ERROR') },
    signal: new AbortController().signal,
  }
}

function withRawData(nodes: Record<string, NodeData>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(nodes).map(([label, data]) => [label, { state: data['state'], rawData: data }]),
  )
}

function lookup(root: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (isPlainObject(value) ? ownValue(value, key) : undefined), root)
}
