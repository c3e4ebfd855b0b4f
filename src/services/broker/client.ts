/** The broker over fetch: the same contract, for tests and for other processes. */
import { AppError } from '#kernel'
import { EVENTS_MEDIA_TYPE, type Http, pathOf, serverEvents, typed } from '#services/shared/client'
import { StreamReader, type Streamed } from './client/stream-reader.ts'
import type { BrokerApi, BrokerMessage, MessageApi, PostingApi, StreamApi, Subscription } from './contract.ts'
import { seriesClient } from './series/series-client.ts'

/**
 * What the caller behind the credentials can do. Errors are the same AppErrors, as far as the wire tells them apart.
 * Types of answers are those of the contract; the client does not check them again.
 */
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

/** How many rules led to a message is known inside a host only. */
function refuseHops(hops: number | undefined): void {
  if (hops !== undefined) throw new AppError('VALIDATION', 'hops cannot be told from outside; leave it out')
}

function messageClient(http: Http): MessageApi {
  return {
    last: (resource, channel = 'events', limit) => {
      if (channel === 'events')
        return typed(http.json('GET', pathOf`/resources/${resource}/messages`, { query: { limit } }))
      const all = typed<readonly BrokerMessage[]>(http.json('GET', pathOf`/resources/${resource}/commands`))
      return limit === undefined ? all : all.then((commands) => commands.slice(0, limit))
    },
    current: (resource) => typed(http.json('GET', pathOf`/resources/${resource}/current`)),
    query: (body) => typed(http.json('POST', '/messages/query', { body })),
  }
}

function streamClient(http: Http): StreamApi {
  const open = (path: string, topic: string | undefined, { signal }: Subscription) =>
    new StreamReader(signal, (ended) => streamed(http, path, topic, ended))
  return {
    subscribe: (resource, channel, options) => open(pathOf`/resources/${resource}/${channel}`, resource, options),
    firehose: (options) => open('/messages', undefined, options),
  }
}

async function* streamed(
  http: Http,
  path: string,
  topic: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<Streamed> {
  const answer = await http.open('GET', path, { headers: { accept: EVENTS_MEDIA_TYPE }, signal })
  for await (const { id = '', event, data } of serverEvents(answer)) {
    if (event === 'dropped') yield { dropped: Number(data) }
    if (event !== undefined || isBeat(data)) continue
    const value = data as BrokerMessage
    const { resource } = value
    const named = typeof resource === 'string' ? resource : ''
    yield { published: { number: Number(id.split('.')[1]), topic: topic ?? named, value } }
  }
}

/** An empty object says that the stream is there. */
function isBeat(data: unknown): boolean {
  return typeof data === 'object' && data !== null && Object.keys(data).length === 0
}
