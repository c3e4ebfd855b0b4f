/** Starts, shows and ends roll-outs for a caller. */
import { AppError, type Caller, durationMs, type Page, requireScope } from '#kernel'
import { machineTimers } from '#platform'
import { walk } from '#storage'
import { preview } from '../batches/batch-jobs.ts'
import type { RolloutApi } from '../contract.ts'
import { type TaskRecord, templateVersionOf } from '../tasks/task-record.ts'
import type { TaskPreview } from '../tasks/task-schema.ts'
import { changingTemplate, templateOf } from '../templates/read-template.ts'
import { inVersion } from '../templates/template-versions.ts'
import type { TenantRules } from '../tenant-rules.ts'
import { selectorOf } from './cohort.ts'
import { ROLLOUT_TASKS, type RolloutRecord, ROLLOUTS } from './rollout-record.ts'
import { MAX_TASKS, type RolloutPreview, RolloutRequest, type RolloutSummary } from './rollout-schema.ts'
import { shownRollout, summaryOf } from './rollout-show.ts'
import type { Rollouts } from './rollouts.ts'

/** ms after which a response no longer waits for the work of a roll-out */
const PATIENCE_MS = 2_000
const TOLERANCE_MS = 600_000
const MAX_PREVIEWED = 100

export function rolloutApi(rules: TenantRules, rollouts: Rollouts, caller: Caller): RolloutApi {
  const { collections, options } = rules
  const { store, runner, now } = options
  const recordOf = async (template: string, id: string): Promise<RolloutRecord> => {
    const record = await rollouts.get(id)
    if (record?.template === template) return record
    await templateOf(collections, template)
    throw new AppError('NOT_FOUND', `Template ${template} has no roll-out with id ${id}`)
  }
  const shown = async (id: string, template: string) =>
    shownRollout(store, runner.shadows, await recordOf(template, id), now())
  const driven = async (id: string, template: string) => {
    await soon(rollouts.drive(id))
    return shown(id, template)
  }
  return {
    create: async (template, request) => {
      const { version, mode, percent, resources, tolerance, stop, note } = RolloutRequest.read(request)
      if (mode !== 'shadow') requirePublish(caller)
      const id = options.newId()
      await changingTemplate(rules, template, async () => {
        await inVersion(collections, (await templateOf(collections, template)).value, version)
        const open = await rollouts.openOf(template)
        if (open !== undefined) throw isOpenAlready(open)
        const tasks = await count(rules, {
          template,
          version,
          ...(percent !== undefined && { percent }),
          ...(resources && { resources }),
        })
        if (mode !== 'all' && tasks > MAX_TASKS) {
          const right = 'use a smaller percent, or name resources'
          throw new AppError('TOO_LARGE', `the roll-out would have ${tasks} tasks, more than ${MAX_TASKS}; ${right}`)
        }
        await rollouts.add({
          id,
          template,
          version,
          mode,
          status: mode === 'all' ? 'promoting' : 'starting',
          user: caller.user,
          createTime: now(),
          ...(note !== undefined && { note }),
          ...(percent !== undefined && { percent }),
          ...(resources && { resources }),
          tolerance: tolerance === undefined ? TOLERANCE_MS : durationMs(tolerance),
          ...(stop && { stop }),
          ...(mode === 'all' && { by: byOf(caller) }),
        })
      })
      return driven(id, template)
    },
    preview: async (template, request) => {
      const { version, percent, resources } = RolloutRequest.read(request)
      await inVersion(collections, (await templateOf(collections, template)).value, version)
      const selects = selectorOf({ ...(percent !== undefined && { percent }), ...(resources && { resources }) })
      return previewOf(rules, template, (task) =>
        templateVersionOf(task) !== version && selects(task) ? version : undefined,
      )
    },
    list: async (template, { hits, startIndex }): Promise<Page<RolloutSummary>> => {
      const where = [{ field: 'template', op: 'eq', value: template }] as const
      const records = store.collection(ROLLOUTS)
      const total = await records.count(where)
      if (total === 0) await templateOf(collections, template)
      const sort = [{ field: 'createTime', descending: true }]
      const found = hits === 0 ? [] : await records.find({ where, sort, offset: startIndex, limit: hits })
      const values = await Promise.all(found.map(({ value }) => summaryOf(store, value)))
      return { values, skip: startIndex, limit: hits, total }
    },
    get: (template, id) => shown(id, template),
    promote: async (template, id) => {
      requirePublish(caller)
      await recordOf(template, id)
      await rollouts.change(id, (record) => {
        if (record.status === 'promoting') return undefined
        if (record.status !== 'running' && record.status !== 'starting') throw notPossible('promote', record)
        return { ...record, status: 'promoting', by: byOf(caller) }
      })
      return driven(id, template)
    },
    rollback: async (template, id) => {
      const { mode, status: before } = await recordOf(template, id)
      if (mode !== 'shadow' || before === 'promoting' || before === 'promoted') requirePublish(caller)
      const isLatest = async (): Promise<void> => {
        const open = await rollouts.openOf(template)
        if (open !== undefined && open.id !== id) throw isOpenAlready(open)
      }
      await changingTemplate(rules, template, async () => {
        await isLatest()
        await rollouts.change(id, (record) => {
          const { status } = record
          if (status === 'rollingBack') return undefined
          if (status !== 'running' && status !== 'starting' && status !== 'promoting' && status !== 'promoted')
            throw notPossible('roll back', record)
          if (mode === 'shadow' && status !== before) requirePublish(caller)
          const { finishedTime: _time, ...kept } = record
          return { ...kept, status: 'rollingBack', by: byOf(caller) }
        })
      })
      return driven(id, template)
    },
    previewPromote: async (template, id) => {
      const { version } = await recordOf(template, id)
      return previewOf(rules, template, (task) => (templateVersionOf(task) === version ? undefined : version))
    },
    previewRollback: async (template, id) => {
      const { version, replaced } = await recordOf(template, id)
      const from = new Map<string, number | undefined>()
      for await (const { value } of walk(store.collection(ROLLOUT_TASKS), [{ field: 'rollout', op: 'eq', value: id }]))
        if (value.moved === true) from.set(value.task, value.from)
      return previewOf(rules, template, (task) =>
        templateVersionOf(task) === version ? (from.get(task.id) ?? replaced) : undefined,
      )
    },
  }
}

function byOf({ user, rights }: Caller): NonNullable<RolloutRecord['by']> {
  return { user, ...(rights && { rights }) }
}

function requirePublish({ rights }: Caller): void {
  if (rights !== undefined) requireScope(rights, 'publish')
}

function isOpenAlready({ id, template, mode, status }: RolloutRecord): AppError {
  const path = `/api/templates/${encodeURIComponent(template)}/rollouts/${id}`
  const text = `Template ${template} already has a roll-out, the ${mode} ${id} in status ${status}`
  return new AppError('CONFLICT', `${text}; promote it or roll it back first: POST ${path}/promote or /rollback`)
}

function notPossible(action: string, { id, status }: RolloutRecord): AppError {
  return new AppError('WRONG_STATUS', `Not possible to ${action} roll-out ${id} in status ${status}`)
}

type Selection = Pick<RolloutRecord, 'template' | 'version' | 'percent' | 'resources'>

async function count({ collections }: TenantRules, selection: Selection): Promise<number> {
  const where = [{ field: 'template', op: 'eq', value: selection.template }] as const
  const all = await collections.tasks.count(where)
  if (all <= MAX_TASKS) return 0
  const selects = selectorOf(selection)
  let found = 0
  for await (const { value } of walk(collections.tasks, where)) {
    if (templateVersionOf(value) !== selection.version && selects(value)) found++
  }
  return found
}

/** `to`: the version to which a task would move; undefined: it stays. */
async function previewOf(
  rules: TenantRules,
  template: string,
  to: (task: TaskRecord) => number | undefined,
): Promise<RolloutPreview> {
  const tasks: TaskPreview[] = []
  let total = 0
  for await (const { value } of walk(rules.collections.tasks, [{ field: 'template', op: 'eq', value: template }])) {
    const templateVersion = to(value)
    if (templateVersion === undefined || ++total > MAX_PREVIEWED) continue
    const action = { action: 'reload', templateVersion, takesDrafts: true } as const
    tasks.push(await preview(rules, value, action))
    await machineTimers.breathe()
  }
  return { dryRun: true, total, tasks }
}

/** Waits for work, at most for `PATIENCE_MS`. A failure is retried, and does not concern the caller. */
async function soon(work: Promise<void>): Promise<void> {
  let cancel: () => void = () => undefined
  const late = new Promise<void>((resolve) => (cancel = machineTimers.later(PATIENCE_MS, resolve)))
  await Promise.race([work.catch(() => undefined), late])
  cancel()
}
