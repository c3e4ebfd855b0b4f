/** The vault, as a host puts it together. */
export { vaultRoutes } from './routes.ts'
export { createVaultService } from './service.ts'
