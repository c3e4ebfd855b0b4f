/** Keeps the retention rules of a tenant, and deletes data that is older than they allow. */
import { type Caller, durationMs, type Logger, messageOf, requireVersion } from '#kernel'
import type { CollectionSpec, Series, SeriesName, Store } from '#storage'
import type {
  DataKind,
  InternalRetention,
  RetentionApi,
  RetentionRule,
  RetentionRules,
  RetentionStatus,
  StoredRules,
} from './contract.ts'

export interface RetentionOptions {
  readonly store: Store
  /** Returns epoch ms */
  readonly now: () => number
  /** Returns ms of a clock that never jumps */
  readonly monotonic: () => number
  /** Returns the type of a resource; undefined: unknown, or without a type */
  readonly typeOf: (resource: string) => Promise<string | undefined>
  /** Calls `work` after `ms`, unless the returned function is called before. */
  readonly later: (ms: number, work: () => void) => () => void
  readonly logger?: Pick<Logger, 'error'>
}

interface Progress {
  /** epoch ms from which ages are measured */
  readonly reached: number
  readonly started: number
  readonly ended?: number
  readonly samples: number
  readonly messages: number
  readonly error?: string
}

const RULES: CollectionSpec<RetentionRules> = { name: 'retention', version: 1, audited: true, fields: {} }
const PROGRESS: CollectionSpec<Progress> = { name: 'retention_progress', version: 1, fields: {} }
const ONLY = 'rules'

/** ms between two rounds, and before the first one */
const ROUND_MS = 3_600_000
const FIRST_MS = 60_000
/** ms between two deletions, so that appends get their turn */
const PAUSE_MS = 10
/** samples or messages of one deletion */
const PORTION = 5_000
const PAGE = 500
/** most ms by which the time from which ages are measured advances in `ROUND_MS`, however many rounds there are */
const ADVANCE_MS = 86_400_000

type Streamed = 'samples' | 'messages'

export class Retention implements InternalRetention {
  readonly #options: RetentionOptions
  #rules: readonly RetentionRule[] = []
  #round: Promise<void> | undefined
  #isAgain = false
  /** ms by which the last round measured ages from an earlier time than the clock's */
  #behind = 0
  /** epoch ms from which the last round measured ages */
  #reached = 0
  /** monotonic ms of the last round, or of the start */
  #advancedAt = 0
  #isStopped = true
  #cancel: (() => void) | undefined

  constructor(options: RetentionOptions) {
    this.#options = options
  }

  as(_caller: Caller): RetentionApi {
    return { rules: () => this.#stored(), setRules: (...given) => this.#set(...given), status: () => this.#status() }
  }

  ageOf(kind: DataKind): number | undefined {
    const rule = this.#rules.find((one) => one.data === kind && one.type === undefined && one.metric === undefined)
    return rule && durationMs(rule.keep) + Math.max(0, this.#options.now() - this.#reached - ADVANCE_MS)
  }

  async start(): Promise<void> {
    this.#isStopped = false
    this.#rules = (await this.#stored()).rules
    this.#reached = (await this.#progress())?.reached ?? this.#options.now()
    this.#advancedAt = this.#options.monotonic()
    this.#plan(FIRST_MS)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancel?.()
    await this.#round
  }

  /** Resolves when no round is in progress. */
  async idle(): Promise<void> {
    await this.#round
  }

  warnings(): readonly string[] {
    if (this.#behind < ADVANCE_MS || this.#rules.length === 0) return []
    const days = Math.round(this.#behind / ADVANCE_MS)
    return [
      `the clock is ${days} days ahead of the time that retention has reached, which advances by a day in an hour; check the clock`,
    ]
  }

  async #stored(): Promise<StoredRules> {
    const found = await this.#options.store.collection(RULES).get(ONLY)
    return found === undefined ? { rules: [] } : { ...found.value, revision: found.version }
  }

  async #set(
    { rules }: RetentionRules,
    { ifRevision }: Parameters<RetentionApi['setRules']>[1] = {},
  ): Promise<StoredRules> {
    const collection = this.#options.store.collection(RULES)
    const former = await collection.get(ONLY)
    requireVersion('The retention rules', former?.version, ifRevision)
    const revision = await collection.put(ONLY, { rules }, former?.version ?? 'absent')
    this.#rules = rules
    this.#begin()
    return { rules, revision }
  }

  async #status(): Promise<RetentionStatus> {
    const { reached, started, ended, samples = 0, messages = 0, error } = (await this.#progress()) ?? {}
    return {
      ...(reached !== undefined && { reached: isoOf(reached) }),
      ...(started !== undefined && { started: isoOf(started) }),
      ...(ended !== undefined && { ended: isoOf(ended) }),
      isRunning: this.#round !== undefined,
      deleted: { samples, messages },
      ...(error !== undefined && { error }),
    }
  }

  async #progress(): Promise<Progress | undefined> {
    return (await this.#options.store.collection(PROGRESS).get(ONLY))?.value
  }

  #plan(ms: number): void {
    this.#cancel?.()
    this.#cancel = this.#options.later(ms, () => this.#begin())
  }

  /** Begins a round, or another one after the present one. */
  #begin(): void {
    if (this.#isStopped) return
    if (this.#round !== undefined) return void (this.#isAgain = true)
    this.#isAgain = false
    this.#round = this.#all().finally(() => {
      this.#round = undefined
      if (this.#isAgain) this.#begin()
      else if (!this.#isStopped) this.#plan(ROUND_MS)
    })
  }

  async #all(): Promise<void> {
    const { store, now, monotonic, logger } = this.#options
    const progress = store.collection(PROGRESS)
    try {
      const before = await this.#progress()
      const time = now()
      const elapsed = monotonic() - this.#advancedAt
      const furthest = (before?.reached ?? time) + Math.round((elapsed / ROUND_MS) * ADVANCE_MS)
      const reached = Math.min(time, furthest)
      this.#behind = time - reached
      this.#reached = reached
      this.#advancedAt += elapsed
      const { samples = 0, messages = 0, ended } = before ?? {}
      const counted = { samples, messages }
      const begun = { reached, started: time, ...(ended !== undefined && { ended }) }
      await progress.put(ONLY, { ...begun, ...counted })
      try {
        for (const kind of ['samples', 'messages'] as const) await this.#kind(kind, reached, counted)
        await progress.put(ONLY, { ...begun, ...counted, ...(!this.#isStopped && { ended: now() }) })
      } catch (error) {
        await progress.put(ONLY, { ...begun, ...counted, error: messageOf(error) })
        throw error
      }
    } catch (error) {
      if (!this.#isStopped) logger?.error(`old data was not deleted: ${messageOf(error)}`)
    }
  }

  async #kind(kind: Streamed, reached: number, counted: Record<Streamed, number>): Promise<void> {
    const rules = this.#rules.filter(({ data }) => data === kind)
    if (rules.length === 0) return
    const { series } = this.#options.store
    for (let after: SeriesName | undefined; !this.#isStopped;) {
      const page: readonly SeriesName[] = await series.names({ of: kind, limit: PAGE, ...(after && { after }) })
      for (const one of page) {
        const keep = await this.#keepOf(rules, one)
        if (keep === undefined) continue
        await this.#old(kind, one, reached - keep - 1, counted)
      }
      after = page.at(-1)
      if (page.length < PAGE) return
      await this.#pause()
    }
  }

  async #keepOf(rules: readonly RetentionRule[], { resource, name }: SeriesName): Promise<number | undefined> {
    const fitting = rules.filter(({ metric }) => metric === undefined || metric === name)
    const type = fitting.some((rule) => rule.type !== undefined) ? await this.#options.typeOf(resource) : undefined
    const [rule] = fitting
      .filter((one) => one.type === undefined || one.type === type)
      .toSorted((a, b) => specificity(b) - specificity(a))
    return rule && durationMs(rule.keep)
  }

  /** Deletes the data of one series up to a time, oldest first. */
  async #old(kind: Streamed, one: SeriesName, until: number, counted: Record<Streamed, number>): Promise<void> {
    const { series } = this.#options.store
    while (!this.#isStopped) {
      const times = await timesOf(series, kind, one, until)
      const last = times.at(-1)
      if (last === undefined) return
      const { resource, name } = one
      const of = kind === 'samples' ? { metrics: [name] } : { stream: name }
      await series.remove({ resource, ...of, only: kind, until: last })
      counted[kind] += times.length
      await this.#pause()
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      this.#options.later(PAUSE_MS, resolve)
    })
  }
}

async function timesOf(
  series: Series,
  kind: Streamed,
  { resource, name }: SeriesName,
  until: number,
): Promise<ArrayLike<number> & { at(index: number): number | undefined }> {
  if (kind === 'samples') {
    return (await series.columns({ resources: [resource], metric: name, until, limit: PORTION })).times
  }
  const found = await series.messages({ resource, stream: name, until, limit: PORTION, descending: false })
  return found.map(({ time }) => time)
}

function specificity({ type, metric }: RetentionRule): number {
  return (metric === undefined ? 0 : 2) + (type === undefined ? 0 : 1)
}

function isoOf(time: number): string {
  return new Date(time).toISOString()
}
