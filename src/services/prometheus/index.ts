/** Everything a host needs to offer queries in PromQL. */
export { prometheusErrorBody, prometheusRoutes } from './api.ts'
export { type AlarmSpan, createPrometheusService } from './service.ts'
