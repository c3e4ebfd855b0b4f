/** Everything a host needs to offer the vault. */
export { vaultRoutes } from './api.ts'
export { createVaultService } from './service.ts'
