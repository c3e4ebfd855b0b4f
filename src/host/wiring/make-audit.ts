/** Creates the audit of a host. */
import { machineTimers } from '#platform'
import { auditRoutes, createAuditService } from '#services/audit'
import { errorBodyOfLines } from '#services/shared'
import type { MakeService } from './service-dependencies.ts'
import { ofCaller } from './service-registry.ts'

/** Interval between removals of old entries, in ms */
const FORGET_MS = 3_600_000

export const makeAudit: MakeService = ({ config, hostStore, now, logger, tenants }) => ({
  name: 'audit',
  description: 'Who changed what, from where',
  errorBody: errorBodyOfLines,
  routes: (app) => auditRoutes(app, { service: ofCaller(tenants, ({ audit }) => audit) }),
  open: ({ tenant, store, services }) => {
    const age = () => Math.min(config.auditAge, services.retention?.ageOf('audit') ?? Number.POSITIVE_INFINITY)
    const audit = createAuditService({ tenant, store, hostStore, now, age })
    let cancel: (() => void) | undefined
    const forget = (): void => {
      audit.forget().catch((error: unknown) => logger.error('old audit entries could not be removed', { error }))
    }
    const life = {
      start: async () => {
        cancel = machineTimers.every(FORGET_MS, forget)
      },
      stop: () => cancel?.(),
    }
    return { provides: { audit }, life }
  },
})
