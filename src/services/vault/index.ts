/** The vault, as a host puts it together. */
export { vaultErrorBody } from './error-body.ts'
export { vaultRoutes } from './routes.ts'
export { createVaultService } from './service.ts'
