/** Rehearses a rule for some resources in the current thread. Returns bounded lists and counts. */
import {
  createRegistry,
  type EngineEvent,
  type EventBatch,
  type Message,
  type Plug,
  type PlugContext,
  type Ports,
  type TaskSettings,
} from '#core'
import {
  addCounts,
  type Generate,
  instantOf,
  type NodeCounts,
  Preparer,
  recordOf,
  rehearse,
  type RehearsedLane,
  type RehearseOptions,
  resolveResources,
} from '#core/spi'
import { AppError } from '#kernel'
import { machineTimers } from '#platform'
import type { KeptInput } from '../inputs/contract.ts'
import { dryPlugs } from '../tools/dry-plugs.ts'
import type { RunDependencies } from '../tools/template-run.ts'
import { CoverageCount } from './coverage.ts'
import { KeptRange, noted } from './kept-range.ts'
import { LivedLane } from './lived-lane.ts'
import { LivedRun } from './lived-run.ts'
import { livedSource } from './lived-source.ts'
import type {
  CoverageItem,
  Fidelity,
  RehearsedDifference,
  RehearsedEffect,
  RehearsedFiring,
} from './rehearsal-schema.ts'
import type { RehearsalHistory } from './rehearsal-history.ts'
import { SeriesMessages } from './series-messages.ts'
import type { InputEdit, RehearsalWork, RehearsedRule } from './rehearsal-work.ts'
import { VirtualAlarms } from './virtual-alarms.ts'

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
  readonly alarms: Pick<VirtualAlarms, 'raised' | 'cleared' | 'occurrences'>
  readonly nodes: readonly NodeCounts[]
  readonly differences: readonly TypedDifference[]
  readonly differenceCounts: DifferenceCounts | undefined
  readonly variants: readonly { readonly firings: number; readonly alarms: number }[]
  /** number of service calls, by service and method: left out, and answered with current data */
  readonly notMade: Readonly<Record<string, number>>
  readonly current: Readonly<Record<string, number>>
}

export type TypedDifference = RehearsedDifference & { readonly kind: 'added' | 'removed' | 'moved' }
export interface DifferenceCounts {
  readonly equal: number
  readonly added: number
  readonly removed: number
  readonly moved: number
}

/** Calls of services in a rehearsal, by service and method. */
export interface RehearsedCalls {
  readonly areMade: boolean
  readonly notMade: Map<string, number>
  /** made, and answered with data of now instead of the time of the input */
  readonly current: Map<string, number>
}

/** What a run needs from its thread. */
export interface RehearsalContext extends RunDependencies {
  readonly calls?: RehearsedCalls
  readonly generate?: Generate | undefined
}

/** ms between two turns of the event loop, in which a cancellation can arrive */
const TURN_MS = 50
/** number of calls between two reads of the clock */
const STRIDE = 256
/** ms of real time that a plug call may take */
const PATIENCE_MS = 10_000
const patience = (giveUp: () => void): (() => void) => machineTimers.later(PATIENCE_MS, giveUp)
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
  /** with the settings of the host's tasks */
  readonly lived: Preparer
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
  readonly #eventTypes: ReadonlySet<EngineEvent['type']>
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
    this.#eventTypes = new Set(work.eventTypes as EngineEvent['type'][])
    this.#rule = this.#lane(work.rule, (plug, call, alarm) => this.#effects.add(effectOf(plug, call, alarm)))
    this.#compareWith = work.compareWith && this.#lane(work.compareWith)
    this.#variants = work.variants.map((variant) => this.#lane(variant))
    this.#fired = work.variants.map(() => 0)
  }

  get result(): RehearsalPart {
    const { raised, cleared, occurrences } = this.#rule.alarms
    return {
      items: this.#items,
      reads: [...this.#reads],
      messages: this.#messages,
      late: this.#late,
      firings: this.#firings.list,
      effects: this.#effects.list,
      events: this.#events.list,
      counts: { firings: this.#firings.count, effects: this.#effects.count, events: this.#events.count },
      alarms: { raised, cleared, occurrences },
      nodes: this.#nodes.counts,
      differences: this.#differences.list,
      differenceCounts: this.#differenceCounts,
      variants: this.#variants.map(({ alarms }, i) => ({ firings: this.#fired[i] ?? 0, alarms: alarms.raised })),
      notMade: Object.fromEntries(this.#context.calls?.notMade ?? []),
      current: Object.fromEntries(this.#context.calls?.current ?? []),
    }
  }

  async rehearse(resource: string | undefined): Promise<void> {
    this.#resource = resource ?? null
    const lanes = [this.#rule, ...(this.#compareWith ? [this.#compareWith] : []), ...this.#variants]
    for (const { alarms } of lanes) alarms.begin()
    const bound = await this.#boundTo(lanes, resource)
    const { coverage, ...source } = await this.#source(resource, bound, lanes)
    const { from, until, seed } = this.#work
    const rehearsed = await rehearse(this.#rule, {
      plugs: [],
      ports: this.#ports,
      ...source,
      from,
      until,
      seed,
      ...(resource !== undefined && { resource }),
      compareWith: this.#compareWith,
      variants: this.#variants,
      onEvents: (events) => this.#note(events),
      types: [...this.#eventTypes],
      breathe: () => this.#breathe(),
      patience,
      ...(this.#context.generate && { generate: this.#context.generate }),
    })
    const newest = coverage.isEmpty && resource !== undefined ? await this.#history.newest(resource) : undefined
    this.#items.push({ ...coverage.item, ...(newest !== undefined && { newest }) })
    this.#messages += rehearsed.messages
    this.#late += rehearsed.late
    this.#nodes.add(rehearsed.nodes)
    for (const [i, count] of rehearsed.fired.entries()) this.#fired[i] = (this.#fired[i] ?? 0) + count
    if (rehearsed.comparison !== undefined) this.#compare(rehearsed.comparison)
  }

  /** Chooses where messages come from: the request, kept inputs as they arrived or by time, or series. */
  async #source(
    resource: string | undefined,
    bound: readonly string[],
    lanes: readonly LaneOfRule[],
  ): Promise<
    Pick<RehearseOptions, 'source' | 'player' | 'messages' | 'channelOf' | 'since'> & {
      readonly coverage: CoverageCount
    }
  > {
    const { from, until, messages, order, live, edit } = this.#work
    const covered = (fidelity: Fidelity, initialState?: 'cold' | 'warm') => {
      const coverage = new CoverageCount(resource, fidelity, initialState)
      return { coverage, note: (message: Message, time: number): void => coverage.note(message, time) }
    }
    if (messages !== undefined) {
      const { coverage, note } = covered('messages')
      return { coverage, messages: of(messages, new Set(bound), { from, until }, note) }
    }
    const range = { from, until, resources: bound, tasks: live ? [live.task.id] : [] }
    const { inputs } = this.#history
    const kept = edit ? undefined : await KeptRange.of(this.#history, range, this.#signal)
    if (inputs === undefined || (kept === undefined && edit === undefined)) {
      const { coverage, note } = covered('series')
      return { coverage, source: new SeriesMessages(this.#history, { resources: bound, from, until }, note) }
    }
    if (order === 'time' && kept !== undefined) {
      const { coverage, note } = covered('inputs')
      const channels = new WeakMap<Message, string>()
      const source = noted(kept.messages(channels, this.#signal), note)
      return { coverage, source, channelOf: (message) => channels.get(message) }
    }
    const reads = { inputs, kept, plugs: this.#context.registry }
    const lived = await livedSource(reads, this.#work, bound, this.#signal)
    if (edit !== undefined && lived.initialState === 'cold') {
      const text = `The state of task ${live?.task.id} before position ${edit.position} is not kept`
      throw new AppError('NOT_FOUND', `${text}; use a later input`)
    }
    const { coverage, note } = covered('inputs', lived.initialState)
    const player: RehearseOptions['player'] = async (played, hooks) => {
      const made: LivedLane[] = []
      for (const [i, { settings = {}, rule: document, why = true, batches }] of played.entries()) {
        const preparer = lanes[i]?.lived
        if (preparer === undefined) continue
        const own = { ...settings, ...(resource !== undefined && { resource }) }
        const task = { id: 'task', epoch: 1, createTime: 0, ...live?.task, source: document, settings: own }
        const resources = await resolveResources(task.id, preparer.prepare(document, own), this.#ports)
        const rule = edit === undefined ? task : undefined
        const { generate } = this.#context
        const common = { preparer, ports: this.#ports, rule, resources, why, batches, patience, generate }
        made.push(await LivedLane.begin({ ...common, ...lived.forLanes, id: task.id }))
      }
      const breathe = () => this.#breathe()
      const changed = edit && ((one: KeptInput, lane: number) => (lane === 0 ? edited(one, edit) : one))
      const options = { ...lived.forRun, lanes: made, resources: new Set(bound), note, breathe, changed }
      return new LivedRun(options, hooks).play()
    }
    return { coverage, player, ...(lived.initialState === 'warm' && { since: from }) }
  }

  #lane(
    { document, settings }: RehearsedRule,
    note?: (plug: Plug, context: PlugContext, alarm: RehearsedEffect['alarm']) => void,
  ): LaneOfRule {
    const alarms = new VirtualAlarms()
    const plugs = dryPlugs(this.#context.registry.list(), new Set(), (plug, context) =>
      note === undefined ? alarms.note(plug, context) : note(plug, context, alarms.note(plug, context)),
    )
    const registry = createRegistry(plugs)
    const lived = new Preparer(registry, this.#work.limits)
    return { rule: document, settings, preparer: new Preparer(registry), lived, alarms }
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

  /** Creates only events that the lists have room for. */
  #note(batch: EventBatch): void {
    const fired = batch.count('fired')
    let listed = 0
    for (const type of this.#eventTypes) listed += batch.count(type)
    if (fired + listed === 0) return
    const time = recordOf(batch)?.time
    if (time !== undefined && !this.#firings.takes(time) && !this.#events.takes(time)) {
      this.#firings.count += fired
      this.#events.count += listed
      return
    }
    for (const event of batch) {
      if (event.type === 'fired') {
        const { time: at, node, source, why } = event
        this.#firings.add({ time: at, resource: this.#resource, node, source, ...(why && { why }) })
      }
      if (this.#eventTypes.has(event.type)) this.#events.add({ ...event, task: this.#resource ?? event.task })
    }
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

function edited(kept: KeptInput, { position, input }: InputEdit): KeptInput | undefined {
  if (kept.position !== position) return kept
  return input && { position, input }
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
  /** time of the last item of a full list */
  #last = Number.POSITIVE_INFINITY

  constructor(most: number) {
    this.#most = most
  }

  get list(): readonly T[] {
    this.#trim()
    return this.#list
  }

  /** Returns false if the list is full of items that are not later. */
  takes(time: number): boolean {
    return time < this.#last
  }

  add(item: T): void {
    this.count++
    if (!this.takes(item.time)) return
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
    if (this.#list.length === this.#most) this.#last = this.#list.at(-1)?.time ?? Number.NEGATIVE_INFINITY
  }
}

export class NodeSum {
  readonly #byNode = new Map<string, NodeCounts>()

  get counts(): readonly NodeCounts[] {
    return [...this.#byNode.values()]
  }

  add(counts: readonly NodeCounts[]): void {
    for (const one of counts) addCounts(this.#byNode, one)
  }
}
