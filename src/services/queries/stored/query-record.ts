/** A stored query as a document, by its name. */
import { type Json, type JsonObject, ownValue } from '#kernel'
import type { CollectionSpec } from '#storage'

export interface QueryRecord {
  readonly name: string
  readonly query: JsonObject
  readonly meta: JsonObject
  /** epoch ms */
  readonly created: number
  /** of the caller */
  readonly createdBy: string
  readonly modified: number
  readonly modifiedBy: string
}

/** texts of one field that can be searched by */
const MAX_TEXTS = 1_000

export const QUERIES: CollectionSpec<QueryRecord> = {
  name: 'queries',
  version: 1,
  fields: {
    tags: { type: 'texts', of: ({ meta }) => tagsOf(meta) },
    resources: { type: 'texts', of: ({ query }) => named(query, 'resource') },
    metrics: { type: 'texts', of: ({ query }) => named(query, 'metric') },
    users: { type: 'texts', of: ({ createdBy, modifiedBy }) => [...new Set([createdBy, modifiedBy])] },
  },
}

export function tagsOf(meta: JsonObject): readonly string[] {
  const { tags } = meta
  return Array.isArray(tags) ? [...new Set(tags.filter((tag) => typeof tag === 'string'))] : []
}

/** What the query names as its default, or in a series. */
export function named(query: JsonObject, member: 'resource' | 'metric'): readonly string[] {
  const { data } = query
  const series: readonly Json[] = Array.isArray(data) ? data : []
  const values = [query, ...series].flatMap((one) => {
    const own = ownValue(one, member)
    const list = member === 'resource' ? ownValue(one, 'resources') : undefined
    return [own, ...(Array.isArray(list) ? (list as unknown[]) : [])]
  })
  return [...new Set(values.filter((value) => typeof value === 'string'))].slice(0, MAX_TEXTS)
}
