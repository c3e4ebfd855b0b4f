/** A task as it is stored, and by what it is found. */
import type { Rule, TaskSettings, Template } from '#core'
import type { TaskType } from '#core/spi'
import type { CollectionSpec } from '#storage'
import type { TaskEntity, TaskRunRecord } from './task-schema.ts'

/** The form in which a task was posted. */
export type TaskForm = 'simplified' | 'bn' | 'network' | 'template'

/** Times are epoch ms. */
export interface TaskRecord {
  readonly id: string
  readonly name: string
  readonly user: string
  readonly createTime: number
  readonly lastUpdateTime?: number
  readonly status: TaskEntity['status']
  /** why it failed */
  readonly error?: string
  /** counts the starts; 0 for a task that never ran */
  readonly epoch: number
  /** counts the changes since it was made; absent: none */
  readonly revision?: number
  readonly form: TaskForm
  /** untouched, as it was posted */
  readonly conf: Readonly<Record<string, unknown>>
  /** name of the template it was made of */
  readonly template?: string
  /** of the template; absent in records older than versions: 1 */
  readonly templateVersion?: number
  /** of a task made of a template: id of the `SourceRecord` */
  readonly source?: string
  /** of a task that brought its rule: the graph, plug versions written out */
  readonly rule?: Rule
  /** what the task brings itself; batch updates included, `start` not */
  readonly settings: TaskSettings
  /** settings with the template's defaults */
  readonly effective: TaskSettings & { readonly type: TaskType }
  readonly resourceIds: readonly string[]
  /** `sensor:name:version` of each plug, as it is written and as it runs */
  readonly plugs: readonly string[]
  readonly startTime?: number
  readonly finishedTime?: number
  readonly lastExecutionTime?: number
  /** in the runs that are over */
  readonly invocationCount: number
  /** newest first */
  readonly runs: readonly TaskRunRecord[]
  /** the batch operation that changed it last: a batch that goes on after a crash knows its own work by it */
  readonly batch?: string
}

/** What clients see as the version of a task. */
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
    // as text, since it is counted by its values
    templateVersion: { type: 'text', of: (task) => templateVersionOf(task)?.toString() },
    source: { type: 'text', of: (task) => task.source },
    resource: { type: 'texts', of: resourcesOf },
    plug: { type: 'texts', of: (task) => plugKeys(task.plugs) },
    tag: { type: 'texts', of: (task) => tagKeys(task.effective.tags) },
    createTime: { type: 'number', of: (task) => task.createTime },
    finishedTime: { type: 'number', of: (task) => task.finishedTime },
    words: { type: 'text', of: wordsOf, only: 'contains' },
  },
  // what listings are filtered by, newest first
  together: [
    ['status', 'template', 'createTime'],
    ['template', 'type', 'createTime'],
    ['type', 'status', 'createTime'],
    ['user', 'status', 'createTime'],
    ['name', 'status', 'createTime'],
    // beside a tag, a resource or a plug
    ['status', 'createTime'],
    ['template', 'createTime'],
    // walked newest first where none of the others leads to few
    ['createTime', 'status', 'name', 'template'],
  ],
}

/** The version of its template that a task is made of; undefined for a task that brought its rule. */
export function templateVersionOf({ template, templateVersion = 1 }: TaskRecord): number | undefined {
  return template === undefined ? undefined : templateVersion
}

/** A template at one moment, plug versions written out. Its id is the hash of the document; it never changes. */
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

/** `name` and `name:version` of `kind:name:version`. */
export function plugKeys(plugs: readonly string[]): readonly string[] {
  const keys = new Set<string>()
  for (const plug of plugs) {
    const whole = plug.slice(plug.indexOf(':') + 1)
    keys.add(whole)
    keys.add(whole.slice(0, whole.indexOf(':')))
  }
  return [...keys]
}

/** `key` and, for values that are searched, `key=value`. A `=` in a key is doubled so that both parts stay apart. */
export function tagKeys(tags: Readonly<Record<string, unknown>> = {}): readonly string[] {
  return Object.entries(tags).flatMap(([key, value]) => {
    const isSearched = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    const keys = isSearched ? [tagKey(key), tagKey(key, String(value))] : [tagKey(key)]
    // a longer one cannot be asked for either
    return keys.filter((text) => text.length <= LONGEST_KEY)
  })
}

/** Characters that storage surely takes as a field, of three bytes each at most. */
const LONGEST_KEY = 600

/** Text for the fuzzy filter, as much of it as storage searches. */
export function searched(parts: readonly string[]): string {
  const text = parts.join('\n')
  return text.length <= LONGEST_KEY ? text : text.slice(0, LONGEST_KEY).replace(/[\uD800-\uDBFF]$/, '')
}

export function tagKey(key: string, value?: string): string {
  const name = key.replaceAll('=', '==')
  return value === undefined ? name : `${name}=.${value}`
}

/** Text in which the fuzzy filter looks. */
function wordsOf({ id, name, user, template, effective }: TaskRecord): string {
  const { resource, tags = {} } = effective
  const tagTexts = Object.entries(tags).map(([key, value]) =>
    typeof value === 'object' ? key : `${key} ${String(value)}`,
  )
  return searched([name, id, resource ?? '', template ?? '', user, ...tagTexts])
}
