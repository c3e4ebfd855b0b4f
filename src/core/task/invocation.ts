/** Begins the work of ticks, data, pushes and manual runs. */
import { UNKNOWN, type GateNode, type Plan, type SensorNode } from '../graph/graph.ts'
import { makePlan, wipePlan } from '../graph/plan.ts'
import { executed } from './result.ts'
import type { Message, Origin, Sent } from './origin.ts'
import { markNew } from './news.ts'
import { observe, reset } from './observe.ts'
import { beginEvaluation } from './evaluation.ts'
import type { Admitted } from './readings/admit.ts'
import { isAmong, MAX_KEPT } from './readings/reading.ts'
import { targetsOf, type Target } from './members/targets.ts'
import { resourceOf, type TaskRun } from './run.ts'
import { sensorState } from './state.ts'
import { remember } from './stream.ts'
import { traceOrigin } from './trace.ts'

export function runTicks(run: TaskRun, nodes: readonly (SensorNode | null)[], scheduledAt: number): void {
  const { tickPlan } = run.model.graph
  const selected = new Map<SensorNode, Origin>()
  const origins = nodes.map((node): Origin => {
    if (node === null) return { kind: 'tick', time: run.now, scheduledAt }
    return { kind: 'ownTick', time: run.now, node: node.label, scheduledAt }
  })
  for (const [i, node] of nodes.entries()) {
    for (const sensor of node === null ? tickPlan.sensors : [node]) selected.set(sensor, origins[i] as Origin)
  }
  const [only] = nodes
  const plan = nodes.length === 1 && only === null ? tickPlan : makePlan([...selected.keys()])
  invoke(run, plan, origins, selected)
}

export function runSensor(run: TaskRun, node: SensorNode, origin: Origin): void {
  invoke(run, makePlan([node]), [origin], new Map([[node, origin]]))
}

/** Splits messages that arrived together where a resource repeats; each part is one invocation. */
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

export function data(run: TaskRun, messages: readonly Message[], sent: Sent | undefined): void {
  const [only] = messages
  const isPlain = run.state.groups.length === 0
  if (messages.length === 1 && only !== undefined && isPlain) return oneMessage(run, only, sent)
  const batch = messages.flatMap((message) => targetsOf(run, message).map((target) => ({ ...target, message })))
  if (batch.length > 0) dataInvocation(run, batch, sent)
}

/** Processes data whose readings have measurement times: sensors skip late and repeated readings. */
export function readingsData(run: TaskRun, admitted: readonly Admitted[]): void {
  rememberAll(run, admitted)
  const running = admitted.filter(({ plan }) => plan.sensors.length > 0)
  const origins = running.map(({ message }) => originOf(run, message, undefined))
  const selected = new Map<SensorNode, Origin>()
  for (const [i, { plan }] of running.entries())
    for (const node of plan.sensors) if (!selected.has(node)) selected.set(node, origins[i] as Origin)
  const [only] = running
  const plan = running.length === 1 && only !== undefined ? only.plan : makePlan([...selected.keys()])
  invoke(run, plan, origins, selected)
}

export function rememberAll({ state, model }: TaskRun, admitted: readonly Admitted[]): void {
  for (const { index, message, time } of admitted) {
    const last = state.streams[index]
    const same = last?.at === time ? [...(last.same ?? []), last.values as Message].slice(-MAX_KEPT) : undefined
    // Repetitions of messages that ran a sensor were filtered before; this filters messages that run none.
    if (same && model.settings.duplicates === 'drop' && isAmong(same, message, model.identityIgnores)) continue
    remember({ state, model, now: time }, index, message)
    const stream = state.streams[index]
    if (stream && same) stream.same = same
  }
}

function oneMessage(run: TaskRun, message: Message, sent: Sent | undefined): void {
  const index = run.model.resources.indexOf(message.resource)
  const plan = planOf(run, sent, index, message)
  if (plan === undefined) return
  if (sent?.channel === undefined) remember(run, index, message)
  const origin = originOf(run, message, sent)
  invoke(run, plan, [origin], new Map(plan.sensors.map((node) => [node, origin])))
}

function planOf({ model }: TaskRun, sent: Sent | undefined, resourceIndex: number, message: Message): Plan | undefined {
  if (sent?.channel !== undefined) return model.channelPlans.get(sent.channel)?.[resourceIndex]
  return model.dataPlans[resourceIndex]?.partFor(message)
}

function originOf(run: TaskRun, message: Message, sent: Sent | undefined): Origin {
  const origin: Origin = { kind: 'data', time: run.now, resource: message.resource, values: message }
  if (sent === undefined) return origin
  const { channel, hops = 0, root } = sent
  const causation = hops > 0 ? { hops, ...(root !== undefined && { root }) } : undefined
  return { ...origin, ...(channel !== undefined && { channel }), ...causation }
}

function dataInvocation(
  run: TaskRun,
  batch: readonly (Target & { readonly message: Message })[],
  sent: Sent | undefined,
): void {
  if (sent?.channel === undefined) for (const { index, message } of batch) remember(run, index, message)
  const origins = [...new Set(batch.map(({ message }) => message))].map((message) => originOf(run, message, sent))
  const plans = batch
    .map(({ index, dataPlan, message }) =>
      sent?.channel === undefined ? dataPlan?.partFor(message) : planOf(run, sent, index, message),
    )
    .filter((plan) => plan !== undefined)
  const [only] = plans
  const plan =
    plans.length === 1 && only !== undefined ? only : makePlan([...new Set(plans.flatMap((one) => one.sensors))])
  invoke(run, plan, origins, new Map(plan.sensors.map((node) => [node, originFor(run, node, origins)])))
}

/** Returns the origin for a sensor, which belongs to the message of its own resource. */
function originFor(run: TaskRun, sensor: SensorNode, origins: readonly Origin[]): Origin {
  const first = origins[0] as Origin // an invocation has at least one origin
  if (origins.length === 1) return first
  const resource = resourceOf(run, sensor)
  return origins.find((origin) => origin.resource === resource) ?? first
}

const NO_GATES: readonly GateNode[] = []

/** Runs the selected sensors: forgets what they are about to renew, and begins their evaluation. */
export function invoke(
  run: TaskRun,
  plan: Plan,
  origins: readonly Origin[],
  selected: ReadonlyMap<SensorNode, Origin>,
  counts: readonly GateNode[] = NO_GATES,
): void {
  if (selected.size === 0) return
  run.state.invocations++
  run.state.lastExecutionTime = run.now
  for (const origin of origins) traceOrigin(run, origin)
  const { resetObservations, resetScope } = run.model.settings
  // Forgets all observations first, or only the ones renewed by this invocation.
  if (resetObservations) reset(run, resetScope === 'task' ? wipePlan(run.model.graph) : plan)
  const counting = countsBehind([...plan.resetGates, ...counts], origins)
  beginEvaluation(run, { invocation: run.state.invocations, selected, ...(counting && { counting }) })
}

/** Returns the relations that count what the plan runs, which a failing run makes unknown. */
function countsBehind(gates: readonly GateNode[], [origin]: readonly Origin[]): Map<GateNode, Origin> | undefined {
  let counting: Map<GateNode, Origin> | undefined
  for (const gate of gates)
    if (gate.counts !== undefined && origin !== undefined) (counting ??= new Map()).set(gate, origin)
  return counting
}

/** Processes a state or raw data from outside as an observation; only the sensor's triggers run. */
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
  markNew(run, node)
  if (rawData !== undefined) sensor.rawData = rawData
  const { invocations: invocation } = run.state
  const touch = { invocation, origin, via: null, hasSucceeded: true }
  beginEvaluation(run, { invocation })
  if (state !== UNKNOWN) observe(run, node, state, touch)
  else executed(run, node, touch)
}
