/** A scope of an app for the routes of one service. */
import type { FastifyInstance } from 'fastify'

/**
 * Services read queries and bodies themselves, so that a problem has the same words by whatever way it comes: schemas of
 * requests refuse nothing there, and those of answers leave nothing out.
 */
export async function ownScope(
  app: FastifyInstance,
  add: (own: FastifyInstance) => void | Promise<void>,
): Promise<void> {
  await app.register(async (own) => {
    own.setValidatorCompiler(() => () => true)
    own.setSerializerCompiler(() => (data) => JSON.stringify(data))
    await add(own)
  })
}
