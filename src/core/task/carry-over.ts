/**
 * Carries the state of a task over to another rule.
 *
 * CARRY-1 a change that touches nothing results in an equal state
 * CARRY-2 counters, the number of the run and its randomness continue, so that no two effects share an id
 * CARRY-3 waiting inputs continue to wait, except inputs of removed nodes
 * CARRY-4 a trigger with the same ends and the same sets keeps the bits of `begins` and `ends`, whatever else changed
 */
import type { Graph, GraphNode, ObservableNode, TriggerEdge } from '../graph/graph.ts'
import { hasEdges } from './fire.ts'
import type { TaskModel } from './run.ts'
import type {
  SavedDestination,
  SavedEvaluation,
  SavedExecution,
  SavedFiring,
  SavedGroup,
  SavedInput,
  SavedLink,
  SavedSensor,
  SavedState,
} from './saved.ts'
import { lostBy, type Lost } from './lost.ts'
import { untouched, type RuleSide, type Untouched } from './touched.ts'

export interface CarriedOver {
  readonly state: SavedState
  readonly model: TaskModel
  readonly kept: Untouched
  /** positions of triggers in the new rule that keep the bits of `begins` and `ends` */
  readonly edges: ReadonlySet<number>
  readonly dropped: number
  readonly lost: readonly Lost[]
}

/** Computes the state under the new rule. `after`: the new rule as if its clocks began at `now`, epoch ms. */
export function carryOver(before: RuleSide, after: RuleSide, saved: SavedState, now: number): CarriedOver {
  const kept = untouched(before, after)
  const { graph } = after.model
  const model = withClocks(before.model, after.model, kept)
  const names = new Names(before.model.graph, graph, saved)
  const executing = saved.executing?.filter(({ node }) => kept.runnable.has(node))
  const ids = new Set(executing?.map(({ id }) => id))
  const waiting = saved.waiting?.flatMap((input) => inputFor(before.model.graph, graph, input))
  const dropped = (saved.waiting?.length ?? 0) - (waiting?.length ?? 0)
  const { nextTickAt, clocksBegan: _, evaluation, calls, behind, ...rest } = saved
  const state: SavedState = {
    ...rest,
    ...(kept.taskClock && nextTickAt !== undefined && { nextTickAt }),
    ...clocksBegan(model, saved, kept, now),
    links: names.links,
    sensors: mapped(saved.sensors, graph.sensors, kept, (sensor, label) =>
      names.sensor(sensor, kept.clocks.has(label)),
    ),
    gates: Object.fromEntries(Object.entries(saved.gates).filter(([label]) => kept.gates.has(label))),
    actuators: mapped(saved.actuators, graph.actuators, kept, (actuator) => names.destination(actuator)),
    ...(saved.groups && { groups: saved.groups.flatMap((group) => groupFor(graph, group, kept, names)) }),
    ...(evaluation && { evaluation: names.evaluation(evaluation) }),
    ...(executing && { executing: executing.map((one) => names.execution(one)) }),
    ...(calls && { calls: calls.filter((id) => ids.has(id)) }),
    ...(behind && { behind: behind.filter((id) => ids.has(id)) }),
    ...(waiting && { waiting }),
    ...(dropped > 0 && { dropped: (saved.dropped ?? 0) + dropped }),
  }
  const edges = keepEdges(before.model.graph, graph, saved, state)
  return { state, model, kept, edges, dropped, lost: lostBy(before.model.graph, saved, kept, now) }
}

function keepEdges(before: Graph, after: Graph, saved: SavedState, next: SavedState): ReadonlySet<number> {
  const orders = ordersOf(before.triggers.filter(hasEdges), after.triggers.filter(hasEdges), edgeKey)
  for (const [old, order] of orders) {
    const { kind, label } = (after.triggers[order] as TriggerEdge).destination
    const was: SavedDestination | undefined = saved[`${kind}s`][label]
    const is: SavedDestination = (next[`${kind}s`][label] ??= {})
    if (was?.begun?.includes(old) === true) is.begun = [...(is.begun ?? []), order]
    if (was?.mayEnd?.includes(old) === true) is.mayEnd = [...(is.mayEnd ?? []), order]
  }
  return new Set(orders.values())
}

function withClocks(before: TaskModel, after: TaskModel, kept: Untouched): TaskModel {
  const sensorSchedules = new Map(after.sensorSchedules)
  for (const label of kept.clocks) {
    const [was, is] = [before, after].map(({ graph }) => graph.byLabel.get(label))
    const schedule = was === undefined ? undefined : before.sensorSchedules.get(was.slot)
    if (is !== undefined && schedule !== undefined) sensorSchedules.set(is.slot, schedule)
  }
  return { ...after, sensorSchedules, schedule: kept.taskClock ? before.schedule : after.schedule }
}

function clocksBegan(
  { graph, sensorSchedules, schedule }: TaskModel,
  saved: SavedState,
  kept: Untouched,
  now: number,
): Pick<SavedState, 'clocksBegan'> {
  const task = kept.taskClock ? saved.clocksBegan?.task : schedule && now
  const sensors = graph.sensors.flatMap(({ label, slot }) => {
    const at = kept.clocks.has(label) ? saved.clocksBegan?.sensors?.[label] : now
    return sensorSchedules.has(slot) && at !== undefined ? [[label, at] as const] : []
  })
  if (task === undefined && sensors.length === 0) return {}
  const ofSensors = sensors.length > 0 && { sensors: Object.fromEntries(sensors) }
  return { clocksBegan: { ...(task !== undefined && { task }), ...ofSensors } }
}

function mapped<T extends object>(
  saved: Readonly<Record<string, T>>,
  nodes: readonly GraphNode[],
  { runnable }: Untouched,
  map: (one: T, label: string) => T,
): Record<string, T> {
  return Object.fromEntries(
    nodes.flatMap(({ label }) => {
      const one = runnable.has(label) && Object.hasOwn(saved, label) ? saved[label] : undefined
      return one === undefined ? [] : [[label, map(one, label)]]
    }),
  )
}

/** Keeps the members of a group that the new rule also has, with the states of their untouched nodes. */
function groupFor({ groups }: Graph, group: SavedGroup, kept: Untouched, names: Names): SavedGroup[] {
  const next = groups.find(({ key }) => key === group.key)
  if (next === undefined) return []
  const isKept = ([label]: readonly [string, unknown]): boolean => kept.gates.has(label)
  const members = group.members.map(({ sensors = {}, gates = {}, actuators = {}, counted = {}, ...rest }) => ({
    ...rest,
    sensors: mapped(sensors, next.sensors, kept, (one) => names.sensor(one, false)),
    gates: Object.fromEntries(Object.entries(gates).filter(isKept)),
    counted: Object.fromEntries(Object.entries(counted).filter(isKept)),
    actuators: mapped(actuators, next.actuators, kept, (one) => names.destination(one)),
  }))
  return [{ ...group, met: Object.fromEntries(Object.entries(group.met ?? {}).filter(isKept)), members }]
}

function inputFor(before: Graph, { byLabel, groups }: Graph, input: SavedInput): SavedInput[] {
  if (input.kind === 'data') return [input]
  if (input.kind === 'members') {
    const group = groups.findIndex(({ key }) => key === before.groups[input.group]?.key)
    return group === -1 ? [] : [{ ...input, group }]
  }
  if (input.kind === 'tick') {
    const nodes = input.nodes.filter((label) => label === null || byLabel.get(label)?.kind === 'sensor')
    return nodes.length === 0 ? [] : [{ ...input, nodes }]
  }
  const node = byLabel.get(input.node)
  if (node === undefined || node.kind === 'gate') return []
  if (input.kind === 'resume') return [input]
  if (node.kind !== 'sensor') return []
  const isKnown = input.kind !== 'push' || input.state === undefined || node.states.includes(input.state)
  return isKnown ? [input] : []
}

class Names {
  readonly links: SavedLink[] = []
  readonly #graph: Graph
  readonly #old: readonly SavedLink[]
  readonly #orders: ReadonlyMap<number, number>
  readonly #indexes = new Map<number, number | undefined>()

  constructor(before: Graph, after: Graph, saved: SavedState) {
    this.#graph = after
    this.#old = saved.links
    this.#orders = ordersOf(before.triggers, after.triggers)
    for (const index of saved.links.keys()) this.#link(index)
  }

  sensor(saved: SavedSensor, keepsClock: boolean): SavedSensor {
    const { ownTickAt, follow, ...rest } = saved
    return {
      ...this.#moved(this.destination(rest)),
      ...(follow && { follow: this.#moved(follow) }),
      ...(keepsClock && ownTickAt !== undefined && { ownTickAt }),
    }
  }

  destination<T extends SavedDestination>(saved: T): T {
    const { firing, held, begun: _begun, mayEnd: _mayEnd, ...rest } = saved
    const fired = firing && this.#firing(firing)
    const holder = held && this.#orders.get(held.trigger)
    return {
      ...rest,
      ...(fired && { firing: fired }),
      ...(held && holder !== undefined && { held: { ...held, trigger: holder } }),
    } as T // a destination whose `firing` and `held` are kept, adapted or removed
  }

  execution(saved: SavedExecution): SavedExecution {
    return this.#moved(saved)
  }

  evaluation(saved: SavedEvaluation): SavedEvaluation {
    const kindOf = (label: string): string | undefined => this.#graph.byLabel.get(label)?.kind
    return {
      ...saved,
      selected: saved.selected.filter(([label]) => kindOf(label) === 'sensor'),
      due: saved.due.filter((label) => kindOf(label) === 'sensor'),
      agenda: saved.agenda.filter((label) => kindOf(label) !== undefined),
      touched: saved.touched
        .filter(({ node }) => kindOf(node) === 'sensor' || kindOf(node) === 'gate')
        .map((touch) => this.#moved(touch)),
    }
  }

  #firing(saved: SavedFiring): SavedFiring | undefined {
    const trigger = this.#orders.get(saved.trigger)
    const source = trigger === undefined ? undefined : this.#graph.triggers[trigger]?.source
    if (trigger === undefined || source === undefined) return undefined
    const { from, to, also, ...rest } = saved
    const others = also?.flatMap((one) => {
      const other = this.#orders.get(one.trigger)
      return other === undefined ? [] : [{ ...one, trigger: other }]
    })
    if (![from, to].every((state) => state === undefined || source.states.includes(state))) return undefined
    const seen = saved.seen.filter(({ node: label, state }) => {
      const node = this.#graph.byLabel.get(label)
      return node !== undefined && node.kind !== 'actuator' && (state === undefined || node.states.includes(state))
    })
    return this.#moved({
      ...rest,
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
      ...(others && { also: others }),
      trigger,
      seen,
    })
  }

  #moved<T extends { via?: number }>(saved: T): T {
    const { via, ...rest } = saved
    const index = via === undefined ? undefined : this.#indexes.get(via)
    return { ...rest, ...(index !== undefined && { via: index }) } as T // `via` is adapted or removed
  }

  /** Returns the new position of a link. The link of a removed trigger is replaced by the one before it. */
  #link(index: number): number | undefined {
    if (this.#indexes.has(index)) return this.#indexes.get(index)
    const link = this.#old[index]
    if (link === undefined) return undefined
    const earlier = link.earlier === undefined ? undefined : this.#link(link.earlier)
    const trigger = this.#orders.get(link.trigger)
    const moved = { trigger: trigger ?? 0, time: link.time, ...(earlier !== undefined && { earlier }) }
    const at = trigger === undefined ? earlier : this.links.push(moved) - 1
    this.#indexes.set(index, at)
    return at
  }
}

/** Maps positions of triggers in the old rule to positions in the new rule. Equal triggers keep their sequence. */
function ordersOf(
  before: readonly TriggerEdge[],
  after: readonly TriggerEdge[],
  keyOf = wholeKey,
): ReadonlyMap<number, number> {
  const ordersByKey = new Map<string, number[]>()
  for (const trigger of after) {
    const key = keyOf(trigger)
    const known = ordersByKey.get(key)
    if (known === undefined) ordersByKey.set(key, [trigger.order])
    else known.push(trigger.order)
  }
  const orders = new Map<number, number>()
  for (const trigger of before) {
    const index = ordersByKey.get(keyOf(trigger))?.shift()
    if (index !== undefined) orders.set(trigger.order, index)
  }
  return orders
}

function wholeKey(trigger: TriggerEdge): string {
  const { source, states, change } = trigger
  const ends = change && [change.from, change.to].map((state) => source.states[state] ?? null)
  return JSON.stringify([edgeKey(trigger), namesOf(source, states), ends])
}

function edgeKey({ source, destination, begins, ends }: TriggerEdge): string {
  return JSON.stringify([source.label, destination.label, namesOf(source, begins), namesOf(source, ends)])
}

function namesOf({ states }: ObservableNode, set: readonly boolean[] | undefined): readonly string[] | undefined {
  return set && states.filter((_, i) => set[i])
}
