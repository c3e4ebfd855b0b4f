/** Makes the vault of a host. */
import { Seal } from '#platform'
import { createVaultService, vaultRoutes } from '#services/vault'
import { errorBodyOfLines } from '#services/shared'
import { sealKey } from '../seal-key.ts'
import type { MakeService } from './service-dependencies.ts'

/** Secrets over storage, sealed under the key of the host. */
export const makeVault: MakeService = ({ storage, now, config, serviceRegistry, reached }) => {
  const own = createVaultService({ storage, seal: new Seal(sealKey(config)), now })
  const service = reached('vault', own)
  serviceRegistry.vault = service
  return {
    name: 'vault',
    description: 'Secrets of tenants, for their functions and rules',
    errorBody: errorBodyOfLines,
    routes: (app) => vaultRoutes(app, { service }),
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
  }
}
