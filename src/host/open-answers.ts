/** Answers requests that take too long, and ends streams when the host closes. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { AppError } from '#kernel'
import { AnswerQueue, type Place } from './answer-queue.ts'
import { machineTimers, type Timers } from './timers.ts'

type Held = FastifyReply & Record<symbol, Place<FastifyReply> | undefined>

/**
 * Looks after the requests of a scope until they are answered. One whose answer has not begun after so many ms is
 * answered `TIMED_OUT`, or `BODY_LATE` when it has not come whole; a stream that has begun lasts as long as its reader likes, and a stream of server-sent events
 * ends when the host closes. All share one timer, because one each would cost more than the rest of the frame: the
 * refusal may come a twentieth of the limit late.
 */
export function watchAnswers(app: FastifyInstance, limit: number, timers: Timers = machineTimers): void {
  const waiting = new AnswerQueue<FastifyReply>()
  // of this call alone: two of them may look after one request
  const PLACE = Symbol('place among the open answers')
  app.decorateReply(PLACE, undefined)
  const lasting = new Set<FastifyReply>()
  const sweep = () => {
    for (const reply of waiting.takeDue(timers.elapsed())) {
      if (reply.raw.destroyed) continue
      if (reply.sent || reply.raw.headersSent) {
        lasting.add(reply)
        // a socket that was upgraded never ends as an answer does
        reply.raw.once('close', () => lasting.delete(reply))
      } else {
        // what its handler gives after all is no answer any more, and no mistake to be told of
        reply.raw.once('finish', () => (reply.send = () => reply))
        reply.send(hasCome(reply.request.raw) ? tookTooLong(limit) : cameTooLate(reply, limit))
      }
    }
  }
  const endSweeps = timers.every(Math.max(1, limit / 20), sweep)
  app.addHook('onRequest', (request, reply, done) => {
    // it has limits of its own
    if (request.routeOptions.config.takesStream === true) return done()
    const held = reply as Held
    held[PLACE] = waiting.add(reply, timers.elapsed() + limit)
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const place = (reply as Held)[PLACE]
    if (place === undefined || !waiting.letGo(place)) lasting.delete(reply)
    // asked for an upgrade and answered without: no further request is read from such a socket, so it would stay for ever
    if (request.headers.upgrade !== undefined) request.raw.socket.destroySoon()
    done()
  })
  app.addHook('preClose', async () => {
    for (const { raw } of [...waiting, ...lasting]) if (isEndless(raw)) raw.end()
  })
  app.addHook('onClose', async () => endSweeps())
}

/** Requests that never were on a socket do not say. */
function hasCome({ complete = true }: { readonly complete?: boolean }): boolean {
  return complete
}

function tookTooLong(limit: number): AppError {
  return new AppError('TIMED_OUT', `The request took longer than ${limit} ms`)
}

/** What may still come of it is not waited for. */
function cameTooLate(reply: FastifyReply, limit: number): AppError {
  reply.header('connection', 'close')
  reply.raw.once('finish', () => reply.request.raw.socket.destroySoon())
  return new AppError('BODY_LATE', `The body did not arrive within ${limit} ms; send it faster, or in parts`)
}

function isEndless(raw: FastifyReply['raw']): boolean {
  return String(raw.getHeader('content-type') ?? '').startsWith('text/event-stream')
}
