/** Starts and stops a listening host. */
import type { FastifyInstance } from 'fastify'
import { ALL_RIGHTS } from '#kernel'
import { createApp } from './app.ts'
import { CONSOLE_LINK } from './auth/auth-api.ts'
import { firstPair, type FirstPair } from './auth/first-pair.ts'
import { compose, type HostOverrides, type ComposedHost } from './compose.ts'
import type { ClusterHost } from './cluster/cluster-host.ts'
import type { Config } from './config.ts'
import { ofFullDisk } from './data-folder.ts'
import { listen, tryAddress } from './listen.ts'
import type { LogStream } from './log.ts'
import type { Demo } from './hosted-service.ts'
import { createProbeServer, type ProbeLog } from './probe-server.ts'
import { machineTimers, type Timers } from './timers.ts'

export interface RunningHost {
  readonly url: string
  readonly first: FirstPair
  /** Address that opens one session of a browser with all rights, within 15 minutes */
  readonly signIn: string
  readonly also: readonly string[]
  readonly example: string
  readonly demo: Demo | undefined
  readonly app: FastifyInstance
  left(): string
  stop(): Promise<void>
}

/** How long requests may continue during a stop, in ms; the remaining time is for flushing */
export const STOP_PATIENCE = 6_000

/**
 * Throws `LISTEN`, `STORE` or `USAGE` after closing everything again. Writes nothing when the address or folder is
 * unusable. A missing pair is generated last, for the reader of the ready line.
 */
export async function startHost(
  config: Config,
  logStream: LogStream,
  overrides: HostOverrides = {},
): Promise<RunningHost> {
  try {
    return await start(config, logStream, overrides)
  } catch (error) {
    throw config.store.medium === 'sqlite' ? ofFullDisk(error, config.data) : error
  }
}

async function start(config: Config, logStream: LogStream, overrides: HostOverrides): Promise<RunningHost> {
  const { timers = machineTimers } = overrides
  await tryAddress(config)
  const composed = await compose(config, overrides)
  const log = { level: config.logLevel, stream: logStream }
  const app = await createApp({ ...composed, log, trustProxy: config.trustProxy })
  let probes: Awaited<ReturnType<typeof openProbes>>
  try {
    // scripts with a configured pair send requests as soon as /health responds
    const given = config.pair && (await firstPair(composed.keyPairs, config))
    overrides.started?.()
    const url = await listen(app, config)
    probes = await openProbes(composed, config, log)
    const also = composed.services.flatMap(({ addresses }) => addresses?.() ?? [])
    if (probes !== undefined) also.push(probes.url)
    const mqtt = also.find((one) => one.startsWith('mqtt:'))
    await composed.cluster?.join(
      config.cluster?.advertise ?? url,
      mqtt === undefined ? undefined : Number(new URL(mqtt).port),
    )
    const demo = config.demo ? await composed.openDemo((text) => app.log.info(text)) : undefined
    const first = given ?? (await firstPair(composed.keyPairs, config))
    const user = first.origin === 'made' ? first.pair.key : first.key
    const { code } = await composed.auth.sessions.link({ tenant: config.tenant, user, rights: ALL_RIGHTS })
    const signIn = `${config.url ?? url}${CONSOLE_LINK}${code}`
    const example = composed.services.find((one) => one.example !== undefined)?.example ?? '/'
    const { left } = composed
    const stopAll = () => stop(app, timers, composed.cluster, probes?.app)
    return { url, first, signIn, also, example, demo, app, left, stop: stopAll }
  } catch (error) {
    await stop(app, timers, undefined, probes?.app)
    throw error
  }
}

async function openProbes(composed: ComposedHost, { host, metricsPort }: Config, log: ProbeLog) {
  if (metricsPort === undefined) return undefined
  const { metrics, probe, isReady, warnings } = composed
  const app = createProbeServer({ metrics, probe, warnings, log, ...(isReady && { isReady }) })
  return { app, url: `${await listen(app, { host, port: metricsPort })}/metrics` }
}

async function stop(
  app: FastifyInstance,
  timers: Timers,
  cluster?: ClusterHost,
  probes?: FastifyInstance,
): Promise<void> {
  // a closed port is not ready
  await probes?.close()
  // hand over tenants while requests are still answered
  await cluster?.leave()
  const finish = timers.after(STOP_PATIENCE, () => app.server.closeAllConnections())
  try {
    await app.close()
  } finally {
    finish()
  }
}
