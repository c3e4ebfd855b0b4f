/**
 * The rules service put together: documents over storage, runs over the runner, everything else injected.
 * Writes go to storage first; the engine learns of them afterwards.
 */
import type { Subscription } from 'rxjs'
import type { Plug, Ports } from '#core'
import { type Caller, isAway, KeyedMutex, KeyedSharedLock, type Logger, messageOf } from '#kernel'
import { JobRunner } from '#jobs'
import { machineTimers } from '#platform'
import { portions, type Storage } from '#storage'
import { batchHandler } from './batches/batch-jobs.ts'
import { batchApi } from './batches/batch-service.ts'
import { CollectionsByTenant, type TenantCollections } from './collections.ts'
import type { RulesApi, OperatedRules } from './contract.ts'
import { inspectionApi } from './inspection/inspection-service.ts'
import type { ResourceFinder } from './tasks/resource-filter.ts'
import { rebind } from './tasks/rebinding.ts'
import type { EndedRun, RunnableTask, TaskRunner } from './runner.ts'
import { taskIdsLike } from '#cluster'
import { act, preview } from './batches/task-action.ts'
import { acrossPartitions, foreignOf, type RulesPartition } from './partitions/rules-partition.ts'
import type { RulesQuestion } from './partitions/rules-question.ts'
import type { PushElsewhere } from './tools/data-push.ts'
import { runnable } from './tasks/task-maker.ts'
import { listed, taskApi, taskOf } from './tasks/task-service.ts'
import { RunEnds } from './run-ends.ts'
import { TaskEventHistory } from './tasks/task-event-history.ts'
import { templateApi } from './templates/template-service.ts'
import type { RunsElsewhere } from './tools/direct-runs.ts'
import { toolApi } from './tools/tool-service.ts'
import { TenantRules } from './tenant-rules.ts'

export interface RulesOptions {
  readonly storage: Storage
  readonly runner: TaskRunner
  /** the plugs that rules of a tenant may name; the same list until they are others */
  readonly plugs: (tenant: string) => readonly Plug[]
  /** the same plugs for runs that store nothing, which can wait where tasks must not. Default: those of `plugs` */
  readonly directPlugs?: (tenant: string) => readonly Plug[]
  /** where long runs that store nothing are done; default: here */
  readonly elsewhere?: (tenant: string) => RunsElsewhere
  /** what runs that store nothing may ask; the runner has its own */
  readonly ports?: (tenant: string) => Ports
  /** epoch ms */
  readonly now: () => number
  /** ids of tasks and batch operations; never the same twice */
  readonly newId: () => string
  readonly logger?: Logger
  /** which of several partitions of its tenants it has; absent: tenants have one */
  readonly partition?: RulesPartition | undefined
  /** who answers the filters `resourceType` and `resourceMetadataExpression`; asked at each use. Without, they are refused */
  readonly resources?: () => ResourceFinder | undefined
  /** told of every template that was made, changed or removed; must not wait */
  readonly templateWritten?: (tenant: string, template: string) => void
}

/** Tasks handed to the runner at once. */
const PORTION = 1000
/** portions on their way to the runner */
const AT_ONCE = 3

const nobody = (): undefined => undefined

export function createRulesService(options: RulesOptions): OperatedRules {
  return new Rules(options)
}

class Rules implements OperatedRules {
  readonly #options: RulesOptions
  readonly #collectionsByTenant: CollectionsByTenant
  readonly #tenantRulesByName = new Map<string, TenantRules>()
  readonly #history: TaskEventHistory
  readonly #jobs: JobRunner
  readonly #templateLanes = new KeyedMutex()
  readonly #templateLock = new KeyedSharedLock()
  readonly #ends: Subscription
  readonly #runEnds: RunEnds

  constructor(options: RulesOptions) {
    const { storage, runner, now, newId, logger } = options
    this.#options = options
    this.#collectionsByTenant = new CollectionsByTenant(storage)
    this.#history = new TaskEventHistory(runner.reports, newId().slice(-8), now)
    const handler = batchHandler(
      (tenant) => this.#tenantRules(tenant).changes,
      (tenant) => this.#collectionsByTenant.of(tenant),
      options.partition,
    )
    this.#jobs = new JobRunner({ storage, handlers: [handler], now, newId, timers: machineTimers, logger })
    const store = (run: EndedRun): Promise<void> => {
      const { tenant } = run.task
      return this.#tenantRules(tenant).changes.noteEnd(this.#collectionsByTenant.of(tenant), run)
    }
    this.#runEnds = new RunEnds({ store, startTimer: machineTimers.later, logger })
    this.#ends = runner.reports.ended$.subscribe((run) => this.#runEnds.note(run))
  }

  as(caller: Caller): RulesApi {
    const { partition } = this.#options
    const own = this.#own(caller)
    return partition === undefined ? own : acrossPartitions(own, caller, partition)
  }

  async answer(tenant: string, question: RulesQuestion): Promise<unknown> {
    const collections = this.#collectionsByTenant.of(tenant)
    const { changes, show } = this.#tenantRules(tenant)
    switch (question.ask) {
      case 'api': {
        const api = this.#own(question.caller)[question.api]
        const method = Reflect.get(api, question.method) as (...given: readonly unknown[]) => unknown
        return method(...question.args)
      }
      case 'act':
        return act(changes, collections, question.id, question.action, question.batch, question.isRepeat)
      case 'shown': {
        const { ids, options, withoutGraph } = question
        const found = await collections.tasks.getMany(ids)
        return Promise.all(found.map(({ value }) => listed(show, collections, value, { ...options, withoutGraph })))
      }
      case 'preview':
        return preview(changes, show, collections, await taskOf(collections, question.id), question.action)
      case 'rebind':
        return this.#rebind(tenant, question.resource)
    }
  }

  #own(caller: Caller): RulesApi {
    const { runner, now, newId, resources = nobody, partition } = this.#options
    const collections = this.#collectionsByTenant.of(caller.tenant)
    const { maker, changes, show, forms, context, direct } = this.#tenantRules(caller.tenant)
    const parts = {
      maker,
      changes,
      show,
      forms,
      newId,
      now,
      resources,
      partition,
      pushElsewhere: partition && this.#pushElsewhere(caller, partition),
      nodes: runner.nodes,
      history: this.#history,
      jobs: (tenant: string) => this.#jobs.queue(tenant),
      runner,
      context,
      direct,
      lanes: this.#templateLanes,
      templateLock: this.#templateLock,
      templateWritten: this.#options.templateWritten,
      reloadTasks: (of: TenantCollections, template: string) => this.#reloadTasks(of, caller, template),
    }
    // made when they are asked for: most requests need one of them
    return {
      get tasks() {
        return taskApi(parts, collections, caller)
      },
      get templates() {
        return templateApi(parts, collections, caller)
      },
      get batches() {
        return batchApi(parts, collections, caller)
      },
      get inspection() {
        return inspectionApi(parts, collections)
      },
      get tools() {
        return toolApi(parts, collections)
      },
    }
  }

  async start(closing?: AbortSignal): Promise<void> {
    closing?.addEventListener('abort', () => this.#history.endStreams(), { once: true })
    // what one does for all partitions of a tenant
    const isFirst = (this.#options.partition?.number ?? 0) === 0
    for (const tenant of await this.#collectionsByTenant.tenants()) {
      const collections = this.#collectionsByTenant.of(tenant)
      if (isFirst) await this.#tenantRules(tenant).sources.tidy(collections)
      await this.#resume(collections)
    }
    if (isFirst) await this.#jobs.start()
  }

  async stop(): Promise<void> {
    this.#history.close()
    await this.#jobs.stop()
    await Promise.all([...this.#tenantRulesByName.values()].map(({ changes }) => changes.idle()))
    this.#ends.unsubscribe()
    await this.#runEnds.stop()
  }

  async tasksByStatus(): Promise<Readonly<Record<string, number>>> {
    const all: Record<string, number> = { running: 0, stopped: 0, failed: 0 }
    // those of all partitions are counted once
    if ((this.#options.partition?.number ?? 0) > 0) return all
    for (const tenant of await this.#collectionsByTenant.tenants()) {
      const counts = await this.#collectionsByTenant.of(tenant).tasks.countBy('status')
      for (const [status, count] of counts) all[status] = (all[status] ?? 0) + count
    }
    return all
  }

  gauges(): ReturnType<OperatedRules['gauges']> {
    return { openBatches: this.#jobs.open, eventStreams: this.#history.readers }
  }

  async rebind(tenant: string, resource: string): Promise<number> {
    const { partition } = this.#options
    if (partition === undefined) return this.#rebind(tenant, resource)
    const { count, number } = partition
    const counts = Array.from({ length: count }, async (_, at) =>
      at === number
        ? this.#rebind(tenant, resource)
        : Number(await partition.ask(tenant, at, { ask: 'rebind', resource })),
    )
    return (await Promise.all(counts)).reduce((sum, one) => sum + one, 0)
  }

  #rebind(tenant: string, resource: string): Promise<number> {
    const { maker, changes, context } = this.#tenantRules(tenant)
    const parts = { maker, changes, ports: context.ports, isHere: (id: string) => this.#isHere(id) }
    return rebind(parts, this.#collectionsByTenant.of(tenant), resource)
  }

  #isHere(id: string): boolean {
    const { partition } = this.#options
    return partition === undefined || foreignOf(id, partition) === undefined
  }

  #pushElsewhere(caller: Caller, partition: RulesPartition): PushElsewhere {
    return (id, node, state) => {
      const at = foreignOf(id, partition)
      const push = { ask: 'api', caller, api: 'inspection', method: 'push', args: [id, node, { state }] } as const
      return at === undefined ? undefined : partition.ask(caller.tenant, at, push)
    }
  }

  /** The next portions are read and logged while the runner takes up the last. */
  async #resume(collections: TenantCollections): Promise<void> {
    const { maker } = this.#tenantRules(collections.tenant)
    const { number = 0 } = this.#options.partition ?? {}
    const taking: Promise<void>[] = []
    const where = [
      { field: 'status', op: 'eq', value: 'running' },
      ...(number > 0 ? [{ field: 'id', op: 'like', pattern: taskIdsLike(number) } as const] : []),
    ] as const
    for await (const portion of portions(collections.tasks, where, PORTION)) {
      const tasks: RunnableTask[] = []
      for (const { id, value } of portion) {
        if (!this.#isHere(id)) continue
        const task = { tenant: collections.tenant, id }
        try {
          const parts = maker.parts(collections, value)
          const own = parts instanceof Promise ? await parts : parts
          tasks.push(runnable(task, value.epoch, value.createTime, own))
        } catch (error) {
          // no rule is to blame: whoever starts this tries again
          if (isAway(error)) throw error
          const run = { task, epoch: value.epoch, status: 'failed', finishedTime: this.#options.now() } as const
          this.#runEnds.note({ ...run, error: messageOf(error) })
        }
      }
      if (taking.length === AT_ONCE) await taking.shift()
      const resumed = this.#options.runner.resume(tasks)
      // a failure is met by a later await; until then nobody may take it for unhandled
      resumed.catch(() => undefined)
      taking.push(resumed)
    }
    await Promise.all(taking)
  }

  #tenantRules(tenant: string): TenantRules {
    const known = this.#tenantRulesByName.get(tenant)
    if (known) return known
    const { plugs, directPlugs = plugs, elsewhere, ports, runner, now } = this.#options
    const tenantRules = new TenantRules({
      plugs: () => plugs(tenant),
      directPlugs: () => directPlugs(tenant),
      elsewhere: elsewhere?.(tenant),
      ports: ports?.(tenant) ?? {},
      runner,
      now,
      removed: (task) => this.#history.forget(task),
    })
    this.#tenantRulesByName.set(tenant, tenantRules)
    return tenantRules
  }

  async #reloadTasks(collections: TenantCollections, caller: Caller, template: string): Promise<void> {
    await this.as({ ...caller, tenant: collections.tenant }).batches.queue({
      entity: 'task',
      action: 'reload',
      query: { template },
    })
  }
}
