/** What the plugs of a tenant may ask of this host's services. */
import { alarmPort } from '../adapters/alarms.ts'
import { dataPort } from '../adapters/broker.ts'
import { resourcePort } from '../adapters/resources.ts'
import type { PlugServices } from '../core/plug/services.ts'
import type { ServiceRegistry } from './service-registry.ts'

/** What the plugs of a tenant may ask of the services of this host; each says so when it is not served. */
export function plugServices(tenant: string, serviceRegistry: ServiceRegistry): PlugServices {
  return {
    alarms: alarmPort(tenant, () => serviceRegistry.alarms),
    data: dataPort(tenant, () => serviceRegistry.broker),
    resources: resourcePort(tenant, () => serviceRegistry.resources),
  }
}
