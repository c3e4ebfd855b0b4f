/** Enforces request deadlines, and ends streams when the host closes. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { AppError } from '#kernel'
import { AnswerQueue, type Place } from './answer-queue.ts'
import { machineTimers, type Timers } from './timers.ts'

type Held = FastifyReply & Record<symbol, Place<FastifyReply> | undefined>

/**
 * A stream that has begun has no deadline; server-sent events end when the host closes. All requests share one timer,
 * so a timeout may come late by a twentieth of the limit.
 */
export function watchAnswers(app: FastifyInstance, limit: number, timers: Timers = machineTimers): void {
  const waiting = new AnswerQueue<FastifyReply>()
  // unique per call, since two watchers may watch one request
  const PLACE = Symbol('place among the open answers')
  app.decorateReply(PLACE, undefined)
  const lasting = new Set<FastifyReply>()
  const sweep = () => {
    for (const reply of waiting.takeDue(timers.elapsed())) {
      if (reply.raw.destroyed) continue
      if (reply.sent || reply.raw.headersSent) {
        lasting.add(reply)
        // an upgraded socket never finishes the way a response does
        reply.raw.once('close', () => lasting.delete(reply))
      } else {
        // ignore a result that the handler sends late
        reply.raw.once('finish', () => (reply.send = () => reply))
        reply.send(hasCome(reply.request.raw) ? tookTooLong(limit) : cameTooLate(reply, limit))
      }
    }
  }
  const endSweeps = timers.every(Math.max(1, limit / 20), sweep)
  app.addHook('onRequest', (request, reply, done) => {
    // streamed bodies have their own deadlines
    if (request.routeOptions.config.takesStream === true) return done()
    const held = reply as Held
    held[PLACE] = waiting.add(reply, timers.elapsed() + limit)
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const place = (reply as Held)[PLACE]
    if (place === undefined || !waiting.release(place)) lasting.delete(reply)
    // a socket whose upgrade was declined accepts no further requests and would stay open
    if (request.headers.upgrade !== undefined) request.raw.socket.destroySoon()
    done()
  })
  app.addHook('preClose', async () => {
    for (const { raw } of [...waiting, ...lasting]) if (isEndless(raw)) raw.end()
  })
  app.addHook('onClose', async () => endSweeps())
}

/** Whether the body has arrived. Injected requests lack `complete`. */
function hasCome({ complete = true }: { readonly complete?: boolean }): boolean {
  return complete
}

function tookTooLong(limit: number): AppError {
  return new AppError('TIMED_OUT', `The request took longer than ${limit} ms`)
}

function cameTooLate(reply: FastifyReply, limit: number): AppError {
  reply.header('connection', 'close')
  reply.raw.once('finish', () => reply.request.raw.socket.destroySoon())
  return new AppError('BODY_LATE', `The body did not arrive within ${limit} ms; send it faster, or in parts`)
}

function isEndless(raw: FastifyReply['raw']): boolean {
  return String(raw.getHeader('content-type') ?? '').startsWith('text/event-stream')
}
