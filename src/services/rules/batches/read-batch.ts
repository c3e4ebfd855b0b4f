/** A batch request as it is carried out: which tasks it means, and what is done to each. */
import type { PlugRegistry } from '#core'
import { isPlainObject, refuse } from '#kernel'
import { type BatchAction, BatchRequest, type PluginUpdate, type ReadBatch, type TaskAction } from './batch-schema.ts'
import { missingVersions } from '../tasks/plug-versions.ts'
import type { TagFilter, TaskFilter } from '../tasks/task-schema.ts'

type Fields = Readonly<Record<string, unknown>>

/** Throws `VALIDATION` with every problem of the request. */
export function readBatch(input: unknown, plugs: PlugRegistry): ReadBatch {
  const { action, query, actionParameters = {} } = BatchRequest.read(input)
  return { where: filterOf(query), action: actionOf(action, actionParameters, plugs) }
}

function filterOf({ ids, id, tags = {}, ...others }: Fields): TaskFilter {
  const named = Object.entries(others).filter(([key]) => key.startsWith('tags.'))
  const rest = Object.fromEntries(Object.entries(others).filter(([key]) => !key.startsWith('tags.'))) as TaskFilter
  const tagFilters = [...Object.entries(tags as Fields), ...named.map(([key, value]) => [key.slice(5), value] as const)]
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

/** Without a value the key is enough. */
function valuesOf(key: string, value: unknown): readonly TagFilter[] {
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

/** What an operation does, in words: `Remove tasks filtered by type=onetime AND status=stopped`. */
export function describeBatch(action: BatchAction, query: Fields): string {
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
