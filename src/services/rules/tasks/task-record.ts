/** The stored record of a task, and its indexes. */
import type { Rule, TaskSettings, Template } from '#core'
import type { TaskType } from '#core/spi'
import type { Rights } from '#kernel'
import type { CollectionSpec } from '#storage'
import type { TaskEntity, TaskRunRecord } from './task-schema.ts'
import type { TaskVersionMark } from './task-version-mark.ts'

export type TaskForm = 'simplified' | 'bn' | 'network' | 'template'

/** Times are epoch ms. */
export interface TaskRecord {
  readonly id: string
  readonly name: string
  readonly user: string
  readonly createTime: number
  readonly lastUpdateTime?: number
  readonly status: TaskEntity['status']
  readonly error?: string
  readonly epoch: number
  /** number of changes since creation; absent: none */
  readonly revision?: number
  readonly form: TaskForm
  readonly conf: Readonly<Record<string, unknown>>
  readonly template?: string
  /** version of that template; absent in records from before templates had versions, which means 1 */
  readonly templateVersion?: number
  readonly source?: string
  /** the graph with exact plug versions, if the task was not made from a template */
  readonly rule?: Rule
  /** rights of the author of the rule or of the template version; absent: all rights */
  readonly rights?: Rights
  /** the task's own settings, including batch updates, without `start` */
  readonly settings: TaskSettings
  /** the settings merged with the defaults of the template */
  readonly effective: TaskSettings & { readonly type: TaskType }
  readonly resourceIds: readonly string[]
  /** `sensor:name:version` of each plug, both with the written version and with the version that runs */
  readonly plugs: readonly string[]
  readonly startTime?: number
  readonly finishedTime?: number
  readonly lastExecutionTime?: number
  readonly invocationCount: number
  readonly runs: readonly TaskRunRecord[]
  /** id of the last batch operation that changed the task, so that a batch resumed after a crash skips the task */
  readonly batch?: string
  /** version of the rule; absent: the first */
  readonly version?: TaskVersionMark
}

export function revisionOf({ revision = 0 }: TaskRecord): number {
  return revision
}

export const TASKS: CollectionSpec<TaskRecord> = {
  name: 'tasks',
  version: 4,
  audited: true,
  fields: {
    name: { type: 'text', of: (task) => task.name },
    status: { type: 'text', of: (task) => task.status },
    type: { type: 'text', of: (task) => task.effective.type },
    user: { type: 'text', of: (task) => task.user },
    template: { type: 'text', of: (task) => task.template },
    // stored as text so that tasks can be counted by value
    templateVersion: { type: 'text', of: (task) => templateVersionOf(task)?.toString() },
    source: { type: 'text', of: (task) => task.source },
    resource: { type: 'texts', of: resourcesOf },
    plug: { type: 'texts', of: (task) => plugKeys(task.plugs) },
    tag: { type: 'texts', of: (task) => tagKeys(task.effective.tags) },
    createTime: { type: 'number', of: (task) => task.createTime },
    finishedTime: { type: 'number', of: (task) => task.finishedTime },
    words: { type: 'text', of: wordsOf, only: 'contains' },
  },
  // for listings that filter by these fields, newest first
  together: [
    ['status', 'template', 'createTime'],
    ['template', 'type', 'createTime'],
    ['type', 'status', 'createTime'],
    ['user', 'status', 'createTime'],
    ['name', 'status', 'createTime'],
    // for filters combined with a tag, a resource or a plug
    ['status', 'createTime'],
    ['template', 'createTime'],
    // scanned newest first when the other indexes match too many tasks
    ['createTime', 'status', 'name', 'template'],
  ],
}

export function templateVersionOf({ template, templateVersion = 1 }: TaskRecord): number | undefined {
  return template === undefined ? undefined : templateVersion
}

/** A template with exact plug versions. Its id is a hash of the document, which never changes. */
export interface SourceRecord {
  readonly document: Template
  /** epoch ms; renewed occasionally while new tasks use the source */
  readonly touched: number
}

export const SOURCES: CollectionSpec<SourceRecord> = { name: 'task_sources', version: 1, fields: {} }

function resourcesOf({ effective, resourceIds }: TaskRecord): readonly string[] {
  const { resource } = effective
  return resource === undefined || resourceIds.includes(resource) ? resourceIds : [resource, ...resourceIds]
}

export function plugKeys(plugs: readonly string[]): readonly string[] {
  const keys = new Set<string>()
  for (const plug of plugs) {
    const whole = plug.slice(plug.indexOf(':') + 1)
    keys.add(whole)
    keys.add(whole.slice(0, whole.indexOf(':')))
  }
  return [...keys]
}

/** Returns `key` and, for searchable values, `key=value` of each tag. A `=` in a key is escaped by doubling it. */
export function tagKeys(tags: Readonly<Record<string, unknown>> = {}): readonly string[] {
  return Object.entries(tags).flatMap(([key, value]) => {
    const isSearched = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    const keys = isSearched ? [tagKey(key), tagKey(key, String(value))] : [tagKey(key)]
    // filters longer than this are rejected as well
    return keys.filter((text) => text.length <= LONGEST_KEY)
  })
}

/** Characters that fit into an indexed field, at three bytes each. */
const LONGEST_KEY = 600

/** Joins texts for the fuzzy filter, cut at the limit of the storage. */
export function searched(parts: readonly string[]): string {
  const text = parts.join('\n')
  return text.length <= LONGEST_KEY ? text : text.slice(0, LONGEST_KEY).replace(/[\uD800-\uDBFF]$/, '')
}

export function tagKey(key: string, value?: string): string {
  const name = key.replaceAll('=', '==')
  return value === undefined ? name : `${name}=.${value}`
}

function wordsOf({ id, name, user, template, effective }: TaskRecord): string {
  const { resource, tags = {} } = effective
  const tagTexts = Object.entries(tags).map(([key, value]) =>
    typeof value === 'object' ? key : `${key} ${String(value)}`,
  )
  return searched([name, id, resource ?? '', template ?? '', user, ...tagTexts])
}
