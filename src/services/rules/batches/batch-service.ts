/** Queues, tracks and previews operations on many tasks. */
import type { Job, JobQueue } from '#jobs'
import { portionsOfIds } from '#storage'
import { itemResults } from '#services/shared'
import { machineTimers } from '#platform'
import { BATCH_JOB, batchData, type BatchData, entryOf, preview, previewReplacement } from './batch-jobs.ts'
import {
  type BatchAction,
  type BatchOperation,
  BatchRequest,
  type BatchStatus,
  type PluginUpdate,
  type QueuedBatch,
  type TaskAction,
} from './batch-schema.ts'
import type { RulesCollections } from '../collections.ts'
import type { BatchApi } from '../contract.ts'
import { noTaskWithId } from '../error-texts.ts'
import type { PlugRegistry } from '#core'
import { AppError, type Caller, isPlainObject, refuse } from '#kernel'
import { missingVersions } from '../tasks/plug-versions.ts'
import { withResources } from '../tasks/resource-filter.ts'
import { NEWEST_FIRST, taskConditions } from '../tasks/task-conditions.ts'
import { taskOf } from '../tasks/task-service.ts'
import { withLosses } from '../tasks/task-changes.ts'
import type { TagFilter, TaskFilter, TaskPreview } from '../tasks/task-schema.ts'
import { rehearsedReload, type Rehearse } from '../rehearsals/rehearse-change.ts'
import type { TenantRules } from '../tenant-rules.ts'

const MAX_PREVIEWED = 1000
const IDS_AT_ONCE = 10_000
const NAMED_AT_ONCE = 500

export function batchApi(rules: TenantRules, caller: Caller, rehearse: Rehearse): BatchApi {
  const { maker, collections, jobs } = rules
  const queue = async (request: BatchRequest): Promise<QueuedBatch> => {
    const read = readBatch(request, maker.plugs)
    const { ids, missing } = await selected(collections, await withResources(read.where, rules, '/query'))
    const id = rules.options.newId()
    const operation = operationOf(request, read)
    const data: BatchData = { operation, action: withRights(read.action, caller), missing }
    const { queueTime } = await jobs.add({ type: BATCH_JOB, id, user: caller.user, data, items: ids })
    const entity = { id, user: caller.user, queueTime: new Date(queueTime).toISOString(), operation }
    return { statusCode: 202, uri: `/api/batch/${id}`, entity }
  }
  const get = async (id: string): Promise<BatchStatus> => {
    const job = await jobs.get(id)
    if (job?.type !== BATCH_JOB) throw new AppError('NOT_FOUND', `No batch operation with id '${id}'`)
    return statusOf(job, jobs)
  }
  return {
    queue,
    run: async (request) => {
      const { entity } = await queue(request)
      await jobs.finished(entity.id)
      return get(entity.id)
    },
    get,
    preview: async (request) => {
      const read = readBatch(request, maker.plugs)
      const action = withRights(read.action, caller)
      const where = taskConditions(await withResources(read.where, rules, '/query'))
      const [found, total] = await Promise.all([
        collections.tasks.find({ where, sort: NEWEST_FIRST, limit: MAX_PREVIEWED }),
        collections.tasks.count(where),
      ])
      const tasks: TaskPreview[] = []
      for (const { value } of found) {
        tasks.push(await preview(rules, value, action))
        if (tasks.length % 20 === 0) await machineTimers.breathe()
      }
      return { dryRun: true, operation: operationOf(request, read), total, tasks }
    },
    previewReload: async (id, options = {}) => {
      const { rehearse: _span, ...reload } = options
      const task = await taskOf(rules, id)
      const previewed = await preview(rules, task, { action: 'reload', ...reload })
      if (previewed.error !== undefined) return previewed
      return { ...previewed, ...(await rehearsedReload(rules, rehearse, task, options)) }
    },
    previewReplace: async (id, specification) => previewReplacement(rules, await taskOf(rules, id), specification),
    reload: (id, { ifRevision, ...options } = {}) =>
      withLosses(async (onLost) => {
        const { rehearse: _span, ...reload } = options
        const rehearsed = await rehearsedReload(rules, rehearse, await taskOf(rules, id), options)
        const made = await rules.changes.act(id, { action: 'reload', ...reload }, { ifRevision, onLost })
        return { ...(await rules.show.whole(made, { format: 'bn' })), ...rehearsed }
      }),
  }
}

/** Changed properties may read secrets only with the rights of who changes them. */
function withRights(action: TaskAction, { rights }: Caller): TaskAction {
  return action.action === 'updateProperties' && rights !== undefined ? { ...action, rights } : action
}

function operationOf({ query }: BatchRequest, { action }: ReadBatch): BatchOperation {
  return { entity: 'task', action: action.action, description: describeBatch(action.action, query) }
}

async function selected(
  collections: RulesCollections,
  where: TaskFilter,
): Promise<{ readonly ids: readonly string[]; readonly missing: readonly string[] }> {
  if (where.ids === undefined) return { ids: await allIds(collections, where), missing: [] }
  const { ids: requested, ...others } = where
  const ids: string[] = []
  const missing: string[] = []
  for (let from = 0; from < requested.length; from += NAMED_AT_ONCE) {
    const some = requested.slice(from, from + NAMED_AT_ONCE)
    const existing = new Set(
      await collections.tasks.ids({ where: taskConditions({ ids: some }), limit: NAMED_AT_ONCE }),
    )
    const conditions = taskConditions({ ...others, ids: some })
    const fitting =
      conditions.length === 1
        ? existing
        : new Set(await collections.tasks.ids({ where: conditions, limit: NAMED_AT_ONCE }))
    for (const id of some) if (fitting.has(id)) ids.push(id)
    for (const id of some) if (!existing.has(id)) missing.push(id)
    await machineTimers.breathe()
  }
  return { ids, missing }
}

async function allIds(collections: RulesCollections, where: TaskFilter): Promise<readonly string[]> {
  const found: string[] = []
  for await (const portion of portionsOfIds(collections.tasks, taskConditions(where), IDS_AT_ONCE)) {
    found.push(...portion)
    await machineTimers.breathe()
  }
  return found
}

async function statusOf(job: Job, jobs: JobQueue): Promise<BatchStatus> {
  const { id, user = '', queueTime, finishedTime } = job
  const { operation, missing } = batchData(job)
  const head = { id, user, operation, queueTime: new Date(queueTime).toISOString() }
  if (finishedTime === undefined) return head
  const absent = missing.map((task) => [task, entryOf(noTaskWithId(task))] as const)
  const results = await itemResults(absent, jobs.outcomes(job))
  return { ...head, finishedTime: new Date(finishedTime).toISOString(), results }
}

type Fields = Readonly<Record<string, unknown>>
type TagValue = string | number | boolean | readonly (string | number | boolean)[] | null
type Tags = Readonly<Record<string, TagValue>>

interface ReadBatch {
  readonly where: TaskFilter
  readonly action: TaskAction
}

function readBatch(input: unknown, plugs: PlugRegistry): ReadBatch {
  const { action, query, actionParameters = {} } = BatchRequest.read(input)
  return { where: filterOf(query), action: actionOf(action, actionParameters, plugs) }
}

function filterOf({ ids, id, tags = {}, ...others }: Fields): TaskFilter {
  const isTag = ([key]: readonly [string, unknown]): boolean => key.startsWith('tags.')
  const rest: TaskFilter = Object.fromEntries(Object.entries(others).filter((one) => !isTag(one)))
  const named = Object.entries(others as Tags).filter(isTag)
  const tagFilters = [...Object.entries(tags as Tags), ...named.map(([key, value]) => [key.slice(5), value] as const)]
  return {
    ...rest,
    ...(rest.template === 'null' && { template: null }),
    ...((ids !== undefined || id !== undefined) && { ids: [...new Set([...listOf(ids), ...listOf(id)])] }),
    ...(tagFilters.length > 0 && { tags: tagFilters.flatMap(([key, value]) => valuesOf(key, value)) }),
  }
}

function listOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.map(String)
  return typeof value === 'string' ? value.split(',').filter((part) => part !== '') : []
}

/** A tag without a value matches by its key alone. */
function valuesOf(key: string, value: TagValue): readonly TagFilter[] {
  if (value === null || value === '') return [{ key }]
  return [value].flat().map((one) => ({ key, value: String(one) }))
}

function actionOf(action: BatchAction, parameters: Fields, plugs: PlugRegistry): TaskAction {
  switch (action) {
    case 'updatePlugins': {
      const updates = parameters['updates'] as readonly PluginUpdate[]
      const missing = missingVersions(updates, plugs, '/actionParameters/updates')
      if (missing.length > 0) throw refuse('the batch', missing)
      return { action, updates }
    }
    case 'updateProperties':
      return { action, update: parameters }
    case 'reload':
      return { action, ...parameters }
    default:
      return { action }
  }
}

function describeBatch(action: BatchAction, query: Fields): string {
  const parts = Object.entries(query).flatMap(([key, value]) =>
    key === 'tags' && isPlainObject(value)
      ? Object.entries(value).map(([tag, text]) => `tags.${tag}=${textOf(text)}`)
      : [`${key}=${textOf(value)}`],
  )
  const words = `${VERBS[action]}${parts.length === 0 ? '' : ` filtered by ${parts.join(' AND ')}`}`
  return words.length > LONGEST ? `${words.slice(0, LONGEST)} ...` : words
}

const LONGEST = 500
const VERBS: Readonly<Record<BatchAction, string>> = {
  delete: 'Remove tasks',
  stopAndDelete: 'Stop and remove tasks',
  start: 'Start tasks',
  stop: 'Stop tasks',
  restart: 'Restart tasks',
  reload: 'Reload tasks',
  updatePlugins: 'Update plugins of tasks',
  updateProperties: 'Update properties of tasks',
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(',')
  return typeof value === 'string' ? value : JSON.stringify(value)
}
