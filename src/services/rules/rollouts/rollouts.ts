/**
 * Carries out the roll-outs of one tenant: each is a stored plan, of which every step can be repeated.
 *
 * ROLLOUT-1 a template has at most one open roll-out
 * ROLLOUT-2 a roll-out that a stop or a crash interrupts continues at the next start
 *
 * A task that is moved runs with the rights of the author of the version, as after `command/reload`.
 */
import { AppError, isAway, isRefusal, KeyedMutex, messageOf, retryOnConflict } from '#kernel'
import { machineTimers } from '#platform'
import { type Stored, walk } from '#storage'
import { act } from '../batches/batch-jobs.ts'
import { DIVERGENCES, type DayCounts } from '../durable/divergence.ts'
import { shadowId } from '../durable/shadow-id.ts'
import type { ShadowPair } from '../durable/shadows.ts'
import type { RunnableTask } from '../runner.ts'
import { type TaskRecord, templateVersionOf } from '../tasks/task-record.ts'
import { publishVersion } from '../templates/publish-version.ts'
import { versionOf } from '../templates/template-versions.ts'
import type { TenantRules } from '../tenant-rules.ts'
import { selectorOf } from './cohort.ts'
import { isOpen, OPEN, ROLLOUT_TASKS, type RolloutRecord, ROLLOUTS } from './rollout-record.ts'
import { RolloutPairs } from './rollout-pairs.ts'
import { MAX_TASKS } from './rollout-schema.ts'

const RETRY_MS = 1_000
const CHECK_MS = 250
const MAX_TRIES = 5
/** roll-outs kept per template, including an open one */
const MAX_KEPT = 50

export class Rollouts {
  readonly pairs: RolloutPairs
  readonly #rules: TenantRules
  readonly #lanes = new KeyedMutex()
  /** by id, those whose tasks are watched here */
  readonly #open = new Map<string, RolloutRecord>()
  /** resolves when the roll-out has nothing to do until it is changed */
  readonly #driven = new Map<string, Promise<void>>()
  readonly #timers = new Set<() => void>()
  readonly #toCheck = new Set<string>()
  #isStopped = false

  constructor(rules: TenantRules) {
    this.#rules = rules
    this.pairs = new RolloutPairs(rules)
  }

  /** Restores the pairs of open roll-outs, before tasks are resumed. */
  async load(): Promise<void> {
    for (const { value } of await this.#openOnes()) {
      this.#open.set(value.id, value)
      await this.pairs.load(value)
    }
    const { shadows } = this.#rules.options.runner
    shadows.listener = {
      changed: (pair) => this.#checkSoon(pair),
      ended: (shadow) => void this.#renew(shadow.slice(shadow.indexOf('~') + 1)),
    }
    this.#rules.taskChanged = (id) => {
      if (this.#open.size > 0) void this.#renew(id)
    }
    this.#rules.templateRemoved = (name) => {
      for (const { id, template } of this.#open.values())
        if (template === name) void this.drive(id).catch(() => undefined)
    }
  }

  shadowOf(task: TaskRecord): Promise<RunnableTask | undefined> {
    return this.pairs.runnable(task)
  }

  /** Continues open roll-outs, once all tasks are resumed. */
  start(): void {
    for (const id of this.#open.keys()) void this.drive(id).catch(() => undefined)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    for (const cancel of this.#timers) cancel()
    await Promise.allSettled(this.#driven.values())
    await this.#lanes.idle()
  }

  async get(id: string): Promise<RolloutRecord | undefined> {
    return (await this.#records.get(id))?.value
  }

  async openOf(template: string): Promise<RolloutRecord | undefined> {
    const where = [
      { field: 'template', op: 'eq', value: template },
      { field: 'status', op: 'in', values: [...OPEN] },
    ] as const
    return (await this.#records.find({ where, limit: 1 }))[0]?.value
  }

  async add(record: RolloutRecord): Promise<void> {
    await this.#records.put(record.id, record, 'absent')
    await this.#removeOld(record.template)
  }

  /** Returns the changed record; undefined changes nothing. `from`: the record that the caller decided upon. */
  async change(id: string, next: (record: RolloutRecord) => RolloutRecord | undefined): Promise<RolloutRecord> {
    return retryOnConflict(async () => {
      const stored = await this.#records.get(id)
      if (stored === undefined) throw new AppError('NOT_FOUND', `Roll-out with id ${id} not found`)
      const made = next(stored.value)
      if (made === undefined) return stored.value
      await this.#records.put(id, made, stored.version)
      return made
    }, MAX_TRIES)
  }

  /** Works until the roll-out waits for nothing but its users. Repeats after an outage of the store. */
  drive(id: string): Promise<void> {
    const driven = this.#lanes.run(id, () => this.#drive(id))
    const noted = driven.catch((error: unknown) => {
      this.#rules.options.logger?.error(`roll-out ${id} does not continue yet: ${messageOf(error)}`)
      this.#later(RETRY_MS, () => void this.drive(id).catch(() => undefined))
    })
    this.#driven.set(id, noted)
    void noted.then(() => {
      if (this.#driven.get(id) === noted) this.#driven.delete(id)
    })
    return driven
  }

  /** Begins or ends the shadows of a roll-out. */
  async #work(id: string, what: 'ensure' | 'drop'): Promise<void> {
    const record = await this.get(id)
    if (record === undefined) return
    if (what === 'drop') {
      this.#open.delete(id)
      return this.pairs.dropAll(record)
    }
    this.#open.set(id, record)
    const selects = selectorOf(record)
    let count = 0
    for await (const task of this.#tasksOf(record)) {
      if (this.#isStopped) throw new AppError('CLOSED', 'the host is stopping')
      if (!(await this.#isOf(record, task, selects))) continue
      if (++count > MAX_TASKS) break
      await this.pairs.ensure(record, task)
    }
  }

  async #drive(id: string): Promise<void> {
    for (;;) {
      const record = await this.get(id)
      if (record === undefined || this.#isStopped) return
      if (!isOpen(record)) {
        this.#open.delete(id)
        return
      }
      const isGone = (await this.#rules.collections.templates.get(record.template)) === undefined
      if (isGone && record.status !== 'stopping') {
        const reason = `template ${record.template} was deleted`
        await this.change(id, (one) => ({ ...one, status: 'stopping', reason }))
        continue
      }
      switch (record.status) {
        case 'starting':
          await this.#work(id, 'ensure')
          await this.change(id, (one) => (one.status === 'starting' ? { ...one, status: 'running' } : undefined))
          break
        case 'promoting':
          await this.#work(id, 'drop')
          await this.#promote(await this.change(id, (one) => one))
          break
        case 'rollingBack':
          await this.#work(id, 'drop')
          await this.#rollBack(record)
          break
        case 'stopping':
          await this.#work(id, 'drop')
          await this.#end(id, 'stopping', 'stopped')
          break
        default:
          return this.#work(id, 'ensure')
      }
    }
  }

  async #promote(record: RolloutRecord): Promise<void> {
    const { id, template, version, by = { user: record.user } } = record
    const stored = await this.#rules.collections.templates.get(template)
    const published = stored && versionOf(stored.value)
    if (published !== undefined && published.number !== version) {
      // a draft is not what new tasks were made of
      const replaced = published.draft === true ? undefined : published.number
      if (record.replaced === undefined && replaced !== undefined)
        await this.change(id, (one) => ({ ...one, replaced }))
      try {
        await publishVersion(this.#rules, template, version, { tenant: this.#rules.options.tenant, ...by })
      } catch (error) {
        if (!isRefusal(error)) throw error
        const reason = `version ${version} cannot be published: ${messageOf(error)}`
        return void (await this.change(id, (one) => ({ ...one, status: 'rollingBack', reason })))
      }
    }
    for await (const task of this.#tasksOf(record)) {
      this.#requireOpen()
      const known = await this.#taskOf(id, task.id)
      const from = templateVersionOf(task) ?? 1
      if (from === version && known === undefined) continue
      const { error: _error, ...kept } = known ?? { rollout: id, task: task.id }
      const tasks = this.#rules.options.store.collection(ROLLOUT_TASKS)
      const moving = { ...kept, from: known?.from ?? from }
      await tasks.put(shadowId(id, task.id), moving)
      const error = await this.#reload(id, task.id, version)
      const moved = error === undefined ? { ...moving, moved: true } : { ...moving, error }
      await tasks.put(shadowId(id, task.id), moved)
    }
    await this.#end(id, 'promoting', 'promoted')
  }

  async #rollBack(record: RolloutRecord): Promise<void> {
    const { id, template, version, replaced, by = { user: record.user } } = record
    const stored = await this.#rules.collections.templates.get(template)
    if (replaced !== undefined && stored !== undefined && versionOf(stored.value).number === version) {
      try {
        await publishVersion(this.#rules, template, replaced, { tenant: this.#rules.options.tenant, ...by })
      } catch (error) {
        if (!isRefusal(error)) throw error
        const reason = `version ${replaced} cannot be published again: ${messageOf(error)}`
        await this.change(id, (one) => ({ ...one, reason }))
      }
    }
    for await (const task of this.#tasksOf(record)) {
      this.#requireOpen()
      if (templateVersionOf(task) !== version) continue
      const known = await this.#taskOf(id, task.id)
      const from = known?.from ?? replaced
      if (from === undefined || from === version || (known !== undefined && known.moved !== true)) continue
      const error = await this.#reload(id, task.id, from)
      const { moved: _moved, ...kept } = known ?? { rollout: id, task: task.id }
      const next = error === undefined ? kept : { ...kept, moved: true, error }
      await this.#rules.options.store.collection(ROLLOUT_TASKS).put(shadowId(id, task.id), next)
    }
    await this.#end(id, 'rollingBack', 'rolledBack')
  }

  async #reload(id: string, task: string, templateVersion: number): Promise<string | undefined> {
    const action = { action: 'reload', templateVersion, takesDrafts: true } as const
    return (await act(this.#rules, task, action, id, false)).error
  }

  async #end(id: string, from: RolloutRecord['status'], status: RolloutRecord['status']): Promise<void> {
    const finishedTime = this.#rules.options.now()
    await this.change(id, (one) => (one.status === from ? { ...one, status, finishedTime } : undefined))
  }

  /** Follows a change of a task with its shadow; a new task of the template gets one, or is moved. */
  async #renew(task: string): Promise<void> {
    if (this.#isStopped) return
    try {
      const found = (await this.#rules.collections.tasks.get(task))?.value
      const pair = this.#rules.options.runner.shadows.of(task)
      const open = [...this.#open.values()].find(({ template }) => template === found?.template)
      const rollout = pair?.divergence.head.rollout ?? open?.id
      if (rollout === undefined) return
      await this.#lanes.run(rollout, () => this.#follow(rollout, task))
    } catch (error) {
      if (isAway(error)) this.#later(RETRY_MS, () => void this.#renew(task))
      else this.#rules.options.logger?.error(`the shadow of task ${task} was not renewed: ${messageOf(error)}`)
    }
  }

  async #follow(rollout: string, id: string): Promise<void> {
    const record = await this.get(rollout)
    if (record === undefined || (record.status !== 'starting' && record.status !== 'running')) return
    const task = (await this.#rules.collections.tasks.get(id))?.value
    const shadow = shadowId(rollout, id)
    if (task === undefined || task.template !== record.template) await this.pairs.drop(shadow)
    else if (await this.#isOf(record, task, selectorOf(record))) await this.pairs.ensure(record, task)
  }

  /** A task that runs the version by itself has nothing to be compared with. */
  async #isOf(record: RolloutRecord, task: TaskRecord, selects: ReturnType<typeof selectorOf>): Promise<boolean> {
    if ((await this.#taskOf(record.id, task.id)) !== undefined) return true
    return templateVersionOf(task) !== record.version && selects(task)
  }

  #checkSoon({ divergence }: ShadowPair): void {
    const { rollout } = divergence.head
    if (this.#open.get(rollout)?.stop === undefined) return
    if (this.#toCheck.has(rollout) || this.#isStopped) return
    this.#toCheck.add(rollout)
    this.#later(CHECK_MS, () => {
      this.#toCheck.delete(rollout)
      void this.#check(rollout).catch((error: unknown) => {
        if (isAway(error)) this.#later(RETRY_MS, () => this.#checkSoon({ divergence } as ShadowPair))
      })
    })
  }

  async #check(id: string): Promise<void> {
    const { stop } = this.#open.get(id) ?? {}
    const now = this.#rules.options.now()
    const sum = { divergence: 0, errors: 0, alarms: 0 }
    for (const { divergence } of this.#rules.options.runner.shadows.pairs) {
      if (divergence.head.rollout !== id) continue
      const day = divergence.day(now)
      for (const what of KINDS) sum[what] += day[what]
    }
    const reason = reasonToStop(sum, stop)
    if (reason === undefined) return
    const { status } = await this.change(id, (one) =>
      one.status === 'running' || one.status === 'starting'
        ? { ...one, status: one.mode === 'canary' ? 'rollingBack' : 'stopping', reason }
        : undefined,
    )
    if (status !== 'running') await this.drive(id)
  }

  async #taskOf(rollout: string, task: string) {
    return (await this.#rules.options.store.collection(ROLLOUT_TASKS).get(shadowId(rollout, task)))?.value
  }

  async *#tasksOf({ template }: RolloutRecord): AsyncGenerator<TaskRecord> {
    for await (const { value } of walk(this.#rules.collections.tasks, [
      { field: 'template', op: 'eq', value: template },
    ])) {
      yield value
      await machineTimers.breathe()
    }
  }

  get #records() {
    return this.#rules.options.store.collection(ROLLOUTS)
  }

  #openOnes(): Promise<readonly Stored<RolloutRecord>[]> {
    return this.#records.find({ where: [{ field: 'status', op: 'in', values: [...OPEN] }] })
  }

  async #removeOld(template: string): Promise<void> {
    const { store } = this.#rules.options
    const old = await this.#records.find({
      where: [{ field: 'template', op: 'eq', value: template }],
      sort: [{ field: 'createTime', descending: true }],
      offset: MAX_KEPT,
      limit: MAX_KEPT,
    })
    for (const { id, value } of old) {
      if (isOpen(value)) continue
      const mine = [{ field: 'rollout', op: 'eq', value: id }] as const
      for (const spec of [ROLLOUT_TASKS, DIVERGENCES] as const) {
        const collection = store.collection<never>(spec)
        for await (const one of walk(collection, mine)) await collection.delete(one.id)
      }
      await this.#records.delete(id)
    }
  }

  #requireOpen(): void {
    if (this.#isStopped) throw new AppError('CLOSED', 'the host is stopping')
  }

  #later(ms: number, work: () => void): void {
    if (this.#isStopped) return
    const cancel = machineTimers.later(ms, () => {
      this.#timers.delete(cancel)
      work()
    })
    this.#timers.add(cancel)
  }
}

const KINDS = ['divergence', 'errors', 'alarms'] as const
const WORDS = {
  divergence: 'firings of one version only',
  errors: 'failed calls',
  alarms: 'firings that raise alarms',
} as const

function reasonToStop(counts: DayCounts, stop: RolloutRecord['stop'] = {}): string | undefined {
  for (const what of KINDS) {
    const most = stop[what]
    if (most !== undefined && counts[what] > most)
      return `${counts[what]} ${WORDS[what]} within 24 hours, more than ${most}`
  }
  return undefined
}
