import type { FastifyInstance, FastifyReply } from 'fastify'
import { AppError } from '../kernel/errors.ts'

/**
 * Looks after the requests of a scope until they are answered. One whose answer has not begun after so many ms is
 * answered `TIMED_OUT`; a stream that has begun lasts as long as its reader likes, and a stream of server-sent events
 * ends when the host closes. All share one timer, because one each would cost more than the rest of the frame: the
 * refusal may come a twentieth of the limit late.
 */
export function watchAnswers(app: FastifyInstance, limit: number): void {
  // In the order of their ends, which is the order in which they came.
  const waiting = new Map<FastifyReply, number>()
  const lasting = new Set<FastifyReply>()
  const sweep = () => {
    const now = performance.now()
    for (const [reply, end] of waiting) {
      if (end > now) return
      waiting.delete(reply)
      if (reply.raw.destroyed) continue
      if (reply.sent || reply.raw.headersSent) {
        lasting.add(reply)
        // a socket that was upgraded never ends as an answer does
        reply.raw.once('close', () => lasting.delete(reply))
      } else reply.send(new AppError('TIMED_OUT', `The request took longer than ${limit} ms`))
    }
  }
  const timer = setInterval(sweep, Math.max(1, limit / 20)).unref()
  app.addHook('onRequest', (_request, reply, done) => {
    waiting.set(reply, performance.now() + limit)
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    if (!waiting.delete(reply)) lasting.delete(reply)
    // asked for an upgrade and answered without: no further request is read from such a socket, so it would stay for ever
    if (request.headers.upgrade !== undefined) request.raw.socket.destroySoon()
    done()
  })
  app.addHook('preClose', async () => {
    for (const { raw } of [...waiting.keys(), ...lasting]) if (isEndless(raw)) raw.end()
  })
  app.addHook('onClose', async () => clearInterval(timer))
}

function isEndless(raw: FastifyReply['raw']): boolean {
  return String(raw.getHeader('content-type') ?? '').startsWith('text/event-stream')
}
