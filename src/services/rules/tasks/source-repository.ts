/** Stores the templates that tasks run, with exact plug versions, once each under the hash of their text. */
import { createHash } from 'node:crypto'
import { frozenCopy } from '#core/spi'
import type { Plug, PlugRegistry, Template } from '#core'
import { AppError, LruCache, type Rights } from '#kernel'
import { type Stored, walk, type Write } from '#storage'
import type { RulesCollections } from '../collections.ts'
import { unknownTemplate, unknownTemplateVersion, unpublished } from '../error-texts.ts'
import { withExactVersions } from './plug-versions.ts'
import type { TemplateRecord } from '../templates/template-record.ts'
import { oldVersion, versionOf } from '../templates/template-versions.ts'

export interface Source {
  readonly id: string
  readonly document: Template
}

export interface VersionedSource {
  readonly source: Source
  readonly version: number
  /** rights of the author of the version */
  readonly rights: Rights | undefined
}

const MAX_KEPT = 2000
const TOUCH_MS = 3_600_000
const UNUSED_MS = 86_400_000

export class SourceRepository {
  readonly #collections: RulesCollections
  readonly #plugs: PlugRegistry
  readonly #now: () => number
  #ofTemplate = new LruCache<string, Source>(MAX_KEPT)
  /** the plugs with which `#ofTemplate` was filled */
  #list: readonly Plug[]
  readonly #byId = new LruCache<string, Source>(MAX_KEPT)
  /** when each source was stored or renewed, by id; epoch ms */
  readonly #touched = new LruCache<string, number>(MAX_KEPT)

  constructor(collections: RulesCollections, plugs: PlugRegistry, now: () => number) {
    this.#collections = collections
    this.#plugs = plugs
    this.#list = plugs.list()
    this.#now = now
  }

  /** `takesDrafts`: also returns a version that is not published, which only rehearsals and roll-outs may run. */
  async ofTemplate(name: string, number?: number, takesDrafts = false): Promise<VersionedSource> {
    const stored = await this.#collections.templates.get(name)
    if (stored === undefined) throw unknownTemplate(name)
    const { number: newest, rights, draft } = versionOf(stored.value)
    if (number === undefined || number === newest) {
      if (draft === true && !takesDrafts) throw unpublished(name, newest)
      return { source: this.#ofNewest(stored), version: newest, rights }
    }
    const old = await oldVersion(this.#collections, name, number)
    if (old === undefined) throw unknownTemplateVersion(name, number, newest)
    const { document, version } = old
    if (version.draft === true && !takesDrafts) throw unpublished(name, number)
    return { source: this.of(withExactVersions(document, this.#plugs)), version: number, rights: version.rights }
  }

  #ofNewest({ id, version, value }: Stored<TemplateRecord>): Source {
    if (this.#list !== this.#plugs.list()) {
      this.#list = this.#plugs.list()
      this.#ofTemplate = new LruCache(MAX_KEPT)
    }
    const key = `${version}\n${id}`
    const known = this.#ofTemplate.get(key)
    if (known) return known
    const source = this.of(withExactVersions(value.document, this.#plugs))
    this.#ofTemplate.set(key, source)
    return source
  }

  of(document: Template): Source {
    const id = createHash('sha256').update(JSON.stringify(document)).digest('hex').slice(0, 32)
    const known = this.#byId.get(id)
    if (known) return known
    // frozen and checked once, even if many tasks share it
    const source = { id, document: frozenCopy(document) }
    this.#byId.set(id, source)
    return source
  }

  known(id: string): Source | undefined {
    return this.#byId.get(id)
  }

  async load(id: string): Promise<Source> {
    const known = this.known(id)
    if (known) return known
    const stored = await this.#collections.sources.get(id)
    if (stored === undefined) throw new AppError('INTERNAL', `the source ${id} of a task is not stored`)
    return this.of(stored.value.document)
  }

  /** Returns the writes to commit together with a task that uses the source. */
  writes({ id, document }: Source): readonly Write[] {
    const touched = this.#touched.get(id)
    const now = this.#now()
    if (touched !== undefined && now - touched < TOUCH_MS) return []
    return [this.#collections.sources.putting(id, { document, touched: now })]
  }

  written({ id }: Source): void {
    const touched = this.#touched.get(id)
    if (touched === undefined || this.#now() - touched >= TOUCH_MS) this.#touched.set(id, this.#now())
  }

  /** Runs at start. Removes sources that no task has used for a day. */
  async tidy(): Promise<void> {
    const [used, ofShadows] = await Promise.all([
      this.#collections.tasks.countBy('source'),
      this.#collections.rolloutTasks.countBy('source'),
    ])
    for await (const { id, version, value } of walk(this.#collections.sources, [], 100)) {
      if (!used.has(id) && !ofShadows.has(id) && this.#now() - value.touched > UNUSED_MS)
        await this.#collections.sources.delete(id, version)
    }
  }
}
