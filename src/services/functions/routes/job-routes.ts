/** Routes of jobs: of all functions, of one version, and their events. */
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { JOB_STATES } from '#jobs'
import { EVENTS_MEDIA_TYPE, type QueryReader, sendTexts, untilClosed } from '#services/shared'
import { type FunctionJobEvent, JOB_TYPES, type JobQuery } from '../contract.ts'
import { FUNCTION_TYPES, TYPE_NAMES } from '../function-type.ts'
import { DEFAULT_LIMIT } from '../jobs/jobs-api.ts'
import { MAX_LIMIT } from '../registry/find-functions.ts'
import { Yielder } from '#kernel'
import { machineTimers } from '#platform'
import { addList, described, handle, namesIn, OF_VERSION, pathsOf, timeIn, type TypeRouting } from './route-parts.ts'
import { JobDetailSchema, JOBS_QUERY, JobsSchema } from './schemas.ts'
import { eventText, jobBody, jobDetailBody, jobReportBody, KEEP_ALIVE, PREFIX, versionHref } from './wire.ts'

const KEEP_ALIVE_MS = 30_000

export function jobRoutes(app: FastifyInstance, { service, now }: Omit<TypeRouting, 'type'>): void {
  const turns = new Yielder(machineTimers)
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
      summary: 'Jobs of one version, newest first, each with what it was asked and gave',
      params: OF_VERSION,
      query: JOBS_QUERY,
      answers: { 200: JobsSchema },
    }),
    handle(service, async ({ api, query, param }) => {
      const asked = jobQueryOf(query, now())
      const { name, version } = await api.get(param('name'), param('version'))
      const jobs = await api.jobs.list({ ...asked, name, version })
      const { wire, noun } = TYPE_NAMES[type]
      return {
        jobs: jobs.map(jobReportBody),
        limit: asked.limit,
        function: { functionType: wire, name, version },
        _links: { [noun]: { href: versionHref({ type, name, version }) } },
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
