/** Provides a node's view of messages. */
import type { ActuatorNode, SensorNode } from '../graph/graph.ts'
import { messageValue } from './message-value.ts'
import type { Message, Origin } from './origin.ts'
import { resourceFor, streamIndexOf, type TaskRun } from './run.ts'
import type { Execution, Stream } from './state.ts'

export interface Remembering {
  readonly state: { readonly streams: (Stream | null)[] }
  readonly model: Pick<TaskRun['model'], 'streamValidity'>
  readonly now: number
}

/** Stores the newest message of a resource; values that it does not repeat stay available for their time. */
export function remember({ state, model, now }: Remembering, index: number, values: Message): void {
  const last = state.streams[index]
  if (!last) {
    state.streams[index] = { values, at: now, carried: null }
    return
  }
  if (last.at > now) return fillIn(last, values, now + model.streamValidity)
  const until = last.at + model.streamValidity
  if (until > now) carry(last, values, until)
  if (last.carried) dropOld(last, values, now)
  last.values = values
  last.at = now
}

function fillIn(last: Stream, values: Message, until: number): void {
  for (const key in values) {
    const value = Object.hasOwn(values, key) ? values[key] : undefined
    if (value === undefined || messageValue(last.values, key) !== undefined) continue
    const kept = last.carried?.get(key)
    if (kept === undefined || kept.until <= until) (last.carried ??= new Map()).set(key, { value, until })
  }
}

function carry(last: Stream, values: Message, until: number): void {
  for (const key in last.values) {
    if (messageValue(values, key) !== undefined || !Object.hasOwn(last.values, key)) continue
    const value = last.values[key]
    if (value !== undefined) (last.carried ??= new Map()).set(key, { value, until })
  }
}

function dropOld({ carried }: Stream, values: Message, now: number): void {
  for (const [key, kept] of carried ?? []) {
    if (kept.until <= now || messageValue(values, key) !== undefined) carried?.delete(key)
  }
}

type Reading = Pick<Execution, 'node' | 'origin' | 'via' | 'member'>

export function streamValue(run: TaskRun, execution: Reading, key: string): unknown {
  const { node, origin } = execution
  const ofMessage = sees(execution) ? messageValue(origin.values ?? NOTHING, key) : undefined
  const isForNode = streamIndexOf(run.model, node) === -1 || isOf(run, execution, origin.resource)
  // Reading from the message itself avoids the state, which may have to be synchronized first.
  if (ofMessage !== undefined && isForNode) return ofMessage
  const stream = streamOf(run, node)
  if (ofMessage !== undefined && stream === undefined) return ofMessage
  const source = stream ?? streamOfOrigin(run, execution)
  return source === undefined ? undefined : valueAt(run, source, key)
}

/** Whether the message that began an execution contains that value, and is visible to its node. */
export function isNewValue(run: TaskRun, execution: Reading, key: string): boolean {
  const { node, origin } = execution
  if (!sees(execution)) return false
  const isForNode = streamIndexOf(run.model, node) === -1 || isOf(run, execution, origin.resource)
  return isForNode && messageValue(origin.values ?? NOTHING, key) !== undefined
}

/** Returns when the last message visible to an execution's node arrived, or the last one with that value, if any. */
export function streamTime(run: TaskRun, execution: Reading, key?: string): number | undefined {
  const { node, origin } = execution
  const { model } = run
  if (origin.channel !== undefined && sees(execution)) {
    if (key === undefined || messageValue(origin.values ?? NOTHING, key) !== undefined) return origin.time
  }
  if (listensToChannel(node)) return undefined
  const stream = streamAt(run, streamIndexOf(model, node)) ?? streamOfOrigin(run, execution)
  if (stream === undefined) return undefined
  if (key === undefined || messageValue(stream.values, key) !== undefined) return stream.at
  const kept = stream.carried?.get(key)
  return kept === undefined ? undefined : kept.until - model.streamValidity
}

/** Returns the origin with the values that its sensor reads by name but finds only in earlier messages. */
export function withCarried(run: TaskRun, execution: Reading): Origin {
  const { node, origin } = execution
  if (node.kind === 'actuator' || (node.parameters === undefined && origin.carried === undefined)) return origin
  let carried: Record<string, number> | undefined
  for (const name of node.parameters ?? []) {
    if (isNewValue(run, execution, name) || streamValue(run, execution, name) === undefined) continue
    const time = streamTime(run, execution, name)
    if (time !== undefined) (carried ??= Object.create(null) as Record<string, number>)[name] = time
  }
  if (carried === undefined && origin.carried === undefined) return origin
  const { carried: _, ...uncarried } = origin
  return carried === undefined ? uncarried : { ...uncarried, carried: { ...carried } }
}

export function streamValues(run: TaskRun, execution: Reading): Record<string, unknown> {
  const { origin } = execution
  const stream = streamOf(run, execution.node)
  const source = stream ?? streamOfOrigin(run, execution)
  const carried = [...(source?.carried ?? [])].filter(([, kept]) => kept.until > run.now)
  const wins = sees(execution) && (stream === undefined || isOf(run, execution, origin.resource))
  // Spread and fromEntries define keys; assigning would let a message with the key __proto__ set a prototype.
  return {
    ...Object.fromEntries(carried.map(([key, kept]) => [key, kept.value])),
    ...(source !== undefined && isFresh(run, source) && source.values),
    ...(wins && origin.values),
  }
}

const NOTHING: Readonly<Record<string, unknown>> = {}

/** Whether a node sees its message: a triggered node on any channel, an untriggered sensor only on its own. */
function sees({ node, via, origin }: Reading): boolean {
  if (origin.values === undefined) return false
  return node.kind === 'actuator' || via !== null || node.channel === origin.channel
}

function listensToChannel(node: SensorNode | ActuatorNode): boolean {
  return node.kind === 'sensor' && node.channel !== undefined
}

function streamOfOrigin(run: TaskRun, { node, origin }: Reading): Stream | undefined {
  return listensToChannel(node) ? undefined : streamAt(run, run.model.resources.indexOf(origin.resource ?? ''))
}

/** Returns the stream of the node's own resource, if it contains valid values. */
function streamOf(run: TaskRun, node: SensorNode | ActuatorNode): Stream | undefined {
  if (listensToChannel(node)) return undefined
  const stream = streamAt(run, streamIndexOf(run.model, node))
  if (stream === undefined) return undefined
  if (isFresh(run, stream)) return stream
  for (const kept of stream.carried?.values() ?? []) if (kept.until > run.now) return stream
  return undefined
}

function streamAt(run: TaskRun, index: number): Stream | undefined {
  return run.state.streams[index] ?? undefined
}

function isFresh(run: TaskRun, stream: Stream): boolean {
  return stream.at + run.model.streamValidity > run.now
}

function isOf(run: TaskRun, execution: Reading, resource: string | undefined): boolean {
  return resourceFor(run, execution) === resource
}

function valueAt(run: TaskRun, stream: Stream, key: string): unknown {
  if (isFresh(run, stream)) {
    const value = messageValue(stream.values, key)
    if (value !== undefined) return value
  }
  const kept = stream.carried?.get(key)
  return kept !== undefined && kept.until > run.now ? kept.value : undefined
}
