/** How ticks, data, pushes and manual runs begin a wave of work. */
import { UNKNOWN, type Plan, type SensorNode } from '../graph/graph.ts'
import { makePlan, wipePlan } from '../graph/plan.ts'
import { executed } from './result.ts'
import { startGroups } from './execution.ts'
import type { Message, Origin, Sent } from './origin.ts'
import { observe, reset } from './observe.ts'
import type { TaskRun } from './run.ts'
import { sensorState } from './state.ts'
import { remember } from './stream.ts'
import { traceOrigin } from './trace.ts'

/** What a task's tick runs. */
export function runPlan(run: TaskRun, plan: Plan, origin: Origin): void {
  invoke(run, plan, [origin])
}

/** One sensor by its own clock or by hand. */
export function runSensor(run: TaskRun, node: SensorNode, origin: Origin): void {
  invoke(run, makePlan([node]), [origin])
}

/** Messages that arrived together, cut where a resource repeats: each part is an invocation of its own. */
export function withoutRepeats(messages: readonly Message[]): readonly (readonly Message[])[] {
  if (messages.length === 1) return [messages]
  const parts: Message[][] = []
  let seen = new Set<string>()
  for (const message of messages) {
    const part = parts.at(-1)
    if (part === undefined || seen.has(message.resource)) {
      parts.push([message])
      seen = new Set([message.resource])
    } else {
      part.push(message)
      seen.add(message.resource)
    }
  }
  return parts
}

/** Messages that arrived together, one for each resource. */
export function data(run: TaskRun, messages: readonly Message[], sent: Sent | undefined): void {
  const [only] = messages
  if (messages.length === 1 && only !== undefined) return oneMessage(run, only, sent)
  const batch: { place: number; message: Message }[] = []
  for (const message of messages) {
    const place = run.model.resources.indexOf(message.resource)
    if (place !== -1) batch.push({ place, message })
  }
  if (batch.length > 0) dataInvocation(run, batch, sent)
}

function oneMessage(run: TaskRun, message: Message, sent: Sent | undefined): void {
  const place = run.model.resources.indexOf(message.resource)
  const plan = planOf(run, sent, place, message)
  if (plan === undefined) return
  if (sent?.channel === undefined) remember(run, place, message)
  invoke(run, plan, [originOf(run, message, sent)])
}

/** What a message for a resource runs; undefined when nobody listens to the resource. */
function planOf({ model }: TaskRun, sent: Sent | undefined, place: number, message: Message): Plan | undefined {
  if (sent?.channel !== undefined) return model.channelPlans.get(sent.channel)?.[place]
  return model.dataPlans[place]?.partFor(message)
}

function originOf(run: TaskRun, message: Message, sent: Sent | undefined): Origin {
  const origin: Origin = { kind: 'data', time: run.now, resource: message.resource, values: message }
  if (sent === undefined) return origin
  const { channel, hops = 0, root } = sent
  const led = hops > 0 ? { hops, ...(root !== undefined && { root }) } : undefined
  return { ...origin, ...(channel !== undefined && { channel }), ...led }
}

function dataInvocation(
  run: TaskRun,
  batch: readonly { place: number; message: Message }[],
  sent: Sent | undefined,
): void {
  if (sent?.channel === undefined) for (const { place, message } of batch) remember(run, place, message)
  const origins = batch.map(({ message }) => originOf(run, message, sent))
  const plans = batch
    .map(({ place, message }) => planOf(run, sent, place, message))
    .filter((plan) => plan !== undefined)
  const [only] = plans
  const plan =
    plans.length === 1 && only !== undefined ? only : makePlan([...new Set(plans.flatMap((one) => one.sensors))])
  invoke(run, plan, origins)
}

function invoke(run: TaskRun, plan: Plan, origins: readonly Origin[]): void {
  if (plan.sensors.length === 0) return
  run.state.invocations++
  run.state.lastExecutionTime = run.now
  for (const origin of origins) traceOrigin(run, origin)
  const { resetObservations, resetScope, parallel } = run.model.settings
  // What is forgotten first: everything, or what this invocation renews.
  if (resetObservations) reset(run, resetScope === 'task' ? wipePlan(run.model.graph) : plan)
  startGroups(run, run.state.invocations, parallel ? plan.groups : plan.serial, origins)
}

/** A state or raw data given from outside counts as an observation; nothing runs but what it triggers. */
export function push(
  run: TaskRun,
  node: SensorNode,
  state: number,
  rawData: Readonly<Record<string, unknown>> | undefined,
): void {
  run.state.invocations++
  run.state.lastExecutionTime = run.now
  const origin: Origin = { kind: 'push', time: run.now, node: node.label }
  const sensor = sensorState(run.state, node)
  sensor.collectedTime = run.now
  sensor.follow = null
  sensor.error = null
  if (rawData !== undefined) sensor.rawData = rawData
  if (state !== UNKNOWN) observe(run, node, state, run.state.invocations, origin, null)
  else executed(run, node, run.state.invocations, origin, null)
}
