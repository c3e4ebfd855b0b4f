/** What the topic of rules says: tasks with the partition in which they live, sources by hash, and owners. */
import { createHash } from 'node:crypto'
import type { PlainObject } from '#core/spi'
import { type Preparer, resolveResources } from '#core/spi'
import { AppError, isPlainObject, messageOf } from '#kernel'
import type { RunnableTask } from '#services/rules/deterministic'
import type { Owner, RulesValues, TaskVersion, Topology } from './contract.ts'
import type { LogRecord } from './log.ts'

export interface PlacedTask {
  readonly id: string
  readonly version: TaskVersion
  /** which publisher wrote it, such as a folder or a host */
  readonly from: string
  readonly resources: readonly string[]
  readonly partition: number
  /** why it cannot begin */
  readonly error?: string
}

export interface PublishedRulesOptions {
  readonly preparer: Preparer
  partitionOf(key: string): number
}

export class PublishedRules {
  readonly tasks = new Map<string, PlacedTask>()
  readonly owners = new Map<number, Owner>()
  topology: Topology | undefined
  /** offset in the topic of rules after the last applied record */
  position = 0
  /** grows with each change of a task */
  changes = 0
  readonly #options: PublishedRulesOptions
  readonly #sources = new Map<string, RunnableTask['source']>()
  /** by resource of another partition: number of tasks in each partition */
  readonly #observers = new Map<string, Map<number, number>>()
  /** by hash: tasks that wait for their source */
  readonly #waiting = new Map<string, Set<string>>()

  constructor(options: PublishedRulesOptions) {
    this.#options = options
  }

  source(hash: string): RunnableTask['source'] | undefined {
    return this.#sources.get(hash)
  }

  /** Returns partitions, except that of the resource itself, with tasks that observe it. */
  observers(resource: string): Iterable<number> {
    return this.#observers.get(resource)?.keys() ?? []
  }

  async apply({ records, next }: { readonly records: readonly LogRecord[]; readonly next: number }): Promise<void> {
    for (const { key = '', value } of records) {
      const slash = key.indexOf('/')
      const kind = slash === -1 ? key : key.slice(0, slash)
      const id = key.slice(slash + 1)
      const parsed = value === null ? undefined : readObject(value)
      if (kind === 'task') await this.#task(id, parsed as RulesValues['task'] | undefined)
      else if (kind === 'source') await this.#source(id, parsed)
      else if (kind === 'topology' && parsed !== undefined) this.topology = parsed as unknown as Topology
      else if (kind === 'owner' && parsed !== undefined) this.owners.set(Number(id), parsed as unknown as Owner)
    }
    this.position = next
  }

  async #source(hash: string, source: PlainObject | undefined): Promise<void> {
    // sources are never replaced: states may refer to old ones
    if (source === undefined || this.#sources.has(hash)) return
    this.#sources.set(hash, source)
    const waiting = this.#waiting.get(hash)
    this.#waiting.delete(hash)
    for (const id of waiting ?? []) {
      const task = this.tasks.get(id)
      if (task !== undefined) await this.#task(id, { ...task.version, from: task.from })
    }
  }

  async #task(id: string, value: RulesValues['task'] | undefined): Promise<void> {
    this.changes++
    this.#observe(this.tasks.get(id), -1)
    this.tasks.delete(id)
    if (value === undefined) return
    const { from, ...version } = value
    const task = { id, version, from, ...(await this.#placed(id, version)) }
    this.tasks.set(id, task)
    this.#observe(task, 1)
  }

  async #placed(
    id: string,
    { source: hash, settings }: TaskVersion,
  ): Promise<Pick<PlacedTask, 'resources' | 'partition' | 'error'>> {
    const { preparer, partitionOf } = this.#options
    const source = this.#sources.get(hash)
    if (source === undefined) {
      this.#waiting.set(hash, (this.#waiting.get(hash) ?? new Set()).add(id))
      return { resources: [], partition: -1, error: `its rule with hash ${hash} is not published yet` }
    }
    try {
      const prepared = preparer.prepare(source, settings)
      if (prepared.graph.groups.length > 0) {
        const message =
          'rules over groups do not run on Kafka: their members are in several partitions; run them on a host'
        throw new AppError('VALIDATION', message)
      }
      const resources = await resolveResources(id, prepared, {})
      return { resources, partition: partitionOf(prepared.resource ?? resources[0] ?? id) }
    } catch (error) {
      return { resources: [], partition: partitionOf(settings.resource ?? id), error: messageOf(error) }
    }
  }

  #observe(task: PlacedTask | undefined, by: 1 | -1): void {
    if (task === undefined) return
    for (const resource of new Set(task.resources)) {
      if (this.#options.partitionOf(resource) === task.partition) continue
      const counts = this.#observers.get(resource) ?? new Map<number, number>()
      const count = (counts.get(task.partition) ?? 0) + by
      if (count > 0) counts.set(task.partition, count)
      else counts.delete(task.partition)
      if (counts.size > 0) this.#observers.set(resource, counts)
      else this.#observers.delete(resource)
    }
  }
}

function readObject(text: string): PlainObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isPlainObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Equal for values that differ in the order of their members only. */
export function hashOf(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(value)))
    .digest('base64url')
    .slice(0, 22)
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isPlainObject(value)) return value
  const members = Object.entries(value).filter(([, one]) => one !== undefined)
  return Object.fromEntries(members.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, one]) => [name, sorted(one)]))
}
