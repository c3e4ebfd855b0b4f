/** Defines how a query is stored under its name. */
import { type JsonObject, ownValue } from '#kernel'
import type { CollectionSpec } from '#storage'

export interface QueryRecord {
  readonly name: string
  readonly query: JsonObject
  readonly meta: JsonObject
  readonly created: number
  readonly createdBy: string
  readonly modified: number
  readonly modifiedBy: string
}

const MAX_TEXTS = 1_000

/** Indexed texts of a record, by the key of the filter term. */
export const TEXTS = {
  tag: ({ meta }: QueryRecord) => textsIn([ownValue(meta, 'tags')]),
  resource: ({ query }: QueryRecord) =>
    textsIn(seriesOf(query).flatMap((one) => [ownValue(one, 'resource'), ownValue(one, 'resources')])),
  metric: ({ query }: QueryRecord) => textsIn(seriesOf(query).map((one) => ownValue(one, 'metric'))),
  user: ({ createdBy, modifiedBy }: QueryRecord) => textsIn([createdBy, modifiedBy]),
} as const

export const QUERIES: CollectionSpec<QueryRecord> = {
  name: 'queries',
  version: 1,
  audited: true,
  fields: {
    tags: { type: 'texts', of: TEXTS.tag },
    resources: { type: 'texts', of: TEXTS.resource },
    metrics: { type: 'texts', of: TEXTS.metric },
    users: { type: 'texts', of: TEXTS.user },
  },
}

function seriesOf(query: JsonObject): readonly unknown[] {
  const { data } = query
  return [query, ...(Array.isArray(data) ? (data as unknown[]) : [])]
}

function textsIn(values: readonly unknown[]): readonly string[] {
  return [...new Set(values.flat().filter((value) => typeof value === 'string'))].slice(0, MAX_TEXTS)
}
