/** Routes of the function registry: runtimes, examples, schemas, jobs and tags. */
import { AppError, withFirst, Yielder } from '#kernel'
import { machineTimers } from '#platform'
import { EVENTS_MEDIA_TYPE, linkTo, routesOf, sendTexts, untilClosed } from '#services/shared'
import type { FunctionsApi, JobQuery } from './contract.ts'
import {
  Anything,
  Bytes,
  JOB_EVENTS_QUERY,
  JobDetailSchema,
  type JobsQuery,
  jobsQuery,
  JobsSchema,
  LISTED,
  OF_RUNTIME,
  RUNTIMES_QUERY,
  RuntimeSchema,
  RuntimesSchema,
  type ShowTags,
  TagListSchema,
  TagOneSchema,
  TAGS_QUERY,
} from './function-schema.ts'
import { FUNCTION_TYPES, TYPE_NAMES } from './function-type.ts'
import { DEFAULT_LIMIT } from './jobs/jobs-api.ts'
import { SCHEMAS } from './manifest-schema.ts'
import { bytesOf, MAX_BYTES, writeArchive } from './registry/archive.ts'
import { listRuntimes, runtimeAt, runtimeTags, type ShownRuntime } from './registry/runtimes.ts'
import { oneTag } from './registry/tags.ts'
import type { Runtime, RuntimeVersion } from './runtimes/catalog.ts'
import { eventText, jobBody, jobDetailBody, KEEP_ALIVE, PREFIX } from './wire.ts'

const REGISTRY_VERSION = '2.25.0'
const KEEP_ALIVE_MS = 30_000
const RUNTIMES = `${PREFIX}/runtimes` as const
const EXAMPLE = `${RUNTIMES}/:name/versions/:range/example` as const
const OF_EXAMPLE = { ...LISTED, includeDeprecated: OF_RUNTIME.includeDeprecated }

const READ = { method: 'GET', scope: 'read' } as const
const route = routesOf<FunctionsApi>()
const turns = new Yielder(machineTimers)

export function registryRoutes(revision: string, now: () => number) {
  return [
    route({
      ...READ,
      path: `${PREFIX}/`,
      summary: 'Description of the registry',
      answers: { 200: Anything },
      handler: () => ({
        name: 'function-registry',
        version: REGISTRY_VERSION,
        enabled: Object.fromEntries(FUNCTION_TYPES.map((type) => [type, true])),
        revision,
      }),
    }),
    route({
      ...READ,
      path: RUNTIMES,
      aliases: [`${RUNTIMES}/`],
      summary: 'The runtimes of functions',
      query: RUNTIMES_QUERY,
      answers: { 200: RuntimesSchema },
      handler: ({ query: { showTags, ...query } }) => {
        const found = listRuntimes(query)
        const runtimes = found.map((one) => runtimeBody(one, showTags))
        return { runtimes, ...(showTags === 'embed' && { _embedded: { tags: runtimeTags(found) } }) }
      },
    }),
    route({
      ...READ,
      path: `${RUNTIMES}/:name`,
      summary: 'The newest version of a runtime, with all details',
      query: OF_RUNTIME,
      answers: { 200: RuntimeSchema },
      handler: ({ params: { name }, query: { includeDeprecated = false, showTags } }) =>
        oneVersion(runtimeAt(name, '*', includeDeprecated), showTags),
    }),
    route({
      ...READ,
      path: `${RUNTIMES}/:name/versions`,
      aliases: [`${RUNTIMES}/:name/versions/`],
      summary: 'The versions of a runtime',
      query: OF_RUNTIME,
      answers: { 200: RuntimesSchema },
      handler: ({ params: { name }, query: { showTags, ...query } }) => {
        const found = listRuntimes({ latest: 'false', ...query }).find((one) => one.name === name)
        if (found === undefined) throw new AppError('NOT_FOUND', `No runtime '${name.slice(0, 100)}'`)
        return { runtimes: [runtimeBody(found, showTags)] }
      },
    }),
    route({
      ...READ,
      path: `${RUNTIMES}/:name/versions/:range`,
      summary: 'The newest version of a runtime in a range, with all details',
      query: OF_RUNTIME,
      answers: { 200: RuntimeSchema },
      handler: ({ params: { name, range }, query: { includeDeprecated = true, showTags } }) =>
        oneVersion(runtimeAt(name, range, includeDeprecated), showTags),
    }),
    route({
      ...READ,
      path: EXAMPLE,
      summary: 'A working example for a runtime, as a gzipped tar',
      query: OF_EXAMPLE,
      produces: ['application/gzip', 'application/json'],
      answers: { 200: Bytes },
      handler: async ({ params: { name, range }, query: { ls, includeDeprecated }, request, reply }) => {
        const { example, base } = exampleOf(name, range, includeDeprecated)
        if (ls === true) return filesBody(linkTo(request, base), [...example.keys()])
        const assets = new Map([...example].map(([path, text]) => [path, bytesOf(text)]))
        const archive = await writeArchive(assets)
        return reply.type('application/gzip').send(Buffer.from(archive))
      },
    }),
    route({
      ...READ,
      path: `${EXAMPLE}/*`,
      summary: 'One file of the example of a runtime',
      query: OF_EXAMPLE,
      produces: ['application/octet-stream', 'application/json'],
      answers: { 200: Bytes },
      handler: ({ params: { name, range, '*': path }, query: { ls, includeDeprecated }, request, reply }) => {
        const { example, base } = exampleOf(name, range, includeDeprecated)
        if (ls === true)
          return filesBody(
            linkTo(request, base),
            [...example.keys()].filter((file) => file.startsWith(path)),
          )
        const text = example.get(path)
        if (text === undefined)
          throw new AppError('NOT_FOUND', `the example of ${name} has no file '${path.slice(0, 200)}'`)
        return reply.type('application/octet-stream').send(Buffer.from(text))
      },
    }),
    route({
      ...READ,
      path: `${PREFIX}/runtimeTags`,
      aliases: [`${PREFIX}/runtimeTags/`],
      summary: 'Tags of runtimes',
      query: TAGS_QUERY,
      answers: { 200: TagListSchema },
      handler: ({ query }) => ({ tags: runtimeTags(listRuntimes({}), query) }),
    }),
    route({
      ...READ,
      path: `${PREFIX}/runtimeTags/:tag`,
      summary: 'One tag of runtimes',
      answers: { 200: TagOneSchema },
      handler: ({ params: { tag } }) => oneTag(runtimeTags(listRuntimes({})), tag),
    }),
    route({
      ...READ,
      path: `${PREFIX}/schemas/:schema`,
      summary: 'A JSON schema against which uploads are checked',
      answers: { 200: Anything },
      handler: ({ params: { schema } }) => schemaOf(schema),
    }),
    route({
      ...READ,
      path: `${PREFIX}/schemas/:functionType/:role/schema`,
      summary: 'The same by type of function and role of the asset, for older clients',
      operation: { operationId: 'getFunctionRegistryV2SchemaByRole', deprecated: true },
      answers: { 200: Anything },
      handler: ({ params: { functionType, role } }) => {
        const type = FUNCTION_TYPES.find((one) => one === functionType || TYPE_NAMES[one].wire === functionType)
        return schemaOf(`${type ?? functionType}-${role}`)
      },
    }),
    route({
      ...READ,
      path: `${PREFIX}/jobs`,
      aliases: [`${PREFIX}/jobs/`],
      summary: 'Jobs of functions, newest first',
      query: jobsQuery(now),
      answers: { 200: JobsSchema },
      handler: async ({ api, query, request }) => {
        const wanted = jobQuery(query)
        return { jobs: (await api.jobs.list(wanted)).map((one) => jobBody(one, request)), limit: wanted.limit }
      },
    }),
    route({
      ...READ,
      path: `${PREFIX}/jobs/events`,
      summary: 'Events of jobs as they happen; for one job, until it ends',
      query: JOB_EVENTS_QUERY,
      produces: [EVENTS_MEDIA_TYPE],
      handler: async ({ api, query, request, reply }) => {
        const events = api.jobs.events({ ...query, signal: untilClosed(reply) })[Symbol.asyncIterator]()
        // an unknown job is rejected before the stream begins
        const first = await events.next()
        return sendTexts(reply, withFirst(first, events), {
          type: EVENTS_MEDIA_TYPE,
          turns,
          quiet: KEEP_ALIVE,
          quietMs: KEEP_ALIVE_MS,
          textOf: (event) => eventText(event, request),
        })
      },
    }),
    route({
      ...READ,
      path: `${PREFIX}/jobs/:type/:id`,
      summary: 'One job of a function',
      answers: { 200: JobDetailSchema },
      handler: async ({ api, params: { type, id }, request }) => jobDetailBody(await api.jobs.get(type, id), request),
    }),
    route({
      ...READ,
      path: `${PREFIX}/tags`,
      aliases: [`${PREFIX}/tags/`],
      summary: 'Tags of functions',
      query: TAGS_QUERY,
      answers: { 200: TagListSchema },
      handler: async ({ api, query }) => ({ tags: await api.allTags.list(query) }),
    }),
    route({
      method: 'DELETE',
      path: `${PREFIX}/tags`,
      aliases: [`${PREFIX}/tags/`],
      scope: 'author',
      summary: 'Remove unused tags',
      answers: { 200: TagListSchema },
      handler: async ({ api }) => ({ tags: await api.allTags.dropUnused() }),
    }),
    route({
      ...READ,
      path: `${PREFIX}/tags/:tag`,
      summary: 'One tag',
      answers: { 200: TagOneSchema },
      handler: async ({ api, params: { tag } }) => ({ tag: await api.allTags.get(tag) }),
    }),
  ]
}

export function jobQuery({
  limit = DEFAULT_LIMIT,
  type: types,
  state: states,
  functionType,
  ...times
}: JobsQuery): JobQuery & { readonly limit: number } {
  const functionTypes = functionType?.map((one) => (one === 'kfserving' ? 'models' : one))
  return { limit, types, states, functionTypes, ...times }
}

function exampleOf(name: string, range: string, includeDeprecated = true) {
  const { runtime, version } = runtimeAt(name, range, includeDeprecated)
  if (runtime.example.size === 0) throw new AppError('NOT_FOUND', `${name} has no example`)
  return { example: runtime.example, base: `${RUNTIMES}/${name}/versions/${version.version}/example` }
}

function filesBody(base: string, names: readonly string[]): object {
  return { assets: names.map((name) => ({ name, _links: { asset: { href: `${base}/${name}` } } })) }
}

function schemaOf(id: string): object {
  const schema = SCHEMAS.get(id)
  if (schema === undefined)
    throw new AppError('NOT_FOUND', `No schema '${id.slice(0, 100)}'; use one of ${[...SCHEMAS.keys()].join(', ')}`)
  return schema
}

function oneVersion(
  { runtime, version }: { readonly runtime: Runtime; readonly version: RuntimeVersion },
  showTags: ShowTags | undefined,
): object {
  const { versions: _others, ...about } = runtimeBody({ ...runtime, shown: [version] }, showTags)
  return { runtime: { ...about, ...versionBody(version, version), ...detailsOf(runtime) } }
}

function runtimeBody(
  { name, title, functionType, archiveFormat, tags, versions, shown }: ShownRuntime,
  showTags: ShowTags = 'none',
): Readonly<Record<string, unknown>> {
  const [newest] = versions
  return {
    name,
    title,
    functionType: TYPE_NAMES[functionType].wire,
    archiveFormat,
    tags: showTags === 'inline' ? runtimeTags([{ tags }]) : tags,
    versions: shown.map((one) => versionBody(one, newest)),
  }
}

function versionBody(one: RuntimeVersion, newest: RuntimeVersion): Readonly<Record<string, unknown>> {
  return { ...one, deprecated: one.deprecated === true, upgradable: one.version !== newest.version }
}

function detailsOf({ language, main, project, lock, functionType, harness }: Runtime): object {
  const { manifestFile } = TYPE_NAMES[functionType]
  const files = [
    { role: 'manifest', pattern: manifestFile, min: 1, max: 1, schema: `${PREFIX}/schemas/${functionType}-manifest` },
    { role: 'main', pattern: main, min: 1, max: 1 },
    ...[...new Set([project, lock])].map((pattern) => ({ role: 'project', pattern, min: 0, max: 1 })),
    { role: 'lib', pattern: 'lib/**', min: 0 },
  ]
  return {
    language: { name: language },
    assets: { conditions: files, maxSize: MAX_BYTES },
    isRunnable: harness !== undefined,
  }
}
