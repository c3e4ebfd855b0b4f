/**
 * The state of a task under another rule. What the change does not touch (touched.ts) goes on as it was: states, memory,
 * cool-downs, timers, work, and effects that wait. What it touches begins anew, and what it loses by that is told.
 *
 * CARRY-1 a change that touches nothing gives an equal state
 * CARRY-2 counters, the number of the run and its chance go on, so that no two effects share an id
 * CARRY-3 what waits for its turn goes on waiting, but for what is meant for a node that is gone
 */
import type { Graph, GraphNode, TriggerEdge } from '../graph/graph.ts'
import type { TaskModel } from './run.ts'
import type {
  SavedDestination,
  SavedExecution,
  SavedFiring,
  SavedInput,
  SavedLink,
  SavedSensor,
  SavedState,
} from './saved.ts'
import { lostBy, type Lost } from './lost.ts'
import { untouched, type RuleSide, type Untouched } from './touched.ts'

export interface CarriedOver {
  /** of the new rule; relations that do not go on, and clocks that begin anew, are not in it */
  readonly state: SavedState
  /** of the new rule, with the clocks that go on */
  readonly model: TaskModel
  readonly kept: Untouched
  /** how many inputs were for nodes that are gone */
  readonly dropped: number
  /** what nodes of the old rule had and do not keep, in its order */
  readonly lost: readonly Lost[]
}

/** `after` as if its clocks began now, which is in epoch ms. */
export function carryOver(before: RuleSide, after: RuleSide, saved: SavedState, now: number): CarriedOver {
  const kept = untouched(before, after)
  const { graph } = after.model
  const model = withClocks(before.model, after.model, kept)
  const names = new Names(before.model.graph, graph, saved)
  const executing = saved.executing?.filter(({ node }) => kept.runnable.has(node))
  const ids = new Set(executing?.map(({ id }) => id))
  const waiting = saved.waiting?.filter((input) => isFor(graph, input))
  const dropped = (saved.waiting?.length ?? 0) - (waiting?.length ?? 0)
  const { nextTickAt, clocksBegan: _, groups, calls, behind, ...rest } = saved
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
    ...(groups && {
      groups: groups.map((group) => ({
        ...group,
        groups: group.groups.map((labels) => labels.filter((label) => graph.byLabel.get(label)?.kind === 'sensor')),
        open: executing?.filter((one) => one.group === group.id).length ?? 0,
      })),
    }),
    ...(executing && { executing: executing.map((one) => names.execution(one)) }),
    ...(calls && { calls: calls.filter((id) => ids.has(id)) }),
    ...(behind && { behind: behind.filter((id) => ids.has(id)) }),
    ...(waiting && { waiting }),
    ...(dropped > 0 && { dropped: (saved.dropped ?? 0) + dropped }),
  }
  return { state, model, kept, dropped, lost: lostBy(before.model.graph, saved, kept, now) }
}

function withClocks(before: TaskModel, after: TaskModel, kept: Untouched): TaskModel {
  const ownSchedules = new Map(after.ownSchedules)
  for (const label of kept.clocks) {
    const [was, is] = [before, after].map(({ graph }) => graph.byLabel.get(label))
    const schedule = was === undefined ? undefined : before.ownSchedules.get(was.slot)
    if (is !== undefined && schedule !== undefined) ownSchedules.set(is.slot, schedule)
  }
  return { ...after, ownSchedules, schedule: kept.taskClock ? before.schedule : after.schedule }
}

function clocksBegan(
  { graph, ownSchedules, schedule }: TaskModel,
  saved: SavedState,
  kept: Untouched,
  now: number,
): Pick<SavedState, 'clocksBegan'> {
  const task = kept.taskClock ? saved.clocksBegan?.task : schedule && now
  const sensors = graph.sensors.flatMap(({ label, slot }) => {
    const at = kept.clocks.has(label) ? saved.clocksBegan?.sensors?.[label] : now
    return ownSchedules.has(slot) && at !== undefined ? [[label, at] as const] : []
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

/** Whether an input that waits still means something. */
function isFor({ byLabel }: Graph, input: SavedInput): boolean {
  if (input.kind === 'data' || input.node === undefined) return true
  const node = byLabel.get(input.node)
  if (node === undefined || node.kind === 'gate') return false
  if (input.kind === 'resume') return true
  if (node.kind !== 'sensor') return false
  return input.kind !== 'push' || input.state === undefined || node.states.includes(input.state)
}

/** What a state names by its place in the old rule, as the new one has it. */
class Names {
  readonly links: SavedLink[] = []
  readonly #graph: Graph
  readonly #old: readonly SavedLink[]
  readonly #orders: ReadonlyMap<number, number>
  /** new places of links; undefined: nothing of it is left */
  readonly #places = new Map<number, number | undefined>()

  constructor(before: Graph, after: Graph, saved: SavedState) {
    this.#graph = after
    this.#old = saved.links
    this.#orders = ordersOf(before.triggers, after.triggers)
    for (const place of saved.links.keys()) this.#link(place)
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
    const { firing, held, ...rest } = saved
    const fired = firing && this.#firing(firing)
    const holder = held && this.#orders.get(held.trigger)
    return {
      ...rest,
      ...(fired && { firing: fired }),
      ...(held && holder !== undefined && { held: { ...held, trigger: holder } }),
    } as T // a destination whose firing and hold are the same, moved, or gone
  }

  execution(saved: SavedExecution): SavedExecution {
    return this.#moved(saved)
  }

  #firing(saved: SavedFiring): SavedFiring | undefined {
    const trigger = this.#orders.get(saved.trigger)
    const source = trigger === undefined ? undefined : this.#graph.triggers[trigger]?.source
    if (trigger === undefined || source === undefined) return undefined
    const { from, to, ...rest } = saved
    if (![from, to].every((state) => state === undefined || source.states.includes(state))) return undefined
    const seen = saved.seen.filter(({ node: label, state }) => {
      const node = this.#graph.byLabel.get(label)
      return node !== undefined && node.kind !== 'actuator' && (state === undefined || node.states.includes(state))
    })
    return this.#moved({ ...rest, ...(from !== undefined && { from }), ...(to !== undefined && { to }), trigger, seen })
  }

  #moved<T extends { via?: number }>(saved: T): T {
    const { via, ...rest } = saved
    const place = via === undefined ? undefined : this.#places.get(via)
    return { ...rest, ...(place !== undefined && { via: place }) } as T // the same with the place moved, or without
  }

  /** A link of a trigger that is gone stands for the one before it. */
  #link(place: number): number | undefined {
    if (this.#places.has(place)) return this.#places.get(place)
    const link = this.#old[place]
    if (link === undefined) return undefined
    const earlier = link.earlier === undefined ? undefined : this.#link(link.earlier)
    const trigger = this.#orders.get(link.trigger)
    const moved = { trigger: trigger ?? 0, time: link.time, ...(earlier !== undefined && { earlier }) }
    const at = trigger === undefined ? earlier : this.links.push(moved) - 1
    this.#places.set(place, at)
    return at
  }
}

/** Places of triggers in the new rule, by their places in the old one. Equal ones follow each other. */
function ordersOf(before: readonly TriggerEdge[], after: readonly TriggerEdge[]): ReadonlyMap<number, number> {
  const places = new Map<string, number[]>()
  for (const trigger of after) {
    const key = keyOf(trigger)
    const known = places.get(key)
    if (known === undefined) places.set(key, [trigger.order])
    else known.push(trigger.order)
  }
  const orders = new Map<number, number>()
  for (const trigger of before) {
    const place = places.get(keyOf(trigger))?.shift()
    if (place !== undefined) orders.set(trigger.order, place)
  }
  return orders
}

function keyOf({ source, destination, states, change }: TriggerEdge): string {
  const named = states && source.states.filter((_, i) => states[i])
  const ends = change && [change.from, change.to].map((state) => source.states[state] ?? null)
  return JSON.stringify([source.label, destination.label, named, ends])
}
