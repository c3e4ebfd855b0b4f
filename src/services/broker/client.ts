/** A client of the broker over fetch, with the same contract; responses are not checked. */
import { AppError } from '#kernel'
import { EVENTS_MEDIA_TYPE, type Http, pathOf, serverEvents, typed } from '#services/shared/client'
import type {
  BrokerApi,
  BrokerMessage,
  MessageApi,
  PostingApi,
  SeriesApi,
  StreamApi,
  StreamedMessage,
  Subscription,
} from './contract.ts'
import type { SeriesAnswer, SeriesQuery } from './series/series-schema.ts'

export function brokerClient(http: Http): BrokerApi {
  return {
    posting: postingClient(http),
    messages: messageClient(http),
    streams: streamClient(http),
    series: seriesClient(http),
  }
}

function postingClient(http: Http): PostingApi {
  const headersOf = (key: string | undefined) => (key === undefined ? {} : { headers: { 'idempotency-key': key } })
  return {
    events: async (resource, body, { idempotencyKey, hops, root: _root, cause: _cause, ...query } = {}) => {
      refuseHops(hops)
      const path = resource === undefined ? '/messages' : pathOf`/resources/${resource}/events`
      return typed(http.json('POST', path, { body, query, ...headersOf(idempotencyKey) }))
    },
    command: async (resource, body, { idempotencyKey, hops } = {}) => {
      refuseHops(hops)
      return typed(http.json('POST', pathOf`/resources/${resource}/commands`, { body, ...headersOf(idempotencyKey) }))
    },
  }
}

function refuseHops(hops: number | undefined): void {
  if (hops !== undefined) throw new AppError('VALIDATION', 'hops is known only inside a host; omit it')
}

function messageClient(http: Http): MessageApi {
  return {
    last: async (resource, channel = 'events', limit) => {
      if (channel === 'events')
        return typed(http.json('GET', pathOf`/resources/${resource}/messages`, { query: { limit } }))
      return (await typed<readonly BrokerMessage[]>(http.json('GET', pathOf`/resources/${resource}/commands`))).slice(
        0,
        limit,
      )
    },
    current: (resource) => typed(http.json('GET', pathOf`/resources/${resource}/current`)),
    query: (body) => typed(http.json('POST', '/messages/query', { body })),
  }
}

function seriesClient(http: Http): SeriesApi {
  const page = async (path: string, query: SeriesQuery | undefined) => {
    const { next, ...answer } = await typed<LinkedAnswer>(http.json('GET', path, { query: { ...query } }))
    return { ...answer, ...(next !== undefined && { next: queryOf(next) }) }
  }
  return {
    get: (resource, metric, query) => page(pathOf`/resources/${resource}/series/${metric}`, query),
    raw: (resource, metric, query) => page(pathOf`/resources/${resource}/series/${metric}/raw`, query),
    latest: (resource, metric, query) =>
      typed(http.json('GET', pathOf`/resources/${resource}/series/${metric}/last`, { query: { ...query } })),
    list: async (resource) => {
      const path = pathOf`/resources/${resource}/series`
      const found = await typed<readonly ListedSeries[]>(http.json('GET', path, { query: { metadata: true } }))
      return found.map(({ name, latest: { timestamp, value } }) => ({ metric: name, time: timestamp, value }))
    },
    query: (body) => typed(http.json('POST', '/series/query', { body })),
    remove: async ({ resource, metrics, from, until, only }) => {
      const path = pathOf`/resources/${resource}`
      if (only === 'messages') {
        if (from !== undefined || until !== undefined || metrics !== undefined) {
          const text = 'over HTTP, removing only messages removes all of them; omit range and metrics'
          throw new AppError('VALIDATION', text)
        }
        await http.json('DELETE', `${path}/messages`)
        return
      }
      const query = { from, until, metrics: metrics?.join(','), onlytimeseries: only === 'samples' ? true : undefined }
      await http.json('DELETE', path, { query })
    },
  }
}

interface LinkedAnswer extends SeriesAnswer {
  readonly next?: string
}

interface ListedSeries {
  readonly name: string
  readonly latest: { readonly timestamp: number; readonly value: unknown }
}

function queryOf(href: string): SeriesQuery {
  const parameters = Object.fromEntries(new URLSearchParams(href.slice(href.indexOf('?') + 1)))
  const whole = ['from', 'until', 'limit'].filter((name) => parameters[name] !== undefined)
  return { ...parameters, ...Object.fromEntries(whole.map((name) => [name, Number(parameters[name])])) }
}

function streamClient(http: Http): StreamApi {
  const open = (path: string, topic: string | undefined, { signal }: Subscription) =>
    new StreamReader(signal, (ended) => streamed(http, path, topic, ended))
  return {
    subscribe: (resource, channel, options) => open(pathOf`/resources/${resource}/${channel}`, resource, options),
    firehose: (options) => open('/messages', undefined, options),
  }
}

type Streamed = StreamedMessage | { readonly dropped: number }

async function* streamed(
  http: Http,
  path: string,
  topic: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<Streamed> {
  try {
    const answer = await http.open('GET', path, { headers: { accept: EVENTS_MEDIA_TYPE }, signal })
    for await (const { id = '', event, data } of serverEvents(answer)) {
      if (event === 'dropped') yield { dropped: Number(data) }
      const value = data as BrokerMessage
      // an empty object is a heartbeat
      if (event !== undefined || Object.keys(value).length === 0) continue
      const { resource } = value
      yield { number: Number(id.split('.')[1]), topic: topic ?? (typeof resource === 'string' ? resource : ''), value }
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

type Next = IteratorResult<StreamedMessage, undefined>

/** Reads a stream as a feed. Connects on the first read, which throws if the stream is rejected. */
class StreamReader implements ReturnType<StreamApi['subscribe']> {
  /** always false, because this reader cannot resume */
  readonly missed = false
  readonly #ending = new AbortController()
  readonly #values: AsyncGenerator<Streamed>
  #dropped = 0

  constructor(signal: AbortSignal, open: (ended: AbortSignal) => AsyncGenerator<Streamed>) {
    this.#values = open(AbortSignal.any([signal, this.#ending.signal]))
  }

  takeDropped(): number {
    const count = this.#dropped
    this.#dropped = 0
    return count
  }

  async next(): Promise<Next> {
    for (;;) {
      const next: IteratorResult<Streamed, unknown> = await this.#values.next()
      if (next.done === true) return { done: true, value: undefined }
      const { value } = next
      if ('value' in value) return { done: false, value }
      this.#dropped += value.dropped
    }
  }

  async return(): Promise<Next> {
    this.#ending.abort()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
