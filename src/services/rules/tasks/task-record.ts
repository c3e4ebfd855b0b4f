/** The stored record of a task, and its indexes. */
import type { Rule, TaskSettings, Template } from '#core'
import type { TaskType } from '#core/spi'
import type { CollectionSpec } from '#storage'
import type { TaskEntity, TaskRunRecord } from './task-schema.ts'

/** The posted form. */
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
  /** name of its template */
  readonly template?: string
  /** of the template; absent in records older than versions: 1 */
  readonly templateVersion?: number
  readonly source?: string
  /** of a task with a rule of its own: the graph, with exact plug versions */
  readonly rule?: Rule
  /** settings of the task itself, with batch updates, without `start` */
  readonly settings: TaskSettings
  /** settings with the template's defaults */
  readonly effective: TaskSettings & { readonly type: TaskType }
  readonly resourceIds: readonly string[]
  /** `sensor:name:version` of each plug, as written and as it runs */
  readonly plugs: readonly string[]
  readonly startTime?: number
  readonly finishedTime?: number
  readonly lastExecutionTime?: number
  readonly invocationCount: number
  readonly runs: readonly TaskRunRecord[]
  /** the last batch operation that changed it: a batch that continues after a crash recognizes its work by it */
  readonly batch?: string
}

export function revisionOf({ revision = 0 }: TaskRecord): number {
  return revision
}

export const TASKS: CollectionSpec<TaskRecord> = {
  name: 'tasks',
  version: 4,
  fields: {
    name: { type: 'text', of: (task) => task.name },
    status: { type: 'text', of: (task) => task.status },
    type: { type: 'text', of: (task) => task.effective.type },
    user: { type: 'text', of: (task) => task.user },
    template: { type: 'text', of: (task) => task.template },
    // as text, to be counted by value
    templateVersion: { type: 'text', of: (task) => templateVersionOf(task)?.toString() },
    source: { type: 'text', of: (task) => task.source },
    resource: { type: 'texts', of: resourcesOf },
    plug: { type: 'texts', of: (task) => plugKeys(task.plugs) },
    tag: { type: 'texts', of: (task) => tagKeys(task.effective.tags) },
    createTime: { type: 'number', of: (task) => task.createTime },
    finishedTime: { type: 'number', of: (task) => task.finishedTime },
    words: { type: 'text', of: wordsOf, only: 'contains' },
  },
  // listings filter by these, newest first
  together: [
    ['status', 'template', 'createTime'],
    ['template', 'type', 'createTime'],
    ['type', 'status', 'createTime'],
    ['user', 'status', 'createTime'],
    ['name', 'status', 'createTime'],
    // beside a tag, a resource or a plug
    ['status', 'createTime'],
    ['template', 'createTime'],
    // walked newest first when the other indexes match too many
    ['createTime', 'status', 'name', 'template'],
  ],
}

/** The version of its template; undefined for a task with a rule of its own. */
export function templateVersionOf({ template, templateVersion = 1 }: TaskRecord): number | undefined {
  return template === undefined ? undefined : templateVersion
}

/** A template with exact plug versions. Its id is the hash of the document, which never changes. */
export interface SourceRecord {
  readonly document: Template
  /** epoch ms; renewed now and then while tasks are made of it */
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

/** `key` and, for searchable values, `key=value`. A `=` in a key is doubled as an escape. */
export function tagKeys(tags: Readonly<Record<string, unknown>> = {}): readonly string[] {
  return Object.entries(tags).flatMap(([key, value]) => {
    const isSearched = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    const keys = isSearched ? [tagKey(key), tagKey(key, String(value))] : [tagKey(key)]
    // longer filters are rejected too
    return keys.filter((text) => text.length <= LONGEST_KEY)
  })
}

/** Characters that fit into a field of storage, at three bytes each. */
const LONGEST_KEY = 600

/** Text for the fuzzy filter, up to the limit of storage. */
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
