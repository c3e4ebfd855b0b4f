/** Makes the subscriptions of a host, and what its buckets for imports and exports do by themselves. */
import { objectForwarding } from './objects.ts'
import { AppError } from '#kernel'
import { machineTimers, Seal } from '#platform'
import type { ObjectsService } from '#services/objects/contract'
import {
  exportHandler,
  IMPORT_SUBSCRIPTION,
  importHandler,
  objectsErrorBody,
  Subscriptions,
  subscriptionsRoutes,
  transferRoutes,
  Transfers,
} from '#services/objects'
import { sealKey } from '../seal-key.ts'
import type { MakeService } from './service-dependencies.ts'

/** Over the objects of the host, which are made before; rules, webscripts, broker and queries as far as they are served. */
export const makeSubscriptions: MakeService = ({
  storage,
  gauges,
  logger,
  now,
  config,
  serviceRegistry,
  checkPair,
  reached,
}) => {
  const objects = (): ObjectsService => {
    if (serviceRegistry.objects === undefined) throw new AppError('CLOSED', 'this host serves no objects')
    return serviceRegistry.objects
  }
  const { later, newId } = machineTimers
  const broker = () => serviceRegistry.broker
  const queries = () => serviceRegistry.queries
  const ownTransfers = new Transfers({
    storage,
    queue: (tenant) => own.queue(tenant),
    queries,
    now,
    newId,
  })
  const own: Subscriptions = new Subscriptions({
    storage,
    objects,
    webscripts: () => serviceRegistry.webscripts,
    seal: new Seal(sealKey(config)),
    checkPair,
    engine: () => serviceRegistry.runner && objectForwarding(serviceRegistry.runner.intake),
    system: [{ record: IMPORT_SUBSCRIPTION, take: (tenant, change) => ownTransfers.take(tenant, change) }],
    handlers: [importHandler({ objects, broker, now }), exportHandler({ objects, queries, broker, now })],
    now,
    newId,
    timers: machineTimers,
    later,
    logger,
  })
  const service = reached('subscriptions', own)
  const transfers = reached('transfers', ownTransfers)
  serviceRegistry.subscriptions = service
  serviceRegistry.transfers = transfers
  gauges.watchQueue('object-deliveries', () => service.gauges().openDeliveries)
  gauges.watchTotal('object-deliveries-made', () => service.gauges().delivered)
  gauges.watchTotal('object-deliveries-failed', () => service.gauges().failed)
  return {
    name: 'subscriptions',
    description: 'Who is told of changes of objects; imports of files into series, and exports',
    errorBody: objectsErrorBody,
    routes: async (app) => {
      await subscriptionsRoutes(app, { service, objects })
      await transferRoutes(app, transfers)
    },
    start: async () => {
      // a host of other services alone
      if (serviceRegistry.objects !== undefined) await service.start()
    },
    stop: () => service.stop(),
  }
}
