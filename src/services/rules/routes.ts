/**
 * The rules service over HTTP. The routes read queries and bodies and let the service check them, so
 * that a problem is told in the same words by whatever way it comes.
 */
import type { FastifyInstance } from 'fastify'
import { bodyText, ownScope } from '#services/shared'
import type { RulesService } from './contract.ts'
import { batchRoutes, type OtherBatches } from './routes/batch-routes.ts'
import { inspectionRoutes, nodeCommandRoute } from './routes/inspection-routes.ts'
import { taskListRoutes } from './routes/task-list-routes.ts'
import { taskRoutes } from './routes/task-routes.ts'
import { templateRoutes } from './routes/template-routes.ts'
import { toolRoutes } from './routes/tool-routes.ts'

const TEXT_TYPES = ['application/x-www-form-urlencoded', 'text/plain']

export interface RulesRouting {
  readonly service: RulesService
  /** operations on what is not a task, which come on the same path; asked at each request */
  readonly otherBatches?: (() => OtherBatches | undefined) | undefined
}

/** Adds every route of the service, in a scope of its own. `request.tenant` and `request.user` say who asks. */
export async function rulesRoutes(app: FastifyInstance, { service, otherBatches }: RulesRouting): Promise<void> {
  await ownScope(app, (own) => {
    for (const add of [taskRoutes, taskListRoutes, templateRoutes, inspectionRoutes, toolRoutes]) add(own, service)
    batchRoutes(own, service, otherBatches)
    own.register((texts, _none, registered) => {
      for (const type of TEXT_TYPES) if (!texts.hasContentTypeParser(type)) readText(texts, type)
      nodeCommandRoute(texts, service)
      registered()
    })
  })
}

function readText(app: FastifyInstance, type: string): void {
  app.addContentTypeParser(type, { parseAs: 'buffer' }, async (_request: unknown, bytes: Buffer) => bodyText(bytes))
}
