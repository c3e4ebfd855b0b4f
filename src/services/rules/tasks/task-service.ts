/** Tasks one by one, and lists of them. */
import type { TaskApi } from '../contract.ts'
import type { TenantCollections } from '../collections.ts'
import { taskNotFound } from '../error-texts.ts'
import type { GraphForms } from './graph-forms.ts'
import { readSpecification } from './read-specification.ts'
import { AppError, type Caller, isPlainObject, type KeyedSharedLock } from '#kernel'
import { partitionOf, taskIdIn } from '#cluster'
import type { NodeControl } from '../runner.ts'
import { foreignOf, shownElsewhere, type RulesPartition } from '../partitions/rules-partition.ts'
import type { GraphFormat } from '../shared-schema.ts'
import { withLosses, type TaskChanges } from './task-changes.ts'
import { NEWEST_FIRST, taskConditions } from './task-conditions.ts'
import { withResources, type ResourceFinder } from './resource-filter.ts'
import { toldOf } from '../templates/post-checks.ts'
import type { TaskMaker } from './task-maker.ts'
import type { TaskRecord } from './task-record.ts'
import type { CreatedTask, ShowOptions, TaskEntity, TaskFilter, TaskSpecification } from './task-schema.ts'
import type { TaskShow } from './task-show.ts'

/** What the parts of the service share. */
export interface TaskDependencies {
  readonly maker: TaskMaker
  readonly changes: TaskChanges
  readonly show: TaskShow
  readonly forms: GraphForms
  readonly nodes: NodeControl
  readonly newId: () => string
  /** by template: exclusive while it is deleted, so that no task is made of what is no more */
  readonly templateLock: KeyedSharedLock
  readonly resources: () => ResourceFinder | undefined
  /** absent: tenants have one */
  readonly partition?: RulesPartition | undefined
}

const BN = { format: 'bn' } as const

export function taskApi(dependencies: TaskDependencies, collections: TenantCollections, caller: Caller): TaskApi {
  const { maker, changes, show, forms, newId, resources, partition } = dependencies
  const conditionsOf = async (where: TaskFilter) =>
    taskConditions(await withResources(where, collections.tenant, resources(), ''))
  const withTemplate = <T>(specification: unknown, work: () => Promise<T>): Promise<T> => {
    const template = isPlainObject(specification) ? specification['template'] : undefined
    if (typeof template !== 'string') return work()
    return dependencies.templateLock.shared(templateLockKey(collections, template), work)
  }
  const askElsewhere = (others: RulesPartition, at: number, method: string, args: readonly unknown[]) =>
    others.ask(collections.tenant, at, { ask: 'api', caller, api: 'tasks', method, args })
  const create: TaskApi['create'] = async (specification, options = {}) => {
    const draft = await maker.make(collections, specification, options)
    const told = toldOf('the task', draft.warnings, options)
    const { resource } = draft.fields.effective
    const at = partition === undefined || resource === undefined ? 0 : partitionOf(resource, partition.count)
    if (partition !== undefined && at !== partition.number) {
      return (await askElsewhere(partition, at, 'create', [specification, options])) as CreatedTask
    }
    const { id } = await changes.create(collections, taskIdIn(newId(), at), caller.user, draft)
    return { ID: id, ...told }
  }
  const replace: TaskApi['replace'] = async (id, specification, options = {}) => {
    const { ifRevision } = options
    const at = partition && foreignOf(id, partition)
    if (partition !== undefined && at !== undefined) {
      return (await askElsewhere(partition, at, 'replace', [id, specification, options])) as TaskEntity
    }
    await taskOf(collections, id)
    const draft = await maker.make(collections, specification, options)
    const warned = toldOf('the task', draft.warnings, options)
    return withLosses(async (told) => ({
      ...(await show.whole(collections, await changes.replace(collections, id, draft, { told, ifRevision }), BN)),
      ...warned,
    }))
  }
  return {
    create: (specification, options) => withTemplate(specification, () => create(specification, options)),
    replace: (id, specification, options) => withTemplate(specification, () => replace(id, specification, options)),
    remove: async (id, { forceStop, ...options } = {}) => {
      await changes.remove(collections, id, { ...options, force: forceStop === true })
    },
    start: async (id, options) => show.whole(collections, await changes.start(collections, id, options), BN),
    stop: async (id, options) => show.whole(collections, await changes.stop(collections, id, options), BN),
    restart: async (id, options) => show.whole(collections, await changes.restart(collections, id, options), BN),
    resync: async (id) => {
      const task = await runningTask(collections, id, 'resync')
      await dependencies.nodes.resync({ tenant: collections.tenant, id })
      return show.whole(collections, task, BN)
    },
    get: async (id, options = BN) => show.whole(collections, await taskOf(collections, id), options),
    conf: async (id, format) => confOf(await taskOf(collections, id), format, maker, forms),
    list: async ({ where, hits, startIndex }, options = BN) => {
      const conditions = await conditionsOf(where)
      const [found, total] = await Promise.all([
        hits === 0
          ? []
          : collections.tasks.find({ where: conditions, sort: NEWEST_FIRST, offset: startIndex, limit: hits }),
        collections.tasks.count(conditions),
      ])
      const { withoutGraph = false, ...shown } = options
      const foreign =
        partition &&
        (await shownElsewhere(
          collections.tenant,
          found.map(({ id }) => id),
          { options: shown, withoutGraph },
          partition,
        ))
      const values = found.map(async ({ id, value }) => foreign?.get(id) ?? listed(show, collections, value, options))
      return { values: await Promise.all(values), skip: startIndex, limit: hits, total }
    },
    count: async (where) => collections.tasks.count(await conditionsOf(where)),
    runs: async (id) => (await taskOf(collections, id)).runs,
  }
}

/** As lists have it. */
export async function listed(
  show: TaskShow,
  collections: TenantCollections,
  task: TaskRecord,
  options: ShowOptions & { readonly withoutGraph?: boolean },
): Promise<TaskEntity> {
  return options.withoutGraph === true
    ? show.withoutGraph(collections, task, options)
    : show.listed(collections, task, options)
}

/** The key of a template's lock. */
export function templateLockKey({ tenant }: TenantCollections, template: string): string {
  return `${tenant}\n${template}`
}

/** One that runs. `NOT_FOUND`, `WRONG_STATUS`. */
export async function runningTask(collections: TenantCollections, id: string, action: string): Promise<TaskRecord> {
  const task = await taskOf(collections, id)
  if (task.status === 'running') return task
  throw new AppError('WRONG_STATUS', `Not possible to ${action}, for the task in status ${task.status}`)
}

/** Throws `NOT_FOUND`. */
export async function taskOf(collections: TenantCollections, id: string): Promise<TaskRecord> {
  const stored = await collections.tasks.get(id)
  if (stored === undefined) throw taskNotFound(id)
  return stored.value
}

/** The body that was posted; a rule in the other form is converted, a request of a template never. */
function confOf(
  task: TaskRecord,
  format: GraphFormat | undefined,
  maker: TaskMaker,
  forms: GraphForms,
): TaskSpecification {
  const posted = task.conf as TaskSpecification
  const isBn = task.form === 'bn' || task.form === 'network'
  if (format === undefined || task.form === 'template' || isBn === (format === 'bn')) return posted
  const read = readSpecification(task.conf, maker.plugs)
  if (read.form === 'template') return posted
  const { task: settings, ...graph } = read.rule
  return { ...forms.of(graph, [], format), ...(settings && { task: settings }) }
}
