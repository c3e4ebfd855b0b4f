/** Restores a task's state from plain JSON, for the rule under which it was saved. */
import { AppError, decodeNumbers } from '#kernel'
import {
  UNKNOWN,
  type ActuatorNode,
  type DestinationNode,
  type ObservableNode,
  type SensorNode,
  type TriggerEdge,
} from '../graph/graph.ts'
import type { Answer } from '../plug/result.ts'
import { resumeAfter } from './downtime.ts'
import { setWakeTimer, isWork } from './execution.ts'
import { setBits } from './fire.ts'
import { restoreFiringValues } from './firing-values.ts'
import { sentOf, type Origin } from './origin.ts'
import type { WaitingInput } from './input.ts'
import type { Contribution } from './members/group-state.ts'
import { load, memberActAt, noteAll, sensorFor } from './members/load.ts'
import { positionOf } from './evaluation.ts'
import { ignoring, withoutStamp } from './readings/reading.ts'
import { Readings } from './readings/readings.ts'
import { RecentReadings } from './readings/recent.ts'
import type { TaskRun } from './run.ts'
import type {
  DowntimeInterval,
  SavedActuator,
  SavedAnswer,
  SavedDestination,
  SavedEvaluation,
  SavedExecution,
  SavedFiring,
  SavedGroup,
  SavedHolding,
  SavedInput,
  SavedObserved,
  SavedReadings,
  SavedSensor,
  SavedState,
  SavedStream,
} from './saved.ts'
import { NO_NEWS } from './news.ts'
import {
  actuatorState,
  HAS_BEGUN,
  MAY_END,
  NOT_PLACED,
  observedState,
  sensorState,
  type ActuatorState,
  type Destination,
  type Evaluation,
  type Execution,
  type Firing,
  type Holding,
  type Link,
  type Observed,
  type SensorState,
  type Stream,
} from './state.ts'

export type OpenExecutions = ReadonlyMap<number, Execution>
type Order = ReadonlyMap<number, number>

const NONE_OPEN: OpenExecutions = new Map()

/**
 * Sets every timer and queues unfinished calls under their old ids. `open`: calls that continue. Throws `SAVED_STATE`.
 */
export function restoreState(
  run: TaskRun,
  savedState: SavedState,
  open: OpenExecutions = NONE_OPEN,
  away?: DowntimeInterval,
): void {
  const saved = decodeNumbers(savedState) as SavedState
  const { state, model } = run
  const names = new Names(run, saved)
  state.forgetNodes()
  state.status = saved.status
  state.run = saved.run
  state.inputs = saved.inputs
  state.effects = saved.effects
  state.invocations = saved.invocations
  state.executions = saved.executions
  state.startTime = saved.startTime
  state.lastExecutionTime = saved.lastExecutionTime
  state.finishedTime = saved.finishedTime
  state.nextTickAt = saved.nextTickAt ?? Number.POSITIVE_INFINITY
  state.skippedTicks = saved.skippedTicks ?? 0
  state.restoredAt = run.now
  state.seed = saved.seed
  state.failures = [...(saved.failures ?? [])]
  if (saved.clocksBegan !== undefined) state.clocksBegan = saved.clocksBegan
  for (const [label, one] of Object.entries(saved.sensors)) {
    const node = names.sensor(label)
    if (isBlank(one)) continue
    restoreSensor(sensorState(state, node), node, one, names)
  }
  for (const [label, one] of Object.entries(saved.gates)) {
    const gate = names.observable(label)
    if (!isBlank(one)) restoreObserved(observedState(state, gate), gate, one, names)
  }
  for (const [label, one] of Object.entries(saved.actuators)) {
    const node = names.actuator(label)
    if (isBlank(one)) continue
    restoreActuator(actuatorState(state, node), node, one, names)
  }
  for (const [resource, stream] of Object.entries(saved.streams)) {
    const index = model.resources.indexOf(resource)
    if (index !== -1) state.streams[index] = restoreStream(stream)
  }
  for (const [index, group] of (saved.groups ?? []).entries()) restoreGroup(run, index, group, names)
  const executing = saved.executing ?? []
  for (const one of executing) restoreExecution(run, one, names, open)
  if (saved.evaluation !== undefined) state.evaluation = restoreEvaluation(run, saved.evaluation, names)
  for (const { id, firing } of executing) {
    const execution = firing && state.inFlight.find(id)
    if (firing !== undefined && execution?.seen === null) execution.seen = restoreFiringValues(run, execution, firing)
  }
  restoreEffectQueues(run, executing, orderOf(saved.behind), open)
  requeue(run, orderOf(saved.calls), open)
  state.arrived = saved.arrived ?? 0
  state.current = saved.current ?? 0
  state.dropped = saved.dropped ?? 0
  state.downtime = saved.downtime ?? null
  if (saved.readings !== undefined) state.readings = restoreReadings(run, saved.readings)
  if (saved.waiting !== undefined) state.waiting = []
  for (const one of saved.waiting ?? []) {
    const input = restoreInput(one, names)
    if (one.kind === 'data' && (one.isHeld ?? one.isAhead) === true) hold(run, input, one.isAhead === true)
    else state.waiting.push(input)
  }
  run.now = saved.now ?? run.now
  state.time = run.now
  if (away !== undefined) resumeAfter(run, away)
  setTimers(run)
}

function restoreSensor(sensor: SensorState, node: SensorNode, one: SavedSensor, names: Names): void {
  restoreObserved(sensor, node, one, names)
  restoreDestination(sensor, node, one, names)
  sensor.collectedTime = one.collectedTime ?? -1
  sensor.rawData = one.rawData
  sensor.internalState = one.internalState
  sensor.evictAt = one.evictAt ?? Number.POSITIVE_INFINITY
  sensor.evictLag = one.evictLag ?? 0
  sensor.taken = one.taken === undefined ? null : { time: one.taken.time, known: one.taken.known ?? [] }
  sensor.news = unseenIn(node, one)
  sensor.late = one.late ?? []
  sensor.origin = names.originOrNull(one.origin)
  sensor.via = names.via(one.via)
  sensor.ownTickAt = one.ownTickAt ?? Number.POSITIVE_INFINITY
  if (one.follow) {
    sensor.follow = {
      at: one.follow.at,
      lag: one.follow.lag ?? 0,
      answer: restoreAnswer(node, one.follow.answer, names),
      invocation: one.follow.invocation,
      origin: names.origin(one.follow.origin),
      via: names.via(one.follow.via),
    }
  }
}

function restoreActuator(actuator: ActuatorState, node: ActuatorNode, one: SavedActuator, names: Names): void {
  restoreDestination(actuator, node, one, names)
  actuator.answer = one.answer ?? null
}

function restoreStream({ values, at, carried, same }: SavedStream): Stream {
  const kept = carried?.map(([key, value, until]) => [key, { value, until }] as const)
  return { values, at, carried: kept ? new Map(kept) : null, ...(same && { same }) }
}

function ownOf<T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined
}

/** Restores the members of each group of the rule, and omits saved groups that the rule lacks. */
function restoreGroup(run: TaskRun, place: number, saved: SavedGroup, names: Names): void {
  const same = run.state.groups.findIndex(({ node }) => node.key === saved.key)
  const index = same === -1 ? place : same
  const group = run.state.groups[index]
  if (group === undefined || group.node.key !== saved.key) return
  const { node } = group
  for (const one of saved.members) {
    const member = group.join(one.id)
    if (member === undefined) continue
    node.sensors.forEach((sensor, i) => {
      const its = ownOf(one.sensors, sensor.label)
      if (its !== undefined) restoreSensor(member.sensors[i] as SensorState, sensor, its, names)
    })
    node.gates.forEach((gate, i) => {
      const its = ownOf(one.gates, gate.label)
      if (its !== undefined) restoreObserved(member.gates[i] as Observed, gate, its, names)
    })
    node.actuators.forEach((actuator, i) => {
      const its = ownOf(one.actuators, actuator.label)
      if (its !== undefined) restoreActuator(member.actuators[i] as ActuatorState, actuator, its, names)
    })
    node.counts.forEach((gate, i) => {
      const { observedAt = -1, metAt = -1, lag = 0, known } = ownOf(one.counted, gate.label) ?? {}
      Object.assign(member.counted[i] as Contribution, { observedAt, metAt, lag })
      group.count(i, member, known === true, false)
    })
    member.taken = node.gathering.map(({ label }) => {
      const taken = ownOf(one.taken, label)
      return taken === undefined ? null : { time: taken.time, known: taken.known ?? [] }
    })
    member.stream = one.stream === undefined ? null : restoreStream(one.stream)
  }
  node.counts.forEach((gate, i) => {
    for (const id of ownOf(saved.met, gate.label) ?? []) {
      const member = group.members.get(id)
      if (member !== undefined) group.count(i, member, member.counted[i]?.isKnown === true, true)
    }
  })
  const loaded = saved.loaded === undefined ? undefined : group.members.get(saved.loaded)
  if (loaded !== undefined) load(run, index, loaded)
}

function hold({ state, model, now }: TaskRun, { time, input, kept }: WaitingInput, isAhead: boolean): void {
  if (input.kind !== 'data') return
  const { arrived = time } = input
  if (isAhead) state.readings?.ahead.hold({ time, arrived, input, kept })
  else if (model.settings.reorderMs > 0) state.readings?.reordering.hold({ time, arrived, input, kept })
  else state.wait(now, input, kept)
}

function restoreReadings(
  { model, sink }: TaskRun,
  { time = -1, clock = time, newest, inRow = {}, mixed = [], recent = {}, counts }: SavedReadings,
): Readings {
  const readings = new Readings(time, model.settings.reorderMs)
  readings.clock = clock
  for (const [resource, one] of Object.entries(newest)) readings.newest.set(resource, one)
  for (const [resource, count] of Object.entries(inRow)) readings.inRow.set(resource, count)
  for (const resource of mixed) readings.mixed.add(resource)
  for (const [resource, one] of Object.entries(recent)) readings.recent.set(resource, RecentReadings.of(one))
  sink.remembered([...readings.recent.values()].reduce((sum, { room }) => sum + room, 0))
  Object.assign(readings.counts, counts)
  return readings
}

function orderOf(ids: readonly number[] = []): Order {
  return new Map(ids.map((id, i) => [id, i]))
}

/** Queues calls to be made again. States saved without their order use the oldest first. */
function requeue(run: TaskRun, order: Order, open: OpenExecutions): void {
  const { state } = run
  const wanted: Execution[] = []
  for (const execution of state.work?.inFlight ?? []) {
    const { id, phase, touches, node } = execution
    const isCalled = phase === 'called' || phase === 'rendering'
    if (isCalled && open.has(id)) {
      if (node.kind === 'sensor' || phase === 'rendering') state.holder = execution
    } else if (touches === null && (isCalled || phase === 'queued')) wanted.push(execution)
  }
  for (const execution of wanted.toSorted((a, b) => (order.get(a.id) ?? a.id) - (order.get(b.id) ?? b.id))) {
    state.calls.push(execution)
  }
}

function restoreInput(saved: SavedInput, names: Names): WaitingInput {
  const { time, number } = saved
  switch (saved.kind) {
    case 'data': {
      const { messages = [], kept, unstamped = [], ignores } = saved
      for (const index of unstamped) if (messages[index] !== undefined) withoutStamp(messages[index])
      if (ignores !== undefined) for (const message of messages) ignoring(message, ignores)
      return { time, number, input: { kind: 'data', messages, sent: sentOf(saved), arrived: saved.arrived }, kept }
    }
    case 'tick': {
      const nodes = saved.nodes.map((label) => (label === null ? null : names.sensor(label)))
      return { time, number, input: { kind: 'tick', nodes, scheduledAt: saved.scheduledAt } }
    }
    case 'members':
      return { time, number, input: { kind: 'members', group: saved.group, changes: saved.changes, from: 0 } }
    case 'push': {
      const node = names.sensor(saved.node)
      const state = names.state(node.states, saved.state)
      return { time, number, input: { kind: 'push', node, state, rawData: saved.rawData } }
    }
    case 'run':
      return { time, number, input: { kind: 'run', node: names.sensor(saved.node) } }
    case 'resume':
      return { time, number, input: { kind: 'resume', node: names.runnable(saved.node) } }
  }
}

function setTimers(run: TaskRun): void {
  const { state, sink } = run
  const { reorderMs } = run.model.settings
  const release = state.readings?.reordering.earliest ?? Number.POSITIVE_INFINITY
  if (release !== Number.POSITIVE_INFINITY) sink.timer('release', release, 0)
  if (state.nextTickAt !== Number.POSITIVE_INFINITY) sink.timer('tick', state.nextTickAt + reorderMs, 0)
  for (const [slot, sensor] of (state.work?.sensors ?? []).entries()) {
    if (sensor.evictAt !== Number.POSITIVE_INFINITY) sink.timer('evict', sensor.evictAt + sensor.evictLag, slot)
    if (sensor.ownTickAt !== Number.POSITIVE_INFINITY) sink.timer('ownTick', sensor.ownTickAt + reorderMs, slot)
    if (sensor.follow) sink.timer('follow', sensor.follow.at + sensor.follow.lag, slot)
  }
  for (const execution of state.work?.inFlight ?? []) {
    if (execution.wakeAt !== Number.POSITIVE_INFINITY) setWakeTimer(run, execution)
  }
  for (const [index, group] of state.groups.entries()) {
    noteAll(group)
    const at = memberActAt(run, index)
    if (at !== Number.POSITIVE_INFINITY) sink.timer('members', at, index)
  }
}

/** Whether nothing was saved of the node, so that it stays as in a fresh state. */
function isBlank(saved: object): boolean {
  return Object.keys(saved).length === 0
}

class Names {
  readonly #run: TaskRun
  readonly #origins: readonly Origin[]
  readonly #links: Link[] = []

  constructor(run: TaskRun, saved: SavedState) {
    this.#run = run
    this.#origins = saved.origins
    for (const link of saved.links) {
      this.#links.push({ trigger: this.trigger(link.trigger), time: link.time, earlier: this.via(link.earlier) })
    }
  }

  sensor(label: string): SensorNode {
    const node = this.#run.model.graph.byLabel.get(label)
    return node?.kind === 'sensor' ? node : this.#missing(`sensor ${label}`)
  }

  actuator(label: string): ActuatorNode {
    const node = this.#run.model.graph.byLabel.get(label)
    return node?.kind === 'actuator' ? node : this.#missing(`actuator ${label}`)
  }

  observable(label: string): ObservableNode {
    const node = this.#run.model.graph.byLabel.get(label)
    return node === undefined || node.kind === 'actuator' ? this.#missing(`sensor or relation ${label}`) : node
  }

  runnable(label: string): SensorNode | ActuatorNode {
    const node = this.#run.model.graph.byLabel.get(label)
    return node === undefined || node.kind === 'gate' ? this.#missing(`sensor or actuator ${label}`) : node
  }

  trigger(order: number): TriggerEdge {
    return this.#run.model.graph.triggers[order] ?? this.#missing(`trigger ${order}`)
  }

  origin(index: number): Origin {
    return this.#origins[index] ?? this.#missing(`origin ${index}`)
  }

  originOrNull(index: number | undefined): Origin | null {
    return index === undefined ? null : this.origin(index)
  }

  via(index: number | undefined): Link | null {
    return index === undefined ? null : (this.#links[index] ?? this.#missing(`link ${index}`))
  }

  state(states: readonly string[], name: string | undefined): number {
    if (name === undefined) return UNKNOWN
    const state = states.indexOf(name)
    return state === -1 ? this.#missing(`state ${name}`) : state
  }

  #missing(what: string): never {
    throw new AppError(
      'SAVED_STATE',
      `the saved task contains ${what}, which its rule lacks; restore it with the rule that it was saved with`,
    )
  }
}

function restoreObserved(observed: Observed, node: ObservableNode, saved: SavedObserved, names: Names): void {
  observed.state = names.state(node.states, saved.state)
  observed.memory = names.state(node.states, saved.memory)
  observed.previous = names.state(node.states, saved.previous)
  observed.before = names.state(node.states, saved.before)
  observed.since = saved.since ?? -1
  observed.lost = saved.lost ?? -1
}

function restoreDestination(
  destination: Destination,
  { incoming }: DestinationNode,
  saved: SavedDestination,
  names: Names,
): void {
  destination.firedAt = saved.firedAt ?? Number.NEGATIVE_INFINITY
  destination.firing = saved.firing ? restoreFiring(saved.firing, names) : null
  const { held } = saved
  destination.held = held
    ? { reason: held.reason, time: held.time, until: held.until, trigger: names.trigger(held.trigger) }
    : null
  for (const [index, { order }] of incoming.entries()) {
    const begun = saved.begun?.includes(order) === true ? HAS_BEGUN : 0
    setBits(destination, index, begun | (saved.mayEnd?.includes(order) === true ? MAY_END : 0))
  }
  destination.error = saved.error ?? null
}

function restoreFiring(saved: SavedFiring, names: Names): Firing {
  const trigger = names.trigger(saved.trigger)
  return {
    trigger,
    time: saved.time,
    invocation: saved.invocation,
    input: saved.input,
    indexInInput: saved.place,
    matched: saved.matched,
    from: names.state(trigger.source.states, saved.from),
    to: names.state(trigger.source.states, saved.to),
    also: (saved.also ?? []).map((one) => restoreHolding(one, names)),
    origin: names.origin(saved.origin),
    via: names.via(saved.via),
    seen: saved.seen.map((one) => {
      const node = names.observable(one.node)
      return {
        node,
        state: names.state(node.states, one.state),
        since: one.since,
        origin: names.originOrNull(one.origin),
        ...(one.members && { members: one.members }),
      }
    }),
  }
}

function restoreHolding({ trigger: order, matched, from, to }: SavedHolding, names: Names): Holding {
  const trigger = names.trigger(order)
  const { states } = trigger.source
  return { trigger, matched, from: names.state(states, from), to: names.state(states, to) }
}

function restoreEvaluation(run: TaskRun, saved: SavedEvaluation, names: Names): Evaluation {
  const { graph } = run.model
  return {
    invocation: saved.invocation,
    selected: new Map(saved.selected.map(([label, origin]) => [names.sensor(label), names.origin(origin)])),
    due: new Set(saved.due.map((label) => names.sensor(label))),
    counting: new Map(
      (saved.counting ?? []).flatMap(([label, origin]) => {
        const node = graph.byLabel.get(label)
        return node?.kind === 'gate' ? [[node, names.origin(origin)] as const] : []
      }),
    ),
    agenda: saved.agenda
      .flatMap((label) => graph.byLabel.get(label) ?? [])
      .map((node) => positionOf(run, node))
      .toSorted((a, b) => a - b),
    touched: new Map(
      saved.touched.map(({ node, invocation, origin, via, observed, succeeded }) => [
        names.observable(node),
        {
          invocation,
          origin: names.origin(origin),
          via: names.via(via),
          isObserved: observed,
          hasSucceeded: succeeded,
        },
      ]),
    ),
  }
}

function restoreExecution(run: TaskRun, saved: SavedExecution, names: Names, open: OpenExecutions): void {
  const node = names.runnable(saved.node)
  const known = open.get(saved.id)
  const made: Execution = {
    id: saved.id,
    node,
    invocation: saved.invocation,
    origin: names.origin(saved.origin),
    via: names.via(saved.via),
    member: saved.member ?? null,
    input: saved.input,
    indexInInput: saved.place,
    phase: saved.phase,
    wakeAt: saved.wakeAt ?? Number.POSITIVE_INFINITY,
    wakeLag: saved.wakeLag ?? 0,
    attempt: saved.attempt ?? 0,
    calls: saved.calls ?? 0,
    held: saved.held ? restoreAnswer(node, saved.held, names) : null,
    items: saved.items ?? null,
    item: saved.item ?? 0,
    resumed: saved.resumed ?? false,
    news: node.kind === 'sensor' ? unseenIn(node, saved) : NO_NEWS,
    late: saved.late ?? 0,
    isOpen: known?.isOpen ?? false,
    rendered: saved.rendered ?? null,
    touches: null,
    placedAt: saved.placedAt ?? NOT_PLACED,
    seen: known?.seen ?? null,
    isInFlight: false,
    earlier: null,
    later: null,
    nextInQueue: null,
  }
  // Callers that wait for the result hold the known object.
  const execution = known === undefined ? made : Object.assign(known, made)
  run.state.inFlight.add(execution)
  if (node.kind === 'sensor') sensorFor(run, node, execution.member).running = execution
  if (node.kind === 'sensor' && saved.phase === 'retrying') run.state.holder = execution
}

function unseenIn({ reads }: SensorNode, { news = NO_NEWS }: { readonly news?: readonly string[] }): readonly string[] {
  return news.length === 0 ? NO_NEWS : news.filter((label) => reads.some((node) => node.label === label))
}

/** Restores the places of acting calls among the effects: first calls in progress, then calls behind them. */
function restoreEffectQueues(run: TaskRun, saved: readonly SavedExecution[], order: Order, open: OpenExecutions): void {
  const touching = new Map(saved.flatMap(({ id, touches }) => (touches === undefined ? [] : [[id, touches] as const])))
  if (touching.size === 0) return
  const queued = [...run.state.inFlight].filter(({ id }) => touching.has(id))
  const rank = ({ id, phase }: Execution): number => (phase === 'behind' ? (order.get(id) ?? id) + 1 : 0)
  for (const execution of queued.toSorted((a, b) => rank(a) - rank(b))) {
    enqueueRestored(run, execution, touching.get(execution.id) ?? [], open.has(execution.id))
  }
}

/** Makes a call whose turn has come again, unless it is still open. */
function enqueueRestored(run: TaskRun, execution: Execution, touches: readonly string[], isOpen: boolean): void {
  const { node, phase } = execution
  const { effectQueues, ready } = run.state
  const { constant } = run.model.properties.of(node.call)
  if (constant !== undefined) execution.rendered = [constant]
  if (isWork(execution)) run.state.holder = execution
  const isFree = effectQueues.enqueue(execution, touches, run.model.maxWaiting)
  if (!isFree || (phase === 'called' && isOpen)) return
  if (phase !== 'queued' && phase !== 'called' && phase !== 'behind') return
  execution.phase = 'queued'
  ready.push(execution)
}

function restoreAnswer(node: SensorNode | ActuatorNode, saved: SavedAnswer, names: Names): Answer {
  return {
    ok: true,
    state: names.state(node.call.plug.states, saved.state),
    rawData: saved.rawData,
    internalState: saved.internalState,
    message: saved.message,
    after: saved.after,
    whole: saved.whole,
    again: saved.again,
    then: saved.then && restoreAnswer(node, saved.then, names),
  }
}
