/** A scope of an app for routes of object storage. */
import type { FastifyInstance } from 'fastify'
import { statusOf } from './error-body.ts'

/** The services read bodies and queries themselves; what they refuse has the status of this API. */
export async function inOwnScope(app: FastifyInstance, add: (own: FastifyInstance) => void): Promise<void> {
  await app.register((own, _options, done) => {
    own.setValidatorCompiler(() => () => true)
    own.setSerializerCompiler(() => (data) => JSON.stringify(data))
    own.addHook('preSerialization', (_request, reply, payload, next) => {
      reply.code(statusOf(reply.statusCode))
      next(null, payload)
    })
    add(own)
    done()
  })
}
