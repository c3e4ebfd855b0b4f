/** Routes of maintenance windows. */
import type { FastifyInstance } from 'fastify'
import { addRoutes, documentRoutes } from '#services/shared'
import type { MaintenanceApi, MaintenanceService } from './contract.ts'
import { ErrorSchema, type MaintenanceWindow, WindowConfiguration, WindowSchema } from './window-schema.ts'

const ROUTES = documentRoutes<MaintenanceApi, MaintenanceWindow>({
  path: '/alarm/windows',
  one: 'window',
  many: 'windows',
  scope: 'operate',
  body: WindowConfiguration,
  shown: WindowSchema,
  pick: (api) => api,
})

export function maintenanceRoutes(app: FastifyInstance, { service }: { service: MaintenanceService }): Promise<void> {
  return addRoutes(app, service, { tag: 'maintenance', errors: ErrorSchema, routes: ROUTES })
}
