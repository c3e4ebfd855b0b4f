/** Time series of one tenant. */
import { AppError, Issues, ownValue } from '#kernel'
import { MAX_TIME, readName, SampleReader } from '#services/shared'
import type { Sample, Series, StoredMessage } from '#storage'
import type { SeriesAnswer, SeriesApi, SeriesPage, SeriesQuery } from '../contract.ts'
import type { SeriesDependencies, TenantSeries } from '../series-of-tenant.ts'
import { groupRows, type Rows } from './group-rows.ts'
import { queryMessages } from './query-messages.ts'
import { differenceRows, sampleRows } from './sample-rows.ts'
import { readTimeOrAge } from './time-range.ts'
import { readBodyRequest, readRequest, type SeriesRequest, type UncheckedRequest } from './series-request.ts'
import { isSample } from '../posting/log-entry.ts'
import { messageOf } from '../recent-messages.ts'

/** messages of a resource that are looked through */
const MAX_LOOKED = 100

async function newestSamples(
  series: Series,
  resource: string,
  newest: readonly Sample[],
  now: number,
): Promise<readonly Sample[]> {
  if (newest.every(({ time }) => time <= now)) return newest
  const messages = await series.messages({ resource, stream: 'events', limit: MAX_LOOKED })
  return Promise.all(
    newest.map(async (sample) => (sample.time <= now ? sample : await counted(series, sample, messages, now))),
  )
}

async function counted(
  series: Series,
  sample: Sample,
  messages: readonly StoredMessage[],
  now: number,
): Promise<Sample> {
  const { resource, metric } = sample
  const span = { resources: [resource], metric, from: undefined, until: now }
  const [past] = await new SampleReader(series).first(span, true, 1)
  const message = messages.find(({ body }) => isSample(ownValue(body, metric)))
  const value = ownValue(message?.body, metric)
  if (message === undefined || !isSample(value) || (past !== undefined && past.time > message.time))
    return past ?? sample
  return { resource, metric, time: messageOf(message).timestamp, value }
}

/** points of one answer */
const MAX_POINTS = 2_000
/** samples of one page of raw data */
const MAX_RAW = 10_000
/** queries of one request */
const MAX_QUERIES = 100
/** times and values in the answer to one request: as JSON it must not hold the loop */
const MAX_VALUES = 500_000

/** Over the storage of one tenant. `samplesRead`: how many one request may go through. */
export function createSeries({
  store,
  now,
  samplesRead,
}: SeriesDependencies & { readonly samplesRead?: number }): TenantSeries {
  const { series } = store
  const newReader = (): SampleReader => new SampleReader(series, { most: samplesRead })
  return {
    series: {
      async get(resource, metric, query = {}) {
        return pageOf(newReader(), read(resource, metric, query, now(), MAX_POINTS))
      },
      raw: (resource, metric, query = {}) => raw(newReader(), resource, metric, query, now()),
      latest: (resource, metric, query = {}) => latest(series, resource, metric, query, now()),
      async list(resource) {
        const issues = new Issues('QUERY')
        readName(resource, '/resource', 'resource', issues)
        issues.throwIfAny('the request')
        const newest = await newestSamples(series, resource, await series.latest(resource), now())
        return newest.map(({ metric, time, value }) => ({ metric, time, value }))
      },
      query: (body) => answerBody(newReader(), body, now()),
      // a power cut would bring it back: no log has removals
      remove: async (what) => series.remove({ ...readRemoval(what, now()), synced: true }),
    },
    queryMessages: (body) => queryMessages(series, body, now()),
  }
}

function read(resource: string, metric: string, query: SeriesQuery, now: number, most: number): SeriesRequest {
  const { aggregates } = query
  const members = { ...query, resources: [resource], metric, aggregates: aggregates && aggregates.split(',').map(trim) }
  return checked({ place: '', members, now, most, usual: MAX_POINTS, issues: new Issues('QUERY') })
}

function trim(text: string): string {
  return text.trim()
}

function checked(asked: UncheckedRequest): SeriesRequest {
  const request = readRequest(asked)
  asked.issues.throwIfAny('the query')
  if (request !== undefined) return request
  throw new AppError('INTERNAL', 'a query without a problem could not be read')
}

/** `next` is a body of `POST /series/query`. */
async function answer(reader: SampleReader, request: SeriesRequest): Promise<SeriesPart> {
  const { echo, descending, limit } = request
  const { rows: series, rest } = await rowsOf(reader, request)
  if (rest === undefined) return { query: echo, series }
  const { window: _resolved, ...asked } = echo
  const next = { ...asked, ...rest, order: descending ? 'descending' : 'ascending', limit }
  return { query: echo, series, truncated: true, next }
}

type SeriesPart = SeriesAnswer & { readonly next?: Readonly<Record<string, unknown>> }

/** As `answer`, with `next` in the parameters of a read of one series. */
async function pageOf(reader: SampleReader, request: SeriesRequest): Promise<SeriesPage> {
  const { next, ...part } = await answer(reader, request)
  if (next === undefined) return part
  const { from, until, order, limit, grouping, zone } = next as SeriesQuery
  const { aggregates } = request
  const groups = aggregates.length > 0 && {
    grouping,
    ...(zone !== undefined && { zone }),
    aggregates: aggregates.map(({ name }) => name).join(','),
  }
  return { ...part, next: { from, until, order, limit, ...groups } as SeriesQuery }
}

function rowsOf(reader: SampleReader, request: SeriesRequest): Promise<Rows> {
  const { aggregates, grouping } = request
  if (aggregates.length === 0) return sampleRows(reader, request)
  // a difference belongs to a sample, so that it needs no groups unless somebody wants them
  if (grouping === 'auto' && aggregates.every(({ needs }) => needs === 'change')) return differenceRows(reader, request)
  return groupRows(reader, request)
}

async function raw(
  reader: SampleReader,
  resource: string,
  metric: string,
  query: SeriesQuery,
  now: number,
): ReturnType<SeriesApi['raw']> {
  const { aggregate, aggregates, grouping, zone, ...range } = query
  const issues = new Issues('QUERY')
  for (const [name, value] of Object.entries({ aggregate, aggregates, grouping, zone })) {
    if (value === undefined || (name === 'grouping' && value === 'auto')) continue
    issues.wrong(`/${name}`, 'raw series are not aggregated', `ask for /series/${metric} without /raw`)
  }
  const members = { ...range, resources: [resource], metric }
  return pageOf(reader, checked({ place: '', members, now, most: MAX_RAW, usual: MAX_POINTS, issues }))
}

async function latest(
  series: Series,
  resource: string,
  metric: string,
  query: Pick<SeriesQuery, 'until' | 'limit'>,
  now: number,
): Promise<SeriesAnswer> {
  const { until, limit = 1 } = query
  const members = { limit, until, resources: [resource], metric }
  const issues = new Issues('QUERY')
  const request = checked({ place: '', members, now, most: MAX_POINTS, issues })
  // a device's clock may be ahead: its newest sample is there all the same
  const bound = until === undefined ? undefined : request.range.until
  const span = { resources: [resource], metric, from: undefined, until: bound ?? MAX_TIME }
  const found = await new SampleReader(series).first(span, true, request.limit)
  const isOne = bound === undefined && request.limit === 1
  const samples = isOne ? await newestSamples(series, resource, found, now) : found
  return {
    query: { ...request.echo, from: null, until: bound ?? null },
    series: samples.map(({ time, value }) => [time, value]),
  }
}

async function answerBody(
  reader: SampleReader,
  body: unknown,
  now: number,
): Promise<SeriesPart | readonly SeriesPart[]> {
  const issues = new Issues('QUERY')
  const several: readonly unknown[] | undefined = Array.isArray(body) ? body : undefined
  if (several !== undefined && several.length > MAX_QUERIES) {
    throw new AppError('TOO_LARGE', `${several.length} queries are more than ${MAX_QUERIES}; send several requests`)
  }
  const asked = { now, issues, most: MAX_POINTS }
  const requests = (several ?? [body]).map((one, i) => {
    return readBodyRequest(one, { ...asked, place: several === undefined ? '' : `/${i}` })
  })
  issues.throwIfAny('the query')
  const answers: SeriesPart[] = []
  let values = 0
  for (const request of requests) {
    if (request === undefined) continue
    const answered = await answer(reader, request)
    values += answered.series.length * (answered.series[0]?.length ?? 0)
    if (values > MAX_VALUES) {
      throw new AppError('TOO_LARGE', `the answer has more than ${MAX_VALUES} values; ask for less at once`)
    }
    answers.push(answered)
  }
  const [only] = answers
  return several !== undefined || only === undefined ? answers : only
}

function readRemoval(what: Parameters<SeriesApi['remove']>[0], now: number): Parameters<Series['remove']>[0] {
  const { resource, metrics, only } = what
  const issues = new Issues('QUERY')
  readName(resource, '/resource', 'resource', issues)
  for (const [i, metric] of (metrics ?? []).entries()) readName(metric, `/metrics/${i}`, 'metric', issues)
  const from = readTimeOrAge(what.from, '/from', now, issues)
  const until = readTimeOrAge(what.until, '/until', now, issues)
  issues.throwIfAny('the removal')
  return {
    resource,
    ...(metrics && { metrics }),
    ...(from !== undefined && { from }),
    ...(until !== undefined && { until }),
    ...(only && { only }),
  }
}
