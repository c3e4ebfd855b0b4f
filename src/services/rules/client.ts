/** A client of the rules service over fetch. */
import type {
  BatchApi,
  InspectionApi,
  RehearsalApi,
  RolloutApi,
  RulesApi,
  Simulation,
  SimulationResult,
  StreamEvent,
  TaskApi,
  TagFilter,
  TaskEntity,
  TaskFilter,
  TemplateApi,
  ToolApi,
} from './contract.ts'
import type { RevisionOptions } from '#kernel'
import {
  conditionOf,
  type Http,
  jsonLines,
  PAGED_MEDIA_TYPE,
  pathOf,
  type QueryValue,
  serverEvents,
  typed,
} from '#services/shared/client'

const PAGED = { accept: PAGED_MEDIA_TYPE }

export interface RulesClient extends RulesApi {
  readonly tools: ToolClient
}

interface ToolClient extends Omit<ToolApi, 'simulate'> {
  simulate(simulation: Simulation): Promise<SimulationResult>
}

/** Throws the service's AppErrors, rebuilt from responses; responses are not checked. */
export function rulesClient(http: Http): RulesClient {
  return {
    tasks: taskClient(http),
    templates: templateClient(http),
    batches: batchClient(http),
    inspection: inspectionClient(http),
    tools: toolClient(http),
    rehearsals: rehearsalClient(http),
    rollouts: rolloutClient(http),
  }
}

function taskClient(http: Http): TaskApi {
  const command =
    (name: string) =>
    (id: string, { ifRevision }: RevisionOptions = {}) =>
      typed<TaskEntity>(http.json('POST', pathOf`/api/tasks/${id}/command/${name}`, conditionOf(ifRevision)))
  return {
    create: (body, options) => typed(http.json('POST', '/api/tasks', { body, query: { ...options } })),
    replace: (id, body, { ifRevision, ...query } = {}) =>
      typed(http.json('PUT', pathOf`/api/tasks/${id}`, { body, query, ...conditionOf(ifRevision) })),
    remove: (id, { ifRevision, ...query } = {}) =>
      typed(http.json('DELETE', pathOf`/api/tasks/${id}`, { query, ...conditionOf(ifRevision) })),
    start: command('start'),
    stop: command('stop'),
    restart: command('restart'),
    resync: (id) => typed(http.json('POST', pathOf`/api/tasks/${id}/command/resync`)),
    get: (id, options) => typed(http.json('GET', pathOf`/api/tasks/${id}`, { query: { ...options } })),
    conf: (id, format) => typed(http.json('GET', pathOf`/api/tasks/${id}/conf`, { query: { format } })),
    list: ({ where, hits, startIndex }, { withoutGraph, ...options } = { format: 'bn' }) => {
      const includegraph = withoutGraph === true ? false : undefined
      const query = { ...filterQuery(where), hits, startIndex, ...options, includegraph }
      return typed(http.json('GET', '/api/tasks', { query, headers: PAGED }))
    },
    count: async (where) => {
      const { headers } = await http.open('HEAD', '/api/tasks', { query: filterQuery(where) })
      return Number(headers.get('x-count'))
    },
    runs: (id) => typed(http.json('GET', pathOf`/api/tasks/${id}/childRuns`)),
    versions: (id, page) =>
      typed(http.json('GET', pathOf`/api/tasks/${id}/versions`, { query: { ...page }, headers: PAGED })),
    version: (id, version, against) =>
      typed(http.json('GET', pathOf`/api/tasks/${id}/versions/${String(version)}`, { query: { against } })),
    restore: (id, version, { ifRevision, ...query } = {}) =>
      typed(
        http.json('POST', pathOf`/api/tasks/${id}/versions/${String(version)}/restore`, {
          query,
          ...conditionOf(ifRevision),
        }),
      ),
  }
}

function templateClient(http: Http): TemplateApi {
  return {
    create: (body, options) => typed(http.json('POST', '/api/templates', { body, query: { ...options } })),
    replace: (name, body, { ifRevision, ...query } = {}) =>
      typed(http.json('PUT', pathOf`/api/templates/${name}`, { body, query, ...conditionOf(ifRevision) })),
    remove: (name, { ifRevision } = {}) =>
      typed(http.json('DELETE', pathOf`/api/templates/${name}`, conditionOf(ifRevision))),
    publish: (name, version, { ifRevision } = {}) =>
      typed(
        http.json('POST', pathOf`/api/templates/${name}/versions/${String(version)}/publish`, conditionOf(ifRevision)),
      ),
    copy: (name, newName) => typed(http.json('PATCH', pathOf`/api/templates/${name}`, { query: { newName } })),
    get: (name, format, version) =>
      typed(http.json('GET', pathOf`/api/templates/${name}`, { query: { format, version } })),
    versions: (name, page) =>
      typed(http.json('GET', pathOf`/api/templates/${name}/versions`, { query: { ...page }, headers: PAGED })),
    list: ({ where, hits, startIndex, format, includeGraph }) => {
      const query = { ...filterQuery(where), hits, startIndex, format, includegraph: includeGraph }
      return typed(http.json('GET', '/api/templates', { query, headers: PAGED }))
    },
    upgrade: async (where, body) => {
      const response = await http.send('PATCH', '/api/templates', { query: filterQuery(where), body })
      // a list of failed templates is an ordinary outcome, not an error
      const answer = (await response.clone().json()) as { successful?: readonly string[] }
      if (answer.successful === undefined) return typed(http.refused(response))
      return typed(Promise.resolve(answer))
    },
    discovery: (format) => typed(http.json('GET', '/api/discoveryTemplate', { query: { format } })),
    setDiscovery: (name) => typed(http.json('PUT', '/api/discoveryTemplate', { query: { name } })),
    run: async function* (name, body, { signal, ...query } = {}) {
      const action = query.nodeToDebug === undefined ? 'run' : 'debug'
      const path = name === undefined ? `/api/templates/${action}` : `${pathOf`/api/templates/${name}`}/${action}`
      const response = await http.open('POST', path, { body, query, ...(signal && { signal }) })
      yield* jsonLines(response) as ReturnType<TemplateApi['run']>
    },
  }
}

function batchClient(http: Http): BatchApi {
  const get: BatchApi['get'] = (id) => typed(http.json('GET', pathOf`/api/batch/${id}`))
  const queue: BatchApi['queue'] = (body) => typed(http.json('POST', '/api/batch', { body }))
  return {
    queue,
    get,
    run: async (body) => {
      const { entity } = await queue(body)
      for (;;) {
        const status = await get(entity.id)
        if (status.finishedTime !== undefined) return status
        await new Promise((resolve) => setTimeout(resolve, POLL_MS))
      }
    },
    preview: (body) => typed(http.json('POST', '/api/batch', { body, query: { dryRun: true } })),
    previewReplace: (id, body) => typed(http.json('PUT', pathOf`/api/tasks/${id}`, { body, query: { dryRun: true } })),
    previewReload: (id, options) =>
      typed(http.json('POST', pathOf`/api/tasks/${id}/command/reload`, { query: { ...options, dryRun: true } })),
    reload: (id, { ifRevision, ...query } = {}) =>
      typed(http.json('POST', pathOf`/api/tasks/${id}/command/reload`, { query, ...conditionOf(ifRevision) })),
  }
}

const POLL_MS = 20

function inspectionClient(http: Http): InspectionApi {
  return {
    node: (id, node) => typed(http.json('GET', pathOf`/api/tasks/${id}/nodes/${node}`)),
    states: (id, node) => typed(http.json('GET', pathOf`/api/tasks/${id}/nodes/${node}/states`)),
    push: (id, node, body) => typed(http.json('PATCH', pathOf`/api/tasks/${id}/nodes/${node}`, { body })),
    command: (id, node, body) => typed(http.json('POST', pathOf`/api/tasks/${id}/nodes/${node}`, { body })),
    explain: (id, node, at) => typed(http.json('GET', pathOf`/api/tasks/${id}/explain`, { query: { node, at } })),
    log: (body) => typed(http.json('POST', '/api/tasklogs', { body })),
    events: async function* (id, { lastEventId, signal }) {
      const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
      try {
        const answer = await http.open('GET', pathOf`/api/tasks/${id}/events`, { headers, signal })
        for await (const { id: number = '', data } of serverEvents(answer)) {
          yield { id: number, event: data as StreamEvent['event'] }
        }
      } catch (error) {
        if (!signal.aborted) throw error
      }
    },
    inputs: (id, query) => typed(http.json('GET', pathOf`/api/tasks/${id}/inputs`, { query: { ...query } })),
    state: (id, at) => typed(http.json('GET', pathOf`/api/tasks/${id}/state`, { query: { at } })),
    deliveries: (id, query) => typed(http.json('GET', pathOf`/api/tasks/${id}/deliveries`, { query: { ...query } })),
    allDeliveries: (query) => typed(http.json('GET', '/api/deliveries', { query: { ...query } })),
    retry: (id, delivery) => typed(http.json('POST', pathOf`/api/tasks/${id}/deliveries/${delivery}/retry`)),
  }
}

function toolClient(http: Http): ToolClient {
  const plugPath = (family: string, name: string, version: string | undefined): string =>
    version === undefined ? pathOf`/api/${family}/${name}` : pathOf`/api/${family}/${name}/versions/${version}`
  return {
    plugs: (family) => typed(http.json('GET', pathOf`/api/${family}`)),
    plug: (family, name, version) => typed(http.json('GET', plugPath(family, name, version))),
    versions: (family, name) => typed(http.json('GET', pathOf`/api/${family}/${name}/versions`)),
    call: async (family, name, version, body) => {
      const response = await http.send('POST', plugPath(family, name, version), { body })
      const answer = (await response.clone().json()) as { result?: boolean }
      // a failed plug is an ordinary outcome, not an error
      return answer.result === undefined ? typed(http.refused(response)) : typed(Promise.resolve(answer))
    },
    push: (body) => typed(http.json('POST', '/api/data', { body })),
    check: (body) => typed(http.json('POST', '/api/rules/check', { body })),
    variables: (body) => typed(http.json('POST', '/api/variableDeclarations', { body })),
    simulate: (body) => typed(http.json('POST', '/api/tasks/simulate', { body })),
    nextRuns: ({ expression, zone, from, count, gap, overlap }) =>
      typed(http.json('GET', '/api/schedules/next', { query: { expression, zone, from, n: count, gap, overlap } })),
  }
}

function rehearsalClient(http: Http): RehearsalApi {
  return {
    run: (body) => typed(http.json('POST', '/api/rehearsals', { body })),
    replay: (id, body) => typed(http.json('POST', pathOf`/api/tasks/${id}/replay`, { body })),
    get: (id) => typed(http.json('GET', pathOf`/api/rehearsals/${id}`)),
    events: (id, page) => typed(http.json('GET', pathOf`/api/rehearsals/${id}/events`, { query: { ...page } })),
    remove: (id) => typed(http.json('DELETE', pathOf`/api/rehearsals/${id}`)),
    ofTask: (id) => typed(http.json('GET', pathOf`/api/tasks/${id}/rehearsals`)),
  }
}

function rolloutClient(http: Http): RolloutApi {
  const act =
    <Answer>(action: 'promote' | 'rollback', dryRun?: true) =>
    (template: string, id: string) =>
      typed<Answer>(
        http.json('POST', pathOf`/api/templates/${template}/rollouts/${id}/${action}`, { query: { dryRun } }),
      )
  return {
    create: (template, body) => typed(http.json('POST', pathOf`/api/templates/${template}/rollouts`, { body })),
    preview: (template, body) =>
      typed(http.json('POST', pathOf`/api/templates/${template}/rollouts`, { body, query: { dryRun: true } })),
    list: (template, page) =>
      typed(http.json('GET', pathOf`/api/templates/${template}/rollouts`, { query: { ...page }, headers: PAGED })),
    get: (template, id) => typed(http.json('GET', pathOf`/api/templates/${template}/rollouts/${id}`)),
    promote: act('promote'),
    rollback: act('rollback'),
    previewPromote: act('promote', true),
    previewRollback: act('rollback', true),
  }
}

function filterQuery(where: TaskFilter): Readonly<Record<string, QueryValue>> {
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
