/**
 * Recovers tasks after a start by replaying the part of the log that stored states do not reflect.
 * A `change` entry contains the previous rule, with which earlier entries are replayed.
 *
 * RECOVERY-1 asynchronous plugs are not called: their results are in the log, or are requested again when the task is
 *   resumed
 * RECOVERY-2 nothing is written or reported
 */
import type { SavedState } from '#core/spi'
import { messageOf, Yielder } from '#kernel'
import { LOG_NAME, type Mark, MARK_ID, MARKS } from '#log'
import { machineTimers } from '#platform'
import type { Store } from '#storage'
import type { RunnableTask } from '../runner.ts'
import { inputOf, messagesOf, type Input } from './input.ts'
import { isLater } from './later-calls.ts'
import { type DeliveryRecord, type StateRecord } from './records.ts'
import { keptPositions, messagesAt, withMessages } from './stored-states.ts'
import { DeterministicEngine, type EngineSettings, type EngineHooks, type WaitingTask } from './deterministic-engine.ts'

export interface TailEntry {
  readonly position: number
  readonly input: Input
}

/** State of a task when the previous runner was last alive, or why the task cannot continue. */
export type Recovered = RecoveredState | { readonly error: string }

export interface RecoveredState {
  readonly record: WaitingTask['record']
  readonly leftAt: WaitingTask['leftAt']
  readonly isPlayed: boolean
  readonly deliveries: readonly DeliveryRecord[]
}

interface ChangeEntry {
  readonly position: number
  readonly epoch: number
  readonly before: Pick<RunnableTask, 'source' | 'settings'>
}

type CompleteRecord = StateRecord & { readonly state: SavedState }

const PORTION = 1000

export class Recovery {
  readonly tail: readonly TailEntry[]
  readonly position: number
  /** epoch ms at which the previous runner was last alive; undefined on the first start */
  readonly until: number | undefined
  readonly mark: Mark | undefined
  readonly #parts: EngineSettings
  readonly #store: Store
  readonly #later: Set<string>
  readonly #lastOfTask = new Map<string, number>()
  readonly #lastOfResource = new Map<string, number>()
  /** by task: last position of a `resume`, which repeats open calls */
  readonly #lastResumed = new Map<string, number>()
  readonly #begins = new Map<string, { readonly epoch: number; readonly position: number }>()
  readonly #changes = new Map<string, ChangeEntry[]>()
  readonly #answers = new Set<string>()
  /** starts of runners, oldest first, each with the last sign of life of the previous runner */
  readonly #opens: { readonly position: number; readonly until: number }[] = []
  #lastMoved: number | undefined

  private constructor(
    parts: EngineSettings,
    store: Store,
    mark: Mark | undefined,
    { tail, position }: { readonly tail: readonly TailEntry[]; readonly position: number },
  ) {
    this.#parts = parts
    this.#store = store
    this.mark = mark
    this.tail = tail
    this.#later = new Set(mark?.later)
    this.position = position
    const times = [mark?.time, tail.at(-1)?.input.at].filter((time) => time !== undefined)
    this.until = times.length === 0 ? undefined : Math.max(...times)
    for (const entry of tail) this.#note(entry)
  }

  static async read(parts: EngineSettings, store: Store): Promise<Recovery> {
    const mark = await store.collection(MARKS).get(MARK_ID)
    const log = store.log(LOG_NAME)
    const { first } = await log.bounds()
    const tail: TailEntry[] = []
    for (let after = Math.max(mark?.value.position ?? 0, first - 1); ;) {
      const entries = await log.read(after, PORTION)
      for (const { position, body } of entries) {
        const input = inputOf(body)
        if (input !== undefined) tail.push({ position, input })
      }
      after = entries.at(-1)?.position ?? after
      if (entries.length < PORTION) return new Recovery(parts, store, mark?.value, { tail, position: after })
    }
  }

  async recover(
    tasks: readonly RunnableTask[],
    stored: ReadonlyMap<string, StateRecord>,
  ): Promise<ReadonlyMap<string, Recovered>> {
    const states = await this.#complete(stored)
    const found = new Map<string, Recovered>()
    const played: RunnableTask[] = []
    for (const task of tasks) {
      const record = stateOf(task, states)
      if (this.#concerns(task, record)) played.push(task)
      else if (record !== undefined)
        found.set(task.id, { record, leftAt: this.#leftAt(record), isPlayed: false, deliveries: [] })
    }
    if (played.length > 0) await this.#play(played, states, found)
    return found
  }

  async #complete(stored: ReadonlyMap<string, StateRecord>): Promise<ReadonlyMap<string, CompleteRecord>> {
    const positions = [...stored.values()].flatMap((record) => keptPositions(record))
    const messages = await messagesAt(this.#store, positions)
    const complete = new Map<string, CompleteRecord>()
    for (const [id, record] of stored) {
      const { state, ...rest } = withMessages(record, messages)
      if (state !== undefined) complete.set(id, { ...rest, state })
    }
    return complete
  }

  #concerns(task: RunnableTask, record: CompleteRecord | undefined): boolean {
    if (record === undefined) return this.#begins.get(task.id)?.epoch === task.epoch
    const isLater = (position: number | undefined) => position !== undefined && position > record.position
    if (isLater(this.#lastOfTask.get(task.id))) return true
    if (isAtWork(record) && (isLater(this.#lastResumed.get(task.id)) || isLater(this.#lastMoved))) return true
    if (record.resources.some((resource) => isLater(this.#lastOfResource.get(resource)))) return true
    return firstTimer(record) <= (this.until ?? Number.NEGATIVE_INFINITY)
  }

  async #play(
    tasks: readonly RunnableTask[],
    states: ReadonlyMap<string, CompleteRecord>,
    found: Map<string, Recovered>,
  ): Promise<void> {
    const arrivals = tasks
      .flatMap((task) => {
        const record = stateOf(task, states)
        return record === undefined ? [] : [{ task: this.#asOf(task, record.position), record }]
      })
      .sort((a, b) => a.record.position - b.record.position || a.record.time - b.record.time)
    const firstInput = this.tail[0]?.input
    const starts = [arrivals[0]?.record.time, firstInput?.at, this.until].filter((time) => time !== undefined)
    const withheld = new Set<string>()
    const fail = (id: string, error: string) => void found.set(id, { error })
    const deterministic = new DeterministicEngine(this.#parts, this.#hooks(withheld, fail), Math.min(...starts))
    const played = new Map(tasks.map((task) => [task.id, task]))
    for (const task of tasks) {
      if (stateOf(task, states) !== undefined) continue
      deterministic.ledger.begin(task.id, states.get(task.id)?.delivered ?? 0)
      deterministic.beginning.set(task.id, this.#asOf(task, this.#begins.get(task.id)?.position ?? 0))
    }
    const yielder = new Yielder(machineTimers)
    let next = 0
    const arrive = async (before: number) => {
      for (let one = arrivals[next]; one !== undefined && one.record.position < before; one = arrivals[++next]) {
        deterministic.advanceTo(one.record.time)
        const { task, record } = one
        try {
          await deterministic.restore({ task, record: { ...record, state: asCalled(task, record.state, withheld) } })
        } catch (error) {
          fail(task.id, messageOf(error))
        }
        await yielder.due()
      }
    }
    for (const { position, input } of this.tail) {
      await arrive(position)
      const changed = input.k === 'change' ? played.get(input.t) : undefined
      if (changed !== undefined) deterministic.changing.set(changed.id, this.#asOf(changed, position))
      try {
        await deterministic.apply(input, position)
      } catch {
        // the sender received the error before the crash
      }
      await yielder.due()
    }
    await arrive(Number.POSITIVE_INFINITY)
    deterministic.advanceTo(Math.max(deterministic.now, this.until ?? deterministic.now))
    for (const { id } of tasks) {
      const deliveries = deterministic.ledger.fresh.get(id) ?? []
      const record = deterministic.save(id)
      const waiting = deterministic.waiting.get(id)
      if (record !== undefined) found.set(id, { record, leftAt: deterministic.now, isPlayed: true, deliveries })
      else if (waiting !== undefined) found.set(id, { ...waiting, isPlayed: true, deliveries })
    }
    await deterministic.engine.close()
  }

  #leftAt({ position, time }: CompleteRecord): number {
    return this.#opens.find((one) => one.position > position)?.until ?? this.until ?? time
  }

  #asOf(task: RunnableTask, position: number): RunnableTask {
    const next = this.#changes.get(task.id)?.find((one) => one.position > position && one.epoch === task.epoch)
    return next === undefined ? task : { ...task, ...next.before }
  }

  #hooks(withheld: ReadonlySet<string>, fail: (id: string, error: string) => void): EngineHooks {
    return {
      touched: () => undefined,
      mayCall: (task, epoch, execution) => {
        const key = callKey(task, epoch, execution.id, execution.calls)
        return !this.#answers.has(key) && !withheld.has(key) && !isLater(execution, this.#later)
      },
      opened: () => undefined,
      answered: () => undefined,
      answeredAhead: () => undefined,
      ended: ({ task, status, error }) => {
        if (status === 'failed') fail(task.id, error ?? '')
      },
    }
  }

  #note({ position, input }: TailEntry): void {
    if (input.k === 'data') {
      for (const { resource } of messagesOf(input.m)) this.#lastOfResource.set(resource, position)
    } else if (input.k === 'resume') for (const id of input.ts) this.#lastResumed.set(id, position)
    else if ('t' in input) this.#lastOfTask.set(input.t, position)
    if (input.k === 'jump' || (input.k === 'still' && input.since < input.at)) this.#lastMoved = position
    if (input.k === 'later') this.#later.add(input.p)
    if (input.k === 'open') this.#opens.push({ position, until: input.until })
    if (input.k === 'begin') {
      this.#begins.set(input.t, { epoch: input.e, position })
      // the copied task must be replayed too
      if (input.f !== undefined) this.#lastOfTask.set(input.f, position)
    }
    if (input.k === 'change') {
      const changes = this.#changes.get(input.t) ?? []
      changes.push({ position, epoch: input.e, before: input.b })
      this.#changes.set(input.t, changes)
    }
    if (input.k === 'answer') this.#answers.add(callKey(input.t, input.e, input.x, input.c))
  }
}

function stateOf(task: RunnableTask, states: ReadonlyMap<string, CompleteRecord>): CompleteRecord | undefined {
  const record = states.get(task.id)
  return record?.epoch === task.epoch ? record : undefined
}

/** A restored task repeats open calls under the next number; a replay must keep their number. */
export function asCalled(task: RunnableTask, state: SavedState, withheld: Set<string>): SavedState {
  if (state.executing === undefined) return state
  const executing = state.executing.map((one) => {
    if (one.phase !== 'called' && one.phase !== 'rendering') return one
    const { calls = 1, ...rest } = one
    withheld.add(callKey(task.id, task.epoch, one.id, calls))
    return { ...rest, calls: calls - 1 }
  })
  return { ...state, executing }
}

export function callKey(task: string, epoch: number, execution: number, call: number): string {
  return `${execution}/${call}/${epoch}/${task}`
}

function isAtWork({ state, underWay = [] }: CompleteRecord): boolean {
  return state.executing !== undefined || state.waiting !== undefined || underWay.length > 0
}

function firstTimer({ state }: CompleteRecord): number {
  let first = state.nextTickAt ?? Number.POSITIVE_INFINITY
  const note = (time = Number.POSITIVE_INFINITY): void => void (first = Math.min(first, time))
  for (const { wakeAt } of state.executing ?? []) note(wakeAt)
  for (const label in state.sensors) {
    const { evictAt, ownTickAt, follow } = state.sensors[label] ?? {}
    note(evictAt)
    note(ownTickAt)
    note(follow?.at)
  }
  return first
}
