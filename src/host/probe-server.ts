/** Serves metrics and probes on a port of their own, without credentials, for Prometheus and Kubernetes. */
import { type FastifyInstance, fastify } from 'fastify'
import { type Health, healthRoutes } from './health.ts'
import { logOptions, type LogLevel, type LogStream } from './log.ts'
import { type Metrics, metricsRoute } from './metrics.ts'

export interface ProbeLog {
  readonly level: LogLevel
  readonly stream: LogStream
}

interface Probed extends Health {
  readonly metrics: Metrics
  readonly log: ProbeLog
}

export function createProbeServer({ metrics, log, ...health }: Probed): FastifyInstance {
  const app = fastify({ logger: logOptions(log.level, log.stream), disableRequestLogging: true })
  healthRoutes(app, health)
  metricsRoute(app, metrics)
  return app
}
