/** Routes of the registry itself: what it is, its runtimes, schemas, and jobs. */
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { JOB_STATES } from '../../../jobs/contract.ts'
import { AppError } from '../../../kernel/errors.ts'
import { EVENTS_MEDIA_TYPE } from '../../../web/media-types.ts'
import { sendTexts, untilClosed } from '../../../web/send-stream.ts'
import { WriteTimeSlicer } from '../../../web/write-time-slicer.ts'
import type { Caller } from '../../../kernel/caller.ts'
import type { QueryReader } from '../../../web/query-reader.ts'
import {
  type FunctionJobEvent,
  type FunctionsApi,
  type FunctionsService,
  JOB_TYPES,
  type JobQuery,
} from '../contract.ts'
import { FUNCTION_TYPES, TYPE_NAMES } from '../function-type.ts'
import { writeArchive } from '../registry/archive.ts'
import { MAX_LIMIT } from '../registry/find-functions.ts'
import { MANIFEST_SCHEMAS } from '../registry/manifest.ts'
import { DEFAULT_LIMIT } from '../jobs/jobs-api.ts'
import { type Runtime, RUNTIMES } from '../runtimes/catalog.ts'
import { isInRange } from '../registry/versions.ts'
import { addList, described, handle, namesIn, pathsOf, timeIn, type TypeRouting } from './route-parts.ts'
import { Anything, Bytes, JobDetailSchema, JOBS_QUERY, JobsSchema, RuntimesSchema } from './schemas.ts'
import { eventText, jobBody, jobDetailBody, KEEP_ALIVE, PREFIX } from './wire.ts'

const KEEP_ALIVE_MS = 30_000
const REGISTRY_VERSION = '2.25.0'

export interface RegistryRouting {
  readonly service: FunctionsService
  readonly now: () => number
  /** of this package */
  readonly revision: string
}

export function registryRoutes(app: FastifyInstance, { service: registry, revision }: RegistryRouting): void {
  const service = untyped(registry)
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
  addList(
    app,
    `${PREFIX}/runtimes`,
    described({ summary: 'What functions can be written for', answers: { 200: RuntimesSchema } }),
    handle(service, () => ({ runtimes: [...RUNTIMES.values()].map(runtimeBody) })),
  )
  app.get(
    `${PREFIX}/runtimes/:name`,
    described({ summary: 'One runtime', params: ['name'], answers: { 200: Anything } }),
    handle(service, ({ param }) => runtimeBody(runtimeOf(param('name')))),
  )
  app.get(
    `${PREFIX}/runtimes/:name/versions/:range/example`,
    described({
      summary: 'A function for a runtime that works as it is, as a gzipped tar',
      params: ['name', 'range'],
      produces: ['application/gzip'],
      answers: { 200: Bytes },
    }),
    handle(service, async ({ param, reply }) => {
      const { example } = runtimeOf(param('name'), param('range'))
      const assets = new Map([...example].map(([path, text]) => [path, new TextEncoder().encode(text)]))
      return reply.type('application/gzip').send(Buffer.from(await writeArchive(assets)))
    }),
  )
  for (const type of FUNCTION_TYPES) {
    app.get(
      `${PREFIX}/schemas/${type}/manifest/schema`,
      described({ summary: `The JSON schema that manifests of ${type} are held against`, answers: { 200: Anything } }),
      handle(service, () => MANIFEST_SCHEMAS[type]),
    )
  }
}

export function jobRoutes(app: FastifyInstance, { service: registry, now }: RegistryRouting): void {
  const turns = new WriteTimeSlicer()
  const service = untyped(registry)
  addList(
    app,
    `${PREFIX}/jobs`,
    described({ summary: 'Jobs of functions, newest first', query: JOBS_QUERY, answers: { 200: JobsSchema } }),
    handle(service, async ({ api, query }) => {
      const asked = jobQueryOf(query, now())
      return { jobs: (await api.jobs.list(asked)).map(jobBody), limit: asked.limit }
    }),
  )
  app.get(
    `${PREFIX}/jobs/events`,
    described({
      summary: 'Events of jobs as they happen; of one job, until it is over',
      query: {
        type: Type.Optional(Type.Enum([...JOB_TYPES])),
        id: Type.Optional(Type.String({ description: 'id of a job' })),
        children: Type.Optional(Type.Boolean({ description: 'true: also events of the jobs that it waits for' })),
      },
      produces: [EVENTS_MEDIA_TYPE],
    }),
    handle(service, async ({ api, query, reply }) => {
      const type = query.oneOf('type', JOB_TYPES)
      const [id, children] = [query.text('id'), query.flag('children')]
      query.done()
      const events = api.jobs.events({ type, id, children, signal: untilClosed(reply) })[Symbol.asyncIterator]()
      // an unknown job is told before the stream begins
      const first = await events.next()
      return sendTexts(reply, withFirst(first, events), {
        type: EVENTS_MEDIA_TYPE,
        turns,
        quiet: KEEP_ALIVE,
        quietMs: KEEP_ALIVE_MS,
        textOf: eventText,
      })
    }),
  )
  app.get(
    `${PREFIX}/jobs/:type/:id`,
    described({ summary: 'One job of a function', params: ['type', 'id'], answers: { 200: JobDetailSchema } }),
    handle(service, async ({ api, param }) => jobDetailBody(await api.jobs.get(param('type'), param('id')))),
  )
}

/** The jobs of single versions. */
export function versionJobRoutes(app: FastifyInstance, { type, service, now }: TypeRouting): void {
  addList(
    app,
    `${pathsOf(type).version}/jobs`,
    described({
      summary: 'Jobs of one version, newest first',
      params: ['name', 'version'],
      query: JOBS_QUERY,
      answers: { 200: JobsSchema },
    }),
    handle(service, async ({ api, query, param }) => {
      const asked = jobQueryOf(query, now())
      const { name, version } = await api.get(param('name'), param('version'))
      const jobs = await api.jobs.list({ ...asked, name, version })
      return {
        jobs: jobs.map(jobBody),
        limit: asked.limit,
        function: { functionType: TYPE_NAMES[type].wire, name, version },
      }
    }),
  )
}

function jobQueryOf(query: QueryReader, now: number): JobQuery & { readonly limit: number } {
  const functionTypes = namesIn(query, 'functionType', [...FUNCTION_TYPES, 'kfserving'])
  const asked = {
    limit: query.integer('limit', { most: MAX_LIMIT }) ?? DEFAULT_LIMIT,
    types: namesIn(query, 'type', JOB_TYPES),
    states: namesIn(query, 'state', JOB_STATES),
    functionTypes: functionTypes?.map((one) => (one === 'kfserving' ? 'models' : one)),
    createdBefore: timeIn(query, 'createdBefore', now),
    createdAfter: timeIn(query, 'createdAfter', now),
  }
  query.done()
  return asked
}

/** What is not about one type. */
function untyped(service: FunctionsService): { as(caller: Caller): FunctionsApi } {
  return { as: (caller) => service.as(caller, 'plugs') }
}

async function* withFirst(
  first: IteratorResult<FunctionJobEvent>,
  rest: AsyncIterator<FunctionJobEvent>,
): AsyncGenerator<FunctionJobEvent> {
  try {
    for (let next = first; next.done !== true; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}

function runtimeOf(name: string, range = '*'): Runtime {
  const found = RUNTIMES.get(name)
  if (found?.versions.some(({ version }) => isInRange(version, range)) === true) return found
  throw new AppError('NOT_FOUND', `No runtime '${name.slice(0, 100)}'`)
}

function runtimeBody({
  name,
  title,
  functionType,
  archiveFormat,
  versions,
}: Runtime): Readonly<Record<string, unknown>> {
  const shown = versions.map((one) => ({ ...one, deprecated: false, upgradable: false }))
  return { name, title, functionType, archiveFormat, versions: shown }
}
