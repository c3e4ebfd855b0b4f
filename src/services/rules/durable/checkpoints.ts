/**
 * Stores checkpoints: the states of changed tasks, with the log position that they reflect.
 *
 * Rounds are rare, because each rewrites whole disk pages. A round follows soon after a change that a replay cannot
 * repeat, or could repeat only with a second effect:
 * - a timer acted: the log does not show how far time had advanced
 * - an actuator was called: a replay would call a synchronous actuator again
 * - a delivery ended: it stays listed until its task is forgotten, however the run continues
 */
import { Subscription, type SchedulerLike } from 'rxjs'
import { isAway, isRefusal, type Logger, messageOf, RateLimitedLogger, Yielder } from '#kernel'
import { type LogPruner, type Mark, MARK_ID, MARKS } from '#log'
import { machineTimers } from '#platform'
import type { Store, Write } from '#storage'
import type { Delivery } from '../inspection/inspection-schema.ts'
import { DELIVERIES, deliveryId, STATES, type DeliveryRecord, type StateRecord } from './records.ts'
import { isShadow } from './shadow-id.ts'
import { keptPositions, stateInParts, wholeState, withoutKept, withoutParts } from './stored-states.ts'
import type { DeterministicEngine } from './deterministic-engine.ts'
import type { Shadows, StoredWith } from './shadows.ts'

export interface CheckpointDependencies {
  readonly store: Store
  readonly deterministic: DeterministicEngine
  readonly scheduler: SchedulerLike
  readonly settings: CheckpointSettings
  readonly position: () => number
  readonly pruner: LogPruner
  /** returns the position from which a restart has to read the log; undefined: no restart needs the log */
  readonly floor: () => number | undefined
  readonly later: ReadonlySet<string>
  readonly shadows: Shadows
  readonly logger: Logger | undefined
  /** called after each round that was committed, or that found the store unavailable */
  readonly onRound: (isAway: boolean) => void
}

export interface CheckpointSettings {
  /** ms after an input; default 30,000 */
  readonly inputMs: number
  /** ms after a change that a replay cannot repeat; default 250 */
  readonly soonMs: number
  /** maximum length of a state as JSON; a longer state is not stored, and the log is kept for it. Default 64 million */
  readonly maxLength: number
}

export const CHECKPOINT_SETTINGS: CheckpointSettings = { inputMs: 30_000, soonMs: 250, maxLength: 64_000_000 }

const MAX_PER_SLICE = 500
/** Number of inputs after which a round begins early. */
const MAX_INPUTS = 20_000
/** Number of entries, or ms, after which the log is pruned. Pruning takes a commit. */
const WORTH_PRUNING = 5_000
const PRUNE_MS = 60_000

export class Checkpoints {
  readonly #dependencies: CheckpointDependencies
  readonly #tasks = new Set<string>()
  readonly #resources = new Set<string>()
  readonly #gone = new Set<string>()
  #mark: Mark
  /** something changed since the last round began that a replay would not repeat */
  #isUrgent = false
  #calls = 0
  #timer: Subscription | undefined
  #isSoon = false
  #inputs = 0
  #reflected = 0
  #pruned = 0
  #pruning: Promise<void> | undefined
  #prunedAt = Number.NEGATIVE_INFINITY
  #round: Promise<void> | undefined
  #isClosed = false
  /** by task: number of parts, if its state is stored in parts */
  readonly #cut = new Map<string, number>()
  /** by task: oldest log position of messages that wait for the task */
  readonly #kept = new Map<string, number>()
  /** by task whose state could not be stored: the log position that its last stored state reflects */
  readonly #held = new Map<string, number>()
  /** by task: why its state could not be stored */
  readonly unstored = new Map<string, string>()
  /** rate limited, since up to four rounds a second fail during an outage */
  readonly #log: RateLimitedLogger
  /** rate limited, since an actuator may fail with every message */
  readonly #failed: RateLimitedLogger
  readonly #logTimers = new Subscription()

  constructor(dependencies: CheckpointDependencies, mark: Mark | undefined) {
    this.#dependencies = dependencies
    const { logger, scheduler } = dependencies
    const after = (ms: number, work: () => void): (() => void) => {
      const timer = scheduler.schedule(work, ms)
      this.#logTimers.add(timer)
      return () => timer.unsubscribe()
    }
    this.#log = new RateLimitedLogger({ write: (message, details) => logger?.error(message, details), after })
    this.#failed = new RateLimitedLogger({ write: (message, details) => logger?.warn(message, details), after })
    this.#mark = mark ?? { position: 0, time: 0, later: [] }
    dependencies.pruner.tasks = (atRest) => this.#noLongerNeeded(atRest)
  }

  /** Notes that a task changed. `byTimer`: no input in the log carries the time of the change. */
  touched(id: string, byTimer: boolean): void {
    this.#tasks.add(id)
    if (byTimer || this.#dependencies.deterministic.ledger.fresh.has(id)) this.#isUrgent = true
    this.#arm()
  }

  /** Notes that the tasks listening to the resource may have changed. */
  messageOf(resource: string): void {
    this.#resources.add(resource)
    this.#arm()
  }

  gone(id: string): void {
    this.#tasks.delete(id)
    this.#gone.add(id)
    this.#arm()
  }

  known(id: string, record: StateRecord): void {
    if (record.parts !== undefined) this.#cut.set(id, record.parts)
    for (const position of keptPositions(record)) {
      this.#kept.set(id, Math.min(position, this.#kept.get(id) ?? position))
    }
  }

  applied(): void {
    this.#inputs += 1
  }

  settled(): void {
    if (!this.#isUrgent && this.#dependencies.deterministic.engine.counts.calls !== this.#calls) {
      this.#isUrgent = true
      this.#arm()
    }
    if (this.#inputs > MAX_INPUTS && this.#isBehind) void this.flush()
  }

  /** Logs that a call failed and is going to be repeated. */
  retried(task: string, { node, plug, attempts, error }: Delivery): void {
    if (isShadow(task)) return
    this.#failed.log('a delivery is retried', `${task}/${node}`, { task, node, plug, attempts, reason: error })
  }

  /** Stores all changes so far. Never rejects: a failed round is retried, and the log has its inputs. */
  async flush(): Promise<void> {
    this.#disarm()
    this.#round ??= this.#finished(this.#store())
    await this.#round
  }

  async alive(): Promise<void> {
    if (this.#isClosed) return
    this.#round ??= this.#finished(this.#commit(this.#slice(), this.#mark))
    await this.#round
  }

  #finished(round: Promise<void>): Promise<void> {
    const { onRound } = this.#dependencies
    return round
      .then(
        () => onRound(false),
        (error: unknown) => {
          this.#log.log(`states of tasks were not stored: ${messageOf(error)}`, '', {})
          if (isAway(error)) onRound(true)
        },
      )
      .finally(() => {
        this.#round = undefined
        if (this.#isBehind) this.#arm()
        void this.#prune(false)
      })
  }

  async close(): Promise<void> {
    await this.#round
    await this.flush()
    await this.#prune(true)
    await this.#pruning
    this.drop()
  }

  drop(): void {
    this.#isClosed = true
    this.#disarm()
    this.#logTimers.unsubscribe()
  }

  get #isBehind(): boolean {
    return this.#tasks.size + this.#resources.size + this.#gone.size > 0
  }

  #arm(): void {
    if (this.#round !== undefined || this.#isClosed) return
    if (this.#timer !== undefined && (this.#isSoon || !this.#isUrgent)) return
    this.#disarm()
    this.#isSoon = this.#isUrgent
    const { scheduler, settings } = this.#dependencies
    this.#timer = scheduler.schedule(() => void this.flush(), this.#isSoon ? settings.soonMs : settings.inputMs)
  }

  #disarm(): void {
    this.#timer?.unsubscribe()
    this.#timer = undefined
  }

  async #store(): Promise<void> {
    const { store, deterministic, position, floor } = this.#dependencies
    const began = position()
    const ids = this.#take()
    const gone = [...this.#gone].filter((id) => deterministic.task(id) === undefined)
    this.#gone.clear()
    const states = store.collection(STATES)
    try {
      const deletions = gone.flatMap((id) => [
        states.deleting(id),
        ...withoutParts(store, id, 0, this.#cut.get(id) ?? 0),
      ])
      for (const id of gone) for (const known of [this.#cut, this.#kept, this.#held, this.unstored]) known.delete(id)
      if (deletions.length > 0) await store.commit(deletions)
      let slice = this.#slice()
      const yielder = new Yielder(machineTimers)
      while (ids.length > 0) {
        const id = ids.pop()
        if (id !== undefined) this.#add(slice, id)
        // the last slice is stored with the mark
        if (ids.length === 0 || (!yielder.isOver && slice.writes.length < MAX_PER_SLICE)) continue
        await this.#commit(slice, this.#mark)
        slice = this.#slice()
        await yielder.next()
      }
      // tasks whose state could not be stored need the log from the position of their stored state
      const from = Math.max(this.#mark.position, Math.min(began, floor() ?? began, ...this.#held.values()))
      await this.#commit(slice, { ...this.#mark, position: from })
      this.#reflected = Math.min(from, ...[...this.#kept.values()].map((position) => position - 1))
    } catch (error) {
      for (const id of ids) this.#tasks.add(id)
      for (const id of gone) this.#gone.add(id)
      this.#isUrgent = true
      throw error
    }
  }

  async #prune(isEnd: boolean): Promise<void> {
    const { pruner, scheduler } = this.#dependencies
    const now = scheduler.now()
    const isWorthIt = this.#reflected - this.#pruned >= WORTH_PRUNING || now - this.#prunedAt >= PRUNE_MS
    if ((!isWorthIt && !isEnd) || this.#reflected === this.#pruned || this.#isClosed) return
    this.#pruned = this.#reflected
    this.#prunedAt = now
    this.#pruning = pruner
      .prune(false)
      .catch((error: unknown) => this.#log.log(`the log was not pruned: ${messageOf(error)}`, '', {}))
    await this.#pruning
  }

  /** `atRest`: a round first advances the mark, which may be the only position still behind. */
  async #noLongerNeeded(atRest: boolean): Promise<number> {
    const { position } = this.#dependencies
    if (atRest && !this.#isClosed && !this.#isBehind && this.#mark.position < position()) await this.flush()
    return this.#reflected
  }

  #take(): string[] {
    const { deterministic } = this.#dependencies
    this.#isUrgent = false
    this.#inputs = 0
    this.#calls = deterministic.engine.counts.calls
    for (const resource of this.#resources) {
      for (const { id } of deterministic.engine.listenersOf(resource)) this.#tasks.add(id)
    }
    const ids = [...this.#tasks]
    this.#tasks.clear()
    this.#resources.clear()
    return ids
  }

  #slice(): Slice {
    return new Slice(this.#dependencies, this.#cut)
  }

  async #commit(slice: Slice, mark: Mark): Promise<void> {
    const { store, deterministic, later } = this.#dependencies
    const next: Mark = { position: mark.position, time: deterministic.now, later: [...later] }
    const marking = store.collection(MARKS).putting(MARK_ID, next)
    try {
      await store.commit([...slice.writes, marking])
      this.#stored(slice)
    } catch (error) {
      if (!isRefusal(error)) {
        for (const id of slice.ids) this.#tasks.add(id)
        throw error
      }
      // at least one of these states cannot be stored as it is; the others can
      for (const id of slice.ids) await this.#storeAlone(id)
      const held = Math.min(next.position, ...this.#held.values())
      await store.commit([store.collection(MARKS).putting(MARK_ID, { ...next, position: held })])
    }
    this.#mark = next
  }

  async #storeAlone(id: string): Promise<void> {
    const { store } = this.#dependencies
    for (const inParts of [false, true]) {
      const alone = this.#slice()
      try {
        alone.add(id, inParts)
        await store.commit(alone.writes)
        return this.#stored(alone)
      } catch (error) {
        if (!isRefusal(error)) {
          this.#tasks.add(id)
          throw error
        }
        if (inParts) this.#hold(id, error)
      }
    }
  }

  #add(slice: Slice, id: string): void {
    try {
      slice.add(id)
    } catch (error) {
      if (!isRefusal(error)) throw error
      this.#hold(id, error)
    }
  }

  /** Keeps the log from the position of the task's stored state until a newer state can be stored. */
  #hold(id: string, error: unknown): void {
    if (!this.unstored.has(id)) {
      const text = `the state of task ${id} cannot be stored, the log is kept for it: ${messageOf(error)}`
      this.#dependencies.logger?.error(text)
    }
    this.unstored.set(id, messageOf(error))
    if (!this.#held.has(id)) this.#held.set(id, this.#mark.position)
  }

  #stored(slice: Slice): void {
    for (const { task, node, plug, attempts, status, error } of slice.stored()) {
      if (status !== 'dead') continue
      this.#failed.log('a delivery failed', `${task}/${node}`, { task, node, plug, attempts, reason: error })
    }
    for (const { id, parts, oldest } of slice.states) {
      if (parts > 0) this.#cut.set(id, parts)
      else this.#cut.delete(id)
      if (oldest === undefined) this.#kept.delete(id)
      else this.#kept.set(id, oldest)
      this.#held.delete(id)
      this.unstored.delete(id)
    }
  }
}

class Slice {
  readonly states: { readonly id: string; readonly parts: number; readonly oldest: number | undefined }[] = []
  readonly writes: Write[] = []
  readonly #dependencies: CheckpointDependencies
  readonly #cut: ReadonlyMap<string, number>
  readonly #ids = new Set<string>()
  readonly #with: StoredWith[] = []
  readonly #deliveries: { readonly list: DeliveryRecord[]; readonly count: number }[] = []

  constructor(dependencies: CheckpointDependencies, cut: ReadonlyMap<string, number>) {
    this.#dependencies = dependencies
    this.#cut = cut
  }

  get ids(): readonly string[] {
    return this.states.map(({ id }) => id)
  }

  /** A task and its shadow are stored together, with what was compared so far. */
  add(id: string, inParts?: boolean): void {
    const { store, shadows } = this.#dependencies
    if (this.#ids.has(id)) return
    const pair = shadows.of(id)
    this.#add(id, inParts)
    if (pair === undefined) return
    this.#add(pair.live === id ? pair.shadow : pair.live)
    const stored = shadows.writesWith(store, id)
    if (stored === undefined) return
    this.writes.push(...stored.writes)
    this.#with.push(stored)
  }

  #add(id: string, inParts = this.#cut.has(id)): void {
    this.#ids.add(id)
    const { store, deterministic, position, settings } = this.#dependencies
    const task = deterministic.task(id)
    const saved = deterministic.save(id)
    if (task === undefined || saved === undefined) return
    const now: StateRecord = { epoch: task.epoch, position: position(), time: deterministic.now, ...saved }
    const { record, oldest } = withoutKept(now)
    const had = this.#cut.get(id) ?? 0
    const { writes, parts } = inParts
      ? stateInParts(store, id, record, had, settings.maxLength)
      : wholeState(store, id, record, had)
    this.states.push({ id, parts, oldest })
    this.writes.push(...writes)
    const list = deterministic.ledger.fresh.get(id)
    if (list === undefined) return
    this.#deliveries.push({ list, count: list.length })
    const deliveries = store.collection(DELIVERIES)
    for (const one of list) this.writes.push(deliveries.putting(deliveryId(id, one.number), one))
  }

  stored(): readonly DeliveryRecord[] {
    for (const one of this.#with) one.stored()
    const stored = this.#deliveries.flatMap(({ list, count }) => list.splice(0, count))
    const { fresh } = this.#dependencies.deterministic.ledger
    for (const id of this.ids) if (fresh.get(id)?.length === 0) fresh.delete(id)
    return stored
  }
}
