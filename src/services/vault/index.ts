/** The vault, as a host puts it together. */
export { vaultRoutes } from './api.ts'
export { createVaultService } from './service.ts'
