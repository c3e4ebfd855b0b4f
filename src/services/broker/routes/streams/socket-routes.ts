/** Paths that are WebSockets only, and those that are one beside their answer over HTTP. */
import websocket from '@fastify/websocket'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { machineTimers } from '#platform'
import type { BrokerService } from '../../contract.ts'
import { described } from '../route-parts.ts'
import { Sockets, type SocketHandler } from './sockets.ts'
import { channelRoute, firehoseRoute, RESUMING } from './stream-routes.ts'
import type { Streaming } from './streaming.ts'

/** ms that a client has to answer the closing of its socket */
const FAREWELL_MS = 1_000

export async function streamRoutes(app: FastifyInstance, service: BrokerService, streaming: Streaming): Promise<void> {
  await app.register(websocket, {
    options: { maxPayload: streaming.frameBytes },
    // ws closes the socket itself: a frame that is too large, or no frame at all
    errorHandler: (error, socket, request) => {
      request.log.debug({ err: error }, 'a socket failed')
      socket.terminate()
    },
    preClose(done) {
      const { clients } = this.websocketServer
      for (const client of clients) client.close(1001, 'the host is closing')
      const cancel = machineTimers.later(FAREWELL_MS, () => {
        for (const client of clients) client.terminate()
      })
      this.websocketServer.close(cancel)
      done()
    },
  })
  const sockets = new Sockets(service, streaming)
  channelRoute(app, { service, streaming }, 'events', sockets.publish('events'))
  channelRoute(app, { service, streaming }, 'commands', sockets.subscribe('commands'))
  firehoseRoute(app, service, streaming)
  const add = (url: string, summary: string, wsHandler: SocketHandler, query = {}): void => {
    const params = url.includes(':id') ? ['id'] : []
    const schema = described({
      summary: `WebSocket: ${summary}`,
      params,
      query,
      answers: { 101: Type.Null({ description: 'the connection is a WebSocket from here on' }) },
    })
    app.route({ method: 'GET', url, exposeHeadRoute: false, ...schema, wsHandler, handler: upgradeRequired })
  }
  add('/resources/:id/events/subscribe', 'messages as they come', sockets.subscribe('events'), RESUMING)
  add('/resources/:id/events/publish', 'post messages', sockets.publish('events'))
  add('/resources/:id/commands/subscribe', 'commands as they come', sockets.subscribe('commands'), RESUMING)
  add('/resources/:id/commands/publish', 'send commands', sockets.publish('commands'))
  add('/resources/:id/socket', 'messages of one resource as they come', sockets.subscribe('events'), RESUMING)
  add('/socket', 'post messages of many resources, each with its `resource`', sockets.publish('events'))
}

async function upgradeRequired(_request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return reply.code(426).header('upgrade', 'websocket').send({ error: 'This path is a WebSocket: ask for an upgrade' })
}
