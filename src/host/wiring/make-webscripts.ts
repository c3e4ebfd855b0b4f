/** Creates the webscripts service of a host. */
import { machineTimers } from '#platform'
import { createWebscriptsService, ScriptLog, webscriptsRoutes } from '#services/webscripts'
import { errorBodyOfLines } from '#services/shared'
import { TokenBuckets } from '../rate-limit.ts'
import type { MakeService } from './service-dependencies.ts'
import { ofCaller } from './service-registry.ts'
import { onOrigin } from '../webscript-origin.ts'

/** Maximum number of concurrent calls per tenant */
const MAX_OPEN = 200
/** CPU budget of a tenant in seconds: one core, with bursts of half a minute */
const CPU = { perSecond: 1, most: 30 }
const MAX_TENANTS = 10_000

/** Generates ids of calls: the id of this host session, then a number. */
function callIds(): () => string {
  const session = machineTimers.newId()
  let count = 0
  return () => `${session}-${(++count).toString(36)}`
}

export const makeWebscripts: MakeService = ({ config, now, figures, checkPair, isToken, internalClient, tenants }) => {
  const perSecond = config.limits.ratePerKey
  const buckets = new TokenBuckets({ perSecond, burst: perSecond * 2, mostKeys: MAX_TENANTS, now })
  const log = new ScriptLog()
  const newId = callIds()
  const isOnOwnOrigin = config.webscriptUrl === undefined ? undefined : onOrigin(config.webscriptUrl)
  figures.queue('webscripts-open', ({ webscripts }) => webscripts?.gauges().open)
  figures.total('webscripts-called', ({ webscripts }) => webscripts?.gauges().calls)
  figures.total('webscripts-failed', ({ webscripts }) => webscripts?.gauges().errors)
  return {
    name: 'webscripts',
    description: 'HTTP functions of tenants, public or private',
    errorBody: errorBodyOfLines,
    routes: (app) => {
      internalClient.isAt(app)
      return webscriptsRoutes(app, {
        service: ofCaller(tenants, ({ webscripts }) => webscripts),
        find: (tenant) => tenants.find(tenant)?.webscripts,
        all: function* () {
          for (const { webscripts } of tenants.all()) if (webscripts !== undefined) yield webscripts
        },
        checkPair,
        isToken,
        isOnOwnOrigin,
        ownUrl: config.url,
      })
    },
    open: ({ tenant, services }) => {
      const webscripts = createWebscriptsService({
        tenant,
        functions: () => services.functions,
        checkPair,
        isToken,
        callApi: (...request) => internalClient.request(...request),
        limits: { takeCall: () => buckets.take(tenant), mostOpen: MAX_OPEN, cpu: CPU },
        log,
        now,
        clock: () => performance.now(),
        later: machineTimers.later,
        newId,
      })
      return { provides: { webscripts } }
    },
    stop: () => log.end(),
  }
}
