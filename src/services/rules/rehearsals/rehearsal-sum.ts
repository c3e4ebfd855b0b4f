/** Puts the result of a rehearsal together from the parts for its resources. */
import type { EngineEvent } from '#core'
import type { Issue } from '#kernel'
import { FigureSum } from '#services/alarms/contract'
import {
  type CoverageItem,
  type Fidelity,
  MAX_LISTED,
  type RehearsalAnswer,
  type RehearsedDifference,
  type RehearsedEffect,
  type RehearsedFiring,
  type SweepOutcome,
} from './rehearsal-schema.ts'
import { type DifferenceCounts, Earliest, NodeSum, type RehearsalPart, type TypedDifference } from './rehearsal-run.ts'
import type { RehearsalWork } from './rehearsal-work.ts'

export interface SweepCombination {
  readonly values: Readonly<Record<string, unknown>>
  /** index among the variants; undefined: it cannot run */
  readonly variant: number | undefined
  readonly issue: Issue | undefined
}

export interface AnswerOptions {
  readonly id: string
  readonly sweep: readonly SweepCombination[] | undefined
  readonly showsEvents: boolean
}

const DAY_MS = 86_400_000

export class RehearsalSum {
  readonly #work: RehearsalWork
  readonly #without: CoverageItem[] = []
  readonly #with: CoverageItem[] = []
  readonly #reads = new Set<string>()
  readonly #metrics = new Set<string>()
  readonly #firings = new Earliest<RehearsedFiring>(MAX_LISTED)
  readonly #effects = new Earliest<RehearsedEffect>(MAX_LISTED)
  readonly #events: Earliest<EngineEvent>
  readonly #differences = new Earliest<TypedDifference>(MAX_LISTED)
  readonly #nodes = new NodeSum()
  readonly #variants: { firings: number; alarms: number }[]
  readonly #notMade = new Map<string, number>()
  readonly #current = new Map<string, number>()
  readonly #alarms = { raised: 0, cleared: 0 }
  /** undefined: too many alarms were raised */
  #figures: FigureSum | undefined
  #counts: DifferenceCounts | undefined
  #fidelity: Fidelity
  #matched = 0
  #withData = 0
  #messages = 0
  #late = 0

  constructor(work: RehearsalWork) {
    this.#work = work
    this.#fidelity = work.messages === undefined ? 'inputs' : 'messages'
    this.#events = new Earliest(work.mostEvents)
    const { from, until } = work
    this.#figures = until > from ? new FigureSum({ from, until, operators: 1 }) : undefined
    this.#variants = work.variants.map(() => ({ firings: 0, alarms: 0 }))
  }

  get isEmpty(): boolean {
    return this.#messages === 0
  }

  get events(): readonly EngineEvent[] {
    return this.#events.list
  }

  add(part: RehearsalPart): void {
    for (const item of part.items) this.#cover(item)
    for (const name of part.reads) this.#reads.add(name)
    this.#messages += part.messages
    this.#late += part.late
    this.#firings.addAll(part.firings, part.counts.firings)
    this.#effects.addAll(part.effects, part.counts.effects)
    this.#events.addAll(part.events, part.counts.events)
    this.#nodes.add(part.nodes)
    this.#alarms.raised += part.alarms.raised
    this.#alarms.cleared += part.alarms.cleared
    for (const one of part.alarms.occurrences) this.#figures?.add(one)
    if (part.alarms.occurrences.length < part.alarms.raised) this.#figures = undefined
    for (const [i, { firings, alarms }] of part.variants.entries()) {
      const sum = this.#variants[i]
      if (sum === undefined) continue
      sum.firings += firings
      sum.alarms += alarms
    }
    for (const [sum, calls] of [
      [this.#notMade, part.notMade],
      [this.#current, part.current],
    ] as const) {
      for (const [call, times] of Object.entries(calls)) sum.set(call, (sum.get(call) ?? 0) + times)
    }
    const { differenceCounts: more } = part
    if (more === undefined) return
    this.#differences.addAll(part.differences, more.added + more.removed + more.moved)
    const { equal, added, removed, moved } = this.#counts ?? { equal: 0, added: 0, removed: 0, moved: 0 }
    this.#counts = {
      equal: equal + more.equal,
      added: added + more.added,
      removed: removed + more.removed,
      moved: moved + more.moved,
    }
  }

  answer({ id, sweep, showsEvents }: AnswerOptions): RehearsalAnswer {
    const { from, until, calls } = this.#work
    const lists = [this.#firings, this.#effects, this.#events, this.#differences]
    const events = this.#events.list.slice(0, MAX_LISTED)
    const isPaged = this.#events.list.length > MAX_LISTED
    const resources = this.#matched === 1 ? 'resource' : 'resources'
    return {
      coverage: {
        summary: `${this.#withData} of ${this.#matched} ${resources} had data`,
        resources: { matched: this.#matched, withData: this.#withData },
        items: [...this.#without, ...this.#with].slice(0, MAX_LISTED),
        missingMetrics: [...this.#reads].filter((name) => !this.#metrics.has(name)).toSorted(),
        messages: this.#messages,
        late: this.#late,
        from,
        until,
      },
      fidelity: this.#fidelity,
      firings: this.#firings.list,
      counts: { firings: this.#firings.count, effects: this.#effects.count, events: this.#events.count },
      alarms: { ...this.#alarms, ...(this.#figures && { figures: this.#figures.figures() }) },
      effects: this.#effects.list,
      nodes: this.#nodes.counts,
      calls: {
        mode: calls,
        notMade: Object.fromEntries(this.#notMade),
        current: Object.fromEntries(this.#current),
      },
      ...(showsEvents && { events }),
      ...(this.#counts && { comparison: this.#comparison(this.#counts) }),
      ...(sweep && { sweep: sweep.map((one) => this.#row(one)) }),
      truncated: this.#matched > MAX_LISTED || lists.some(({ list, count }) => list.length < count) || isPaged,
      ...(isPaged && { next: `/api/rehearsals/${encodeURIComponent(id)}/events?after=${MAX_LISTED}` }),
    }
  }

  #cover(item: CoverageItem): void {
    this.#matched++
    if (item.messages > 0) this.#withData++
    if (item.fidelity === 'series') this.#fidelity = 'series'
    for (const name of Object.keys(item.metrics)) this.#metrics.add(name)
    const list = item.messages > 0 ? this.#with : this.#without
    if (list.length < MAX_LISTED) list.push(item)
  }

  #comparison(counts: DifferenceCounts): NonNullable<RehearsalAnswer['comparison']> {
    const of = (wanted: TypedDifference['kind']): readonly RehearsedDifference[] =>
      this.#differences.list.filter(({ kind }) => kind === wanted).map(({ kind: _kind, ...difference }) => difference)
    return { added: of('added'), removed: of('removed'), moved: of('moved'), counts }
  }

  #row({ values, variant, issue }: SweepCombination): SweepOutcome {
    const { from, until } = this.#work
    const { firings = 0, alarms = 0 } = (variant === undefined ? undefined : this.#variants[variant]) ?? {}
    const days = (until - from) / DAY_MS
    const perDay = variant === undefined || days <= 0 ? null : firings / days
    return { values, firings, alarms, perDay, ...(issue && { issue }) }
  }
}
