/** Makes the webscripts service of a host. */
import { machineTimers } from '#platform'
import { createWebscriptsService, webscriptsRoutes } from '#services/webscripts'
import { errorBodyOfLines } from '#services/shared'
import { TokenBuckets } from '../rate-limit.ts'
import type { MakeService } from './service-dependencies.ts'
import { onOrigin } from '../webscript-origin.ts'

/** calls of one tenant at once */
const MAX_OPEN = 200
/** seconds of CPU time: a tenant keeps one core at work, and saves up half a minute of it */
const CPU = { perSecond: 1, most: 30 }
const MAX_TENANTS = 10_000

/** Of this life of the host, and a number: each call of a webscript needs one. */
function callIds(): () => string {
  const life = machineTimers.newId()
  let count = 0
  return () => `${life}-${(++count).toString(36)}`
}

/** Over the functions of tenants; inside of them the API of the host is asked as their tenant. */
export const makeWebscripts: MakeService = ({ config, now, gauges, checkPair, isToken, ownApi, tenants }) => {
  const perSecond = config.limits.ratePerKey
  const buckets = new TokenBuckets({ perSecond, burst: perSecond * 2, mostKeys: MAX_TENANTS, now })
  const service = createWebscriptsService({
    functions: (tenant) => tenants.find(tenant)?.functions,
    webscriptOf: (id) => {
      for (const { functions } of tenants.all()) {
        const found = functions?.webscriptOf(id)
        if (found !== undefined) return found
      }
      return undefined
    },
    checkPair,
    isToken,
    askApi: (caller, request, signal, led) => ownApi.ask(caller, request, signal, led),
    limits: { takeCall: (tenant) => buckets.take(tenant), mostOpen: MAX_OPEN, cpu: CPU },
    now,
    clock: () => performance.now(),
    later: machineTimers.later,
    newId: callIds(),
  })
  const isOnOwnOrigin = config.webscriptUrl === undefined ? undefined : onOrigin(config.webscriptUrl)
  gauges.watchQueue('webscripts-open', () => service.gauges().open)
  gauges.watchTotal('webscripts-called', () => service.gauges().calls)
  gauges.watchTotal('webscripts-failed', () => service.gauges().errors)
  return {
    name: 'webscripts',
    description: 'HTTP functions of tenants: public, or for whoever has their secret',
    errorBody: errorBodyOfLines,
    routes: (app) => {
      ownApi.isAt(app)
      return webscriptsRoutes(app, { service, isOnOwnOrigin, ownUrl: config.url })
    },
    open: () => ({ provides: { webscripts: service } }),
    stop: () => service.stop(),
  }
}
