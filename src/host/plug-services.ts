/** What the plugs of a tenant may ask of this host's services. */
import { alarmPort } from '../adapters/alarms.ts'
import { dataPort } from '../adapters/broker.ts'
import { resourcePort } from '../adapters/resources.ts'
import { patient, type After } from '../adapters/patient.ts'
import type { PlugServices } from '../core/plug/services.ts'
import type { ServiceRegistry } from './service-registry.ts'

/** What the plugs of a tenant may ask of the services of this host; each says so when it is not served. */
export function plugServices(tenant: string, serviceRegistry: ServiceRegistry, after: After): PlugServices {
  return {
    alarms: patient(
      alarmPort(tenant, () => serviceRegistry.alarms),
      after,
    ),
    data: patient(
      dataPort(tenant, () => serviceRegistry.broker),
      after,
    ),
    resources: patient(
      resourcePort(tenant, () => serviceRegistry.resources),
      after,
    ),
  }
}
