/**
 * Keeps the versions and tags of one tenant in memory, and applies the log of changes, also of other hosts, at reads.
 *
 * FUNCINDEX-1 `current` includes every change that was confirmed before the call
 */
import { type Collection, type Log, type Store, walk } from '#storage'
import { FUNCTIONS, type FunctionRecord, recordId } from './function-record.ts'
import type { FunctionType } from './function-type.ts'
import { compareNames } from './registry/select-versions.ts'
import { compareVersions } from './registry/versions.ts'
import { TAGS, type TagRecord } from './registry/tags.ts'

export type IndexChange = { readonly record: string } | { readonly tag: string }

export const CHANGES = 'function_changes'
const PAGE = 1_000
/** log entries kept for hosts that read rarely; a host further behind reads everything */
const KEPT = 10_000

export interface VersionGroup {
  readonly name: string
  readonly versions: readonly FunctionRecord[]
}

/** The index, which the next call of `current` may change. */
export interface Indexed {
  groups(type: FunctionType): readonly VersionGroup[]
  versions(type: FunctionType, name: string): readonly FunctionRecord[]
  all(): Iterable<FunctionRecord>
  readonly size: number
  readonly tags: ReadonlyMap<string, TagRecord>
}

export class FunctionIndex {
  readonly #records: Collection<FunctionRecord>
  readonly #tags: Collection<TagRecord>
  readonly #log: Log
  #content: Content | undefined
  #position = 0
  #running: Promise<unknown> = Promise.resolve()
  #waiting: Promise<Indexed> | undefined

  constructor(store: Store) {
    this.#records = store.collection(FUNCTIONS)
    this.#tags = store.collection(TAGS)
    this.#log = store.log(CHANGES)
  }

  /** Returns the up-to-date index. Calls made before a read begins share that read. */
  current(): Promise<Indexed> {
    this.#waiting ??= this.#running.then(() => {
      this.#waiting = undefined
      const looked = this.#look()
      // a failed read must not fail the next one
      this.#running = looked.catch(() => undefined)
      return looked
    })
    return this.#waiting
  }

  async #look(): Promise<Indexed> {
    const { first, last } = await this.#log.bounds()
    if (this.#content === undefined || this.#position < first - 1 || this.#position > last) return this.#readAll(last)
    const content = this.#content
    while (this.#position < last) {
      const entries = await this.#log.read(this.#position, PAGE)
      const changes = entries.map(({ body }) => body as unknown as IndexChange)
      await this.#apply(content, changes)
      this.#position = entries.at(-1)?.position ?? last
    }
    if (last - first > KEPT * 2) await this.#log.trim(last - KEPT)
    return content
  }

  async #readAll(position: number): Promise<Indexed> {
    const content = new Content()
    for await (const { value: record } of walk(this.#records)) content.put(record)
    for await (const { value: tag } of walk(this.#tags)) content.tags.set(tag.name, tag)
    this.#content = content
    // changes made while reading will be applied again
    this.#position = position
    return content
  }

  async #apply(content: Content, changes: readonly IndexChange[]): Promise<void> {
    const ids = [...new Set(changes.flatMap((one) => ('record' in one ? [one.record] : [])))]
    const names = [...new Set(changes.flatMap((one) => ('tag' in one ? [one.tag] : [])))]
    const [records, tags] = [await this.#records.getMany(ids), await this.#tags.getMany(names)]
    // no await in between, since readers share this content
    for (const id of ids) content.delete(id)
    for (const { value } of records) content.put(value)
    for (const name of names) content.tags.delete(name)
    for (const { value } of tags) content.tags.set(value.name, value)
  }
}

interface Group extends VersionGroup {
  readonly versions: FunctionRecord[]
}

class Content implements Indexed {
  readonly tags = new Map<string, TagRecord>()
  readonly #byId = new Map<string, FunctionRecord>()
  readonly #groups = new Map<string, Group>()
  /** kept sorted, to avoid sorting after each change */
  readonly #ordered: Readonly<Record<FunctionType, Group[]>> = { plugs: [], webscripts: [], models: [] }

  get size(): number {
    return this.#byId.size
  }

  groups(type: FunctionType): readonly VersionGroup[] {
    return this.#ordered[type]
  }

  versions(type: FunctionType, name: string): readonly FunctionRecord[] {
    return this.#groups.get(`${type}/${name}`)?.versions ?? []
  }

  all(): Iterable<FunctionRecord> {
    return this.#byId.values()
  }

  put(record: FunctionRecord): void {
    this.#byId.set(recordId(record), record)
    const { versions } = this.#groupOf(record)
    const at = insertionIndex(versions, (one) => compareVersions(record.version, one.version))
    const isThere = versions[at]?.version === record.version
    versions.splice(at, isThere ? 1 : 0, record)
  }

  delete(id: string): void {
    const record = this.#byId.get(id)
    if (record === undefined) return
    this.#byId.delete(id)
    const group = this.#groupOf(record)
    group.versions.splice(group.versions.indexOf(record), 1)
    if (group.versions.length > 0) return
    const ordered = this.#ordered[record.type]
    ordered.splice(ordered.indexOf(group), 1)
    this.#groups.delete(`${record.type}/${record.name}`)
  }

  #groupOf({ type, name }: FunctionRecord): Group {
    const known = this.#groups.get(`${type}/${name}`)
    if (known !== undefined) return known
    const group = { name, versions: [] }
    this.#groups.set(`${type}/${name}`, group)
    const ordered = this.#ordered[type]
    ordered.splice(
      insertionIndex(ordered, (one) => compareNames(one.name, name)),
      0,
      group,
    )
    return group
  }
}

function insertionIndex<T>(list: readonly T[], compare: (one: T) => number): number {
  let [from, until] = [0, list.length]
  while (from < until) {
    const middle = (from + until) >> 1
    if (compare(list[middle] as T) < 0) from = middle + 1
    else until = middle
  }
  return from
}
