/** Makes the broker of a host. */
import { engineIntake } from './engine-intake.ts'
import { SparingLog } from '#kernel'
import { brokerErrorBody, brokerRoutes, createBrokerService } from '#services/broker'
import { machineTimers } from '#platform'
import { withMqtt } from './mqtt.ts'
import type { HostedService } from '../hosted-service.ts'
import type { MakeService } from './service-dependencies.ts'

/**
 * ms that series may wait for what came, on a medium that nobody else reads: each batch rewrites whole pages, and whoever
 * reads here does not wait.
 */
const OWN_REST_MS = 30_000

/** more messages than a host tells in a ms: by the time, numbers of later brokers are higher */
const NUMBERS_PER_MS = 100

/** The broker over storage; tasks and resources as far as they are served too. */
export const makeBroker: MakeService = ({
  storage,
  gauges,
  config,
  now,
  serviceRegistry,
  checkPair,
  logger,
  reached,
  storeMark,
  otherHosts,
  partition,
}) => {
  const oddities = new SparingLog({
    write: (message, details) => logger.warn(message, details),
    after: machineTimers.later,
  })
  const own = createBrokerService({
    storage,
    now,
    engine: () => serviceRegistry.runner && engineIntake(serviceRegistry.runner.intake),
    resources: () => serviceRegistry.resources,
    commands: () => serviceRegistry.work?.outbox,
    ...(partition && {
      partition: {
        number: partition.number,
        count: partition.count,
        ask: (_tenant, at, question) => partition.ask(at, { of: 'broker', question }),
        follow: (_tenant, at, asked, signal) => partition.follow(at, asked, signal),
      },
    }),
    ...(config.store.medium !== 'postgres' && { lag: { restMs: OWN_REST_MS } }),
    // a tenant may leave this host and come back
    ...(config.cluster && { toldUpTo: () => now() * NUMBERS_PER_MS }),
    bounds: config.times,
    odd: (what, about, details) => oddities.tell(what, about, details),
    report: (what) => logger.warn(what),
  })
  const service = reached('broker', own)
  serviceRegistry.broker = service
  gauges.watchQueue('broker', () => service.gauges().queued)
  gauges.watchQueue('broker-streams', () => service.gauges().subscribers)
  gauges.watchTotal('broker-accepted', () => service.gauges().accepted)
  gauges.watchTotal('unreadable', () => service.gauges().unreadable)
  gauges.watchReadings('badTime', () => service.gauges().badTime)
  gauges.watchTotal('broker-dropped', () => service.gauges().dropped)
  const hosted: HostedService = {
    name: 'broker',
    description: 'Messages in, streams out, and time series of everything that came',
    errorBody: brokerErrorBody,
    routes: (app) =>
      brokerRoutes(app, {
        service,
        life: machineTimers.newId().slice(0, 8),
        store: storeMark,
        frameBytes: config.limits.bodyBytes,
      }),
    start: (closing) => service.start(closing),
    stop: () => service.stop(),
  }
  return withMqtt(hosted, service, { config, checkPair, gauges, logger, otherHosts }, () => serviceRegistry.converter)
}
