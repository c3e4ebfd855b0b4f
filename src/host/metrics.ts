/** Collects and serves the metrics of a host in Prometheus format. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { FastifyInstance } from 'fastify'
import { AppError } from '#kernel'
import { isFromHere } from './auth/authenticate.ts'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { ByStatus, ConnectorFigures, Gauges, Kept, Ways, Work } from './gauges.ts'
import { RequestTimes } from './request-times.ts'
import { watchByTenant } from './tenant-metrics.ts'

type LoopDelay = ReturnType<typeof monitorEventLoopDelay>

/** Interval between event loop samples, in ms */
const LOOK = 10
const SHORT = [0.00001, 0.0001, 0.001, 0.01, 0.1, 1, 10]
const REQUEST = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]
const COUNTED = {
  inputs: 'Messages and pushes that tasks processed',
  steps: 'Messages, timers, commands and late results that tasks processed, once for each task',
  firings: 'Triggers that fired',
  held: 'Triggers that were held back by a cool-down, an overlap or a full queue',
  dropped: 'Messages and actuator calls that were dropped because too many waited, or by a setting of their task',
} as const satisfies Record<keyof Work, string>

export class Metrics {
  readonly gauges: Gauges
  readonly #registry = new Registry()
  readonly #requests: RequestTimes
  readonly #lag: LoopDelay = monitorEventLoopDelay({ resolution: LOOK })

  constructor() {
    const about = 'Time from the first byte of a request to the last byte of its response'
    this.#requests = new RequestTimes('reflexarc_http_request_seconds', about, REQUEST)
    this.#registry.registerMetric(this.#requests.asMetric)
    this.gauges = makeGauges(this.#registry)
    processFigures(this.#registry, this.#lag)
    this.#lag.enable()
  }

  text(): Promise<string> {
    return this.#registry.metrics()
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  /** Stops sampling the event loop, which would otherwise keep the process alive. */
  stop(): void {
    this.#lag.disable()
  }

  watch(app: FastifyInstance): void {
    app.addHook('onResponse', (request, reply, done) => {
      // label with the route's pattern: the number of paths is unbounded
      const route = request.routeOptions.url ?? 'none'
      this.#requests.observe(request.method, route, reply.statusCode, reply.elapsedTime / 1000)
      done()
    })
  }
}

/** Adds `GET /metrics` for requests from this machine and for keys of one tenant; without a tenant, for all. */
export function metricsRoute(app: FastifyInstance, metrics: Metrics, tenant?: string): void {
  const config = { scope: 'read', isOpenHere: true } as const
  app.get('/metrics', { config, schema: { hide: true } }, async (request, reply) => {
    if (tenant !== undefined && request.tenant !== tenant && !isFromHere(request)) {
      throw new AppError('FORBIDDEN', `The metrics cover all tenants; use a key of the tenant ${tenant}`)
    }
    const text = await metrics.text()
    return reply.type(metrics.contentType).send(text)
  })
}

function makeGauges(registry: Registry): Gauges {
  const registers = [registry]
  const plugs = new Histogram({
    name: 'reflexarc_plug_seconds',
    help: 'Time until a plug that does not return at once has returned',
    buckets: SHORT,
    registers,
  })
  const queues = new Map<string, () => number>()
  registry.registerMetric(
    new Gauge({
      name: 'reflexarc_queue_depth',
      help: 'Entries that wait in a queue',
      labelNames: ['queue'],
      registers: [],
      collect() {
        for (const [queue, read] of queues) this.set({ queue }, read())
      },
    }),
  )
  const totals = countedBy(registry, 'reflexarc_things_total', 'thing', 'Occurrences that services count')
  const about = 'Readings with special treatment, by reason; except for those with a bad time, once for each task'
  const readings = countedBy(registry, 'reflexarc_readings_total', 'reason', about)
  return {
    plugTook: (ms) => plugs.observe(ms / 1000),
    watchWork: (read) => watchWork(registry, read),
    watchWays: (read) => watchWays(registry, read),
    watchTasks: (read) => watchTasks(registry, read),
    watchQueue: (name, read) => void queues.set(name, read),
    watchTotal: (name, read) => void totals.set(name, read),
    watchReadings: (reason, read) => void readings.set(reason, read),
    watchKept: (read) => watchKept(registry, read),
    watchConnectors: (read) => watchConnectors(registry, read),
    watchClock: (read) => watchClock(registry, read),
    watchByTenant: (figure, read) => watchByTenant(registry, figure, read),
    watchMqttClients: (read) => watchNumber(registry, 'reflexarc_mqtt_clients', 'Connected MQTT clients', read),
    watchStored: (read) => watchStored(registry, read),
    watchCertificate: (read) => {
      const help = 'End of the certificate of the host, as Unix time'
      watchNumber(registry, 'reflexarc_certificate_expiry_seconds', help, () => {
        const end = read()
        return end === undefined ? undefined : end / 1000
      })
    },
    watchCommits: (read) => watchCommits(registry, read),
  }
}

function countedBy(registry: Registry, name: string, label: string, help: string): Map<string, () => number> {
  const reads = new Map<string, () => number>()
  registry.registerMetric(
    new Counter({
      name,
      help,
      labelNames: [label],
      registers: [],
      collect() {
        this.reset()
        for (const [value, read] of reads) this.inc({ [label]: value }, read())
      },
    }),
  )
  return reads
}

function watchWork(registry: Registry, read: () => Work): void {
  for (const name of ['inputs', 'steps', 'firings', 'held', 'dropped'] as const) {
    registry.registerMetric(
      new Counter({
        name: `reflexarc_${name}_total`,
        help: COUNTED[name],
        registers: [],
        collect() {
          this.reset()
          this.inc(read()[name])
        },
      }),
    )
  }
}

function watchWays(registry: Registry, read: () => Ways): void {
  registry.registerMetric(
    new Counter({
      name: 'reflexarc_task_messages_total',
      help: 'Messages that tasks processed, once for each task, by path; for the general path also by reason',
      labelNames: ['way', 'why'],
      registers: [],
      collect() {
        const { vectorized, rows, why } = read()
        this.reset()
        this.inc({ way: 'vectorized', why: '' }, vectorized)
        this.inc({ way: 'rows', why: '' }, rows)
        for (const [reason, count] of Object.entries(why)) this.inc({ way: 'plain', why: reason }, count)
      },
    }),
  )
}

function watchTasks(registry: Registry, read: Parameters<Gauges['watchTasks']>[0]): void {
  registry.registerMetric(
    new Gauge({
      name: 'reflexarc_tasks',
      help: 'Tasks by status',
      labelNames: ['status'],
      registers: [],
      async collect() {
        const counts = await read()
        this.reset()
        for (const [status, count] of Object.entries(counts)) this.set({ status }, count)
      },
    }),
  )
}

function watchKept(registry: Registry, read: () => Kept): void {
  const figures = [
    ['reflexarc_kept_inputs_bytes', 'Bytes of kept inputs', ({ bytes }: Kept) => bytes],
    ['reflexarc_kept_inputs_messages', 'Messages among kept inputs', ({ messages }: Kept) => messages],
    [
      'reflexarc_kept_inputs_oldest_seconds',
      'Arrival of the oldest kept input, as Unix time',
      ({ oldest }: Kept) => (oldest === undefined ? undefined : oldest / 1000),
    ],
  ] as const
  for (const [name, help, valueOf] of figures) {
    registry.registerMetric(
      new Gauge({
        name,
        help,
        registers: [],
        collect() {
          const value = valueOf(read())
          this.reset()
          if (value !== undefined) this.set(value)
        },
      }),
    )
  }
}

function watchConnectors(registry: Registry, read: () => ConnectorFigures): void {
  registry.registerMetric(
    new Gauge({
      name: 'reflexarc_connector_lag',
      help: 'Records that wait for sources at their brokers, and items that wait for sinks',
      registers: [],
      collect() {
        this.set(read().lag)
      },
    }),
  )
  registry.registerMetric(
    new Counter({
      name: 'reflexarc_connector_records_total',
      help: 'Records of sources and sinks by result; retried: tries after an error of a connection',
      labelNames: ['result'],
      registers: [],
      collect() {
        const { lag: _lag, ...results } = read()
        this.reset()
        for (const [result, count] of Object.entries(results)) this.inc({ result }, count)
      },
    }),
  )
}

function watchClock(registry: Registry, read: Parameters<Gauges['watchClock']>[0]): void {
  const figures = [
    ['reflexarc_clock_lead_seconds', "How far the host's time is ahead of the clock of its machine", 'leadMs'],
    [
      'reflexarc_clock_unconfirmed_seconds',
      'Forward step of the clock of the machine that another clock has not confirmed',
      'unconfirmedMs',
    ],
  ] as const
  for (const [name, help, figure] of figures) {
    registry.registerMetric(
      new Gauge({
        name,
        help,
        registers: [],
        collect() {
          this.set(read()[figure] / 1000)
        },
      }),
    )
  }
}

function watchNumber(registry: Registry, name: string, help: string, read: () => number | undefined): void {
  registry.registerMetric(
    new Gauge({
      name,
      help,
      registers: [],
      collect() {
        const value = read()
        if (value === undefined) this.remove()
        else this.set(value)
      },
    }),
  )
}

function watchStored(registry: Registry, read: () => Promise<ByStatus>): void {
  registry.registerMetric(
    new Gauge({
      name: 'reflexarc_bytes_stored',
      help: 'Bytes on disk by store; objects are measured every ten minutes',
      labelNames: ['store'],
      registers: [],
      async collect() {
        const bytes = await read()
        this.reset()
        for (const [store, value] of Object.entries(bytes)) this.set({ store }, value)
      },
    }),
  )
}

function watchCommits(registry: Registry, read: Parameters<Gauges['watchCommits']>[0]): void {
  registry.registerMetric(
    new Counter({
      name: 'reflexarc_commits_total',
      help: 'Commits of storage',
      registers: [],
      collect() {
        this.reset()
        this.inc(read().commits)
      },
    }),
  )
  registry.registerMetric(
    new Gauge({
      name: 'reflexarc_last_commit_seconds',
      help: 'Duration of the last commit of storage',
      registers: [],
      collect() {
        this.set(read().lastCommitMs / 1000)
      },
    }),
  )
}

function processFigures(registry: Registry, lag: LoopDelay): void {
  registry.registerMetric(
    new Gauge({
      name: 'reflexarc_loop_lag_seconds',
      help: 'Delay of the event loop since the last scrape',
      labelNames: ['quantile'],
      registers: [],
      collect() {
        for (const quantile of [50, 99, 100]) {
          const late = lag.count === 0 ? 0 : lag.percentile(quantile) / 1e9 - LOOK / 1000
          this.set({ quantile: String(quantile / 100) }, Math.max(0, late))
        }
        lag.reset()
      },
    }),
  )
  registry.registerMetric(
    new Gauge({
      name: 'process_resident_memory_bytes',
      help: 'Resident memory of the process',
      registers: [],
      collect() {
        this.set(process.memoryUsage.rss())
      },
    }),
  )
  registry.registerMetric(
    new Counter({
      name: 'process_cpu_seconds_total',
      help: 'CPU time of the process, user and system',
      registers: [],
      collect() {
        const { user, system } = process.cpuUsage()
        this.reset()
        this.inc((user + system) / 1e6)
      },
    }),
  )
}
