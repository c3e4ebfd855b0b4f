/** Begins, renews and ends the shadows of a roll-out for the tasks of this host. */
import { AppError, messageOf } from '#kernel'
import { type Stored, walk, type Write } from '#storage'
import { act } from '../batches/batch-jobs.ts'
import { Divergence, DIVERGENCES } from '../durable/divergence.ts'
import { shadowId } from '../durable/shadow-id.ts'
import type { RunnableTask } from '../runner.ts'
import type { Source } from '../tasks/source-repository.ts'
import { type TaskRecord, templateVersionOf } from '../tasks/task-record.ts'
import type { TenantRules } from '../tenant-rules.ts'
import { resourceOfTask } from './cohort.ts'
import { ROLLOUT_TASKS, type RolloutRecord, type RolloutTaskRecord } from './rollout-record.ts'

type Of = Pick<TaskRecord, 'epoch' | 'settings'>

export class RolloutPairs {
  readonly #rules: TenantRules

  constructor(rules: TenantRules) {
    this.#rules = rules
  }

  /** Restores the pairs of a roll-out before its tasks are resumed. A roll-out that ends compares nothing further. */
  async load(record: RolloutRecord): Promise<void> {
    if (record.status !== 'starting' && record.status !== 'running') return
    const { store } = this.#rules.options
    for await (const { id, value } of this.#tasksOf(record)) {
      if (value.source === undefined) continue
      await this.#watch(record, value, (await store.collection(DIVERGENCES).get(id))?.value)
      this.#rules.changes.rights.set(id, value.rights)
    }
  }

  /** Returns the shadow of a running task, to be resumed with it. */
  async runnable(task: TaskRecord): Promise<RunnableTask | undefined> {
    const { options, sources } = this.#rules
    const pair = options.runner.shadows.of(task.id)
    if (pair === undefined) return undefined
    const record = (await options.store.collection(ROLLOUT_TASKS).get(pair.shadow))?.value
    if (record?.source === undefined || record.of !== stateOf(task)) return undefined
    return this.#shadow(pair.shadow, task, record, await sources.load(record.source))
  }

  /** Begins the shadow of a task, and for a canary moves the task. Idempotent. */
  async ensure(record: RolloutRecord, task: TaskRecord): Promise<void> {
    const { options, maker } = this.#rules
    const tasks = options.store.collection(ROLLOUT_TASKS)
    const id = shadowId(record.id, task.id)
    const stored = await tasks.get(id)
    const known: RolloutTaskRecord = stored?.value ?? {
      rollout: record.id,
      task: task.id,
      ...(record.mode === 'canary' && { from: templateVersionOf(task) ?? 1 }),
    }
    try {
      if (task.status !== 'running') {
        if (known.source !== undefined && this.#runs(id, known)) await this.#forget(id)
        if (stored === undefined) await options.store.commit([tasks.putting(id, known)])
      } else if (known.source === undefined || known.of !== stateOf(task) || !this.#runs(id, known)) {
        const reload = { action: 'reload', templateVersion: record.version, takesDrafts: true } as const
        const [source, rights] =
          record.mode === 'shadow'
            ? await maker.updated(task, reload).then(({ source: made, fields }) => [made, fields.rights] as const)
            : [(await maker.parts(task)).source, task.rights]
        if (source === undefined) return
        // the control of a canary keeps the version that the task had
        const kept =
          record.mode === 'canary' && known.source !== undefined ? await this.#rules.sources.load(known.source) : source
        await this.#begin(record, task, known, kept, known.rights ?? rights)
      } else if (stored === undefined) await options.store.commit([tasks.putting(id, known)])
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error
      await options.store.commit([tasks.putting(id, { ...known, error: messageOf(error) })])
      return
    }
    if (record.mode === 'canary') await this.#move(record, task, id)
  }

  /** Ends the shadow of a task; what was compared stays stored. */
  async drop(id: string): Promise<void> {
    const { store, runner } = this.#rules.options
    const divergence = runner.shadows.remove(id)?.divergence
    const tasks = store.collection(ROLLOUT_TASKS)
    const stored = await tasks.get(id)
    if (stored?.value.source === undefined) return
    const { source: _source, of: _of, rights: _rights, ...kept } = stored.value
    await this.#forget(id, [
      tasks.putting(id, kept, stored.version),
      ...(divergence ? [store.collection(DIVERGENCES).putting(id, divergence.save())] : []),
    ])
    this.#rules.changes.rights.set(id, undefined)
  }

  async dropAll(record: RolloutRecord): Promise<void> {
    for await (const { id } of this.#tasksOf(record)) await this.drop(id)
  }

  #tasksOf(record: RolloutRecord): AsyncGenerator<Stored<RolloutTaskRecord>> {
    const { store } = this.#rules.options
    return walk(store.collection(ROLLOUT_TASKS), [{ field: 'rollout', op: 'eq', value: record.id }])
  }

  async #begin(
    record: RolloutRecord,
    task: TaskRecord,
    known: RolloutTaskRecord,
    source: Source,
    rights: RolloutTaskRecord['rights'],
  ): Promise<void> {
    const { options, sources, changes } = this.#rules
    const id = shadowId(record.id, task.id)
    const { error: _error, ...kept } = known
    const next: RolloutTaskRecord = {
      ...kept,
      epoch: (known.epoch ?? 0) + 1,
      source: source.id,
      of: stateOf(task),
      ...(rights && { rights }),
    }
    const runnable = this.#shadow(id, task, next, source)
    const plan = await options.runner.plan({ kind: 'begin', task: runnable })
    if (options.runner.shadows.of(task.id)?.shadow !== id) await this.#watch(record, next, undefined)
    changes.rights.set(id, rights)
    const writes = [options.store.collection(ROLLOUT_TASKS).putting(id, next), ...sources.writes(source)]
    if (plan.carryOut !== undefined) await plan.carryOut(writes)
    else {
      await options.store.commit([...writes, ...plan.writes])
      await plan.apply()
    }
    sources.written(source)
  }

  async #watch(
    { id, mode, tolerance }: RolloutRecord,
    { task }: RolloutTaskRecord,
    saved: ConstructorParameters<typeof Divergence>[1],
  ): Promise<void> {
    const { runner } = this.#rules.options
    const record = (await this.#rules.collections.tasks.get(task))?.value
    const resource = record && resourceOfTask(record)
    const head = { rollout: id, task, ...(resource !== undefined && { resource }), tolerance }
    const divergence = new Divergence(head, saved)
    runner.shadows.add({ live: task, shadow: shadowId(id, task), isLiveNew: mode === 'canary', divergence })
  }

  async #move(record: RolloutRecord, task: TaskRecord, id: string): Promise<void> {
    const { options, collections } = this.#rules
    const tasks = options.store.collection(ROLLOUT_TASKS)
    const stored = await tasks.get(id)
    if (stored === undefined || stored.value.moved === true) return
    const now = (await collections.tasks.get(task.id))?.value
    if (now === undefined) return
    if (templateVersionOf(now) !== record.version) {
      const action = { action: 'reload', templateVersion: record.version, takesDrafts: true } as const
      const { error } = await act(this.#rules, task.id, action, record.id, false)
      if (error !== undefined) {
        await this.drop(id)
        const dropped = await tasks.get(id)
        if (dropped !== undefined) await tasks.put(id, { ...dropped.value, error }, dropped.version)
        return
      }
    }
    await tasks.put(id, { ...stored.value, moved: true }, stored.version)
  }

  #runs(id: string, { epoch }: RolloutTaskRecord): boolean {
    const { nodes } = this.#rules.options.runner
    return epoch !== undefined && nodes.info(id)?.status === 'running'
  }

  async #forget(id: string, writes: readonly Write[] = []): Promise<void> {
    const { runner, store } = this.#rules.options
    const plan = await runner.plan({ kind: 'forget', id })
    await store.commit([...plan.writes, ...writes])
    await plan.apply()
  }

  #shadow(id: string, task: TaskRecord, { epoch = 1 }: RolloutTaskRecord, { document }: Source): RunnableTask {
    const { createTime, settings } = task
    return { id, epoch, createTime, source: document, settings, beside: task.id }
  }
}

/** Identifies what a shadow copies of its task: another run, or other settings, need another shadow. */
function stateOf({ epoch, settings }: Of): string {
  return JSON.stringify([epoch, settings])
}
