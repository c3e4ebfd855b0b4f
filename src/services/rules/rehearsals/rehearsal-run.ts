/** Rehearses a rule for some resources in the current thread. Returns bounded lists and counts. */
import { createRegistry, type EngineEvent, type Message, type Plug, type PlugContext, type Ports } from '#core'
import type { Rule, TaskSettings, Template } from '#core'
import { instantOf, type NodeCounts, Preparer, rehearse, type RehearsedLane, resolveResources } from '#core/spi'
import { AppError } from '#kernel'
import { machineTimers } from '#platform'
import { dryPlugs } from '../tools/dry-plugs.ts'
import type { RunDependencies } from '../tools/template-run.ts'
import { CoverageCount } from './coverage.ts'
import type {
  CoverageItem,
  Fidelity,
  RehearsedDifference,
  RehearsedEffect,
  RehearsedFiring,
} from './rehearsal-schema.ts'
import { type RehearsalHistory, SeriesMessages } from './series-messages.ts'
import { VirtualAlarms } from './virtual-alarms.ts'

export interface RehearsedRule {
  readonly document: Rule | Template
  readonly settings: TaskSettings
}

export interface RehearsalWork {
  readonly rule: RehearsedRule
  readonly compareWith: RehearsedRule | undefined
  readonly variants: readonly RehearsedRule[]
  /** the resource of each task to rehearse; undefined for a rule that names its resources itself */
  readonly resources: readonly (string | undefined)[]
  /** absent: messages come from stored series */
  readonly messages: readonly Message[] | undefined
  /** epoch ms, both inclusive */
  readonly from: number
  readonly until: number
  readonly seed: number
  readonly calls: 'none' | 'live'
  readonly eventTypes: readonly string[]
  /** maximum length of each list; the earliest items are kept */
  readonly most: number
  readonly mostEvents: number
}

/** Lists contain the earliest items; counts include all. */
export interface RehearsalPart {
  readonly items: readonly CoverageItem[]
  /** names of message values that the rule reads, if known */
  readonly reads: readonly string[]
  readonly messages: number
  readonly late: number
  readonly firings: readonly RehearsedFiring[]
  readonly effects: readonly RehearsedEffect[]
  readonly events: readonly EngineEvent[]
  readonly counts: { readonly firings: number; readonly effects: number; readonly events: number }
  readonly alarms: { readonly raised: number; readonly cleared: number }
  readonly nodes: readonly NodeCounts[]
  readonly differences: readonly TypedDifference[]
  readonly differenceCounts: DifferenceCounts | undefined
  readonly variants: readonly { readonly firings: number; readonly alarms: number }[]
  /** number of service calls that were left out, by service and method */
  readonly notMade: Readonly<Record<string, number>>
}

export type TypedDifference = RehearsedDifference & { readonly kind: 'added' | 'removed' | 'moved' }
export interface DifferenceCounts {
  readonly equal: number
  readonly added: number
  readonly removed: number
  readonly moved: number
}

/** What a run needs from its thread. `notMade` counts the calls that plugs left out. */
export interface RehearsalContext extends RunDependencies {
  readonly notMade?: Map<string, number>
}

/** ms between two turns of the event loop, in which a cancellation can arrive */
const TURN_MS = 50
/** number of calls between two reads of the clock */
const STRIDE = 256
/** ms of real time that a plug call may take */
const PATIENCE_MS = 10_000
const HIDDEN = '***'

export async function rehearsePart(
  context: RehearsalContext,
  work: RehearsalWork,
  history: RehearsalHistory,
  signal?: AbortSignal,
): Promise<RehearsalPart> {
  const part = new PartRun(context, work, history, signal)
  for (const resource of work.resources) await part.rehearse(resource)
  return part.result
}

interface LaneOfRule extends RehearsedLane {
  readonly settings: TaskSettings
  readonly preparer: Preparer
  readonly alarms: VirtualAlarms
}

class PartRun {
  readonly #context: RehearsalContext
  readonly #work: RehearsalWork
  readonly #history: RehearsalHistory
  readonly #signal: AbortSignal | undefined
  readonly #ports: Ports
  readonly #rule: LaneOfRule
  readonly #compareWith: LaneOfRule | undefined
  readonly #variants: readonly LaneOfRule[]
  readonly #eventTypes: ReadonlySet<string>
  readonly #items: CoverageItem[] = []
  readonly #reads = new Set<string>()
  readonly #firings: Earliest<RehearsedFiring>
  readonly #effects: Earliest<RehearsedEffect>
  readonly #events: Earliest<EngineEvent>
  readonly #differences: Earliest<TypedDifference>
  readonly #nodes = new NodeSum()
  readonly #fired: number[]
  #differenceCounts: DifferenceCounts | undefined
  #messages = 0
  #late = 0
  #resource: string | null = null
  #stride = 0
  #turn = machineTimers.elapsed()

  constructor(
    context: RehearsalContext,
    work: RehearsalWork,
    history: RehearsalHistory,
    signal: AbortSignal | undefined,
  ) {
    this.#context = context
    this.#work = work
    this.#history = history
    this.#signal = signal
    const { secret: _secret, latestValue, ...ports } = context.ports
    this.#ports = {
      ...ports,
      ...(latestValue && work.calls === 'live' && { latestValue }),
      // shows the placeholder wherever the secret would be used
      secret: (key) => `\${vault.${key}}`,
    }
    this.#effects = new Earliest(work.most)
    this.#firings = new Earliest(work.most)
    this.#events = new Earliest(work.mostEvents)
    this.#differences = new Earliest(work.most)
    this.#eventTypes = new Set(work.eventTypes)
    this.#rule = this.#lane(work.rule, (plug, call, alarm) => this.#effects.add(effectOf(plug, call, alarm)))
    this.#compareWith = work.compareWith && this.#lane(work.compareWith)
    this.#variants = work.variants.map((variant) => this.#lane(variant))
    this.#fired = work.variants.map(() => 0)
  }

  get result(): RehearsalPart {
    const { raised, cleared } = this.#rule.alarms
    return {
      items: this.#items,
      reads: [...this.#reads],
      messages: this.#messages,
      late: this.#late,
      firings: this.#firings.list,
      effects: this.#effects.list,
      events: this.#events.list,
      counts: { firings: this.#firings.count, effects: this.#effects.count, events: this.#events.count },
      alarms: { raised, cleared },
      nodes: this.#nodes.counts,
      differences: this.#differences.list,
      differenceCounts: this.#differenceCounts,
      variants: this.#variants.map(({ alarms }, i) => ({ firings: this.#fired[i] ?? 0, alarms: alarms.raised })),
      notMade: Object.fromEntries(this.#context.notMade ?? []),
    }
  }

  async rehearse(resource: string | undefined): Promise<void> {
    this.#resource = resource ?? null
    const { from, until, seed, messages } = this.#work
    const fidelity: Fidelity = messages === undefined ? 'series' : 'messages'
    const coverage = new CoverageCount(resource, fidelity)
    const lanes = [this.#rule, ...(this.#compareWith ? [this.#compareWith] : []), ...this.#variants]
    for (const { alarms } of lanes) alarms.begin()
    const bound = await this.#boundTo(lanes, resource)
    const note = (message: Message, time: number): void => coverage.note(message, time)
    const source =
      messages === undefined
        ? new SeriesMessages(this.#history, { resources: bound, from, until }, note)
        : of(messages, new Set(bound), { from, until }, note)
    const rehearsed = await rehearse(this.#rule, {
      plugs: [],
      ports: this.#ports,
      source,
      from,
      until,
      seed,
      ...(resource !== undefined && { resource }),
      compareWith: this.#compareWith,
      variants: this.#variants,
      onEvent: (event) => this.#note(event),
      breathe: () => this.#breathe(),
      patience: (giveUp) => machineTimers.later(PATIENCE_MS, giveUp),
    })
    this.#items.push(coverage.item)
    this.#messages += rehearsed.messages
    this.#late += rehearsed.late
    this.#nodes.add(rehearsed.nodes)
    for (const [i, count] of rehearsed.fired.entries()) this.#fired[i] = (this.#fired[i] ?? 0) + count
    if (rehearsed.comparison !== undefined) this.#compare(rehearsed.comparison)
  }

  #lane(
    { document, settings }: RehearsedRule,
    note?: (plug: Plug, context: PlugContext, alarm: RehearsedEffect['alarm']) => void,
  ): LaneOfRule {
    const alarms = new VirtualAlarms()
    const plugs = dryPlugs(this.#context.registry.list(), new Set(), (plug, context) =>
      note === undefined ? alarms.note(plug, context) : note(plug, context, alarms.note(plug, context)),
    )
    return { rule: document, settings, preparer: new Preparer(createRegistry(plugs)), alarms }
  }

  async #boundTo(lanes: readonly LaneOfRule[], resource: string | undefined): Promise<readonly string[]> {
    const bound = new Set<string>()
    for (const { rule, settings, preparer } of lanes.slice(0, 2)) {
      const prepared = preparer.prepare(rule, { ...settings, ...(resource !== undefined && { resource }) })
      for (const one of await resolveResources('task', prepared, this.#ports)) bound.add(one)
      for (const { parameters = [] } of prepared.graph.sensors) for (const name of parameters) this.#reads.add(name)
    }
    return [...bound]
  }

  #note(event: EngineEvent): void {
    if (event.type === 'fired') {
      const { time, node, source, why } = event
      this.#firings.add({ time, resource: this.#resource, node, source, ...(why && { why }) })
    }
    if (this.#eventTypes.has(event.type)) this.#events.add({ ...event, task: this.#resource ?? event.task })
  }

  #compare({ differences, more, nodes }: NonNullable<Awaited<ReturnType<typeof rehearse>>['comparison']>): void {
    for (const difference of differences) {
      const { time, node } = difference
      const about = { time, resource: this.#resource, node }
      if (difference.kind === 'onlyNew') this.#differences.add({ kind: 'added', ...about, firing: difference.new })
      else if (difference.kind === 'onlyOld')
        this.#differences.add({ kind: 'removed', ...about, other: difference.old })
      else {
        const { by, old, new: firing } = difference
        this.#differences.add({ kind: 'moved', ...about, by, firing, other: old })
      }
    }
    this.#differences.count += more
    const before = this.#differenceCounts ?? { equal: 0, added: 0, removed: 0, moved: 0 }
    this.#differenceCounts = nodes.reduce(
      (sum, { equal, onlyNew, onlyOld, moved }) => ({
        equal: sum.equal + equal,
        added: sum.added + onlyNew,
        removed: sum.removed + onlyOld,
        moved: sum.moved + moved,
      }),
      before,
    )
  }

  #breathe(): Promise<void> | undefined {
    if (++this.#stride % STRIDE !== 0) return undefined
    const now = machineTimers.elapsed()
    if (now - this.#turn < TURN_MS) return undefined
    this.#turn = now
    return machineTimers.breathe().then(() => {
      if (this.#signal?.aborted === true) throw new AppError('CLOSED', 'the rehearsal was cancelled')
    })
  }
}

function* of(
  messages: readonly Message[],
  bound: ReadonlySet<string>,
  { from, until }: { readonly from: number; readonly until: number },
  note: (message: Message, time: number) => void,
): Generator<Message> {
  for (const [i, message] of messages.entries()) {
    if (!bound.has(message.resource)) continue
    const time = instantOf(message, i + 1)
    if (time < from || time > until) continue
    note(message, time)
    yield message
  }
}

function effectOf(plug: Plug, { now, node, task, properties }: PlugContext, alarm: RehearsedEffect['alarm']) {
  const shown = Object.entries(properties).map(([name, value]) => [
    name,
    Object.hasOwn(plug.input, name) && plug.input[name]?.sensitive === true ? HIDDEN : value,
  ])
  return {
    time: now,
    resource: node.RESOURCE ?? task.RESOURCE ?? null,
    node: task.NODE_NAME,
    plug: plug.name,
    properties: Object.fromEntries(shown) as Record<string, unknown>,
    ...(alarm !== undefined && { alarm }),
  }
}

/** Keeps the earliest items in order of time; ties stay in the order of their addition. */
export class Earliest<T extends { readonly time: number }> {
  count = 0
  readonly #most: number
  #list: T[] = []

  constructor(most: number) {
    this.#most = most
  }

  get list(): readonly T[] {
    this.#trim()
    return this.#list
  }

  add(item: T): void {
    this.count++
    this.#list.push(item)
    if (this.#list.length >= 2 * this.#most + 16) this.#trim()
  }

  /** Adds a list of `count` items, of which only the earliest are in `items`. */
  addAll(items: readonly T[], count: number): void {
    for (const item of items) this.add(item)
    this.count += count - items.length
  }

  #trim(): void {
    this.#list = this.#list.toSorted((a, b) => a.time - b.time).slice(0, this.#most)
  }
}

export class NodeSum {
  readonly #byNode = new Map<string, NodeCounts>()

  get counts(): readonly NodeCounts[] {
    return [...this.#byNode.values()]
  }

  add(counts: readonly NodeCounts[]): void {
    for (const one of counts) {
      const sum = this.#byNode.get(one.node)
      if (sum === undefined) {
        this.#byNode.set(one.node, { ...one, held: { ...one.held } })
        continue
      }
      sum.runs += one.runs
      sum.changes += one.changes
      sum.errors += one.errors
      sum.fired += one.fired
      for (const [reason, times] of Object.entries(one.held) as [keyof NodeCounts['held'], number][]) {
        sum.held[reason] = (sum.held[reason] ?? 0) + times
      }
    }
  }
}
