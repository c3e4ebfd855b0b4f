/** Applies changes to stored tasks, one at a time per task: first one commit, then the engine. */
import type { Lost, TaskInfo } from '#core'
import { type PlugNode, type Prepared, resolveResources } from '#core/spi'
import {
  AppError,
  isRefusal,
  KeyedMutex,
  type RevisionOptions,
  messageOf,
  requireVersion,
  retryOnConflict,
} from '#kernel'
import type { Stored, Write } from '#storage'
import { type TaskAction, removes } from '../batches/batch-schema.ts'
import type { RulesCollections } from '../collections.ts'
import { notPossible, removeRefused, taskNotFound } from '../error-texts.ts'
import { documentChanges } from '../document-changes.ts'
import type { EndedRun, PlannedChange, TaskChange, TaskRunner } from '../runner.ts'
import type { SourceRepository } from './source-repository.ts'
import { type Draft, type RunnableSource, type TaskMaker, runnable } from './task-maker.ts'
import { TaskRights } from './task-rights.ts'
import { type Author, removalsOfVersions, versionedChange } from './task-versions.ts'
import { type TaskRecord, revisionOf } from './task-record.ts'
import type { TaskRunRecord } from './task-schema.ts'

export interface ChangeOptions extends RevisionOptions {
  readonly batch?: string
  /** default: the user of the task, without a note */
  readonly by?: Author
  /** called after the change with the state that the nodes of a running task lost */
  readonly onLost?: (lost: readonly Lost[]) => void
}

/** Result of a change. `next` is undefined if the task is deleted. */
interface Decision {
  readonly next: TaskRecord | undefined
  readonly changes: readonly TaskChange[]
  /** parts of the next record, if they are new or a run begins */
  readonly parts?: RunnableSource
  readonly lost?: readonly Lost[]
  /** a stopped task that cannot start becomes `failed`; without this flag, the change is only refused */
  readonly failsTask?: boolean
}

interface RunEffect {
  /** `none`: no node is affected; `change`: the run continues with another rule; `begin`: the run restarts */
  readonly kind: 'none' | 'change' | 'begin'
  readonly lost: readonly Lost[]
}

const UNTOUCHED: RunEffect = { kind: 'none', lost: [] }
const RESTART: RunEffect = { kind: 'begin', lost: [] }

const MAX_TRIES = 3

export class TaskChanges {
  readonly #collections: RulesCollections
  readonly #maker: TaskMaker
  readonly #sources: SourceRepository
  readonly #runner: TaskRunner
  readonly #now: () => number
  readonly #removed: (task: string) => void
  readonly #changed: (task: string) => void
  readonly #lanes = new KeyedMutex()
  readonly rights = new TaskRights()

  constructor(
    collections: RulesCollections,
    maker: TaskMaker,
    sources: SourceRepository,
    runner: TaskRunner,
    now: () => number,
    removed: (task: string) => void,
    changed: (task: string) => void = () => undefined,
  ) {
    this.#collections = collections
    this.#maker = maker
    this.#sources = sources
    this.#runner = runner
    this.#now = now
    this.#removed = removed
    this.#changed = changed
  }

  create(id: string, { user, note }: Author, draft: Draft): Promise<TaskRecord> {
    return this.#lanes.run(id, async () => {
      const now = this.#now()
      const made = newRecord(id, user, now, draft)
      const record = note === undefined ? made : { ...made, version: { number: 1, user, createTime: now, note } }
      const parts = { source: draft.source, rule: draft.fields.rule, settings: draft.fields.settings }
      if (draft.start === false) {
        const next = { ...record, resourceIds: await this.#resources(id, draft) }
        await this.#commit('absent', { next, changes: [], parts }, [])
        return next
      }
      const task = runnable(id, 1, now, parts)
      const change: TaskChange = { kind: 'begin', task }
      const plan = await this.#runner.plan(change)
      const next = begun(record, now, plan.resourceIds)
      await this.#commit('absent', { next, changes: [change], parts }, [plan])
      return next
    })
  }

  /** Returns the changed task. For a deleted task, returns its last record. */
  async act(id: string, action: TaskAction, options: ChangeOptions = {}): Promise<TaskRecord> {
    const made = await this.#change(id, options, (task) => this.#decide(task, action))
    if (removes(action)) this.#removed(id)
    return made
  }

  /** A run whose nodes are not affected continues. */
  replace(id: string, draft: Draft, options: ChangeOptions = {}): Promise<TaskRecord> {
    return this.#change(id, options, (task) => this.#remade(task, draft, draft.start))
  }

  async after(task: TaskRecord, action: TaskAction): Promise<TaskRecord | undefined> {
    return (await this.#decide(task, action)).next
  }

  async #decide(task: TaskRecord, action: TaskAction): Promise<Decision> {
    const isRunning = task.status === 'running'
    switch (action.action) {
      case 'start':
        if (isRunning) throw notPossible('start', task.status)
        return { ...this.#beginning(task, await this.#maker.parts(task)), failsTask: true }
      case 'stop':
        if (!isRunning) throw notPossible('stop', task.status)
        return { next: this.#stopped(task), changes: [this.#ending(task)] }
      case 'restart':
        return { ...this.#beginning(this.#stopped(task), await this.#maker.parts(task)), failsTask: !isRunning }
      case 'delete':
      case 'stopAndDelete':
        if (isRunning && action.action === 'delete') throw removeRefused(task.status)
        return { next: undefined, changes: [{ kind: 'forget', id: task.id }] }
      default:
        return this.#remade(task, await this.#maker.updated(task, action), undefined)
    }
  }

  async noteEnd(run: EndedRun): Promise<void> {
    try {
      await this.#change(run.id, {}, async (task) => {
        const stands = task.epoch === run.epoch && task.status === 'running'
        return { next: stands ? ended(task, run, this.#runner.nodes.info(run.id)) : task, changes: [] }
      })
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error
    }
  }

  idle(): Promise<void> {
    return this.#lanes.idle()
  }

  #change(
    id: string,
    { batch, by, onLost, ifRevision }: ChangeOptions,
    decide: (task: TaskRecord) => Promise<Decision>,
  ): Promise<TaskRecord> {
    return this.#lanes.run(id, () =>
      retryOnConflict(async () => {
        const stored = await this.#collections.tasks.get(id)
        if (stored === undefined) throw taskNotFound(id)
        requireVersion(`Task ${id}`, revisionOf(stored.value), ifRevision)
        const decision = await decide(stored.value)
        if (decision.next === stored.value) return stored.value
        const made = await this.#carryOut(stored, decision, batch, by)
        if (decision.lost !== undefined) onLost?.(decision.lost)
        return made
      }, MAX_TRIES),
    )
  }

  async #carryOut(
    stored: Stored<TaskRecord>,
    decision: Decision,
    batch: string | undefined,
    by: Author | undefined,
  ): Promise<TaskRecord> {
    const { changes, parts } = decision
    let plans: readonly PlannedChange[]
    try {
      plans = await Promise.all(changes.map((change) => this.#runner.plan(change)))
    } catch (error) {
      if (decision.failsTask === true) await this.#noteFailure(stored, error)
      throw error
    }
    const begins = changes.findIndex(({ kind }) => kind === 'begin' || kind === 'change')
    const resourceIds = plans[begins]?.resourceIds
    const made = decision.next && {
      ...decision.next,
      ...(resourceIds && { resourceIds }),
      ...(batch !== undefined && { batch }),
      revision: revisionOf(stored.value) + 1,
    }
    const { next, writes } =
      made === undefined
        ? { next: made, writes: await removalsOfVersions(this.#collections, stored.value) }
        : versionedChange(this.#collections, stored.value, made, by, this.#now())
    await this.#commit(stored, { next, changes, ...(parts && { parts }) }, plans, stored.value.id, writes)
    return next ?? stored.value
  }

  async #noteFailure(stored: Stored<TaskRecord>, error: unknown): Promise<void> {
    const task = stored.value
    if (!isRefusal(error)) return
    const reason = { status: 'failed', error: messageOf(error), finishedTime: this.#now() } as const
    const failed = { ...task, ...reason, revision: revisionOf(task) + 1 }
    await this.#collections.tasks.put(task.id, failed, stored)
  }

  async #commit(
    expect: Stored<TaskRecord> | 'absent',
    { next, parts }: Decision,
    plans: readonly PlannedChange[],
    id = next?.id ?? '',
    more: readonly Write[] = [],
  ): Promise<void> {
    const writes: Write[] = [
      ...more,
      next === undefined
        ? this.#collections.tasks.deleting(id, expect)
        : this.#collections.tasks.putting(id, next, expect),
      ...(parts?.source ? this.#sources.writes(parts.source) : []),
    ]
    const carryOut = plans.length === 1 ? plans[0]?.carryOut : undefined
    const restore = next && this.rights.set(id, next.rights)
    try {
      if (carryOut !== undefined) await carryOut(writes)
      else await this.#collections.commit([...writes, ...plans.flatMap((plan) => plan.writes)])
    } catch (error) {
      restore?.()
      throw error
    }
    if (parts?.source) this.#sources.written(parts.source)
    if (carryOut === undefined) for (const plan of plans) await plan.apply()
    if (next === undefined) this.rights.set(id, undefined)
    this.#changed(id)
  }

  #beginning(task: TaskRecord, parts: RunnableSource): Decision {
    const next = begun(task, this.#now(), task.resourceIds)
    const change: TaskChange = {
      kind: 'begin',
      task: runnable(task.id, next.epoch, task.createTime, parts),
    }
    return { next, changes: [change], parts }
  }

  async #changing(task: TaskRecord, draft: Draft, parts: RunnableSource): Promise<Decision> {
    const { id, epoch, createTime } = task
    const made = (of: RunnableSource) => runnable(id, epoch, createTime, of)
    const before = made(await this.#maker.parts(task))
    const change: TaskChange = { kind: 'change', task: made(parts), before }
    return { next: withDraft(task, draft, this.#now()), changes: [change], parts }
  }

  #stopped(task: TaskRecord): TaskRecord {
    if (task.status !== 'running') return task
    const info = this.#runner.nodes.info(task.id)
    return ended(task, { status: 'stopped', finishedTime: this.#now() }, info)
  }

  async effect(task: TaskRecord, draft: Draft): Promise<RunEffect | undefined> {
    if (task.status !== 'running') return undefined
    const next = runnable(task.id, task.epoch, task.createTime, partsOf(draft))
    return effectOnRun(await this.#prepared(task), draft.prepared, () => this.#runner.losses(next))
  }

  async #remade(task: TaskRecord, draft: Draft, start: boolean | undefined): Promise<Decision> {
    if (start === undefined && isSame(task, draft)) return { next: task, changes: [] }
    const parts = partsOf(draft)
    const ran = task.status === 'running'
    const goesOn = start ?? ran
    const effect = goesOn ? await this.effect(task, draft) : undefined
    if (effect?.kind === 'none') return { next: withDraft(task, draft, this.#now()), changes: [], parts }
    if (effect?.kind === 'change') return { ...(await this.#changing(task, draft, parts)), lost: effect.lost }
    const stopped = withDraft(this.#stopped(task), draft, this.#now())
    if (goesOn) return this.#beginning(stopped, parts)
    return { next: stopped, changes: ran ? [this.#ending(task)] : [], parts }
  }

  async #prepared(task: TaskRecord): Promise<Prepared | undefined> {
    try {
      return this.#maker.prepare(await this.#maker.parts(task))
    } catch (error) {
      if (isRefusal(error)) return undefined
      throw error
    }
  }

  #ending({ id, epoch }: TaskRecord): TaskChange {
    return { kind: 'end', id, epoch }
  }

  async #resources(id: string, { prepared }: Draft): Promise<readonly string[]> {
    try {
      return [...new Set(await resolveResources(id, prepared, {}))]
    } catch (error) {
      if (error instanceof AppError) return []
      throw error
    }
  }
}

function partsOf({ source, fields }: Draft): RunnableSource {
  return { source, rule: fields.rule, settings: fields.settings }
}

function isSame(task: TaskRecord, { fields }: Draft): boolean {
  const { conf, source, templateVersion, rule, rights, settings, effective } = task
  return (
    conf === fields.conf &&
    source === fields.source &&
    templateVersion === fields.templateVersion &&
    JSON.stringify([rule, rights, settings, effective]) ===
      JSON.stringify([fields.rule, fields.rights, fields.settings, fields.effective])
  )
}

export async function withLosses<T extends object>(
  change: (onLost: NonNullable<ChangeOptions['onLost']>) => Promise<T>,
): Promise<T & { readonly lost?: readonly Lost[] }> {
  let lost: readonly Lost[] = []
  const answer = await change((onLost) => (lost = onLost))
  return lost.length === 0 ? answer : { ...answer, lost }
}

/** `losses` resolves to undefined if no run can continue. */
async function effectOnRun(
  before: Prepared | undefined,
  after: Prepared,
  losses: () => Promise<readonly Lost[] | undefined>,
): Promise<RunEffect> {
  if (before === undefined) return RESTART
  if (documentChanges(whatRuns(before), whatRuns(after)).length === 0) return UNTOUCHED
  const lost = await losses()
  return lost === undefined ? RESTART : { kind: 'change', lost }
}

function whatRuns({ rule, overrides }: Prepared): object {
  const { sensors = [], actuators = [], relations = [], triggers = [], task = {} } = rule
  const { name: _name, tags: _tags, ...settings } = task
  return {
    sensors: sensors.map(whatNodeRuns),
    actuators: actuators.map(whatNodeRuns),
    relations: relations.map(({ position: _position, ...relation }) => relation),
    triggers,
    settings,
    overrides,
  }
}

function whatNodeRuns({ position: _position, description: _text, iconURL: _icon, ...node }: PlugNode): object {
  return node
}

const RUNS_KEPT = 20

function newRecord(id: string, user: string, now: number, draft: Draft): TaskRecord {
  return {
    id,
    user,
    createTime: now,
    ...draft.fields,
    status: 'stopped',
    epoch: 0,
    resourceIds: [],
    invocationCount: 0,
    runs: [],
  }
}

function withDraft(task: TaskRecord, draft: Draft, now: number): TaskRecord {
  const { template: _t, templateVersion: _v, source: _s, rule: _r, rights: _rights, ...kept } = task
  return { ...kept, ...draft.fields, lastUpdateTime: now }
}

function begun(task: TaskRecord, now: number, resourceIds: readonly string[]): TaskRecord {
  const { error: _error, finishedTime: _finished, ...kept } = task
  const epoch = task.epoch + 1
  const run: TaskRunRecord = { run: epoch, startTime: now, status: 'running' }
  return {
    ...kept,
    epoch,
    status: 'running',
    startTime: now,
    resourceIds,
    runs: [run, ...task.runs].slice(0, RUNS_KEPT),
  }
}

/** `info`: counts of the run, if known. */
function ended(
  task: TaskRecord,
  outcome: { readonly status: 'stopped' | 'failed'; readonly finishedTime: number; readonly error?: string },
  info: TaskInfo | undefined,
): TaskRecord {
  const { status, finishedTime, error } = outcome
  const [last, ...older] = task.runs
  const lastExecutionTime = info?.lastExecutionTime ?? task.lastExecutionTime
  return {
    ...task,
    status,
    finishedTime,
    ...(error !== undefined && { error }),
    ...(lastExecutionTime !== undefined && { lastExecutionTime }),
    invocationCount: task.invocationCount + (info?.invocationCount ?? 0),
    runs:
      last === undefined || task.status !== 'running'
        ? task.runs
        : [{ ...last, finishedTime, status, ...(error !== undefined && { error }) }, ...older],
  }
}
