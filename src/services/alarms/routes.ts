/**
 * The alarms service over HTTP. The service reads queries and bodies itself, so that a problem is told in
 * the same words by whatever way it comes.
 */
import type { FastifyInstance } from 'fastify'
import type { AlarmsService } from './contract.ts'
import { alarmRoutes } from './routes/alarm-routes.ts'
import { batchRoutes } from './routes/batch-routes.ts'
import { eventRoutes } from './routes/event-routes.ts'

/** Adds every route of the service, in a scope of its own. `request.tenant` and `request.user` say who asks. */
export async function alarmsRoutes(app: FastifyInstance, { service }: { service: AlarmsService }): Promise<void> {
  await app.register((own, _options, done) => {
    own.setValidatorCompiler(() => () => true)
    // the schemas of answers are for readers: nothing is left out because a schema does not know it
    own.setSerializerCompiler(() => (data) => JSON.stringify(data))
    for (const add of [alarmRoutes, batchRoutes, eventRoutes]) add(own, service)
    done()
  })
}
