/** Creates the broker of a host. */
import { engineIntake } from './engine-intake.ts'
import { messageOf, RateLimitedLogger } from '#kernel'
import { brokerErrorBody, brokerRoutes, createBrokerService } from '#services/broker'
import { machineTimers } from '#platform'
import { ApiKeys, KEY_RECORDS } from '../auth/api-keys.ts'
import { mqttListener, sessionKeys } from './mqtt.ts'
import { Presence } from './presence.ts'
import type { MakeService } from './service-dependencies.ts'
import { logOf, ofCaller } from './service-registry.ts'

/**
 * How long series may lag, in ms, on a medium that no other process reads: each batch rewrites whole pages, and reads
 * force a batch.
 */
const OWN_REST_MS = 30_000

/** More than the number of messages that a host publishes per ms, so that hosts that start later get higher numbers */
const NUMBERS_PER_MS = 100

export const makeBroker: MakeService = (dependencies) => {
  const { figures, config, now, logger, openStreams, storeMark, tenants } = dependencies
  const apiKeys = new ApiKeys(dependencies.hostStore.collection(KEY_RECORDS), now)
  const oddities = new RateLimitedLogger({
    write: (message, details) => logger.warn(message, details),
    after: machineTimers.later,
  })
  figures.queue('broker', ({ broker }) => broker?.gauges().queued)
  figures.queue('broker-streams', ({ broker }) => broker?.gauges().subscribers)
  figures.total('broker-accepted', ({ broker }) => broker?.gauges().accepted)
  figures.total('unreadable', ({ broker }) => broker?.gauges().unreadable)
  figures.readings('badTime', ({ broker }) => broker?.gauges().badTime)
  figures.total('broker-dropped', ({ broker }) => broker?.gauges().dropped)
  figures.queue('mqtt-sessions', ({ broker }) => broker?.gauges().sessions)
  figures.queue('mqtt-pending', ({ broker }) => broker?.gauges().pending)
  figures.queue('mqtt-retained', ({ broker }) => broker?.gauges().retained)
  figures.total('mqtt-pending-dropped', ({ broker }) => broker?.gauges().pendingDropped)
  figures.total('mqtt-retained-dropped', ({ broker }) => broker?.gauges().retainedDropped)
  const service = ofCaller(tenants, ({ broker }) => broker)
  return {
    name: 'broker',
    description: 'Incoming messages, streams of messages, and time series',
    errorBody: brokerErrorBody,
    routes: (app) =>
      brokerRoutes(app, {
        service,
        life: machineTimers.newId().slice(0, 8),
        store: storeMark,
        frameBytes: config.limits.bodyBytes,
      }),
    ...mqttListener(service, dependencies),
    open: ({ tenant, store, services }) => {
      const broker = createBrokerService({
        tenant,
        store,
        log: logOf(services, store),
        now,
        engine: () => services.runner && engineIntake(services.runner.intake),
        resources: () => services.resources,
        commands: () => services.work?.outbox,
        ...(config.store.medium !== 'postgres' && { lag: { restMs: OWN_REST_MS } }),
        // a tenant may leave this host and return
        ...(config.cluster && { earlierNumbers: () => now() * NUMBERS_PER_MS }),
        keys: sessionKeys(tenant, apiKeys, openStreams),
        bounds: config.times,
        logOddity: (what, about, details) => oddities.log(what, about, details),
        report: (what) => logger.warn(what),
      })
      const presence = new Presence({
        tenant,
        store,
        resources: () => services.resources,
        later: machineTimers.later,
        report: (what, error) => logger.warn(what, { tenant, error: messageOf(error) }),
      })
      return {
        provides: { broker, presence },
        life: {
          async start(closing) {
            await broker.start(closing)
            presence.start()
          },
          async stop() {
            presence.stop()
            await broker.stop()
          },
        },
      }
    },
  }
}
