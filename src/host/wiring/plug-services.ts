/** Collects the ports through which a tenant's plugs use this host's services. */
import { alarmPort } from './alarms.ts'
import { dataPort } from './broker.ts'
import { modelPort } from './models.ts'
import { objectPort } from './objects.ts'
import { queryPort } from './queries.ts'
import { resourcePort } from './resources.ts'
import { webscriptPort } from './webscripts.ts'
import { patient } from './patient.ts'
import type { PlugServices } from '#core'
import type { StartTimer } from '#kernel'
import type { ServiceRegistry } from './service-registry.ts'

/** Returns all ports. A port whose service is not served throws when it is called. */
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
    webscripts: webscriptPort(() => serviceRegistry.webscripts),
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
