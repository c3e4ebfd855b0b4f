/**
 * The rules service put together: documents over storage, runs over the runner, everything else injected.
 * Writes go to storage first; the engine learns of them afterwards.
 */
import type { Subscription } from 'rxjs'
import type { Plug } from '../../core/plug/plug.ts'
import type { Ports } from '../../core/ports.ts'
import type { Logger } from '../../kernel/logger.ts'
import { JobRunner } from '../../jobs/job-runner.ts'
import { messageOf } from '../../kernel/errors.ts'
import { machineTimers } from '../../machine/timers.ts'
import type { Storage } from '../../storage/contract.ts'
import { adoptOldBatches, batchHandler } from './batches/batch-jobs.ts'
import { batchApi } from './batches/batch-service.ts'
import { Repositories, type TenantRepositories } from './repositories.ts'
import type { RulesApi, RulesService } from './contract.ts'
import { inspectionApi } from './inspection/inspection-service.ts'
import { KeyedMutex } from '../../kernel/keyed-mutex.ts'
import type { ResourceFinder } from './tasks/resource-filter.ts'
import { rebind } from './tasks/rebinding.ts'
import type { EndedRun, RunnableTask, TaskRunner } from './runner.ts'
import type { AdaptiveListenerOptions } from './tasks/adaptive-listener.ts'
import type { Caller } from '../../kernel/caller.ts'
import { runnable } from './tasks/task-maker.ts'
import { taskApi } from './tasks/task-service.ts'
import { TaskEventHistory } from './tasks/task-event-history.ts'
import { templateApi } from './templates/template-service.ts'
import { templateRunner, toolApi } from './tools/tool-service.ts'
import { TenantRules } from './tenant-rules.ts'

export interface RulesOptions {
  readonly storage: Storage
  readonly runner: TaskRunner
  /** the plugs that rules of a tenant may name; asked once per tenant */
  readonly plugs: (tenant: string) => readonly Plug[]
  /** what runs that store nothing may ask; the runner has its own */
  readonly ports?: (tenant: string) => Ports
  /** epoch ms */
  readonly now: () => number
  /** ids of tasks and batch operations; never the same twice */
  readonly newId: () => string
  readonly logger?: Logger
  /** who answers the filters `resourceType` and `resourceMetadataExpression`; asked at each use. Without, they are refused */
  readonly resources?: () => ResourceFinder | undefined
  /** when events are too many to be told of every task */
  readonly calm?: AdaptiveListenerOptions
  /** told of every template that was made, changed or removed; must not wait */
  readonly templateWritten?: (tenant: string, template: string) => void
}

/** Tasks handed to the runner at once. */
const PORTION = 1000

const nobody = (): undefined => undefined

export function createRulesService(options: RulesOptions): RulesService {
  return new Rules(options)
}

class Rules implements RulesService {
  readonly #options: RulesOptions
  readonly #library: Repositories
  readonly #workshops = new Map<string, TenantRules>()
  readonly #trail: TaskEventHistory
  readonly #jobs: JobRunner
  readonly #templateLanes = new KeyedMutex()
  readonly #ends: Subscription
  readonly #noting = new Set<Promise<void>>()

  constructor(options: RulesOptions) {
    const { storage, runner, now, newId, logger, calm } = options
    this.#options = options
    this.#library = new Repositories(storage)
    this.#trail = new TaskEventHistory(runner.reports, newId().slice(-8), now, calm)
    const handler = batchHandler(
      (tenant) => this.#workshop(tenant).changes,
      (tenant) => this.#library.of(tenant),
    )
    this.#jobs = new JobRunner({ storage, handlers: [handler], now, newId, timers: machineTimers, logger })
    this.#ends = runner.reports.ended$.subscribe((run) => this.#noteEnd(run))
  }

  as(caller: Caller): RulesApi {
    const { runner, now, newId, resources = nobody } = this.#options
    const books = this.#library.of(caller.tenant)
    const { maker, changes, show, forms, around } = this.#workshop(caller.tenant)
    const parts = {
      maker,
      changes,
      show,
      forms,
      newId,
      now,
      resources,
      nodes: runner.nodes,
      trail: this.#trail,
      jobs: (tenant: string) => this.#jobs.queue(tenant),
      runner,
      around,
      lanes: this.#templateLanes,
      run: templateRunner(around),
      templateWritten: this.#options.templateWritten,
      reloadTasks: (of: TenantRepositories, template: string) => this.#reloadTasks(of, caller, template),
    }
    // made when they are asked for: most requests need one of them
    return {
      get tasks() {
        return taskApi(parts, books, caller)
      },
      get templates() {
        return templateApi(parts, books, caller)
      },
      get batches() {
        return batchApi(parts, books, caller)
      },
      get inspection() {
        return inspectionApi(parts, books)
      },
      get tools() {
        return toolApi(parts, books)
      },
    }
  }

  async start(closing?: AbortSignal): Promise<void> {
    closing?.addEventListener('abort', () => this.#trail.endStreams(), { once: true })
    for (const tenant of await this.#library.tenants()) {
      const books = this.#library.of(tenant)
      await this.#workshop(tenant).shelf.tidy(books)
      await this.#resume(books)
      await adoptOldBatches(books.store)
    }
    await this.#jobs.start()
  }

  async stop(): Promise<void> {
    this.#trail.close()
    await this.#jobs.stop()
    await Promise.all([...this.#workshops.values()].map(({ changes }) => changes.idle()))
    this.#ends.unsubscribe()
    await Promise.all(this.#noting)
  }

  async tasksByStatus(): Promise<Readonly<Record<string, number>>> {
    const all: Record<string, number> = { running: 0, stopped: 0, failed: 0 }
    for (const tenant of await this.#library.tenants()) {
      const counts = await this.#library.of(tenant).tasks.countBy('status')
      for (const [status, count] of counts) all[status] = (all[status] ?? 0) + count
    }
    return all
  }

  gauges(): ReturnType<RulesService['gauges']> {
    return { openBatches: this.#jobs.open, eventStreams: this.#trail.readers }
  }

  rebind(tenant: string, resource: string): Promise<number> {
    const { maker, changes, around } = this.#workshop(tenant)
    return rebind({ maker, changes, ports: around.ports }, this.#library.of(tenant), resource)
  }

  /** The next portion is read while the runner takes up the last. */
  async #resume(books: TenantRepositories): Promise<void> {
    const { maker } = this.#workshop(books.tenant)
    let taking: Promise<void> = Promise.resolve()
    for (let afterId: string | undefined; ;) {
      const portion = await books.tasks.find({
        where: [{ field: 'status', op: 'eq', value: 'running' }],
        limit: PORTION,
        ...(afterId !== undefined && { afterId }),
      })
      const tasks: RunnableTask[] = []
      for (const { id, value } of portion) {
        const task = { tenant: books.tenant, id }
        try {
          tasks.push(runnable(task, value.epoch, value.createTime, await maker.parts(books, value)))
        } catch (error) {
          const run = { task, epoch: value.epoch, status: 'failed', finishedTime: this.#options.now() } as const
          this.#noteEnd({ ...run, error: messageOf(error) })
        }
      }
      await taking
      taking = this.#options.runner.resume(tasks)
      // a failure is met by the next await; until then nobody may take it for unhandled
      taking.catch(() => undefined)
      afterId = portion.at(-1)?.id
      if (portion.length < PORTION || afterId === undefined) return taking
    }
  }

  #workshop(tenant: string): TenantRules {
    const known = this.#workshops.get(tenant)
    if (known) return known
    const { plugs, ports, runner, now } = this.#options
    const workshop = new TenantRules({
      plugs: plugs(tenant),
      ports: ports?.(tenant) ?? {},
      runner,
      now,
      removed: (task) => this.#trail.forget(task),
    })
    this.#workshops.set(tenant, workshop)
    return workshop
  }

  async #reloadTasks(books: TenantRepositories, caller: Caller, template: string): Promise<void> {
    await this.as({ ...caller, tenant: books.tenant }).batches.queue({
      entity: 'task',
      action: 'reload',
      query: { template },
    })
  }

  #noteEnd(run: EndedRun): void {
    const books = this.#library.of(run.task.tenant)
    const noting = this.#workshop(run.task.tenant)
      .changes.noteEnd(books, run)
      .catch((error: unknown) => {
        this.#options.logger?.error(`the end of task ${run.task.id} was not stored: ${messageOf(error)}`)
      })
    this.#noting.add(noting)
    void noting.then(() => this.#noting.delete(noting))
  }
}
