/** Implements the time series API over the store of a tenant. */
import { AppError, ownValue } from '#kernel'
import { MAX_TIME, SampleReader } from '#services/shared'
import type { Sample, Series, Store, StoredMessage } from '#storage'
import type { BrokerMessage, MessageApi, SeriesApi } from '../contract.ts'
import { differenceRows, groupRows, type Rows, sampleRows } from './rows.ts'
import { rangeOf, requestOf, type SeriesRequest } from './series-request.ts'
import {
  MessageQuery,
  RawQuery,
  type SeriesAnswer,
  SeriesOfResource,
  type SeriesPage,
  type SeriesQuery,
  SeriesQueryBody,
  SeriesQueryList,
  SeriesRemoval,
  timeAt,
} from './series-schema.ts'
import { isSample } from '../posting/log-entry.ts'
import { MAX_KEPT, messageOf } from '../recent-messages.ts'

async function newestSamples(
  series: Series,
  resource: string,
  newest: readonly Sample[],
  now: number,
): Promise<readonly Sample[]> {
  if (newest.every(({ time }) => time <= now)) return newest
  const messages = await series.messages({ resource, stream: 'events', limit: MAX_KEPT })
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

const MAX_POINTS = 2_000
const MAX_RAW = 10_000
const MAX_QUERIES = 100
/** maximum times and values per response, so that serializing does not block the event loop */
const MAX_VALUES = 500_000

export interface SeriesDependencies {
  readonly store: Store
  /** epoch ms */
  readonly now: () => number
  readonly samplesRead?: number
}

export interface TenantSeries {
  readonly series: SeriesApi
  readonly queryMessages: MessageApi['query']
}

export function createSeries({ store, now, samplesRead }: SeriesDependencies): TenantSeries {
  const { series } = store
  const newReader = (): SampleReader => new SampleReader(series, { most: samplesRead })
  return {
    series: {
      async get(resource, metric, { aggregates, ...query } = {}) {
        const list = aggregates === undefined ? {} : { aggregates: aggregates.split(',').map((name) => name.trim()) }
        const body = SeriesQueryBody.read({ ...query, ...list, resources: [resource], metric })
        return pageOf(newReader(), requestOf(body, { now: now(), most: MAX_POINTS }))
      },
      async raw(resource, metric, query = {}) {
        const body = RawQuery.read({ ...query, resources: [resource], metric })
        return pageOf(newReader(), requestOf(body, { now: now(), most: MAX_RAW, usual: MAX_POINTS }))
      },
      latest: (resource, metric, query = {}) => latest(series, resource, metric, query, now()),
      async list(resource) {
        SeriesOfResource.read({ resource })
        const newest = await newestSamples(series, resource, await series.latest(resource), now())
        return newest.map(({ metric, time, value }) => ({ metric, time, value }))
      },
      query: (body) => answerBody(newReader(), body, now()),
      // synced, because removals are not in a log and a power failure would undo them
      remove: async (what) => series.remove({ ...readRemoval(what, now()), synced: true }),
    },
    queryMessages: (body) => queryMessages(series, body, now()),
  }
}

async function answer(reader: SampleReader, request: SeriesRequest): Promise<SeriesPart> {
  const { echo, descending, limit } = request
  const { rows: series, rest } = await rowsOf(reader, request)
  if (rest === undefined) return { query: echo, series }
  const { window: _resolved, ...written } = echo
  const next = { ...written, ...rest, order: descending ? 'descending' : 'ascending', limit }
  return { query: echo, series, truncated: true, next }
}

type SeriesPart = SeriesAnswer & { readonly next?: Readonly<Record<string, unknown>> }

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
  // a difference belongs to a single sample, so groups are optional
  if (grouping === 'auto' && aggregates.every(({ needs }) => needs === 'change')) return differenceRows(reader, request)
  return groupRows(reader, request)
}

async function latest(
  series: Series,
  resource: string,
  metric: string,
  query: Pick<SeriesQuery, 'until' | 'limit'>,
  now: number,
): Promise<SeriesAnswer> {
  const { until } = query
  const body = RawQuery.read({ limit: 1, ...query, resources: [resource], metric })
  const request = requestOf(body, { now, most: MAX_POINTS })
  // without a bound, samples with a time ahead of the clock are included
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
  const isList = Array.isArray(body)
  if (isList && body.length > MAX_QUERIES) {
    throw new AppError(
      'TOO_LARGE',
      `the request has ${body.length} queries, more than ${MAX_QUERIES}; send several requests`,
    )
  }
  const queries = isList ? SeriesQueryList.read(body) : [SeriesQueryBody.read(body)]
  const requests = queries.map((one, i) => {
    return requestOf(one, { now, most: MAX_POINTS, ...(isList && { path: `/${i}` }) })
  })
  const answers: SeriesPart[] = []
  let values = 0
  for (const request of requests) {
    const answered = await answer(reader, request)
    values += answered.series.length * (answered.series[0]?.length ?? 0)
    if (values > MAX_VALUES) {
      throw new AppError('TOO_LARGE', `the response has more than ${MAX_VALUES} values; request less at once`)
    }
    answers.push(answered)
  }
  const [only] = answers
  return isList || only === undefined ? answers : only
}

function readRemoval(what: SeriesRemoval, now: number): Parameters<Series['remove']>[0] {
  const { from, until, ...rest } = SeriesRemoval.read(what)
  return {
    ...rest,
    ...(from !== undefined && { from: timeAt(from, now) }),
    ...(until !== undefined && { until: timeAt(until, now) }),
  }
}

const MAX_ANSWERED = 20_000

/** Returns the messages of each resource, newest first, with resources in the order of the query. */
async function queryMessages(series: Series, body: unknown, now: number): ReturnType<MessageApi['query']> {
  const query = MessageQuery.read(body)
  const limit = Math.min(query.limit ?? MAX_KEPT, MAX_KEPT)
  const { from = null, until = null, window = null } = query
  const isBounded = from !== null || until !== null || window !== null
  const range = isBounded ? rangeOf(query, now) : undefined
  const results: { resource: string; messages: readonly BrokerMessage[] }[] = []
  let total = 0
  for (const resource of new Set(query.resources)) {
    const kept = await series.messages({
      resource,
      stream: 'events',
      limit: range === undefined ? limit : MAX_KEPT,
    })
    const within = range === undefined ? kept : kept.filter(({ time }) => time >= range.from && time <= range.until)
    const messages = within.slice(0, limit).map(messageOf)
    if (messages.length > 0) results.push({ resource, messages })
    total += messages.length
    if (total > MAX_ANSWERED) {
      const most = `the response has more than ${MAX_ANSWERED} messages`
      throw new AppError('TOO_LARGE', `${most}; request fewer resources, or a smaller limit`)
    }
  }
  return { query: { ...query, ...range }, results }
}
