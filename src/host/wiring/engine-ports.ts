/** What the engine of a tenant may ask of this host's services. */
import { latestValue } from './broker.ts'
import { metadataOf } from './resources.ts'
import { secretOf } from './vault.ts'
import type { Ports } from '#core'
import type { ServiceRegistry } from './service-registry.ts'

/** What the engine of a tenant asks of the services of this host. */
export function enginePorts(tenant: string, serviceRegistry: ServiceRegistry): Ports {
  return {
    latestValue: latestValue(tenant, () => serviceRegistry.broker),
    metadata: metadataOf(tenant, () => serviceRegistry.resources),
    secret: secretOf(tenant, () => serviceRegistry.vault),
  }
}
