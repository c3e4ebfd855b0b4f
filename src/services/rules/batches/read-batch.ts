/** A batch request read and checked: all of its problems at once. */
import { checkShape, NodeOverrideSchema, readDocument, Report } from '#core/spi'
import type { PlugRegistry } from '#core'
import { type AppError, at, isPlainObject, makeIssue, refuse } from '#kernel'
import {
  BatchQuerySchema,
  ReloadSchema,
  UpdatePluginsSchema,
  UpdatePropertiesSchema,
  type PluginUpdate,
  type PropertiesUpdate,
  type ReadBatch,
  type TaskAction,
} from './batch-schema.ts'
import { unknownAction } from '../error-texts.ts'
import { missingVersions } from '../tasks/plug-versions.ts'
import type { TaskFilter } from '../tasks/task-schema.ts'
import { BATCH_ACTIONS, type BatchAction } from '../words.ts'

/** Ids that one operation may name. */
const MAX_IDS = 10_000

/** Throws `VALIDATION` with every problem of the request. */
export function readBatch(input: unknown, plugs: PlugRegistry): ReadBatch {
  const report = new Report()
  if (!isPlainObject(input)) throw notAnObject(input)
  const request = readDocument(input, report)
  if (request === undefined) throw refuse('the batch', report.issues)
  if (request['entity'] !== 'task') {
    report.error('TYPE', '/entity', `unknown entity ${JSON.stringify(request['entity'])}`, 'write "entity": "task"')
  }
  const where = readQuery(request['query'], report)
  const action = readAction(request['action'], request['actionParameters'], plugs, report)
  if (report.hasErrors || action === undefined) throw refuse('the batch', report.issues)
  return { where, action }
}

function notAnObject(input: unknown): AppError {
  const kind = Array.isArray(input) ? 'an array' : input === undefined ? 'nothing' : JSON.stringify(input).slice(0, 50)
  const message = `the batch must be an object, not ${kind}`
  const suggestion = 'write { "entity": "task", "action": ..., "query": ... }'
  return refuse('the batch', [makeIssue('TYPE', '', message, suggestion)])
}

function readQuery(query: unknown, report: Report): TaskFilter {
  if (query === undefined) {
    report.error(
      'TYPE',
      '/query',
      'there is no query',
      'say which tasks, as { "ids": [...] } or { "status": "stopped" }',
    )
    return {}
  }
  if (isPlainObject(query) && Object.hasOwn(query, 'filter')) {
    report.error('FIELD', '/query/filter', 'filter is not allowed in batch queries', 'use name, tags or another filter')
  }
  if (isPlainObject(query)) {
    for (const key of Object.keys(query)) {
      if (key === 'filter' || Object.hasOwn(BatchQuerySchema.properties, key) || key.startsWith('tags.')) continue
      // a word that selects nothing would widen the operation to tasks that nobody meant
      report.error('FIELD', `/query/${key}`, `there is no filter ${key}`, 'leave it out')
    }
  }
  const fitting = checkShape(BatchQuerySchema, query, '/query', 'the query', new Silent(report))
  return isPlainObject(fitting) ? filterOf(fitting, report) : {}
}

/** Takes over errors only: fields that are unknown were reported already. */
class Silent extends Report {
  readonly #target: Report

  constructor(target: Report) {
    super()
    this.#target = target
  }

  override error(...problem: Parameters<Report['error']>): void {
    this.#target.error(...problem)
  }

  override warning(): void {}
}

function filterOf(query: Readonly<Record<string, unknown>>, report: Report): TaskFilter {
  const { ids, id, tags, ...others } = query
  const named = [...listOf(ids), ...listOf(id)]
  if (named.length > MAX_IDS) {
    report.error('TOO_LARGE', '/query/ids', `${named.length} ids are more than ${MAX_IDS}`, 'use several operations')
  }
  const tagFilters = [
    ...Object.entries(isPlainObject(tags) ? tags : {}),
    ...Object.entries(others).flatMap(([key, value]) =>
      key.startsWith('tags.') ? [[key.slice(5), value] as const] : [],
    ),
  ].flatMap(([key, value]) =>
    tagValues(key, value, report).map((text) => (text === undefined ? { key } : { key, value: text })),
  )
  const rest = Object.fromEntries(Object.entries(others).filter(([key]) => !key.startsWith('tags.')))
  const where = rest as TaskFilter
  return {
    ...where,
    ...(where.template === 'null' && { template: null }),
    ...((ids !== undefined || id !== undefined) && { ids: [...new Set(named)] }),
    ...(tagFilters.length > 0 && { tags: tagFilters }),
  }
}

function listOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.filter(isText).map(String)
  return typeof value === 'string' ? value.split(',').filter((part) => part !== '') : []
}

/** `undefined` among them: the key is enough. */
function tagValues(key: string, value: unknown, report: Report): readonly (string | undefined)[] {
  if (value === null || value === '') return [undefined]
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (values.every(isText)) return values.map(String)
  const suggestion = 'write a text, a number, true or false, a list of them, or null for any value'
  report.error('TYPE', at('/query/tags', key), `the tag ${JSON.stringify(key)} cannot have such a value`, suggestion)
  return []
}

function isText(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value)
}

function readAction(action: unknown, parameters: unknown, plugs: PlugRegistry, report: Report): TaskAction | undefined {
  if (!isAction(action)) {
    report.addAll([unknownAction(action)])
    return undefined
  }
  const place = '/actionParameters'
  if (action === 'updatePlugins') {
    const given = checkShape(UpdatePluginsSchema, parameters ?? {}, place, 'actionParameters', report)
    const { updates = [] } = (given ?? {}) as { updates?: readonly PluginUpdate[] }
    report.addAll(missingVersions(updates.filter(isWhole), plugs, `${place}/updates`))
    return { action, updates }
  }
  if (action === 'updateProperties') {
    const update = checkShape(UpdatePropertiesSchema, parameters ?? {}, place, 'actionParameters', report)
    const { nodes } = (update ?? {}) as PropertiesUpdate
    nodes?.forEach((node, i) => {
      checkShape(NodeOverrideSchema, node, `${place}/nodes/${i}`, `node ${i}`, report)
    })
    if (isPlainObject(update) && Object.keys(update).length === 0) {
      report.error('TYPE', place, 'there is nothing to update', 'write "nodes": [...], "variables" or "tags"')
    }
    return { action, update: update ?? {} }
  }
  if (action === 'reload') {
    const given = checkShape(ReloadSchema, parameters ?? {}, place, 'actionParameters', report)
    const { templateVersion } = (given ?? {}) as { templateVersion?: number }
    return templateVersion === undefined ? { action } : { action, templateVersion }
  }
  return { action }
}

function isWhole({ name, toVersion }: Partial<PluginUpdate>): boolean {
  return name !== undefined && toVersion !== undefined
}

function isAction(action: unknown): action is BatchAction {
  return BATCH_ACTIONS.some((known) => known === action)
}

/** What an operation does, in words: `Remove tasks filtered by type=onetime AND status=stopped`. */
export function describeBatch(action: BatchAction, query: Readonly<Record<string, unknown>>): string {
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
