/** The rules service: keeps documents in the store and runs in the runner, and writes to the store first. */
import type { Subscription } from 'rxjs'
import { type Caller, isAway, messageOf, type Rights } from '#kernel'
import { JobRunner } from '#jobs'
import { machineTimers } from '#platform'
import { portions } from '#storage'
import { act, batchHandler, preview } from './batches/batch-jobs.ts'
import { batchApi } from './batches/batch-service.ts'
import type { RulesApi, InternalRules } from './contract.ts'
import { inspectionApi } from './inspection/inspection-service.ts'
import { rebind } from './tasks/rebinding.ts'
import type { RunnableTask } from './runner.ts'
import { taskIdsLike } from '#cluster'
import { acrossPartitions, foreignOf } from './partitions/rules-partition.ts'
import type { RulesQuestion } from './partitions/rules-question.ts'
import { runnable } from './tasks/task-maker.ts'
import { listed, taskApi, taskOf } from './tasks/task-service.ts'
import { RunEnds } from './run-ends.ts'
import { TaskEventHistory } from './tasks/task-event-history.ts'
import { templateApi } from './templates/template-service.ts'
import { toolApi } from './tools/tool-service.ts'
import { Rehearsals } from './rehearsals/rehearsals.ts'
import { rolloutApi } from './rollouts/rollout-service.ts'
import { Rollouts } from './rollouts/rollouts.ts'
import { type RulesOptions, TenantRules } from './tenant-rules.ts'

const PORTION = 1000
const AT_ONCE = 3

export function createRulesService(options: RulesOptions): InternalRules {
  return new Rules(options)
}

class Rules implements InternalRules {
  readonly #options: RulesOptions
  readonly #rules: TenantRules
  readonly #history: TaskEventHistory
  readonly #jobs: JobRunner
  readonly #rehearsals: Rehearsals
  readonly #rollouts: Rollouts
  readonly #ends: Subscription
  readonly #runEnds: RunEnds

  constructor(options: RulesOptions) {
    const { tenant, store, runner, now, newId, logger, places: slots } = options
    this.#options = options
    this.#history = new TaskEventHistory(runner.reports, newId().slice(-8), now)
    this.#jobs = new JobRunner({
      tenant,
      store,
      handlers: [batchHandler(() => this.#rules)],
      now,
      newId,
      timers: machineTimers,
      slots,
      logger,
    })
    this.#rules = new TenantRules(options, this.#history, this.#jobs)
    this.#rehearsals = new Rehearsals(this.#rules)
    this.#rollouts = new Rollouts(this.#rules)
    this.#runEnds = new RunEnds({
      store: (run) => this.#rules.changes.noteEnd(run),
      startTimer: machineTimers.later,
      logger,
    })
    this.#ends = runner.reports.ended$.subscribe((run) => this.#runEnds.note(run))
  }

  as(caller: Caller): RulesApi {
    const { partition } = this.#options
    const local = this.#local(caller)
    return partition === undefined ? local : acrossPartitions(local, caller, partition)
  }

  async answer(question: RulesQuestion): Promise<unknown> {
    const rules = this.#rules
    switch (question.ask) {
      case 'api': {
        const api = this.#local(question.caller)[question.api]
        const method = Reflect.get(api, question.method) as (...args: readonly unknown[]) => unknown
        return method(...question.args)
      }
      case 'act':
        return act(rules, question.id, question.action, question.batch, question.isRepeat)
      case 'shown': {
        const { ids, options, withoutGraph } = question
        const found = await rules.collections.tasks.getMany(ids)
        return Promise.all(found.map(({ value }) => listed(rules, value, { ...options, withoutGraph })))
      }
      case 'preview':
        return preview(rules, await taskOf(rules, question.id), question.action)
      case 'deleteInputs':
        return this.#options.runner.past?.deleteResource(question.resource)
      case 'rollout':
        return question.work === 'drive'
          ? this.#rollouts.drive(question.id)
          : this.#rollouts.work(question.id, question.work)
      case 'rebind':
        return rebind(rules, question.resource)
    }
  }

  #local(caller: Caller): RulesApi {
    const [rules, rehearsals, rollouts] = [this.#rules, this.#rehearsals, this.#rollouts]
    // getters, because most requests use only one of these APIs
    return {
      get tasks() {
        return taskApi(rules, caller)
      },
      get templates() {
        return templateApi(rules, caller, rehearsals.ofChange(caller))
      },
      get batches() {
        return batchApi(rules, caller, rehearsals.ofChange(caller))
      },
      get inspection() {
        return inspectionApi(rules)
      },
      get tools() {
        return toolApi(rules, caller)
      },
      get rehearsals() {
        return rehearsals.as(caller)
      },
      get rollouts() {
        return rolloutApi(rules, rollouts, caller)
      },
    }
  }

  async start(closing?: AbortSignal): Promise<void> {
    closing?.addEventListener('abort', () => this.#history.endStreams(), { once: true })
    const isFirst = (this.#options.partition?.number ?? 0) === 0
    await Promise.all([isFirst && this.#rules.sources.tidy(), this.#rehearsals.start()])
    await this.#rollouts.load()
    await this.#resume()
    this.#rollouts.start()
    if (isFirst) await this.#jobs.start()
  }

  async stop(): Promise<void> {
    this.#history.close()
    await this.#rehearsals.stop()
    await this.#rollouts.stop()
    await this.#jobs.stop()
    await this.#rules.changes.idle()
    this.#ends.unsubscribe()
    await this.#runEnds.stop()
  }

  async tasksByStatus(): Promise<Readonly<Record<string, number>>> {
    const all = { running: 0, stopped: 0, failed: 0 }
    if ((this.#options.partition?.number ?? 0) > 0) return all
    return { ...all, ...Object.fromEntries(await this.#rules.collections.tasks.countBy('status')) }
  }

  rightsOf(task: string): Rights | undefined {
    return this.#rules.changes.rights.of(task)
  }

  gauges(): ReturnType<InternalRules['gauges']> {
    return { openBatches: this.#jobs.open, eventStreams: this.#history.readers }
  }

  async rebind(resource: string): Promise<number> {
    const { partition } = this.#options
    if (partition === undefined) return rebind(this.#rules, resource)
    const { count, number } = partition
    const counts = Array.from({ length: count }, async (_, at) =>
      at === number ? rebind(this.#rules, resource) : Number(await partition.ask(at, { ask: 'rebind', resource })),
    )
    return (await Promise.all(counts)).reduce((sum, one) => sum + one, 0)
  }

  async deleteInputs(resource: string): Promise<void> {
    const { partition, runner } = this.#options
    await runner.past?.deleteResource(resource)
    for (let at = 0; at < (partition?.count ?? 0); at++) {
      if (at !== partition?.number) await partition?.ask(at, { ask: 'deleteInputs', resource })
    }
  }

  /** Reads and logs the next portions while the runner resumes the current one. */
  async #resume(): Promise<void> {
    const { collections, maker, changes, options } = this.#rules
    const { number = 0 } = options.partition ?? {}
    const taking: Promise<void>[] = []
    const where = [
      { field: 'status', op: 'eq', value: 'running' },
      ...(number > 0 ? [{ field: 'id', op: 'like', pattern: taskIdsLike(number) } as const] : []),
    ] as const
    for await (const portion of portions(collections.tasks, where, PORTION)) {
      const tasks: RunnableTask[] = []
      for (const { id, value } of portion) {
        if (foreignOf(id, options.partition) !== undefined) continue
        try {
          const parts = maker.parts(value)
          const loaded = parts instanceof Promise ? await parts : parts
          changes.rights.set(id, value.rights)
          tasks.push(runnable(id, value.epoch, value.createTime, loaded))
          const shadow = await this.#rollouts.shadowOf(value)
          if (shadow !== undefined) tasks.push(shadow)
        } catch (error) {
          // the store is unavailable, so the rule has not failed: the start is retried
          if (isAway(error)) throw error
          const run = { id, epoch: value.epoch, status: 'failed', finishedTime: options.now() } as const
          this.#runEnds.note({ ...run, error: messageOf(error) })
        }
      }
      if (taking.length === AT_ONCE) await taking.shift()
      const resumed = options.runner.resume(tasks)
      resumed.catch(() => undefined)
      taking.push(resumed)
    }
    await Promise.all(taking)
  }
}
