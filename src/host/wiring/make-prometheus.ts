/** Creates the service of queries in PromQL of a host. */
import type { Caller } from '#kernel'
import { type AlarmSpan, createPrometheusService, prometheusErrorBody, prometheusRoutes } from '#services/prometheus'
import type { InternalAlarms } from '#services/alarms/contract'
import type { MakeService } from './service-dependencies.ts'
import { ofCaller } from './service-registry.ts'

/** Newest alarms that appear as series */
const MAX_ALARMS = 500

export const makePrometheus: MakeService = ({ now, tenants }) => ({
  name: 'prometheus',
  description: 'Series and alarms for clients of Prometheus, such as Grafana',
  errorBody: prometheusErrorBody,
  routes: (app) => prometheusRoutes(app, { service: ofCaller(tenants, ({ prometheus }) => prometheus) }),
  open: ({ store, services }) => {
    const prometheus = createPrometheusService({
      store,
      now,
      readable: async () => services.broker?.readable(),
      alarms: async (caller) => alarmSpans(services.alarms, caller),
    })
    return { provides: { prometheus } }
  },
})

async function alarmSpans(alarms: InternalAlarms | undefined, caller: Caller): Promise<readonly AlarmSpan[]> {
  const page = await alarms?.as(caller).list({ size: MAX_ALARMS, history: false })
  return (page?.alarms ?? []).map(({ type, severity, source, status, creationTime, lastUpdateTime }) => ({
    type,
    severity,
    resource: source.id,
    from: Date.parse(creationTime),
    until: status === 'CLEARED' ? Date.parse(lastUpdateTime) : undefined,
  }))
}
