/** The rules service: keeps documents in the store and runs in the runner, and writes to the store first. */
import type { Subscription } from 'rxjs'
import { type Caller, isAway, messageOf, type Rights } from '#kernel'
import { JobRunner } from '#jobs'
import { machineTimers } from '#platform'
import { portions } from '#storage'
import { batchHandler } from './batches/batch-jobs.ts'
import { batchApi } from './batches/batch-service.ts'
import type { RulesApi, InternalRules } from './contract.ts'
import { inspectionApi } from './inspection/inspection-service.ts'
import { rebind } from './tasks/rebinding.ts'
import type { RunnableTask } from './runner.ts'
import { runnable } from './tasks/task-maker.ts'
import { taskApi } from './tasks/task-service.ts'
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
    await Promise.all([this.#rules.sources.tidy(), this.#rehearsals.start()])
    await this.#rollouts.load()
    await this.#resume()
    this.#rollouts.start()
    await this.#jobs.start()
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
    return { ...all, ...Object.fromEntries(await this.#rules.collections.tasks.countBy('status')) }
  }

  rightsOf(task: string): Rights | undefined {
    return this.#rules.changes.rights.of(task)
  }

  gauges(): ReturnType<InternalRules['gauges']> {
    return {
      openBatches: this.#jobs.open,
      eventStreams: this.#history.readers,
      failedRehearsals: this.#rehearsals.failed,
    }
  }

  rebind(resource: string): Promise<number> {
    return rebind(this.#rules, resource)
  }

  async deleteInputs(resource: string): Promise<void> {
    await this.#options.runner.past?.deleteResource(resource)
  }

  /** Reads and logs the next portions while the runner resumes the current one. */
  async #resume(): Promise<void> {
    const { collections, maker, changes, options } = this.#rules
    const taking: Promise<void>[] = []
    const where = [{ field: 'status', op: 'eq', value: 'running' }] as const
    for await (const portion of portions(collections.tasks, where, PORTION)) {
      const tasks: RunnableTask[] = []
      for (const { id, value } of portion) {
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
