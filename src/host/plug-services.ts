/** What the plugs of a tenant may ask of this host's services. */
import { alarmPort } from '../adapters/alarms.ts'
import { dataPort } from '../adapters/broker.ts'
import { modelPort } from '../adapters/models.ts'
import { objectPort } from '../adapters/objects.ts'
import { queryPort } from '../adapters/queries.ts'
import { resourcePort } from '../adapters/resources.ts'
import { webscriptPort } from '../adapters/webscripts.ts'
import { patient } from '../adapters/patient.ts'
import type { PlugServices } from '../core/plug/services.ts'
import type { StartTimer } from '../kernel/start-timer.ts'
import type { ServiceRegistry } from './service-registry.ts'

/** What the plugs of a tenant may ask of the services of this host; each says so when it is not served. */
export function plugServices(tenant: string, serviceRegistry: ServiceRegistry, startTimer: StartTimer): PlugServices {
  return {
    alarms: patient(
      alarmPort(tenant, () => serviceRegistry.alarms),
      startTimer,
    ),
    data: patient(
      dataPort(tenant, () => serviceRegistry.broker),
      startTimer,
    ),
    resources: patient(
      resourcePort(tenant, () => serviceRegistry.resources),
      startTimer,
    ),
    objects: patient(
      objectPort(tenant, () => serviceRegistry.objects),
      startTimer,
    ),
    webscripts: webscriptPort(tenant, () => serviceRegistry.webscripts),
    models: patient(
      modelPort(tenant, () => serviceRegistry.models),
      startTimer,
    ),
    queries: patient(
      queryPort(tenant, () => serviceRegistry.queries),
      startTimer,
    ),
  }
}
