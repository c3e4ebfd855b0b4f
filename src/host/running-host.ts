/** Starts and stops a listening host. */
import type { FastifyInstance } from 'fastify'
import { ALL_RIGHTS } from '#kernel'
import { createApp } from './app.ts'
import { CONSOLE_LINK } from './auth/auth-api.ts'
import { firstPair, type FirstPair } from './auth/first-pair.ts'
import { compose, type Making } from './compose.ts'
import type { ClusterHost } from './cluster/cluster-host.ts'
import type { Config } from './config.ts'
import { ofFullDisk } from './data-folder.ts'
import { listen, tryAddress } from './listen.ts'
import type { LogStream } from './log.ts'
import type { Demo } from './hosted-service.ts'
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
export async function startHost(config: Config, logStream: LogStream, making: Making = {}): Promise<RunningHost> {
  try {
    return await start(config, logStream, making)
  } catch (error) {
    throw config.store.medium === 'sqlite' ? ofFullDisk(error, config.data) : error
  }
}

async function start(config: Config, logStream: LogStream, making: Making): Promise<RunningHost> {
  const { timers = machineTimers } = making
  await tryAddress(config)
  const composed = await compose(config, making)
  const log = { level: config.logLevel, stream: logStream }
  const app = await createApp({ ...composed, log, trustProxy: config.trustProxy })
  try {
    // scripts with a configured pair send requests as soon as /health responds
    const given = config.pair && (await firstPair(composed.keyPairs, config))
    making.started?.()
    const url = await listen(app, config)
    const also = composed.services.flatMap(({ address }) => address?.() ?? [])
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
    return { url, first, signIn, also, example, demo, app, left, stop: () => stop(app, timers, composed.cluster) }
  } catch (error) {
    await stop(app, timers)
    throw error
  }
}

async function stop(app: FastifyInstance, timers: Timers, cluster?: ClusterHost): Promise<void> {
  // hand over tenants while requests are still answered
  await cluster?.leave()
  const finish = timers.after(STOP_PATIENCE, () => app.server.closeAllConnections())
  try {
    await app.close()
  } finally {
    finish()
  }
}
