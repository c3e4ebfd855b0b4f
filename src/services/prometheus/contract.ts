/**
 * Contract of queries in PromQL: a named subset over the series and alarms of a tenant, in the form of Prometheus.
 *
 * The name of a series is its metric, and the label `resource` its resource. Booleans count as 1 and 0; texts are left
 * out. `ALERTS` is 1 while an alarm is open, with the labels `alertname`, `severity`, `resource` and `alertstate`.
 *
 * PROMQL-1 what is outside the subset is rejected by name
 * PROMQL-2 the numbers of series, samples and steps of a query are limited
 *
 * Errors are AppErrors: `VALIDATION`, `TOO_LARGE`.
 */
import type { Caller } from '#kernel'

export interface PrometheusService {
  as(caller: Caller): PrometheusApi
}

/** Parameters as Prometheus names them: times are Unix seconds or ISO 8601, durations seconds or such as `5m`. */
export interface PromParameters {
  readonly query?: string | undefined
  readonly time?: string | undefined
  readonly start?: string | undefined
  readonly end?: string | undefined
  readonly step?: string | undefined
  readonly lookback_delta?: string | undefined
  readonly 'match[]'?: readonly string[] | undefined
}

export interface PromAnswer {
  readonly status: 'success'
  readonly data: unknown
}

export interface PrometheusApi {
  query(parameters: PromParameters): Promise<PromAnswer>
  queryRange(parameters: PromParameters): Promise<PromAnswer>
  series(parameters: PromParameters): Promise<PromAnswer>
  labels(parameters: PromParameters): Promise<PromAnswer>
  values(label: string, parameters: PromParameters): Promise<PromAnswer>
}
