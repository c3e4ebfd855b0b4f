/** Filters and paging of listings, read from a query. */
import { DEFAULT_HITS, MAX_HITS, type GraphFormat } from '../shared-schema.ts'
import type { TagFilter, TaskFilter, TaskQuery } from '../tasks/task-schema.ts'
import type { TemplateFilter } from '../templates/template-schema.ts'
import { GRAPH_FORMATS, TASK_STATUSES, TASK_TYPES } from '../words.ts'
import type { QueryReader } from '#services/shared'

export function readTaskFilter(query: QueryReader): TaskFilter {
  const template = query.text('template')
  return {
    ...given('name', query.text('name')),
    ...given('resource', query.text('resource')),
    ...given('resourceType', query.text('resourceType')),
    ...given('resourceMetadataExpression', query.text('resourceMetadataExpression')),
    ...given('type', query.oneOf('type', TASK_TYPES)),
    ...given('status', query.oneOf('status', TASK_STATUSES)),
    ...given('ids', readIds(query)),
    ...given('plugin', query.text('plugin')),
    ...given('template', template === 'null' ? null : template),
    ...given('templateVersion', query.integer('templateVersion', { least: 1 })),
    ...given('user', query.text('user')),
    ...given('finishedBefore', query.time('finishedBefore')),
    ...given('createdAfter', query.time('createdAfter')),
    ...given('createdBefore', query.time('createdBefore')),
    ...given('filter', query.text('filter')),
    ...readTags(query),
  }
}

export function readTemplateFilter(query: QueryReader): TemplateFilter {
  return {
    ...given('filter', query.text('filter')),
    ...given('name', query.text('name')),
    ...given('ids', readIds(query)),
    ...given('plugin', query.text('plugin')),
    ...readTags(query),
  }
}

/** More than the maximum is the maximum. */
export function readPaging(query: QueryReader): Pick<TaskQuery, 'hits' | 'startIndex'> {
  const hits = Math.min(query.integer('hits') ?? DEFAULT_HITS, MAX_HITS)
  return { hits, startIndex: query.integer('startIndex') ?? 0 }
}

export function readFormat(query: QueryReader): GraphFormat | undefined {
  return query.oneOf('format', GRAPH_FORMATS)
}

/** `ids=a,b` and `id=a&id=b`; undefined when neither is given. */
export function readIds(query: QueryReader): readonly string[] | undefined {
  const lists = query.texts('ids')
  const single = query.texts('id')
  if (lists.length === 0 && single.length === 0) return undefined
  const ids = lists.flatMap((list) => list.split(','))
  return [...new Set([...ids, ...single].filter((id) => id !== ''))]
}

/** Names of parameters that ask for a tag. */
export const TAG_PARAMETERS = /^tags\../

/** `tags.x=v`, repeated or without a value; `tags=a,b` asks for one of the keys. */
function readTags(query: QueryReader): Pick<TaskFilter, 'tags' | 'tagKeys'> {
  const lists = query.texts('tags').flatMap((list) => list.split(','))
  const tagKeys = lists.filter((key) => key !== '')
  const named = query.keys.filter((key) => TAG_PARAMETERS.test(key))
  const tags = named.flatMap((name): readonly TagFilter[] => {
    const key = name.slice('tags.'.length)
    return query.texts(name).map((value) => (value === '' ? { key } : { key, value }))
  })
  return { ...(tags.length > 0 && { tags }), ...(tagKeys.length > 0 && { tagKeys }) }
}

function given<K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [P in K]?: V })
}
