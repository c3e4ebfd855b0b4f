/**
 * Runs the tasks of the partitions that this member of the group owns. A slice reads records, applies them, and commits
 * outputs, checkpoints and offsets in one transaction.
 *
 * WORKER-1 outputs, relayed messages, ticks, checkpoints and offsets of a slice are committed together
 * WORKER-2 after a rejected transaction, the partitions of the slice are opened again from what is committed
 * WORKER-3 a state in memory continues only while the committed offset of its partition is the one that it reflects
 */
import type { Explanation, Plug, PlugServices } from '#core'
import { createRegistry } from '#core'
import { type Generate, Preparer } from '#core/spi'
import { AppError, type Logger, messageOf } from '#kernel'
import type { EngineSettings } from '#services/rules/deterministic'
import { HEADERS, MARK_KEY, type Mark, type Owner, type Topology, type WorkerOptions } from './contract.ts'
import type { Batch, NewRecord, Slice, TransactionalLog } from './log.ts'
import { outputServices } from './output-services.ts'
import { withOutsideCalls } from './outside-calls.ts'
import { PartitionEngine, UnknownSource } from './partition-fold.ts'
import { PublishedRules } from './rule-book.ts'

export interface WorkerDependencies {
  readonly log: TransactionalLog
  readonly options: WorkerOptions
  /** Creates the plugs over the services of the worker. */
  readonly plugs: (services: PlugServices) => readonly Plug[]
  readonly engine?: Omit<EngineSettings, 'plugs' | 'preparer' | 'ports' | 'generate'>
  readonly generate?: Generate | undefined
  /** epoch ms */
  readonly now: () => number
  readonly version: string
  readonly logger?: Logger | undefined
}

export interface PartitionStatus {
  readonly partition: number
  readonly tasks: number
  readonly position: number
  /** number of records that wait */
  readonly lag: number
  /** records before the committed offset are applied again */
  readonly isReplaying: boolean
  /** why the partition stands still */
  readonly blocked?: string
}

export interface TaskStatus {
  readonly id: string
  readonly partition: number
  readonly status: string
  readonly resources: readonly string[]
  /** why the task could not begin */
  readonly error?: string
}

/** What a worker shows of itself. */
export interface WorkerView {
  /** the partitions that it owns */
  partitions(): readonly PartitionStatus[]
  /** the tasks of these partitions */
  tasks(): readonly TaskStatus[]
  /** published tasks that cannot begin, with the reason */
  invalid(): readonly { readonly id: string; readonly error: string }[]
  /** owners by partition, as they announced themselves */
  owners(): ReadonlyMap<number, Owner>
  /** Returns the partition of a published task; undefined: unknown. */
  partitionOf(task: string): number | undefined
  runs(task: string): boolean
  /** Explains a node of a task that runs here. `NOT_FOUND`. */
  explain(task: string, node: string): Explanation
  readonly counts: Readonly<Record<string, number>>
}

/** Checkpoints of a partition in progress, which may take several slices. */
interface Round {
  readonly ids: string[]
  readonly mark: Mark
}

interface Owned {
  readonly fold: PartitionEngine
  /** where the partition begins, until that is stored */
  first: Mark | undefined
  isAnnounced: boolean
  round: Round | undefined
  roundAt: number
  roundRecords: number
  markOffset: number
  /** `PublishedRules.changes` at the last comparison with the tasks that run */
  compared: number
  readonly asked: Map<string, string>
  /** offset after the newest record; -1: not read yet */
  end: number
  /** end of the topic when the last tick was asked for */
  tick: { readonly end: number; readonly at: number } | undefined
  blocked: string | undefined
}

export const WORKER_DEFAULTS = {
  sliceMs: 50,
  sliceRecords: 5_000,
  checkpointRecords: 50_000,
  checkpointMs: 30_000,
} as const

const RULES_MS = 500
/** tasks that a slice begins, and states that it stores, of each partition */
const MAX_CHANGES = 1_000
const RETRY_MS = 1_000
const TICK_AGAIN_MS = 5_000
/** rejected slices in a row, after which the connection counts as failed */
const MAX_REJECTED = 100
const TOPOLOGY_FORMAT = 1

export class Worker {
  readonly book: PublishedRules
  readonly #parts: WorkerDependencies
  readonly #settings: Required<Omit<WorkerOptions, 'name' | 'url'>>
  readonly #engine: EngineSettings
  readonly #owned = new Map<number, Owned>()
  /** partitions that could not be opened, and when to try again */
  readonly #blocked = new Map<number, { readonly reason: string; readonly until: number }>()
  #generation = -1
  #current: PartitionEngine | undefined
  #rulesAt = Number.NEGATIVE_INFINITY
  #isOpen = false
  #rejectedInRow = 0
  readonly counts = { records: 0, outputs: 0, slices: 0, rejected: 0, dead: 0, late: 0 }

  constructor(parts: WorkerDependencies) {
    this.#parts = parts
    const { name: _name, url: _url, ...options } = parts.options
    this.#settings = { ...WORKER_DEFAULTS, ...options }
    const current = (): PartitionEngine => this.#current as PartitionEngine
    const plugs = withOutsideCalls(parts.plugs(outputServices(current)), (call) => this.#current?.called(call))
    const registry = createRegistry(plugs)
    const settings = { ...parts.engine, ...(parts.generate && { generate: parts.generate }), plugs: registry }
    const preparer = new Preparer(registry, parts.engine ?? {})
    this.#engine = { ...settings, preparer }
    this.book = new PublishedRules({ preparer, partitionOf: (key) => parts.log.partitionOf(key) })
  }

  /** Runs one slice; returns the number of applied records. Rejects when the connection fails. */
  async step(waitMs = 0): Promise<number> {
    if (!this.#isOpen) await this.#open()
    await this.#readRules()
    await this.#assign()
    const positions = new Map<number, number>()
    for (const [partition, { fold }] of this.#owned) positions.set(partition, fold.position)
    const batches = positions.size === 0 ? [] : await this.#parts.log.fetch(positions, waitMs)
    let applied = 0
    for (const batch of batches) applied += await this.#apply(batch)
    for (const one of this.#owned.values()) await this.#caughtUp(one)
    await this.#commit()
    this.counts.records += applied
    return applied
  }

  /** Runs slices until the signal aborts. Rejects when the connection fails. */
  async run(signal: AbortSignal, pause: (ms: number) => Promise<void>): Promise<void> {
    const { sliceMs } = this.#settings
    while (!signal.aborted) {
      const began = this.#parts.now()
      await this.step(sliceMs)
      const rest = sliceMs - (this.#parts.now() - began)
      if (rest > 0) await pause(rest)
    }
  }

  partitions(): readonly PartitionStatus[] {
    const owned = [...this.#owned.values()].map(({ fold, end, blocked }) => ({
      partition: fold.partition,
      tasks: fold.tasks.size,
      position: fold.position,
      lag: Math.max(0, end - fold.position),
      isReplaying: fold.isReplaying || end === -1,
      ...(blocked !== undefined && { blocked }),
    }))
    const closed = [...this.#blocked].map(([partition, { reason }]) => {
      return { partition, tasks: 0, position: 0, lag: 0, isReplaying: false, blocked: reason }
    })
    return [...owned, ...closed].sort((a, b) => a.partition - b.partition)
  }

  /** Returns the tasks of the owned partitions. */
  tasks(): readonly { readonly id: string; readonly partition: number; readonly fold: PartitionEngine }[] {
    return [...this.#owned.values()].flatMap(({ fold }) =>
      [...fold.tasks.keys()].map((id) => ({ id, partition: fold.partition, fold })),
    )
  }

  fold(task: string): PartitionEngine | undefined {
    for (const { fold } of this.#owned.values()) if (fold.tasks.has(task)) return fold
    return undefined
  }

  view(): WorkerView {
    const { book, counts } = this
    return {
      counts,
      partitions: () => this.partitions(),
      tasks: () => this.tasks().map(({ id, fold }) => statusOf(id, fold)),
      invalid: () => [...book.tasks.values()].flatMap(({ id, error }) => (error === undefined ? [] : [{ id, error }])),
      owners: () => book.owners,
      partitionOf: (task) => book.tasks.get(task)?.partition,
      runs: (task) => this.fold(task) !== undefined,
      explain: (task, node) => this.#explain(task, node),
    }
  }

  #explain(task: string, node: string): Explanation {
    const fold = this.fold(task)
    if (fold === undefined) throw new AppError('NOT_FOUND', `task ${task} does not run in this worker`)
    return fold.engine.explain(task, node)
  }

  async close(): Promise<void> {
    for (const partition of this.#owned.keys()) await this.#drop(partition)
  }

  async #open(): Promise<void> {
    const { log } = this.#parts
    await this.#readRules()
    const { partitions, topicId } = log
    const { topology } = this.book
    if (topology === undefined) {
      const value: Topology = { format: TOPOLOGY_FORMAT, partitions, ...(topicId !== undefined && { topicId }) }
      await log.append([{ topic: 'rules', key: 'topology', value: JSON.stringify(value) }])
    } else requireTopology(topology, { format: TOPOLOGY_FORMAT, partitions, ...(topicId !== undefined && { topicId }) })
    this.#isOpen = true
  }

  async #readRules(): Promise<void> {
    const now = this.#parts.now()
    if (now - this.#rulesAt < RULES_MS) return
    this.#rulesAt = now
    await this.readRules()
  }

  async readRules(): Promise<void> {
    await this.book.apply(await this.#parts.log.rules(this.book.position))
  }

  /** Follows the assignment: closes what others own, keeps what is up to date, opens the rest. */
  async #assign(): Promise<void> {
    const { log, now } = this.#parts
    const { generation, partitions } = log.assignment
    if (generation !== this.#generation) {
      this.#blocked.clear()
      for (const [partition, { fold }] of this.#owned) {
        const isKept = partitions.includes(partition) && (await log.committed(partition)) === fold.committed
        if (!isKept) await this.#drop(partition)
      }
      this.#generation = generation
      log.follow?.()
    }
    for (const partition of partitions) {
      if (this.#owned.has(partition) || (this.#blocked.get(partition)?.until ?? 0) > now()) continue
      try {
        this.#owned.set(partition, await this.#openPartition(partition))
        this.#blocked.delete(partition)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        this.#block(partition, error.message)
      }
    }
  }

  #block(partition: number, reason: string): void {
    const { logger, now } = this.#parts
    if (this.#blocked.get(partition)?.reason !== reason) logger?.error(`partition ${partition} stands still: ${reason}`)
    this.#blocked.set(partition, { reason, until: now() + RETRY_MS })
  }

  async #openPartition(partition: number): Promise<Owned> {
    const { log, now } = this.#parts
    // first the offset, which no open transaction can change any more, then the states that it covers
    const committed = await log.committed(partition)
    const states = await log.states(partition)
    const earliest = await log.earliest(partition)
    const fold = PartitionEngine.open(
      {
        partition,
        engine: this.#engine,
        source: (hash) => this.book.source(hash),
        observers: (resource) => this.book.observers(resource),
        entered: (one) => void (this.#current = one),
      },
      states,
      { committed, fallback: earliest },
    )
    if (fold.position < earliest)
      throw new AppError(
        'SAVED_STATE',
        `the states of partition ${partition} need records from offset ${fold.position}, and the topic begins at ${earliest}: raise its \`retention.ms\` above the time between checkpoints, then start with another prefix`,
      )
    return {
      fold,
      first: states.has(MARK_KEY) ? undefined : fold.mark(),
      isAnnounced: false,
      round: undefined,
      roundAt: now(),
      roundRecords: 0,
      markOffset: fold.position,
      compared: -1,
      asked: new Map(),
      end: -1,
      tick: undefined,
      blocked: undefined,
    }
  }

  async #drop(partition: number): Promise<void> {
    const owned = this.#owned.get(partition)
    this.#owned.delete(partition)
    await owned?.fold.close()
  }

  async #apply({ partition, records, next, end }: Batch): Promise<number> {
    const owned = this.#owned.get(partition)
    if (owned === undefined) return 0
    const { fold } = owned
    owned.end = end
    let applied = 0
    for (const record of records) {
      if (record.offset < fold.position) continue
      try {
        const waits = fold.apply(record)
        if (waits !== undefined) await waits
      } catch (error) {
        if (!(error instanceof UnknownSource)) throw error
        this.#wait(owned, error)
        return applied
      }
      owned.blocked = undefined
      applied++
    }
    fold.position = Math.max(fold.position, next)
    return applied
  }

  async #caughtUp(owned: Owned): Promise<void> {
    const { fold } = owned
    if (owned.blocked !== undefined) await this.readRules()
    if (fold.isReplaying || !fold.hasArrivals) return
    try {
      await fold.caughtUp()
      owned.blocked = undefined
    } catch (error) {
      if (!(error instanceof UnknownSource)) throw error
      this.#wait(owned, error)
    }
  }

  #wait(owned: Owned, { message }: UnknownSource): void {
    if (owned.blocked === undefined) this.#parts.logger?.warn(`partition ${owned.fold.partition} waits: ${message}`)
    owned.blocked = message
  }

  async #commit(): Promise<void> {
    const records: NewRecord[] = []
    const offsets = new Map<number, number>()
    for (const [partition, owned] of this.#owned) {
      const { fold } = owned
      if (fold.isReplaying || owned.blocked !== undefined) continue
      for (const output of fold.outputs) records.push(output)
      fold.outputs = []
      this.#changes(owned, records)
      this.#ticks(owned, records)
      this.#checkpoints(owned, records)
      if (fold.position > fold.committed || owned.first !== undefined) offsets.set(partition, fold.position)
    }
    if (records.length + offsets.size === 0) return
    await this.#transact({ generation: this.#generation, offsets, records })
  }

  async #transact(slice: Slice): Promise<void> {
    const { log, logger } = this.#parts
    try {
      await log.transact(slice)
    } catch (error) {
      this.counts.rejected++
      logger?.warn(`a slice was rejected, and is read again: ${messageOf(error)}`)
      for (const partition of this.#owned.keys()) await this.#drop(partition)
      // the group may have forgotten this member without a sign: connecting again joins it
      if (++this.#rejectedInRow >= MAX_REJECTED) throw error
      return
    }
    this.#rejectedInRow = 0
    this.counts.slices++
    this.counts.outputs += slice.records.length
    for (const { topic } of slice.records) if (topic === 'dead' || topic === 'late') this.counts[topic]++
    for (const [partition, offset] of slice.offsets) {
      const owned = this.#owned.get(partition)
      if (owned === undefined) continue
      owned.fold.committed = offset
      owned.first = undefined
    }
  }

  /** Asks for the changes that make the running tasks equal to the published ones. They act when they are read. */
  #changes(owned: Owned, records: NewRecord[]): void {
    const { fold, asked } = owned
    if (owned.compared === this.book.changes) return
    let count = 0
    const ask = (id: string, version: string, input: unknown): void => {
      if (asked.get(id) === version || count++ >= MAX_CHANGES) return
      asked.set(id, version)
      const { partition } = fold
      records.push({
        topic: 'in',
        partition,
        key: id,
        value: JSON.stringify(input),
        headers: { [HEADERS.kind]: 'input' },
      })
    }
    for (const { id, version, resources, partition, error } of this.book.tasks.values()) {
      if (partition !== fold.partition || error !== undefined) continue
      const known = fold.tasks.get(id)?.version
      if (known?.version === version.version && known.epoch === version.epoch) continue
      const k = known?.epoch === version.epoch ? 'change' : 'begin'
      ask(id, `${version.epoch}/${version.version}`, { k, t: id, r: resources, task: version })
    }
    for (const id of fold.tasks.keys()) {
      const task = this.book.tasks.get(id)
      if (task === undefined || (task.partition !== fold.partition && task.partition !== -1))
        ask(id, 'forget', { k: 'forget', t: id })
    }
    if (count <= MAX_CHANGES) owned.compared = this.book.changes
  }

  /** Asks for a tick when a timer is due and no record follows that would take it along. */
  #ticks(owned: Owned, records: NewRecord[]): void {
    const { fold, end, tick } = owned
    const now = this.#parts.now()
    if (fold.nextAt === undefined || fold.nextAt > now || end === -1 || fold.position < end) return
    if (tick !== undefined && fold.position <= tick.end && now - tick.at < TICK_AGAIN_MS) return
    owned.tick = { end, at: now }
    const { partition } = fold
    records.push({ topic: 'in', partition, key: '', value: null, headers: { [HEADERS.kind]: 'tick' } })
  }

  #checkpoints(owned: Owned, records: NewRecord[]): void {
    const { fold } = owned
    const { partition } = fold
    const put = (mark: Mark): void => {
      records.push({ topic: 'state', partition, key: MARK_KEY, value: JSON.stringify(mark) })
      owned.markOffset = mark.offset
    }
    if (owned.first !== undefined) put(owned.first)
    if (!owned.isAnnounced) this.#announce(partition, records)
    owned.isAnnounced = true
    for (const id of fold.takeGone()) records.push({ topic: 'state', partition, key: id, value: null })
    const now = this.#parts.now()
    const isDue =
      fold.records - owned.roundRecords >= this.#settings.checkpointRecords ||
      now - owned.roundAt >= this.#settings.checkpointMs
    if (owned.round === undefined && isDue && (fold.isDirty || fold.position > owned.markOffset)) {
      owned.round = { ids: fold.takeDirty(), mark: fold.mark() }
      owned.roundAt = now
      owned.roundRecords = fold.records
    }
    const { round } = owned
    if (round === undefined) return
    for (const id of round.ids.splice(-MAX_CHANGES)) records.push(fold.checkpoint(id))
    if (round.ids.length > 0) return
    put(round.mark)
    owned.round = undefined
  }

  #announce(partition: number, records: NewRecord[]): void {
    const { options, version } = this.#parts
    const owner: Owner = { name: options.name, version, ...(options.url !== undefined && { url: options.url }) }
    records.push({ topic: 'rules', key: `owner/${partition}`, value: JSON.stringify(owner) })
  }
}

function statusOf(id: string, { tasks, engine, partition }: PartitionEngine): TaskStatus {
  const { error, resources = [] } = tasks.get(id) ?? {}
  const status = error === undefined ? (engine.tasks.get(id)?.status ?? 'stopped') : 'failed'
  return { id, partition, status, resources, ...(error !== undefined && { error }) }
}

function requireTopology(known: Topology, found: Topology): void {
  if (known.format > found.format)
    throw new AppError(
      'SAVED_STATE',
      `the topics have format ${known.format}, and this version reads ${found.format}; update this worker`,
    )
  if (known.partitions !== found.partitions)
    throw new AppError(
      'SAVED_STATE',
      `the input topic has ${found.partitions} partitions, and the states of its tasks were stored with ${known.partitions}, so resources would miss their states; create it again with ${known.partitions} partitions, or start with another \`--prefix\``,
    )
  if (known.topicId !== undefined && found.topicId !== undefined && known.topicId !== found.topicId)
    throw new AppError(
      'SAVED_STATE',
      'the input topic was created again, so stored states reflect records that no longer exist; delete the topics of states and rules and the group too, or start with another `--prefix`',
    )
}
