/** Door of the vault for a host. */
export { vaultRoutes } from './api.ts'
export { createVaultService } from './service.ts'
