/**
 * The broker over HTTP, server-sent events and WebSockets. The routes read queries and let the service
 * check bodies, so that a problem is told in the same words by whatever way it comes.
 */
import type { FastifyInstance } from 'fastify'
import { machineTimers } from '#platform'
import { ownScope } from '#services/shared'
import type { BrokerService } from './contract.ts'
import { PublishedMessage } from './posting/answer.ts'
import { postRoutes } from './routes/post-routes.ts'
import { readRoutes } from './routes/read-routes.ts'
import { TICK_MS } from './routes/streams/open-streams.ts'
import { streamRoutes } from './routes/streams/socket-routes.ts'
import { streamingOf } from './routes/streams/streaming.ts'
import { seriesRoutes } from './series/series-routes.ts'

export interface BrokerRoutes {
  readonly service: BrokerService
  /** tells this process from others, in ids of server-sent events: letters and digits */
  readonly life: string
  /** tells this store from others, likewise; undefined: it does not last, and readers that come back to another process begin anew */
  readonly store?: string | undefined
  /** bytes of a frame of a WebSocket */
  readonly frameBytes: number
  /** Does it every so many ms until it is taken back. Default: the machine's timers, which keep no process alive. */
  readonly every?: (ms: number, work: () => void) => () => void
}

/** Adds every route of the broker, in a scope of its own. `request.tenant` and `request.user` say who asks. */
export async function brokerRoutes(app: FastifyInstance, options: BrokerRoutes): Promise<void> {
  const { service, life, store, frameBytes, every = machineTimers.every } = options
  await ownScope(app, async (own) => {
    own.setSerializerCompiler(() => (data) => (data instanceof PublishedMessage ? data.json : JSON.stringify(data)))
    const streaming = streamingOf(life, frameBytes, store)
    const stop = every(TICK_MS, () => streaming.open.tick())
    own.addHook('onClose', async () => stop())
    postRoutes(own, service)
    readRoutes(own, service)
    seriesRoutes(own, service)
    await streamRoutes(own, service, streaming)
  })
}
