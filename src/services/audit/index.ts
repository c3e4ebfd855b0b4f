/** Everything a host needs to offer the audit. */
export { auditRoutes } from './api.ts'
export { createAuditService, type InternalAudit } from './service.ts'
