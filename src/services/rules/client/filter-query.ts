/** Filters of listings as a query. */
import type { TagFilter, TaskFilter } from '../tasks/task-schema.ts'
import type { TemplateFilter } from '../templates/template-schema.ts'
import type { QueryValue } from '#services/shared/client'

export function filterQuery(where: TaskFilter | TemplateFilter): Readonly<Record<string, QueryValue>> {
  const { tags = [], tagKeys, ids, ...others } = where
  const query: Record<string, QueryValue> = {}
  for (const [name, value] of Object.entries(others)) {
    query[name] = value === null ? 'null' : (value as string | number | undefined)
  }
  if (ids) query['id'] = ids.length === 0 ? [''] : ids
  if (tagKeys) query['tags'] = tagKeys.join(',')
  for (const [key, values] of byKey(tags)) query[`tags.${key}`] = values
  return query
}

function byKey(tags: readonly TagFilter[]): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>()
  for (const { key, value = '' } of tags) values.set(key, [...(values.get(key) ?? []), value])
  return values
}
