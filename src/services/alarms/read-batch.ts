/** The body of a batch operation. */
import type { Condition } from '#storage'
import { QueryReader } from '#services/shared'
import type { BatchAction } from './batch-jobs.ts'
import { BodyReader } from './body-reader.ts'
import { changeOf } from './read-change.ts'
import { conditions } from './read-query.ts'

export interface ReadBatch {
  readonly action: BatchAction
  readonly select: { readonly ids: readonly string[] } | { readonly where: readonly Condition[] }
}

const FILTERS = ['type', 'status', 'severity', 'source', 'dateFrom', 'dateTo', 'assignee'] as const
const LISTS: ReadonlySet<string> = new Set(['type', 'status', 'severity', 'source'])
const MAX_IDS = 100_000
const MAX_VALUES = 1000
const WHAT = 'the batch operation'

/** `VALIDATION` with all problems. */
export function readBatch(body: unknown): ReadBatch {
  const reader = BodyReader.of(body, WHAT)
  for (const name of ['entity', 'action', 'query']) reader.require(name)
  const entity = reader.text('entity', 100)
  if (entity !== undefined && entity !== 'alarm') reader.wrong('entity', `invalid entity: ${entity}`, 'it is alarm')
  const action = readAction(reader)
  const select = readSelection(reader)
  reader.done(WHAT)
  return { action, select }
}

function readAction(reader: BodyReader): BatchAction {
  const action = reader.text('action', 100)
  if (action === 'update') {
    reader.require('actionParameters')
    const parameters = reader.inner('actionParameters')
    return { kind: 'update', change: parameters ? changeOf(parameters) : {} }
  }
  if (action !== undefined && action !== 'delete') {
    reader.wrong('action', `invalid action for alarm entity: ${action}`, 'delete or update')
  }
  return { kind: 'delete' }
}

function readSelection(reader: BodyReader): ReadBatch['select'] {
  const query = reader.inner('query')
  if (query === undefined) return { where: [] }
  query.refuseOthers(['ids', ...FILTERS])
  const filters = FILTERS.filter((name) => query.has(name))
  if (query.has('ids')) {
    if (filters.length > 0) query.wrong('ids', `stands beside ${filters.join(', ')}`, 'give ids or filters')
    const ids = query.texts('ids', MAX_IDS) ?? []
    if (ids.length === 0) query.wrong('ids', 'names no alarm', 'give at least one id')
    return { ids: [...new Set(ids)] }
  }
  if (filters.length === 0) query.wrong('', 'selects nothing', `give ids, or at least one of ${FILTERS.join(', ')}`)
  const asked: Record<string, readonly string[]> = {}
  for (const name of filters) {
    const values = LISTS.has(name) ? query.texts(name, MAX_VALUES) : singleValue(query, name)
    if (values?.length === 0) query.wrong(name, 'is an empty list', 'give at least one value')
    if (values) asked[name] = values
  }
  const parameters = new QueryReader(asked)
  const where = conditions(parameters)
  for (const { path, message, suggestion } of parameters.problems) query.wrong(path.slice(1), message, suggestion)
  return { where }
}

function singleValue(query: BodyReader, name: string): readonly string[] | undefined {
  if (name === 'assignee') {
    const text = query.text(name, 500)
    return text === undefined ? undefined : [text]
  }
  const time = query.time(name)
  return time === undefined ? undefined : [String(time)]
}
