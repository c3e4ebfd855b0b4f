/**
 * Runs the rehearsals of one tenant; a longer one continues as a job, and results are kept for a day.
 *
 * REHEARSE-1 a rehearsal has no outside effects and changes no task: effects are only rendered
 * REHEARSE-2 the result lists, for each resource, which data it had; without any data, the status is `empty`
 * REHEARSE-3 a rehearsal in progress when the host ends is reported as interrupted
 * REHEARSE-4 a rehearsal of a task over kept inputs, from its state and with recorded calls, fires as the task fired
 * REHEARSE-5 a replay with a changed input runs on a copy, and compares it with what the task did
 */
import { AppError, type Caller, messageOf } from '#kernel'
import { machineTimers } from '#platform'
import type { RehearsalApi } from '../contract.ts'
import type { KeptInputs, KeptSource } from '../inputs/contract.ts'
import { KeptReader } from '../inputs/kept-reader.ts'
import { taskOf } from '../tasks/task-service.ts'
import type { TenantRules } from '../tenant-rules.ts'
import { planRehearsal, planReplay, type RehearsalPlan } from './rehearsal-plan.ts'
import { type RehearsalRecord, RehearsalDocuments } from './rehearsal-record.ts'
import type { RehearsalWork } from './rehearsal-work.ts'
import type { Rehearse } from './rehearse-change.ts'
import {
  type EventPage,
  MAX_LISTED,
  type QueuedRehearsal,
  type Rehearsal,
  type RehearsalAnswer,
  type RehearsalEvents,
  type RehearsalSummary,
} from './rehearsal-schema.ts'
import { RehearsalSum } from './rehearsal-sum.ts'
import type { RehearsalHistory } from './rehearsal-history.ts'
import { SAMPLES_AT_ONCE } from './series-messages.ts'

/** ms after which a rehearsal continues as a job */
const PATIENCE_MS = 2_000
const KEPT_MS = 86_400_000
const MAX_OPEN = 8
const MAX_OF_TASK = 100
/** resources rehearsed in one piece of work for a thread */
const PORTION = 20
const SECOND_MS = 1_000

interface Running {
  readonly record: RehearsalRecord
  readonly cancel: AbortController
  progress: number
  /** never rejects */
  ended: Promise<unknown>
}

export class Rehearsals {
  readonly #rules: TenantRules
  readonly #documents: RehearsalDocuments
  /** since the start of the process */
  failed = 0
  readonly #running = new Map<string, Running>()
  #isStopped = false

  constructor(rules: TenantRules) {
    this.#rules = rules
    this.#documents = new RehearsalDocuments(rules.options.store)
  }

  as(caller: Caller): RehearsalApi {
    return {
      run: (request) => this.#run(() => planRehearsal(this.#rules, this.#history(), request), caller),
      replay: (id, request) => this.#run(() => planReplay(this.#rules, id, request), caller),
      get: (id) => this.#get(id),
      events: (id, page = {}) => this.#events(id, page),
      remove: (id) => this.#remove(id),
      ofTask: async (id) => {
        await taskOf(this.#rules, id)
        return (await this.#documents.ofTask(id, MAX_OF_TASK)).map((record) => this.#summary(record))
      },
    }
  }

  /** Runs the rehearsal of a change. */
  ofChange(caller: Caller): Rehearse {
    return (request, task) =>
      this.#run(async () => {
        const plan = await planRehearsal(this.#rules, this.#history(), request)
        return { ...plan, task: task ?? plan.task }
      }, caller)
  }

  async start(): Promise<void> {
    const now = this.#rules.options.now()
    await this.#documents.removeOld(now)
    for (const record of await this.#documents.running()) {
      const error = 'the host ended during the rehearsal; send it again'
      await this.#documents.put({ ...record, status: 'interrupted', finishedTime: now, error })
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    for (const { cancel } of this.#running.values()) cancel.abort()
    await Promise.all([...this.#running.values()].map(({ ended }) => ended))
  }

  async #run(planned: () => Promise<RehearsalPlan>, { user }: Caller): Promise<Rehearsal | QueuedRehearsal> {
    if (this.#isStopped) throw new AppError('CLOSED', 'the host is shutting down; retry when it is back')
    if (this.#running.size >= MAX_OPEN) {
      const text = `${MAX_OPEN} rehearsals are running; retry in 1 s, or cancel one`
      throw new AppError('RATE_LIMITED', text, { cause: 1 })
    }
    const { now, newId } = this.#rules.options
    const plan = await planned()
    await this.#documents.removeOld(now())
    const record: RehearsalRecord = {
      id: newId(),
      status: 'running',
      user,
      ...(plan.task !== undefined && { task: plan.task }),
      createTime: now(),
      progress: 0,
      removeTime: now() + KEPT_MS,
    }
    await this.#documents.put(record)
    const running: Running = { record, cancel: new AbortController(), progress: 0, ended: Promise.resolve() }
    this.#running.set(record.id, running)
    const carriedOut = this.#carryOut(plan, running)
    running.ended = carriedOut.catch(() => undefined)
    return this.#soon(carriedOut, record.id)
  }

  /** Returns the result, or the queued job after two seconds. Rejects if the rehearsal is refused before then. */
  async #soon(carriedOut: Promise<Rehearsal>, id: string): Promise<Rehearsal | QueuedRehearsal> {
    let cancel: () => void = () => undefined
    const late = new Promise<QueuedRehearsal>((resolve) => {
      cancel = machineTimers.later(PATIENCE_MS, () => resolve({ id, uri: `/api/rehearsals/${encodeURIComponent(id)}` }))
    })
    try {
      return await Promise.race([carriedOut, late])
    } finally {
      cancel()
    }
  }

  async #carryOut(plan: RehearsalPlan, running: Running): Promise<Rehearsal> {
    const { record, cancel } = running
    const sum = new RehearsalSum(plan.work)
    try {
      await this.#work(plan.work, running, sum)
      cancel.signal.throwIfAborted()
      const { sweep, showsEvents, keptSince } = plan
      const answer = {
        ...sum.answer({ id: record.id, sweep, showsEvents }),
        ...(keptSince !== undefined && { keptSince }),
      }
      const ended = this.#ended(record, sum.isEmpty ? 'empty' : 'done')
      await this.#documents.finish(ended, answer, sum.events)
      return shownWith(ended, answer)
    } catch (error) {
      if (!cancel.signal.aborted) {
        this.failed++
        await this.#documents.put({ ...this.#ended(record, 'failed'), error: messageOf(error) })
        throw error
      }
      const status = this.#isStopped ? 'interrupted' : 'cancelled'
      const ended = this.#ended({ ...record, progress: running.progress }, status)
      await this.#documents.put(ended)
      return shown(ended)
    } finally {
      this.#running.delete(record.id)
    }
  }

  #ended(record: RehearsalRecord, status: RehearsalRecord['status']): RehearsalRecord {
    const isWhole = status === 'done' || status === 'empty'
    const now = this.#rules.options.now()
    return { ...record, status, ...(isWhole && { progress: 1 }), finishedTime: now, removeTime: now + KEPT_MS }
  }

  /** One portion after the other, so that budget, progress and cancellation apply between them. */
  async #work(work: RehearsalWork, running: Running, sum: RehearsalSum): Promise<void> {
    const { direct } = this.#rules
    const { signal } = running.cancel
    const { resources, messages, from, until } = work
    const size = messages === undefined ? PORTION : resources.length
    const history = this.#history()
    for (let done = 0; done < resources.length; done += size) {
      const portion = resources.slice(done, done + size)
      const reached = (time: number, [resource]: readonly (string | undefined)[] = []): void => {
        const place = Math.max(0, portion.indexOf(resource))
        const part = Math.min(1, Math.max(0, (time - from) / Math.max(1, until - from)))
        running.progress = Math.max(running.progress, Math.min(1, (done + place + part) / resources.length))
      }
      const noting: RehearsalHistory = {
        ...history,
        samples: (resource, metric, start, end) => {
          reached(start, [resource])
          return history.samples(resource, metric, start, end)
        },
        ...(history.inputs && { inputs: inputsWith(history.inputs, reached) }),
      }
      for (;;) {
        try {
          sum.add(await direct.rehearse({ ...work, resources: portion }, noting, signal))
          break
        } catch (error) {
          if (!(error instanceof AppError) || error.code !== 'RATE_LIMITED') throw error
          await pause(Number(error.cause ?? 1) * SECOND_MS, signal)
          signal.throwIfAborted()
        }
      }
      running.progress = (done + portion.length) / resources.length
      signal.throwIfAborted()
    }
  }

  #history(): RehearsalHistory {
    const { store, readable, kept } = this.#rules.options
    const metrics = async (resource: string): Promise<readonly string[]> => {
      await readable?.()
      return (await store.series.latest(resource)).map(({ metric }) => metric).toSorted()
    }
    return {
      metrics,
      newest: async (resource) => {
        const times = (await store.series.latest(resource)).map(({ time }) => time)
        return times.length === 0 ? undefined : Math.max(...times)
      },
      samples: (resource, metric, from, until) =>
        store.series.columns({ resources: [resource], metric, from, until, limit: SAMPLES_AT_ONCE }),
      counts: async (resource, from, until) => {
        const width = until + 1 - from
        const all = (await metrics(resource)).map(async (metric) => {
          const found = await store.series.buckets({ resources: [resource], metric, from, until: until + 1, width })
          return [metric, found.reduce((sum, { count }) => sum + count, 0)] as const
        })
        return Object.fromEntries(await Promise.all(all))
      },
      inputs: kept?.()?.inputs,
    }
  }

  async #get(id: string): Promise<Rehearsal> {
    const record = await this.#record(id)
    const answer = await this.#documents.answer(record)
    return answer === undefined ? this.#summary(record) : shownWith(record, answer)
  }

  async #events(id: string, { after = 0, limit = MAX_LISTED }: EventPage): Promise<RehearsalEvents> {
    const record = await this.#record(id)
    const values = await this.#documents.events(record, after, limit)
    const { events: total = 0 } = record
    const place = after + values.length
    const next = `/api/rehearsals/${encodeURIComponent(id)}/events?after=${place}&limit=${limit}`
    return { values, total, ...(values.length > 0 && place < total && { next }) }
  }

  async #remove(id: string): Promise<void> {
    const record = await this.#record(id)
    const running = this.#running.get(id)
    if (running === undefined) return this.#documents.remove(record)
    running.cancel.abort()
    await running.ended
  }

  async #record(id: string): Promise<RehearsalRecord> {
    const record = await this.#documents.get(id)
    if (record !== undefined) return record
    throw new AppError('NOT_FOUND', `Rehearsal with id ${id} not found; results are kept for a day`)
  }

  #summary(record: RehearsalRecord): RehearsalSummary {
    const running = this.#running.get(record.id)
    return shown(running === undefined ? record : { ...record, progress: running.progress })
  }
}

/** Calls `reached` with the arrival of the first input of each segment that is read. */
function inputsWith(inputs: KeptInputs, reached: (time: number) => void): KeptInputs {
  const { source } = inputs
  const noting: KeptSource = {
    open: () => source.open(),
    close: () => source.close(),
    view: () => source.view(),
    logged: (...part) => source.logged(...part),
    report: (text) => source.report(text),
    bytes: async (id, ...part) => {
      const segment = (await source.view()).manifest.inputs.find((one) => one.id === id)
      if (segment !== undefined) reached(segment.firstAt)
      return source.bytes(id, ...part)
    },
  }
  const reader = new KeptReader(noting)
  return {
    source: noting,
    since: () => inputs.since(),
    checkpoint: (...before) => inputs.checkpoint(...before),
    read: (range, signal) => reader.read(range, signal),
  }
}

function shown({
  answerParts: _parts,
  events: _events,
  removeTime: _time,
  ...summary
}: RehearsalRecord): RehearsalSummary {
  return summary
}

function shownWith(record: RehearsalRecord, answer: RehearsalAnswer): Rehearsal {
  return { ...shown(record), ...answer }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const cancel = machineTimers.later(ms, resolve)
    signal.addEventListener('abort', () => (cancel(), resolve()), { once: true })
  })
}
