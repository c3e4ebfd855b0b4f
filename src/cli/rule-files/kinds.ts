/** Lists the kinds of documents that `reflexarc rules` keeps as files, and reads and writes them on a host. */
import type { Client } from '#client'
import { AppError, isPlainObject } from '#kernel'
import type { DocumentHead, DocumentsApi } from '#services/shared/contract'

export type Document = Readonly<Record<string, unknown>>

export interface Kind {
  /** the folder of its files */
  readonly folder: string
  /** the field of a file that identifies the document */
  readonly key: 'name' | 'id'
  /** Returns all documents of the host without the fields that the host sets. */
  list(client: Client): Promise<readonly Document[]>
  create(client: Client, document: Document): Promise<unknown>
  replace(client: Client, id: string, document: Document): Promise<unknown>
  remove(client: Client, id: string): Promise<unknown>
  /** Stores a version that runs only in rehearsals and roll-outs, and returns its number. `id`: of a known document */
  draft?(client: Client, id: string | undefined, document: Document, note: string | undefined): Promise<number>
  /** Returns the state that running tasks would lose by the change. */
  lost?(client: Client, id: string, document: Document): Promise<readonly { node: string; what: readonly string[] }[]>
}

const PAGE = 100
const MAX_LISTED = 20
/** requests at a time */
const AT_ONCE = 32

/** Documents of all kinds, in the order in which they refer to each other. */
export function kindsFor(): readonly Kind[] {
  const calendars = documentsOf('calendars', (client) => client.calendars)
  const alarms = [
    documentsOf('contacts', ({ notification }) => notification.contacts),
    documentsOf('policies', ({ notification }) => notification.policies),
    documentsOf('windows', ({ maintenance }) => maintenance),
  ]
  const rules = [calendars, ...resourceKinds(), converters, queries, templates(), tasks()]
  const connectors = [connectorsOf('sources'), connectorsOf('sinks')]
  return [...rules, alarmTypes(), subscriptions, ...connectors, ...alarms, retention()]
}

/** Revisions of documents as they were listed, so that a later change on the host is not overwritten. */
class Revisions {
  readonly #byId = new Map<string, number>()

  keep(documents: readonly { readonly id: string; readonly revision?: number | undefined }[]): void {
    this.#byId.clear()
    for (const { id, revision } of documents) if (revision !== undefined) this.#byId.set(id, revision)
  }

  of(id: string): { readonly ifRevision?: number } {
    const revision = this.#byId.get(id)
    return revision === undefined ? {} : { ifRevision: revision }
  }
}

/** Fields of templates that the host sets. */
const OF_TEMPLATES = ['version', 'revision', 'note', 'user', 'createTime', 'lastUpdateTime', 'discoveryTemplate']

/** Ids that the host makes, by the names that identify documents in files. */
class Ids {
  readonly #what: string
  readonly #byName = new Map<string, string>()

  constructor(what: string) {
    this.#what = what
  }

  /** Throws `USAGE` for names that several documents share, or that are empty. */
  fill(documents: readonly { readonly id: string; readonly name: unknown }[]): void {
    this.#byName.clear()
    const wrong = new Set<string>()
    for (const { id, name } of documents) {
      const text = typeof name === 'string' && name !== '' ? name : undefined
      if (text === undefined || this.#byName.has(text)) wrong.add(text ?? id)
      else this.#byName.set(text, id)
    }
    if (wrong.size === 0) return
    const list = [...wrong]
      .slice(0, MAX_LISTED)
      .map((name) => JSON.stringify(name))
      .join(', ')
    throw new AppError('USAGE', `${this.#what} need names of their own for their files; rename ${list}`)
  }

  set(name: unknown, id: string): void {
    this.#byName.set(String(name), id)
  }

  nameOf(id: string): string {
    for (const [name, one] of this.#byName) if (one === id) return name
    return id
  }

  of(name: string): string {
    const id = this.#byName.get(name)
    if (id === undefined) throw new AppError('NOT_FOUND', `the host lacks ${this.#what} named ${JSON.stringify(name)}`)
    return id
  }
}

/** Constraints and types. Files of types name their constraints, since a host makes the ids of constraints. */
function resourceKinds(): readonly Kind[] {
  const ids = new Ids('constraints')
  const withIds = ({ $constraints, ...type }: Document): Document => ({
    ...type,
    ...(Array.isArray($constraints) && { $constraints: $constraints.map((name) => ids.of(String(name))) }),
  })
  const withNames = (type: Document): Document => {
    const { $constraints: applied, ...rest } = without(type, ['$bulkOperation', '_links'])
    const used = Array.isArray(applied) ? (applied as readonly { readonly constraintId: string }[]) : []
    if (used.length === 0) return rest
    return { ...rest, $constraints: used.map(({ constraintId }) => ids.nameOf(constraintId)) }
  }
  return [
    {
      folder: 'constraints',
      key: 'name',
      list: async ({ resources }) => {
        const found = await allOf((skip, limit) => resources.constraints.list({ skip, limit }))
        ids.fill(found.map(({ id, name }) => ({ id, name })))
        return found.map((one) => without(one, ['id', '_links']))
      },
      create: async ({ resources }, document) => {
        const { id } = await resources.constraints.create(document)
        ids.set(document['name'], id)
      },
      replace: ({ resources }, name, document) => resources.constraints.replace(ids.of(name), document),
      remove: ({ resources }, name) => resources.constraints.remove(ids.of(name)),
    },
    {
      folder: 'types',
      key: 'id',
      list: async ({ resources }) => {
        const found = await allOf((skip, limit) => resources.types.list({ skip, limit }))
        return found.map(withNames)
      },
      create: ({ resources }, document) => resources.types.create(withIds(document)),
      replace: ({ resources }, id, document) => resources.types.replace(id, withIds(document)),
      remove: ({ resources }, id) => resources.types.remove(id),
    },
  ]
}

const converters: Kind = {
  folder: 'converters',
  key: 'name',
  list: async ({ converter }) => Object.entries(await converter.list()).map(([name, one]) => ({ name, ...one })),
  create: ({ converter }, document) => converter.put(String(document['name']), document),
  replace: ({ converter }, name, document) => converter.put(name, document),
  remove: ({ converter }, name) => converter.remove(name),
}

const queries: Kind = {
  folder: 'queries',
  key: 'name',
  list: async ({ queries: { stored } }) => {
    const names: string[] = []
    for (;;) {
      const page = await stored.search({ limit: PAGE, offset: names.length })
      names.push(...page.queries.map(({ name }) => name))
      if (page.queries.length < PAGE) break
    }
    return inParallel(names, async (name) => without((await stored.get(name)).value, ['attrs', '_links']))
  },
  create: ({ queries: { stored } }, { name, ...document }) => stored.create(document, String(name)),
  replace: ({ queries: { stored } }, name, { name: _name, ...document }) => stored.replace(name, document),
  remove: ({ queries: { stored } }, name) => stored.remove(name),
}

function templates(): Kind {
  const revisions = new Revisions()
  return {
    folder: 'templates',
    key: 'name',
    list: async ({ rules }) => {
      const found = await allOf((startIndex, hits) =>
        rules.templates.list({ where: {}, hits, startIndex, format: 'simplified', includeGraph: true }),
      )
      revisions.keep(found.map(({ name, revision }) => ({ id: name, revision })))
      // a push would publish what is only a draft
      return found.filter(({ draft }) => draft !== true).map((one) => without(one, OF_TEMPLATES))
    },
    create: ({ rules }, document) => rules.templates.create(document as never),
    replace: ({ rules }, name, document) => rules.templates.replace(name, document as never, revisions.of(name)),
    remove: ({ rules }, name) => rules.templates.remove(name, revisions.of(name)),
    draft: async ({ rules }, name, document, note) => {
      const options = { draft: true, ...(note !== undefined && { note }) }
      if (name === undefined) return (await rules.templates.create(document as never, options)).entity.version
      return (await rules.templates.replace(name, document as never, { ...options, ...revisions.of(name) })).version
    },
  }
}

/** Files identify a task by its name, since a host makes its id. Tasks that types manage are left out. */
function tasks(): Kind {
  const ids = new Ids('tasks')
  const revisions = new Revisions()
  return {
    folder: 'tasks',
    key: 'name',
    list: async ({ rules }) => {
      const found = await allOf((startIndex, hits) =>
        rules.tasks.list({ where: {}, hits, startIndex }, { format: 'simplified', withoutGraph: true }),
      )
      const free = found.filter(({ tags }) => !Object.hasOwn(tags, 'managed'))
      ids.fill(free.map(({ ID: id, name }) => ({ id, name })))
      revisions.keep(free.map(({ ID: id, revision }) => ({ id, revision })))
      return inParallel(free, async ({ ID, name }) => named(await rules.tasks.conf(ID, 'simplified'), name))
    },
    create: async ({ rules }, document) => {
      const { ID } = await rules.tasks.create(posted(document))
      ids.set(document['name'], ID)
    },
    replace: ({ rules }, name, document) =>
      rules.tasks.replace(ids.of(name), posted(document), revisions.of(ids.of(name))),
    remove: ({ rules }, name) => rules.tasks.remove(ids.of(name), { forceStop: true, ...revisions.of(ids.of(name)) }),
    lost: async ({ rules }, name, document) => {
      const { lost = [], error } = await rules.batches.previewReplace(ids.of(name), posted(document))
      if (error !== undefined) throw new AppError('VALIDATION', error)
      return lost
    },
  }
}

/** The name of a task is at the top of its file, wherever the posted form has it. */
function named(specification: object, name: string): Document {
  const { name: _name, task, ...document } = specification as Document
  if (!isPlainObject(task)) return { name, ...document }
  const { name: _inner, ...settings } = task
  return { name, task: settings, ...document }
}

function posted({ name, task, ...document }: Document): Document {
  if (document['template'] !== undefined || document['network'] !== undefined) return { name, ...document }
  return { ...document, task: { ...(isPlainObject(task) && task), name } }
}

function alarmTypes(): Kind {
  const revisions = new Revisions()
  return {
    folder: 'alarm-types',
    key: 'id',
    list: async ({ alarms }) => {
      const found = (await alarms.types.list()).map(({ type, ...one }) => ({ id: type, ...one }))
      revisions.keep(found)
      return found.map((one) => without(one, ['revision']))
    },
    create: ({ alarms }, { id, ...document }) => alarms.types.put(String(id), document),
    replace: ({ alarms }, id, { id: _id, ...document }) => alarms.types.put(id, document, revisions.of(id)),
    remove: ({ alarms }, id) => alarms.types.remove(id, revisions.of(id)),
  }
}

const subscriptions: Kind = {
  folder: 'subscriptions',
  key: 'id',
  list: async ({ objects, subscriptions: api }) => {
    const buckets = await objects.buckets()
    const found = await inParallel(buckets, async ({ name }) => {
      const listed = await api.list(name).catch(withoutSubscriptions)
      // subscriptions of the system come from the host itself
      const others = listed.filter(({ channel }) => channel.type !== 'system')
      return others.map((one) => without({ bucket: name, ...one }, ['_links']))
    })
    return found.flat()
  },
  create: ({ subscriptions: api }, { bucket, ...document }) => api.create(String(bucket), document),
  replace: ({ subscriptions: api }, id, { bucket, id: _id, ...document }) => api.put(String(bucket), id, document),
  remove: async ({ subscriptions: api, objects }, id) => {
    for (const { name } of await objects.buckets()) {
      const found = (await api.list(name).catch(withoutSubscriptions)).some((one) => one.id === id)
      if (found) return api.remove(name, id)
    }
  },
}

function connectorsOf(folder: 'sources' | 'sinks'): Kind {
  return {
    folder,
    key: 'name',
    list: async ({ connectors }) => (await connectors[folder].list()).map((one) => without(one, ['status'])),
    create: ({ connectors }, document) => connectors[folder].put(String(document['name']), document),
    replace: ({ connectors }, name, document) => connectors[folder].put(name, document),
    remove: ({ connectors }, name) => connectors[folder].remove(name),
  }
}

/** Fields of named documents that the host sets. */
const OF_DOCUMENTS = [
  'revision',
  'user',
  'createTime',
  'lastUpdateTime',
  'warnings',
  'state',
  'current',
  'next',
  'discarded',
]

function documentsOf(folder: string, pick: (client: Client) => DocumentsApi<DocumentHead>): Kind {
  const revisions = new Revisions()
  return {
    folder,
    key: 'name',
    list: async (client) => {
      const found = await pick(client).list()
      revisions.keep(found.map(({ name, revision }) => ({ id: name, revision })))
      return found.map((one) => without(one, OF_DOCUMENTS))
    },
    create: (client, { name, ...document }) => pick(client).put(String(name), document, { ifRevision: 'absent' }),
    replace: (client, name, { name: _name, ...document }) => pick(client).put(name, document, revisions.of(name)),
    remove: (client, name) => pick(client).remove(name, revisions.of(name)),
  }
}

/** How long data is kept: one document, which every host has; without rules it has no file. */
function retention(): Kind {
  const revisions = new Revisions()
  const id = 'retention'
  const put: Kind['replace'] = (client, _id, { name: _name, ...document }) =>
    client.retention.setRules(document as never, revisions.of(id))
  return {
    folder: 'retention',
    key: 'name',
    list: async (client) => {
      const { rules, revision } = await client.retention.rules()
      revisions.keep([{ id, revision }])
      return rules.length === 0 ? [] : [{ name: id, rules }]
    },
    create: (client, document) => {
      if (document['name'] === id) return put(client, id, document)
      throw new AppError('VALIDATION', `/name: ${JSON.stringify(document['name'])} is not "${id}", the only document`)
    },
    replace: put,
    remove: (client) => put(client, id, { rules: [] }),
  }
}

/** Buckets into which only services of the host write have none. */
function withoutSubscriptions(error: unknown): readonly [] {
  if (error instanceof AppError && error.code === 'NOT_FOUND') return []
  throw error
}

function without(document: object, fields: readonly string[]): Document {
  return Object.fromEntries(Object.entries(document).filter(([name]) => !fields.includes(name)))
}

async function allOf<T>(
  page: (skip: number, limit: number) => Promise<{ readonly values: readonly T[] }>,
): Promise<readonly T[]> {
  const found: T[] = []
  for (;;) {
    const { values } = await page(found.length, PAGE)
    found.push(...values)
    if (values.length < PAGE) return found
  }
}

/** Returns the results in the order of the items. */
export async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const queue = items.entries()
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return results
}
