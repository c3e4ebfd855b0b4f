import type { FastifyInstance, FastifyReply } from 'fastify'
import { AppError } from '../kernel/errors.ts'

/**
 * Requests of a scope whose answer has not begun after so many ms are answered `TIMED_OUT`; a stream that has begun
 * lasts as long as it likes. All share one timer, because one each would cost more than the rest of the frame: the
 * answer may come a twentieth of the limit late.
 */
export function limitTime(app: FastifyInstance, limit: number): void {
  // In the order of their ends, which is the order in which they came.
  const open = new Map<FastifyReply, number>()
  const sweep = () => {
    const now = performance.now()
    for (const [reply, end] of open) {
      if (end > now) return
      open.delete(reply)
      if (reply.sent || reply.raw.headersSent || reply.raw.destroyed) continue
      reply.send(new AppError('TIMED_OUT', `The request took longer than ${limit} ms`))
    }
  }
  const timer = setInterval(sweep, Math.max(1, limit / 20)).unref()
  app.addHook('onRequest', (_request, reply, done) => {
    open.set(reply, performance.now() + limit)
    done()
  })
  app.addHook('onResponse', (_request, reply, done) => {
    open.delete(reply)
    done()
  })
  app.addHook('onClose', async () => clearInterval(timer))
}
