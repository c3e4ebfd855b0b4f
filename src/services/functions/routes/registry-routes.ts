/** Routes of the registry itself: what it is, its runtimes with their examples, and its schemas. */
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { AppError } from '#kernel'
import type { QueryReader } from '#services/shared'
import { FUNCTION_TYPES, TYPE_NAMES } from '../function-type.ts'
import { MAX_BYTES as MAX_ASSET_BYTES, writeArchive } from '../registry/archive.ts'
import {
  listRuntimes,
  type RuntimeQuery,
  runtimeAt,
  runtimeTags,
  RUNTIME_LEVELS,
  type ShownRuntime,
} from '../registry/list-runtimes.ts'
import { noTag } from '../changes/change-metadata.ts'
import { SCHEMAS } from '../registry/manifest.ts'
import type { RuntimeVersion } from '../runtimes/catalog.ts'
import { addList, described, flags, handle, listIn, tagsIn, texts, type TypeRouting } from './route-parts.ts'
import {
  Anything,
  Bytes,
  RUNTIMES_QUERY,
  RuntimeSchema,
  RuntimesSchema,
  TagListSchema,
  TagOneSchema,
  TAGS_QUERY,
} from './schemas.ts'
import { PREFIX } from './wire.ts'

type Service = TypeRouting['service']

const REGISTRY_VERSION = '2.25.0'
const RUNTIMES = `${PREFIX}/runtimes`
const DEPRECATED = { includeDeprecated: RUNTIMES_QUERY.includeDeprecated, showTags: RUNTIMES_QUERY.showTags }

/** `revision`: of this package */
export function registryRoutes(app: FastifyInstance, service: Service, revision: string): void {
  app.get(
    `${PREFIX}/`,
    described({ summary: 'What the registry is', answers: { 200: Anything } }),
    handle(service, () => ({
      name: 'function-registry',
      version: REGISTRY_VERSION,
      enabled: Object.fromEntries(FUNCTION_TYPES.map((type) => [type, true])),
      revision,
    })),
  )
  addRuntimes(app, service)
  addExamples(app, service)
  addRuntimeTags(app, service)
  addSchemas(app, service)
}

function addRuntimes(app: FastifyInstance, service: Service): void {
  addList(
    app,
    RUNTIMES,
    described({
      summary: 'What functions can be written for',
      query: RUNTIMES_QUERY,
      answers: { 200: RuntimesSchema },
    }),
    handle(service, ({ query }) => {
      const asked = runtimeQueryOf(query)
      const { showTags = 'none' } = tagsIn(query)
      query.done()
      const found = listRuntimes(asked)
      const runtimes = found.map((one) => runtimeBody(one, showTags))
      return { runtimes, ...(showTags === 'embed' && { _embedded: { tags: runtimeTags(found) } }) }
    }),
  )
  app.get(
    `${RUNTIMES}/:name`,
    described({
      summary: 'The newest version of a runtime, with all that is known of it',
      params: ['name'],
      query: DEPRECATED,
      answers: { 200: RuntimeSchema },
    }),
    handle(service, ({ param, query }) => oneVersion(param('name'), '*', query, false)),
  )
  addList(
    app,
    `${RUNTIMES}/:name/versions`,
    described({
      summary: 'The versions of a runtime',
      params: ['name'],
      query: DEPRECATED,
      answers: { 200: RuntimesSchema },
    }),
    handle(service, ({ param, query }) => {
      const isIncluded = query.flag('includeDeprecated') ?? false
      const { showTags = 'none' } = tagsIn(query)
      query.done()
      const found = theRuntime(param('name'), { latest: 'false', includeDeprecated: isIncluded })
      return { runtimes: [runtimeBody(found, showTags)] }
    }),
  )
  app.get(
    `${RUNTIMES}/:name/versions/:range`,
    described({
      summary: 'The newest version of a runtime in a range, with all that is known of it',
      params: ['name', 'range'],
      query: DEPRECATED,
      answers: { 200: RuntimeSchema },
    }),
    handle(service, ({ param, query }) => oneVersion(param('name'), param('range'), query, true)),
  )
}

function addExamples(app: FastifyInstance, service: Service): void {
  const example = `${RUNTIMES}/:name/versions/:range/example`
  const query = {
    ls: Type.Optional(Type.Boolean({ description: 'true: only what there is, as JSON' })),
    includeDeprecated: RUNTIMES_QUERY.includeDeprecated,
  }
  const produces = ['application/gzip', 'application/json']
  for (const path of [example, `${example}/*`]) {
    const isOne = path !== example
    app.get(
      path,
      described({
        summary: isOne
          ? 'One file of the example of a runtime'
          : 'A function for a runtime that works as it is, as a gzipped tar',
        params: isOne ? ['name', 'range', '*'] : ['name', 'range'],
        query,
        produces: isOne ? ['application/octet-stream', 'application/json'] : produces,
        answers: { 200: Bytes },
      }),
      handle(service, async ({ param, query: asked, reply }) => {
        const isListed = asked.flag('ls') ?? false
        const isIncluded = asked.flag('includeDeprecated') ?? true
        asked.done()
        const { runtime, version } = runtimeAt(param('name'), param('range'), isIncluded)
        const assets = new Map([...runtime.example].map(([name, text]) => [name, new TextEncoder().encode(text)]))
        if (assets.size === 0) throw new AppError('NOT_FOUND', `${runtime.name} has no example`)
        if (isListed) {
          const names = [...assets.keys()].filter((name) => name.startsWith(param('*')))
          const base = `${RUNTIMES}/${runtime.name}/versions/${version.version}/example`
          return { assets: names.map((name) => ({ name, _links: { asset: { href: `${base}/${name}` } } })) }
        }
        if (!isOne) {
          const archive = await writeArchive(assets)
          return reply.type('application/gzip').send(Buffer.from(archive))
        }
        const file = assets.get(param('*'))
        if (file === undefined)
          throw new AppError('NOT_FOUND', `the example of ${runtime.name} has no file '${param('*').slice(0, 200)}'`)
        return reply.type('application/octet-stream').send(Buffer.from(file))
      }),
    )
  }
}

function addRuntimeTags(app: FastifyInstance, service: Service): void {
  addList(
    app,
    `${PREFIX}/runtimeTags`,
    described({ summary: 'Tags of runtimes', query: TAGS_QUERY, answers: { 200: TagListSchema } }),
    handle(service, ({ query }) => {
      const { name, color } = texts(query, 'name', 'color')
      query.done()
      return { tags: runtimeTags(listRuntimes({}), { name, color }) }
    }),
  )
  app.get(
    `${PREFIX}/runtimeTags/:tag`,
    described({ summary: 'One tag of runtimes', params: ['tag'], answers: { 200: TagOneSchema } }),
    handle(service, ({ param }) => {
      const tag = runtimeTags(listRuntimes({})).find(({ name }) => name === param('tag'))
      if (tag === undefined) throw noTag(param('tag'))
      return { tag }
    }),
  )
}

function addSchemas(app: FastifyInstance, service: Service): void {
  app.get(
    `${PREFIX}/schemas/:schema`,
    described({
      summary: 'A JSON schema that uploads are held against',
      params: ['schema'],
      answers: { 200: Anything },
    }),
    handle(service, ({ param }) => schemaOf(param('schema'))),
  )
  const byRole = described({
    summary: 'The same by type of function and role of the asset, as older clients ask',
    params: ['functionType', 'role'],
    answers: { 200: Anything },
  })
  app.get(
    `${PREFIX}/schemas/:functionType/:role/schema`,
    { ...byRole, schema: { ...byRole.schema, operationId: 'getFunctionRegistryV2SchemaByRole', deprecated: true } },
    handle(service, ({ param }) => {
      const given = param('functionType')
      const type = FUNCTION_TYPES.find((one) => one === given || TYPE_NAMES[one].wire === given) ?? given
      return schemaOf(`${type}-${param('role')}`)
    }),
  )
}

function schemaOf(id: string): object {
  const schema = SCHEMAS.get(id)
  if (schema === undefined)
    throw new AppError('NOT_FOUND', `No schema '${id.slice(0, 100)}'; there are ${[...SCHEMAS.keys()].join(', ')}`)
  return schema
}

/** The newest version in a range, wrapped as clients of the platform read it. */
function oneVersion(name: string, range: string, query: QueryReader, isDeprecatedToo: boolean): object {
  const isIncluded = query.flag('includeDeprecated') ?? isDeprecatedToo
  const { showTags = 'none' } = tagsIn(query)
  query.done()
  const { runtime, version } = runtimeAt(name, range, isIncluded)
  const { versions: _others, ...about } = runtimeBody({ ...runtime, shown: [version] }, showTags)
  return { runtime: { ...about, ...versionBody(version, version), ...detailsOf(runtime) } }
}

function theRuntime(name: string, query: Pick<RuntimeQuery, 'latest' | 'includeDeprecated'>): ShownRuntime {
  const found = listRuntimes(query).find((one) => one.name === name)
  if (found === undefined) throw new AppError('NOT_FOUND', `No runtime '${name.slice(0, 100)}'`)
  return found
}

function runtimeQueryOf(query: QueryReader): RuntimeQuery {
  return {
    ...texts(query, 'name', 'version'),
    latest: query.oneOf('latest', RUNTIME_LEVELS),
    ...flags(query, 'includeDeprecated'),
    tags: listIn(query, 'tags'),
    functionType: listIn(query, 'functionType'),
    archiveFormat: listIn(query, 'archiveFormat'),
  }
}

function runtimeBody(runtime: ShownRuntime, showTags: 'inline' | 'embed' | 'none'): Readonly<Record<string, unknown>> {
  const { name, title, functionType, archiveFormat, tags, versions, shown } = runtime
  const [newest] = versions
  return {
    name,
    title,
    functionType: TYPE_NAMES[functionType].wire,
    archiveFormat,
    tags: showTags === 'inline' ? runtimeTags([runtime]) : tags,
    versions: shown.map((one) => versionBody(one, newest)),
  }
}

function versionBody(one: RuntimeVersion, newest: RuntimeVersion): Readonly<Record<string, unknown>> {
  return { ...one, deprecated: one.deprecated === true, upgradable: one.version !== newest.version }
}

function detailsOf({
  language,
  main,
  project,
  lock,
  functionType,
  harness,
}: ShownRuntime | Omit<ShownRuntime, 'shown'>): object {
  const { manifestFile } = TYPE_NAMES[functionType]
  const files = [
    { role: 'manifest', pattern: manifestFile, min: 1, max: 1, schema: `${PREFIX}/schemas/${functionType}-manifest` },
    { role: 'main', pattern: main, min: 1, max: 1 },
    ...[...new Set([project, lock])].map((pattern) => ({ role: 'project', pattern, min: 0, max: 1 })),
    { role: 'lib', pattern: 'lib/**', min: 0 },
  ]
  return {
    language: { name: language },
    assets: { conditions: files, maxSize: MAX_ASSET_BYTES },
    isRunnable: harness !== undefined,
  }
}
