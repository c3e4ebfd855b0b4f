/** Provides a node's view of messages. */
import type { ActuatorNode, Graph, SensorNode } from '../graph/graph.ts'
import { messageValue } from './message-value.ts'
import type { Message, Origin } from './origin.ts'
import { resourceFor, streamIndexOf, type TaskRun } from './run.ts'
import type { Execution, Stream } from './state.ts'

export interface Remembering {
  readonly state: { readonly streams: (Stream | null)[] }
  readonly model: Pick<TaskRun['model'], 'streamValidity'> & { readonly graph?: Pick<Graph, 'held'> }
  readonly now: number
}

/** The longest ms for which a sensor holds an input, by its name. */
type Holds = Graph['held']

/** Stores the newest message of a resource; values that it does not repeat stay available for their time. */
export function remember({ state, model, now }: Remembering, index: number, values: Message): void {
  const last = state.streams[index]
  if (!last) {
    state.streams[index] = { values, at: now, carried: null }
    return
  }
  const { streamValidity, graph } = model
  const keeping: Keeping = { now, streamValidity, held: graph?.held }
  if (last.at > now) return fillIn(last, values, keeping)
  if (keeping.held !== undefined || last.at + streamValidity > now) carry(last, values, keeping)
  if (last.carried) dropOld(last, values, keeping)
  last.values = values
  last.at = now
}

interface Keeping {
  readonly now: number
  readonly streamValidity: number
  readonly held: Holds
}

/** Whether a message contains a value. null and NaN are none where a sensor holds the input. */
function contains(values: Readonly<Record<string, unknown>>, key: string, isHeld: boolean): boolean {
  const value = messageValue(values, key)
  return value !== undefined && !(isHeld && isMissing(value))
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'number' && !Number.isFinite(value))
}

/** Whether a value that arrived at `until - streamValidity` may still be read by a sensor. */
function isKept(until: number, key: string, { now, streamValidity, held }: Keeping): boolean {
  const longer = held?.get(key) ?? 0
  return until + Math.max(0, longer - streamValidity) > now
}

function fillIn(last: Stream, values: Message, { now, streamValidity, held }: Keeping): void {
  const until = now + streamValidity
  for (const key in values) {
    const isHeld = held?.has(key) ?? false
    if (!Object.hasOwn(values, key) || !contains(values, key, isHeld) || contains(last.values, key, isHeld)) continue
    const kept = last.carried?.get(key)
    if (kept === undefined || kept.until <= until) (last.carried ??= new Map()).set(key, { value: values[key], until })
  }
}

function carry(last: Stream, values: Message, keeping: Keeping): void {
  const until = last.at + keeping.streamValidity
  for (const key in last.values) {
    const isHeld = keeping.held?.has(key) ?? false
    if (contains(values, key, isHeld) || !Object.hasOwn(last.values, key)) continue
    if (!contains(last.values, key, isHeld) || !isKept(until, key, keeping)) continue
    ;(last.carried ??= new Map()).set(key, { value: last.values[key], until })
  }
}

function dropOld({ carried }: Stream, values: Message, keeping: Keeping): void {
  for (const [key, { until }] of carried ?? []) {
    const isHeld = keeping.held?.has(key) ?? false
    if (!isKept(until, key, keeping) || contains(values, key, isHeld)) carried?.delete(key)
  }
}

type Reading = Pick<Execution, 'node' | 'origin' | 'via' | 'member'>

export function streamValue(run: TaskRun, execution: Reading, key: string): unknown {
  const { node } = execution
  const inputs = node.kind === 'sensor' ? node.inputs : undefined
  if (inputs === undefined) return valueOf(run, execution, key, run.model.streamValidity, false)
  const hold = inputs.hold.get(key)
  const value = valueOf(run, execution, key, hold ?? run.model.streamValidity, hold !== undefined)
  return isMissing(value) && inputs.defaults.has(key) ? inputs.defaults.get(key) : value
}

/** `validity`: ms for which the value counts after its message. */
function valueOf(run: TaskRun, execution: Reading, key: string, validity: number, isHeld: boolean): unknown {
  const { node, origin } = execution
  const inMessage = sees(execution) ? messageValue(origin.values ?? NOTHING, key) : undefined
  const ofMessage = isHeld && isMissing(inMessage) ? undefined : inMessage
  const isForNode = streamIndexOf(run.model, node) === -1 || isOf(run, execution, origin.resource)
  // Reading from the message itself avoids the state, which may have to be synchronized first.
  if (ofMessage !== undefined && isForNode) return ofMessage
  const stream = streamOf(run, node)
  if (ofMessage !== undefined && stream === undefined) return ofMessage
  const source = stream ?? streamOfOrigin(run, execution)
  return source === undefined ? undefined : valueAt(run, source, key, validity, isHeld)
}

/** Whether the message that began an execution contains that value, and is visible to its node. */
export function isNewValue(run: TaskRun, execution: Reading, key: string): boolean {
  const { node, origin } = execution
  if (!sees(execution)) return false
  const isForNode = streamIndexOf(run.model, node) === -1 || isOf(run, execution, origin.resource)
  return isForNode && contains(origin.values ?? NOTHING, key, holds(node, key))
}

function holds(node: SensorNode | ActuatorNode, key: string): boolean {
  return node.kind === 'sensor' && node.inputs?.hold.has(key) === true
}

/** Returns when the last message visible to an execution's node arrived, or the last one with that value, if any. */
export function streamTime(run: TaskRun, execution: Reading, key?: string): number | undefined {
  const { node, origin } = execution
  const { model } = run
  if (origin.channel !== undefined && sees(execution)) {
    if (key === undefined || contains(origin.values ?? NOTHING, key, holds(node, key))) return origin.time
  }
  if (listensToChannel(node)) return undefined
  const stream = streamAt(run, streamIndexOf(model, node)) ?? streamOfOrigin(run, execution)
  if (stream === undefined) return undefined
  if (key === undefined || contains(stream.values, key, holds(node, key))) return stream.at
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
  const values = {
    ...Object.fromEntries(carried.map(([key, kept]) => [key, kept.value])),
    ...(source !== undefined && isFresh(run, source) && source.values),
    ...(wins && origin.values),
  }
  const { node } = execution
  if (node.kind === 'actuator' || node.inputs === undefined) return values
  const names = new Set([...node.inputs.hold.keys(), ...node.inputs.defaults.keys()])
  const replaced = [...names].map((name) => [name, streamValue(run, execution, name)] as const)
  const others = Object.entries(values).filter(([name]) => !names.has(name))
  return Object.fromEntries([...others, ...replaced.filter(([, value]) => value !== undefined)])
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
  for (const [name, ms] of (node.kind === 'sensor' && node.inputs?.hold) || []) {
    if (valueAt(run, stream, name, ms, true) !== undefined) return stream
  }
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

function valueAt(run: TaskRun, stream: Stream, key: string, validity: number, isHeld: boolean): unknown {
  if (stream.at + validity > run.now && contains(stream.values, key, isHeld)) return messageValue(stream.values, key)
  const kept = stream.carried?.get(key)
  return kept !== undefined && kept.until - run.model.streamValidity + validity > run.now ? kept.value : undefined
}
