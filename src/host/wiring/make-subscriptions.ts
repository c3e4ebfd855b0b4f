/** Creates the subscriptions service of a host, with imports and exports. */
import { objectForwarding } from './objects.ts'
import { JobSlots, type JobQueue } from '#jobs'
import { machineTimers, Seal } from '#platform'
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
import { ofCaller, served } from './service-registry.ts'

export const makeSubscriptions: MakeService = ({ figures, logger, now, config, checkPair, tenants, serves }) => {
  const seal = new Seal(sealKey(config))
  const slots = new JobSlots()
  const { newId } = machineTimers
  figures.queue('object-deliveries', ({ subscriptions }) => subscriptions?.gauges().openDeliveries)
  figures.total('object-deliveries-made', ({ subscriptions }) => subscriptions?.gauges().delivered)
  figures.total('object-deliveries-failed', ({ subscriptions }) => subscriptions?.gauges().failed)
  return {
    name: 'subscriptions',
    description: 'Subscriptions to changes of objects; imports of files into series, and exports',
    errorBody: objectsErrorBody,
    routes: async (app) => {
      await subscriptionsRoutes(app, {
        service: ofCaller(tenants, ({ subscriptions }) => subscriptions),
        objects: ofCaller(tenants, ({ objects }) => objects),
      })
      await transferRoutes(
        app,
        ofCaller(tenants, ({ transfers }) => transfers),
      )
    },
    open: ({ tenant, store, services }) => {
      const objects = () => served(services.objects)
      const broker = () => services.broker
      const queries = () => services.queries
      const queue = (): JobQueue => subscriptions.queue
      const transfers = new Transfers({ store, queue, queries, now, newId })
      const subscriptions = new Subscriptions({
        tenant,
        store,
        objects,
        webscripts: () => services.webscripts,
        seal,
        checkPair,
        engine: () => services.runner && objectForwarding(services.runner.intake),
        system: [{ record: IMPORT_SUBSCRIPTION, take: (change) => transfers.take(change) }],
        handlers: [importHandler({ objects, broker, now }), exportHandler({ objects, queries, broker, now })],
        now,
        newId,
        timers: machineTimers,
        slots,
        logger,
      })
      const life = {
        start: async () => {
          if (serves('objects')) await subscriptions.start()
        },
        stop: () => subscriptions.stop(),
      }
      return { provides: { subscriptions, transfers }, life }
    },
  }
}
