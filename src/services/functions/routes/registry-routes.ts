/** Routes of the registry itself: what it is, its runtimes, schemas, and jobs. */
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { JOB_STATES } from '../../../jobs/contract.ts'
import { AppError } from '../../../kernel/errors.ts'
import { EVENTS_MEDIA_TYPE } from '../../../web/media-types.ts'
import { sendTexts, untilClosed } from '../../../web/send-stream.ts'
import { WriteTimeSlicer } from '../../../web/write-time-slicer.ts'
import { type FunctionJobEvent, type FunctionsService, JOB_TYPES } from '../contract.ts'
import { writeArchive } from '../registry/archive.ts'
import { MAX_LIMIT } from '../registry/find-functions.ts'
import { PlugManifestSchema } from '../registry/manifest.ts'
import { DEFAULT_LIMIT } from '../jobs/jobs-api.ts'
import { type Runtime, RUNTIMES } from '../runtimes/catalog.ts'
import { isInRange } from '../registry/versions.ts'
import { addList, described, handle, namesIn, timeIn } from './route-parts.ts'
import { Anything, Bytes, JobDetailSchema, JOBS_QUERY, JobsSchema, RuntimesSchema } from './schemas.ts'
import { eventText, jobBody, jobDetailBody, KEEP_ALIVE, PREFIX } from './wire.ts'

const KEEP_ALIVE_MS = 30_000
const REGISTRY_VERSION = '2.25.0'
const VERSION = `${PREFIX}/plugs/:name/versions/:version`

export interface RegistryRouting {
  readonly service: FunctionsService
  readonly now: () => number
  /** of this package */
  readonly revision: string
}

export function registryRoutes(app: FastifyInstance, { service, revision }: RegistryRouting): void {
  app.get(
    `${PREFIX}/`,
    described({ summary: 'What the registry is', answers: { 200: Anything } }),
    handle(service, () => ({
      name: 'function-registry',
      version: REGISTRY_VERSION,
      enabled: { plugs: true },
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
  app.get(
    `${PREFIX}/schemas/plugs/manifest/schema`,
    described({ summary: 'The JSON schema that plug.json is held against', answers: { 200: Anything } }),
    handle(service, () => PlugManifestSchema),
  )
}

export function jobRoutes(app: FastifyInstance, { service, now }: RegistryRouting): void {
  const turns = new WriteTimeSlicer()
  for (const [path, summary, params] of [
    [`${PREFIX}/jobs`, 'Jobs of functions, newest first', []],
    [`${VERSION}/jobs`, 'Jobs of one version, newest first', ['name', 'version']],
  ] as const) {
    addList(
      app,
      path,
      described({ summary, params, query: JOBS_QUERY, answers: { 200: JobsSchema } }),
      handle(service, async ({ api, query, param }) => {
        const limit = query.integer('limit', { most: MAX_LIMIT }) ?? DEFAULT_LIMIT
        const types = namesIn(query, 'type', JOB_TYPES)
        const states = namesIn(query, 'state', JOB_STATES)
        const functionTypes = namesIn(query, 'functionType', ['plugs', 'webscripts', 'kfserving'])
        const [createdBefore, createdAfter] = [
          timeIn(query, 'createdBefore', now()),
          timeIn(query, 'createdAfter', now()),
        ]
        query.done()
        if (functionTypes?.includes('plugs') === false) return { jobs: [], limit }
        const isOfOne = params.length > 0
        const of = isOfOne ? { name: param('name'), version: param('version') } : {}
        const found = isOfOne ? await api.get(param('name'), param('version')) : undefined
        const jobs = await api.jobs.list({ limit, types, states, createdBefore, createdAfter, ...of })
        return {
          jobs: jobs.map(jobBody),
          limit,
          ...(found && { function: { name: found.name, version: found.version } }),
        }
      }),
    )
  }
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
