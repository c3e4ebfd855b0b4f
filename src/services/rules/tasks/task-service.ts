/** Reads and changes single tasks, and lists tasks. */
import type { TaskApi } from '../contract.ts'
import { taskNotFound } from '../error-texts.ts'
import { readSpecification } from './read-specification.ts'
import { AppError, type Caller, isPlainObject } from '#kernel'
import type { TenantRules } from '../tenant-rules.ts'
import type { GraphFormat } from '../shared-schema.ts'
import { withLosses } from './task-changes.ts'
import { NEWEST_FIRST, taskConditions } from './task-conditions.ts'
import { withResources } from './resource-filter.ts'
import { warningsOf } from '../templates/post-checks.ts'
import { previewRestore } from '../batches/batch-jobs.ts'
import { documentChanges } from '../document-changes.ts'
import type { TaskRecord } from './task-record.ts'
import { listTaskVersions, shownMark, taskInVersion, taskVersionOf } from './task-versions.ts'
import type { ShowOptions, TaskEntity, TaskFilter, TaskSpecification } from './task-schema.ts'

const BN = { format: 'bn' } as const

export function taskApi(rules: TenantRules, caller: Caller): TaskApi {
  const { collections, maker, changes, show } = rules
  const { newId } = rules.options
  const conditionsOf = async (where: TaskFilter) => taskConditions(await withResources(where, rules, ''))
  const withTemplate = <T>(specification: unknown, work: () => Promise<T>): Promise<T> => {
    const template = isPlainObject(specification) ? specification['template'] : undefined
    return typeof template === 'string' ? rules.templateLock.shared(template, work) : work()
  }
  const create: TaskApi['create'] = async (specification, options = {}) => {
    const draft = await maker.make(specification, options, caller.rights)
    const warned = warningsOf('the task', draft.warnings, options)
    const { id } = await changes.create(newId(), { user: caller.user, note: options.note }, draft)
    return { ID: id, ...warned }
  }
  const replace: TaskApi['replace'] = async (id, specification, options = {}) => {
    const { ifRevision, note } = options
    await taskOf(rules, id)
    const draft = await maker.make(specification, options, caller.rights)
    const warned = warningsOf('the task', draft.warnings, options)
    return withLosses(async (onLost) => ({
      ...(await show.whole(
        await changes.replace(id, draft, { onLost, ifRevision, by: { user: caller.user, note } }),
        BN,
      )),
      ...warned,
    }))
  }
  return {
    create: (specification, options) => withTemplate(specification, () => create(specification, options)),
    replace: (id, specification, options) => withTemplate(specification, () => replace(id, specification, options)),
    remove: async (id, { forceStop, ...options } = {}) => {
      await changes.act(id, { action: forceStop === true ? 'stopAndDelete' : 'delete' }, options)
    },
    start: async (id, options) => show.whole(await changes.act(id, { action: 'start' }, options), BN),
    stop: async (id, options) => show.whole(await changes.act(id, { action: 'stop' }, options), BN),
    restart: async (id, options) => show.whole(await changes.act(id, { action: 'restart' }, options), BN),
    resync: async (id) => {
      const task = await runningTask(rules, id, 'resync')
      await rules.options.runner.nodes.resync(id)
      return show.whole(task, BN)
    },
    get: async (id, options = BN) => show.whole(await taskOf(rules, id), options),
    conf: async (id, format) => specificationOf(await taskOf(rules, id), format, rules),
    list: async ({ where, hits, startIndex }, options = BN) => {
      const conditions = await conditionsOf(where)
      const [found, total] = await Promise.all([
        hits === 0
          ? []
          : collections.tasks.find({ where: conditions, sort: NEWEST_FIRST, offset: startIndex, limit: hits }),
        collections.tasks.count(conditions),
      ])
      const values = found.map(({ value }) => listed(rules, value, options))
      return { values: await Promise.all(values), skip: startIndex, limit: hits, total }
    },
    count: async (where) => collections.tasks.count(await conditionsOf(where)),
    runs: async (id) => (await taskOf(rules, id)).runs,
    versions: async (id, page) => listTaskVersions(collections, await taskOf(rules, id), page),
    version: async (id, number, against) => {
      const task = await taskOf(rules, id)
      const found = await taskInVersion(collections, task, number)
      const other = against ?? number - 1
      const before = other < 1 ? undefined : await taskInVersion(collections, task, other).catch(withoutIt(against))
      const document = async (one: TaskRecord) => ({ ...(await show.rule(one)), settings: one.effective })
      const rule = await document(found)
      return {
        ...shownMark(taskVersionOf(found)),
        rule,
        ...(before && { against: other }),
        changes: before === undefined ? [] : documentChanges(await document(before), rule),
        restoring: await previewRestore(rules, task, found),
      }
    },
    restore: async (id, number, { ifRevision, note = `restores version ${number}` } = {}) => {
      const draft = maker.restored(await taskInVersion(collections, await taskOf(rules, id), number), caller.rights)
      const by = { user: caller.user, note }
      return withLosses(async (onLost) => show.whole(await changes.replace(id, draft, { onLost, ifRevision, by }), BN))
    },
  }
}

/** An older version than the kept ones is only missing if it was asked for. */
function withoutIt(against: number | undefined) {
  return (error: unknown): undefined => {
    if (against !== undefined || !(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error
    return undefined
  }
}

async function listed(
  { show }: TenantRules,
  task: TaskRecord,
  options: ShowOptions & { readonly withoutGraph?: boolean },
): Promise<TaskEntity> {
  return options.withoutGraph === true ? show.withoutGraph(task, options) : show.listed(task, options)
}

export async function runningTask(rules: TenantRules, id: string, action: string): Promise<TaskRecord> {
  const task = await taskOf(rules, id)
  if (task.status === 'running') return task
  throw new AppError('WRONG_STATUS', `Not possible to ${action}, for the task in status ${task.status}`)
}

export async function taskOf({ collections }: TenantRules, id: string): Promise<TaskRecord> {
  const stored = await collections.tasks.get(id)
  if (stored === undefined) throw taskNotFound(id)
  return stored.value
}

/** Returns the posted body. A rule is converted to the requested form; a body that names a template is not. */
function specificationOf(
  task: TaskRecord,
  format: GraphFormat | undefined,
  { maker, forms }: TenantRules,
): TaskSpecification {
  const posted = task.conf as TaskSpecification
  const isBn = task.form === 'bn' || task.form === 'network'
  if (format === undefined || task.form === 'template' || isBn === (format === 'bn')) return posted
  const read = readSpecification(task.conf, maker.plugs)
  if (read.form === 'template') return posted
  const { task: settings, ...graph } = read.rule
  return { ...forms.of(graph, [], format), ...(settings && { task: settings }) }
}
