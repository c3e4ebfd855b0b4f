/** A scope of an app for routes of object storage. */
import type { FastifyInstance } from 'fastify'
import { ownScope } from '#services/shared'
import { statusOf } from './error-body.ts'

/** What services refuse has the status of this API. */
export async function inOwnScope(app: FastifyInstance, add: (own: FastifyInstance) => void): Promise<void> {
  await ownScope(app, (own) => {
    own.addHook('preSerialization', (_request, reply, payload, next) => {
      reply.code(statusOf(reply.statusCode))
      next(null, payload)
    })
    add(own)
  })
}
