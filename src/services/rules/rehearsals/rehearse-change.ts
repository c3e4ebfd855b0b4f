/** Rehearses a change of a template or task against its live version, before it is made. */
import type { TaskSettings, Template } from '#core'
import { makeIssue, refuse } from '#kernel'
import type { TaskRecord } from '../tasks/task-record.ts'
import type { ReloadOptions } from '../tasks/task-schema.ts'
import type { TenantRules } from '../tenant-rules.ts'
import type { QueuedRehearsal, Rehearsal, RehearsalRequest } from './rehearsal-schema.ts'

/** Runs a rehearsal, which is listed under `task` if given. */
export type Rehearse = (request: RehearsalRequest, task?: string) => Promise<Rehearsal | QueuedRehearsal>

export interface ChangeRehearsal {
  readonly rehearsal?: Rehearsal | QueuedRehearsal
}

const MAX_TASKS = 1_000

/** `span`: duration before now. Compares with the tasks of the template that most have the same settings. */
export async function rehearsedTemplate(
  { collections }: TenantRules,
  rehearse: Rehearse,
  document: Template,
  span: string | undefined,
): Promise<ChangeRehearsal> {
  if (span === undefined) return {}
  const { name } = document
  const where = [{ field: 'template', op: 'eq', value: name }] as const
  const found = await collections.tasks.find({ where, limit: MAX_TASKS })
  const alike = new Map<string, TaskRecord[]>()
  for (const { value } of found) {
    const key = JSON.stringify([value.source, sharedSettings(value)])
    alike.set(key, [...(alike.get(key) ?? []), value])
  }
  const [most = []] = [...alike.values()].toSorted((a, b) => b.length - a.length)
  const [task] = most
  if (task === undefined) {
    const suggestion = 'omit rehearse, or rehearse for other resources with POST /api/rehearsals'
    throw refuse('the rehearsal', [makeIssue('RESOURCE', '/rehearse', `template ${name} has no tasks`, suggestion)])
  }
  const resources = [...new Set(most.flatMap(({ settings }) => settings.resource ?? []))]
  return {
    rehearsal: await rehearse({ ...changeOf(task, document, span), ...(resources.length > 0 && { resources }) }),
  }
}

export async function rehearsedReload(
  { maker }: TenantRules,
  rehearse: Rehearse,
  task: TaskRecord,
  { rehearse: span, ...options }: ReloadOptions,
): Promise<ChangeRehearsal> {
  if (span === undefined) return {}
  const { source, fields } = await maker.updated(task, { action: 'reload', ...options })
  const document = source?.document ?? fields.rule ?? {}
  return { rehearsal: await rehearse(changeOf(task, document, span), task.id) }
}

function changeOf(
  { id, settings }: TaskRecord,
  rule: NonNullable<RehearsalRequest['rule']>,
  span: string,
): RehearsalRequest {
  return { rule, settings, compareWith: { task: id }, source: { from: `-${span}` } }
}

function sharedSettings({ settings }: TaskRecord): TaskSettings {
  const { name: _name, resource: _resource, tags: _tags, ...shared } = settings
  return shared
}
