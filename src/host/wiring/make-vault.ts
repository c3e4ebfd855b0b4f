/** Creates the vault of a host. */
import { Seal } from '#platform'
import { createVaultService, vaultRoutes } from '#services/vault'
import { errorBodyOfLines } from '#services/shared'
import { sealKey } from '../seal-key.ts'
import type { MakeService } from './service-dependencies.ts'
import { ofCaller } from './service-registry.ts'

export const makeVault: MakeService = ({ now, config, tenants }) => {
  const seal = new Seal(sealKey(config))
  return {
    name: 'vault',
    description: 'Secrets of tenants, for their functions and rules',
    errorBody: errorBodyOfLines,
    routes: (app) => vaultRoutes(app, { service: ofCaller(tenants, ({ vault }) => vault) }),
    open: ({ tenant, store }) => ({ provides: { vault: createVaultService({ tenant, store, seal, now }) } }),
  }
}
