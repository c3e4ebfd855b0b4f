/** Makes the vault of a host. */
import { Seal } from '../machine/seal.ts'
import { vaultErrorBody } from '../services/vault/error-body.ts'
import { vaultRoutes } from '../services/vault/routes.ts'
import { createVaultService } from '../services/vault/service.ts'
import { sealKey } from './seal-key.ts'
import type { MakeService } from './service-dependencies.ts'

/** Secrets over storage, sealed under the key of the host. */
export const makeVault: MakeService = ({ storage, now, config, serviceRegistry, reached }) => {
  const own = createVaultService({ storage, seal: new Seal(sealKey(config)), now })
  const service = reached('vault', own)
  serviceRegistry.vault = service
  return {
    name: 'vault',
    description: 'Secrets of tenants, for their functions and rules',
    errorBody: vaultErrorBody,
    routes: (app) => vaultRoutes(app, { service }),
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
  }
}
