/** Converts a task's state to plain JSON. */
import { encodeNumbers, present } from '#kernel'
import {
  UNKNOWN,
  type ActuatorNode,
  type DestinationNode,
  type ObservableNode,
  type SensorNode,
} from '../graph/graph.ts'
import type { Answer } from '../plug/result.ts'
import { saveFiringValues } from './firing-values.ts'
import type { WaitingInput } from './input.ts'
import { sentOf, type Origin } from './origin.ts'
import { nodeAt } from './evaluation.ts'
import type { Contribution } from './members/group-state.ts'
import { takenOf } from './members/load.ts'
import { identityOf, ignoredOf, unstampedIndexes, type LastProcessed } from './readings/reading.ts'
import type { Readings } from './readings/readings.ts'
import type { WaitingReading } from './readings/reorder.ts'
import type { TaskModel } from './run.ts'
import {
  HAS_BEGUN,
  MAY_END,
  NOT_PLACED,
  observedState,
  sensorState,
  stateName,
  actuatorState,
  type Destination,
  type Evaluation,
  type Execution,
  type Firing,
  type Holding,
  type Link,
  type ActuatorState,
  type Observed,
  type SensorState,
  type Stream,
} from './state.ts'
import { NO_CLOCKS, type TaskState } from './task-state.ts'
import type {
  SavedActuator,
  SavedAnswer,
  SavedContribution,
  SavedDestination,
  SavedEvaluation,
  SavedExecution,
  SavedFiring,
  SavedGroup,
  SavedHolding,
  SavedInput,
  SavedLink,
  SavedMember,
  SavedObserved,
  SavedReadings,
  SavedSensor,
  SavedState,
  SavedStream,
  SavedTaken,
} from './saved.ts'

/** Saves the whole state, at any step; the inverse of `restoreState`. */
export function saveState(model: TaskModel, state: TaskState): SavedState {
  const tables = new Tables()
  const { graph } = model
  const work = state.shown()
  const saved: SavedState = {
    status: state.status,
    run: state.run,
    inputs: state.inputs,
    effects: state.effects,
    invocations: state.invocations,
    executions: state.executions,
    startTime: state.startTime,
    lastExecutionTime: state.lastExecutionTime,
    finishedTime: state.finishedTime,
    ...finite('nextTickAt', state.nextTickAt),
    ...(state.skippedTicks > 0 && { skippedTicks: state.skippedTicks }),
    seed: state.seed,
    ...(state.clocksBegan !== NO_CLOCKS && { clocksBegan: state.clocksBegan }),
    ...(state.failures.length > 0 && { failures: [...state.failures] }),
    origins: tables.origins,
    links: tables.links,
    sensors: Object.fromEntries(
      graph.sensors
        .filter(isAlone)
        .map((node) => [node.label, saveSensor(node, sensorState(work, node), tables, model)]),
    ),
    gates: Object.fromEntries(
      graph.gates.filter(isAlone).map((gate) => [gate.label, saveObserved(observedState(work, gate), gate)]),
    ),
    actuators: Object.fromEntries(
      graph.actuators
        .filter(isAlone)
        .map((node) => [node.label, saveActuator(node, actuatorState(work, node), tables)]),
    ),
    ...(state.groups.length > 0 && { groups: saveGroups(model, state, tables) }),
    streams: Object.fromEntries(
      model.resources.flatMap((resource, index) => {
        const stream = work.streams[index]
        return stream ? [[resource, saveStream(stream, model)] as const] : []
      }),
    ),
    ...(state.evaluation && { evaluation: saveEvaluation(model, state.evaluation, tables) }),
    ...(work.inFlight.size > 0 && {
      executing: [...work.inFlight].map((execution) => saveExecution(execution, tables, model)),
      calls: callOrder(state),
      ...(work.effectQueues.behind > 0 && { behind: [...work.effectQueues.waiting].map(({ id }) => id) }),
    }),
    ...(!state.isFree && { now: state.time }),
    ...savedInputs(state),
    ...(state.arrived > 0 && { arrived: state.arrived }),
    ...(!state.isFree && state.current > 0 && { current: state.current }),
    ...(state.dropped > 0 && { dropped: state.dropped }),
    ...(state.readings && { readings: saveReadings(state.readings) }),
    ...(state.downtime && { downtime: state.downtime }),
  }
  return encodeNumbers(saved) as SavedState
}

function isAlone({ group }: { readonly group: number }): boolean {
  return group === -1
}

/** Whether a sensor has one state for all members of a group. */
function isGathering({ group, observes }: SensorNode): boolean {
  return group === -1 && observes !== -1
}

function saveSensor(node: SensorNode, sensor: SensorState, tables: Tables, model: TaskModel): SavedSensor {
  const { follow } = sensor
  return {
    ...saveObserved(sensor, node),
    ...saveDestination(sensor, node, tables),
    ...(sensor.collectedTime !== -1 && { collectedTime: sensor.collectedTime }),
    ...(sensor.rawData && { rawData: sensor.rawData }),
    ...(sensor.internalState !== undefined && { internalState: sensor.internalState }),
    ...finite('evictAt', sensor.evictAt),
    ...(sensor.evictAt !== Number.POSITIVE_INFINITY && nonZero('evictLag', sensor.evictLag)),
    ...(sensor.taken && !isGathering(node) && { taken: saveTaken(sensor.taken, model) }),
    ...savedNews(node, sensor.news),
    ...(sensor.late.length > 0 && { late: [...sensor.late] }),
    ...(sensor.origin && { origin: tables.origin(sensor.origin) }),
    ...tables.via(sensor.via),
    ...(follow && {
      follow: {
        at: follow.at,
        ...nonZero('lag', follow.lag),
        answer: saveAnswer(node, follow.answer),
        invocation: follow.invocation,
        origin: tables.origin(follow.origin),
        ...tables.via(follow.via),
      },
    }),
    ...finite('ownTickAt', sensor.ownTickAt),
  }
}

function saveActuator(node: ActuatorNode, actuator: ActuatorState, tables: Tables): SavedActuator {
  return { ...saveDestination(actuator, node, tables), ...(actuator.answer && { answer: actuator.answer }) }
}

/** Returns the order of calls. The call that the lane waits for is made again before all others. */
function callOrder({ holder, calls }: TaskState): number[] {
  const isCalled = holder !== null && (holder.phase === 'called' || holder.phase === 'rendering')
  const order = [...(isCalled ? [holder] : []), ...calls]
  return order.filter(({ isInFlight }) => isInFlight).map(({ id }) => id)
}

function savedInputs({ waiting, readings }: TaskState): Pick<SavedState, 'waiting'> {
  const inputs = [
    ...waiting.map(saveInput),
    ...(readings?.reordering.list ?? []).map((one) => ({ ...saveHeld(one), isHeld: true as const })),
    ...(readings?.ahead.list ?? []).map((one) => ({ ...saveHeld(one), isAhead: true as const })),
  ]
  return inputs.length === 0 ? {} : { waiting: inputs }
}

function saveHeld({ time, input, kept }: WaitingReading): SavedInput {
  return saveInput({ time, number: 0, input, kept })
}

function saveInput({ time, number, input, kept }: WaitingInput): SavedInput {
  const at = { time, number }
  switch (input.kind) {
    case 'data': {
      const sent = sentOf(input.sent ?? {})
      const unstamped = unstampedIndexes(input.messages)
      const [first] = input.messages
      const ignores = first && ignoredOf(first)
      const about = {
        ...(input.arrived !== undefined && { arrived: input.arrived }),
        ...(unstamped.length > 0 && { unstamped }),
        ...(ignores && { ignores }),
      }
      return { ...at, kind: 'data', messages: [...input.messages], ...(kept && { kept }), ...sent, ...about }
    }
    case 'tick':
      return {
        ...at,
        kind: 'tick',
        nodes: input.nodes.map((node) => node && node.label),
        scheduledAt: input.scheduledAt,
      }
    case 'members':
      return { ...at, kind: 'members', group: input.group, changes: input.changes.slice(input.from) }
    case 'push': {
      const { node, state, rawData } = input
      return { ...at, kind: 'push', node: node.label, ...named('state', node, state), ...(rawData && { rawData }) }
    }
    default:
      return { ...at, kind: input.kind, node: input.node.label }
  }
}

function saveEvaluation(model: TaskModel, evaluation: Evaluation, tables: Tables): SavedEvaluation {
  const { invocation, selected, due, agenda, touched, counting } = evaluation
  return {
    invocation,
    selected: [...selected].map(([node, origin]) => [node.label, tables.origin(origin)]),
    due: [...due].map(({ label }) => label),
    ...(counting.size > 0 && { counting: [...counting].map(([gate, origin]) => [gate.label, tables.origin(origin)]) }),
    agenda: agenda.map((position) => nodeAt({ model }, position).label),
    touched: [...touched].map(([node, touch]) => ({
      node: node.label,
      invocation: touch.invocation,
      origin: tables.origin(touch.origin),
      ...tables.via(touch.via),
      observed: touch.isObserved,
      succeeded: touch.hasSucceeded,
    })),
  }
}

function saveGroups(model: TaskModel, state: TaskState, tables: Tables): SavedGroup[] {
  const work = state.shown()
  return state.groups.map((group, index): SavedGroup => {
    const { node, members, loaded, counters } = group
    const met = node.counts.flatMap(({ label }, place) => {
      const ids = [...(counters[place]?.met ?? [])].map(({ id }) => id)
      return ids.length === 0 ? [] : [[label, ids] as const]
    })
    const loadedStream = state.streams[model.resources.length + index] ?? null
    return {
      key: node.key,
      ...(loaded && { loaded: loaded.id }),
      ...(met.length > 0 && { met: Object.fromEntries(met) }),
      members: [...members.values()].map((member): SavedMember => {
        const stream = member === loaded ? loadedStream : member.stream
        return {
          id: member.id,
          ...nonBlank('sensors', node.sensors, (one, i) =>
            saveSensor(one, member.sensors[i] as SensorState, tables, model),
          ),
          ...nonBlank('gates', node.gates, (one, i) => saveObserved(member.gates[i] as Observed, one)),
          ...nonBlank('actuators', node.actuators, (one, i) =>
            saveActuator(one, member.actuators[i] as ActuatorState, tables),
          ),
          ...nonBlank('counted', node.counts, (_, i) => saveCounted(member.counted[i] as Contribution)),
          ...(stream && { stream: saveStream(stream, model) }),
          ...nonBlank('taken', node.gathering, (_, i) => {
            const taken = (member === loaded ? takenOf(work, group) : member.taken)[i]
            return taken ? saveTaken(taken, model) : NOT_TAKEN
          }),
        }
      }),
    }
  })
}

const NOT_TAKEN = {} as SavedTaken // left out, since it has no fields

/** Saves the states of a member's nodes by label, and omits nodes that never ran. */
function nonBlank<K extends string, N extends { readonly label: string }, T extends object>(
  key: K,
  nodes: readonly N[],
  save: (node: N, index: number) => T,
): { [P in K]?: Record<string, T> } {
  const saved = nodes.map((node, i) => [node.label, save(node, i)] as const)
  const kept = saved.filter(([, one]) => Object.keys(one).length > 0)
  return kept.length === 0 ? {} : ({ [key]: Object.fromEntries(kept) } as { [P in K]?: Record<string, T> })
}

function saveCounted({ observedAt, metAt, lag, isKnown }: Contribution): SavedContribution {
  return {
    ...(observedAt !== -1 && { observedAt }),
    ...(metAt !== -1 && { metAt }),
    ...nonZero('lag', lag),
    ...(isKnown && { known: true as const }),
  }
}

/** Collects origins and links, which are shared by many executions, so that each is written once. */
class Tables {
  readonly origins: Origin[] = []
  readonly links: SavedLink[] = []
  readonly #originIndexes = new Map<Origin, number>()
  /** origins of plain broker data, by the values of the message */
  readonly #ofMessages = new Map<Origin['values'], Origin[]>()
  readonly #linkIndexes = new Map<Link, number>()

  origin(origin: Origin): number {
    const known = this.#originIndexes.get(origin) ?? this.#indexOfMessage(origin)
    if (known !== undefined) return known
    const index = this.origins.push(origin) - 1
    this.#originIndexes.set(origin, index)
    return index
  }

  /** Finds the place of an equal origin, with the same message and time: executors need not share the object. */
  #indexOfMessage(origin: Origin): number | undefined {
    const { kind, time, values, channel, carried, hops } = origin
    if (kind !== 'data' || (channel ?? carried ?? hops) !== undefined) return undefined
    const all = this.#ofMessages.get(values) ?? []
    const same = all.find((one) => one.time === time)
    if (same === undefined) this.#ofMessages.set(values, [...all, origin])
    return same && this.#originIndexes.get(same)
  }

  via(link: Link | null): { via?: number } {
    return link === null ? {} : { via: this.#link(link) }
  }

  #link(link: Link): number {
    const known = this.#linkIndexes.get(link)
    if (known !== undefined) return known
    const earlier = link.earlier === null ? {} : { earlier: this.#link(link.earlier) }
    const index = this.links.push({ trigger: link.trigger.order, time: link.time, ...earlier }) - 1
    this.#linkIndexes.set(link, index)
    return index
  }
}

function finite<K extends string>(key: K, value: number): { [P in K]?: number } {
  return Number.isFinite(value) ? ({ [key]: value } as { [P in K]?: number }) : {}
}

function nonEmpty<K extends string>(key: K, list: number[]): { [P in K]?: number[] } {
  return list.length === 0 ? {} : ({ [key]: list } as { [P in K]?: number[] })
}

function nonZero<K extends string>(key: K, value: number): { [P in K]?: number } {
  return value === 0 ? {} : ({ [key]: value } as { [P in K]?: number })
}

function saveTaken({ time, known }: LastProcessed, { identityIgnores }: TaskModel): SavedTaken {
  return { time, ...(known.length > 0 && { known: known.map((one) => identityOf(one, identityIgnores)) }) }
}

function saveReadings({ time, clock, newest, inRow, mixed, recent, counts }: Readings): SavedReadings {
  return {
    ...finite('time', time),
    ...finite('clock', clock),
    newest: Object.fromEntries(newest),
    ...(inRow.size > 0 && { inRow: Object.fromEntries(inRow) }),
    ...(mixed.size > 0 && { mixed: [...mixed] }),
    ...(recent.size > 0 && {
      recent: Object.fromEntries([...recent].map(([resource, one]) => [resource, one.save()])),
    }),
    counts: { ...counts },
  }
}

function named<K extends string>(key: K, node: ObservableNode, state: number): { [P in K]?: string } {
  return state === UNKNOWN ? {} : ({ [key]: stateName(node, state) } as { [P in K]?: string })
}

function saveObserved(observed: Observed, node: ObservableNode): SavedObserved {
  return {
    ...named('state', node, observed.state),
    ...named('memory', node, observed.memory),
    ...named('previous', node, observed.previous),
    ...named('before', node, observed.before),
    ...(observed.since !== -1 && { since: observed.since }),
    // Only sensors need it: for a gate, the time of becoming unknown is never read.
    ...(node.kind === 'sensor' && observed.lost !== -1 && { lost: observed.lost }),
  }
}

function saveDestination(destination: Destination, { incoming }: DestinationNode, tables: Tables): SavedDestination {
  const { held, edges } = destination
  const withBit = (bit: number): number[] =>
    incoming.flatMap(({ order }, index) => (((edges[index] ?? 0) & bit) === 0 ? [] : [order]))
  return {
    ...finite('firedAt', destination.firedAt),
    ...(destination.firing && { firing: saveFiring(destination.firing, tables) }),
    ...(held && {
      held: {
        reason: held.reason,
        time: held.time,
        ...(held.until !== undefined && { until: held.until }),
        trigger: held.trigger.order,
      },
    }),
    ...nonEmpty('begun', withBit(HAS_BEGUN)),
    ...nonEmpty('mayEnd', withBit(MAY_END)),
    ...(destination.error && { error: destination.error }),
  }
}

function saveFiring(firing: Firing, tables: Tables): SavedFiring {
  const { source } = firing.trigger
  return {
    trigger: firing.trigger.order,
    time: firing.time,
    invocation: firing.invocation,
    input: firing.input,
    place: firing.indexInInput,
    matched: firing.matched,
    ...named('from', source, firing.from),
    ...named('to', source, firing.to),
    ...(firing.also.length > 0 && { also: firing.also.map(saveHolding) }),
    origin: tables.origin(firing.origin),
    ...tables.via(firing.via),
    seen: firing.seen.map((one) => ({
      node: one.node.label,
      ...named('state', one.node, one.state),
      since: one.since,
      ...(one.origin && { origin: tables.origin(one.origin) }),
      ...(one.members && { members: one.members }),
    })),
  }
}

function saveHolding({ trigger, matched, from, to }: Holding): SavedHolding {
  return { trigger: trigger.order, matched, ...named('from', trigger.source, from), ...named('to', trigger.source, to) }
}

function saveStream(stream: Stream, { identityIgnores }: TaskModel): SavedStream {
  const carried = [...(stream.carried ?? [])].map(([key, kept]): [string, unknown, number] => [
    key,
    kept.value,
    kept.until,
  ])
  const same = stream.same?.map((one) => identityOf(one, identityIgnores))
  return { values: { ...stream.values }, at: stream.at, ...(carried.length > 0 && { carried }), ...(same && { same }) }
}

function saveExecution(execution: Execution, tables: Tables, model: TaskModel): SavedExecution {
  const firing = saveFiringValues(execution, (stream) => saveStream(stream, model))
  return {
    id: execution.id,
    node: execution.node.label,
    invocation: execution.invocation,
    origin: tables.origin(execution.origin),
    ...tables.via(execution.via),
    ...(execution.member !== null && { member: execution.member }),
    input: execution.input,
    place: execution.indexInInput,
    phase: execution.phase,
    ...finite('wakeAt', execution.wakeAt),
    ...(execution.wakeAt !== Number.POSITIVE_INFINITY && nonZero('wakeLag', execution.wakeLag)),
    ...(execution.attempt > 0 && { attempt: execution.attempt }),
    ...(execution.calls > 0 && { calls: execution.calls }),
    ...(execution.held && { held: saveAnswer(execution.node, execution.held) }),
    ...(execution.items && { items: [...execution.items], item: execution.item }),
    ...(execution.resumed && { resumed: true as const }),
    ...(execution.node.kind === 'sensor' && savedNews(execution.node, execution.news)),
    ...nonZero('late', execution.late),
    ...(execution.rendered && !execution.node.call.isConstant && { rendered: [...execution.rendered] }),
    ...(execution.touches && { touches: [...execution.touches] }),
    ...(execution.placedAt !== NOT_PLACED && { placedAt: execution.placedAt }),
    ...(firing && { firing }),
  }
}

function savedNews({ reads }: SensorNode, news: readonly string[]): { news?: string[] } {
  return news.length === 0 ? {} : { news: reads.map(({ label }) => label).filter((label) => news.includes(label)) }
}

function saveAnswer(node: Execution['node'], answer: Answer): SavedAnswer {
  const { ok: _ok, state, then, ...rest } = answer
  const name = node.call.plug.states[state]
  return { ...(name !== undefined && { state: name }), ...present(rest), ...(then && { then: saveAnswer(node, then) }) }
}
