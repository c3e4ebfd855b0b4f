/** Lists the kinds of documents that `reflexarc rules` keeps as files, and reads and writes them on a host. */
import type { Client } from '#client'
import { AppError, isPlainObject } from '#kernel'

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
  /** Returns the state that running tasks would lose by the change. */
  lost?(client: Client, id: string, document: Document): Promise<readonly { node: string; what: readonly string[] }[]>
}

const PAGE = 100
const MAX_LISTED = 20
/** requests at a time */
const AT_ONCE = 8

const SET_BY_HOST: ReadonlySet<string> = new Set(
  (
    'version revision user createTime lastUpdateTime discoveryTemplate created createdBy createdAt ' +
    'modified modifiedBy modifiedAt $constraints attrs warnings _links'
  ).split(' '),
)

/** Documents of all kinds, in the order in which they refer to each other. */
export function kindsFor(): readonly Kind[] {
  return [constraints, types, converters, queries, templates, tasks(), subscriptions]
}

const constraints: Kind = {
  folder: 'constraints',
  key: 'id',
  list: async ({ resources }) => {
    const found = await allOf((skip, limit) => resources.constraints.list({ skip, limit }))
    return found.map(own)
  },
  create: ({ resources }, document) => resources.constraints.create(document),
  replace: ({ resources }, id, document) => resources.constraints.replace(id, document),
  remove: ({ resources }, id) => resources.constraints.remove(id),
}

const types: Kind = {
  folder: 'types',
  key: 'id',
  list: async ({ resources }) => (await allOf((skip, limit) => resources.types.list({ skip, limit }))).map(own),
  create: ({ resources }, document) => resources.types.create(document),
  replace: ({ resources }, id, document) => resources.types.replace(id, document),
  remove: ({ resources }, id) => resources.types.remove(id),
}

const converters: Kind = {
  folder: 'converters',
  key: 'name',
  list: async ({ converter }) => Object.entries(await converter.list()).map(([name, one]) => own({ name, ...one })),
  create: (client, document) => converters.replace(client, String(document['name']), document),
  replace: ({ converter }, name, { name: _name, ...document }) => converter.put(name, document),
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
    return inParallel(names, async (name) => own((await stored.get(name)).value))
  },
  create: ({ queries: { stored } }, { name, ...document }) => stored.create(document, String(name)),
  replace: ({ queries: { stored } }, name, { name: _name, ...document }) => stored.replace(name, document),
  remove: ({ queries: { stored } }, name) => stored.remove(name),
}

const templates: Kind = {
  folder: 'templates',
  key: 'name',
  list: async ({ rules }) => {
    const found = await allOf((startIndex, hits) =>
      rules.templates.list({ where: {}, hits, startIndex, format: 'simplified', includeGraph: true }),
    )
    return found.map((one) => own(one))
  },
  create: ({ rules }, document) => rules.templates.create(document as never),
  replace: ({ rules }, name, document) => rules.templates.replace(name, document as never),
  remove: ({ rules }, name) => rules.templates.remove(name),
}

/** Files identify a task by its name, since a host makes its id. Tasks that types manage are left out. */
function tasks(): Kind {
  const ids = new Map<string, string>()
  const idOf = (name: string): string => {
    const id = ids.get(name)
    if (id === undefined) throw new AppError('NOT_FOUND', `unknown task ${JSON.stringify(name)}`)
    return id
  }
  return {
    folder: 'tasks',
    key: 'name',
    list: async ({ rules }) => {
      const found = await allOf((startIndex, hits) =>
        rules.tasks.list({ where: {}, hits, startIndex }, { format: 'simplified', withoutGraph: true }),
      )
      const free = found.filter(({ tags }) => !Object.hasOwn(tags, 'managed'))
      const names = new Set<string>()
      const repeated = new Set(free.flatMap(({ name }) => (names.has(name) ? [name] : (names.add(name), []))))
      if (repeated.size > 0) {
        const list = [...repeated]
          .slice(0, MAX_LISTED)
          .map((name) => JSON.stringify(name))
          .join(', ')
        throw new AppError('USAGE', `several tasks have the same name: ${list}; a file needs a name of its own`)
      }
      for (const { name, ID } of free) ids.set(name, ID)
      return inParallel(free, async ({ ID, name }) => named(await rules.tasks.conf(ID, 'simplified'), name))
    },
    create: async ({ rules }, document) => {
      const { ID } = await rules.tasks.create(posted(document))
      ids.set(String(document['name']), ID)
    },
    replace: ({ rules }, name, document) => rules.tasks.replace(idOf(name), posted(document)),
    remove: ({ rules }, name) => rules.tasks.remove(idOf(name), { forceStop: true }),
    lost: async ({ rules }, name, document) => {
      const { lost = [], error } = await rules.batches.previewReplace(idOf(name), posted(document))
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

const subscriptions: Kind = {
  folder: 'subscriptions',
  key: 'id',
  list: async ({ objects, subscriptions: api }) => {
    const buckets = await objects.buckets()
    const found = await inParallel(buckets, async ({ name }) => {
      const listed = await api.list(name).catch(withoutSubscriptions)
      // the host makes those of the system itself
      const others = listed.filter(({ channel }) => channel.type !== 'system')
      return others.map((one) => own({ bucket: name, ...one }))
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

/** Buckets into which only services of the host write have none. */
function withoutSubscriptions(error: unknown): readonly [] {
  if (error instanceof AppError && error.code === 'NOT_FOUND') return []
  throw error
}

function own(document: object): Document {
  return Object.fromEntries(Object.entries(document).filter(([name]) => !SET_BY_HOST.has(name)))
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
