/** A host that listens, from its start to its stop. */
import type { FastifyInstance } from 'fastify'
import { createApp } from './app.ts'
import { firstPair, type FirstPair } from './auth/first-pair.ts'
import { compose, type Making } from './compose.ts'
import type { ClusterHost } from './cluster/cluster-host.ts'
import type { Config } from './config.ts'
import { ofFullDisk } from './data-folder.ts'
import { makeDemos } from './demo.ts'
import { listen, tryAddress } from './listen.ts'
import type { LogStream } from './log.ts'
import type { Demo } from './hosted-service.ts'
import { machineTimers, type Timers } from './timers.ts'

export interface RunningHost {
  /** base address of everything */
  readonly url: string
  readonly first: FirstPair
  /** where services listen besides */
  readonly also: readonly string[]
  /** a path that shows something */
  readonly example: string
  /** what was put into a store that had nothing */
  readonly demos: readonly Demo[]
  readonly app: FastifyInstance
  /** What a stop waits for: a sentence. */
  left(): string
  /** Stops taking, finishes what it has, flushes. Rejects when something could not be flushed. */
  stop(): Promise<void>
}

/** ms after which a request that does not end is cut off, so that there is time left to flush */
export const STOP_PATIENCE = 6_000

/**
 * A host that listens. `LISTEN`, `STORE` or `USAGE` when it cannot; then nothing is left open, and when the address or
 * the folder is to blame, nothing was written. A pair that was given is good from the first request on; one that has to
 * be made is made last of all: only who sees the ready line has a use for it.
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
    // A script that gives a pair begins when /health answers.
    const given = config.pair && (await firstPair(composed.keyPairs, config))
    making.started?.()
    const url = await listen(app, config)
    const also = composed.services.flatMap(({ address }) => address?.() ?? [])
    const mqtt = also.find((one) => one.startsWith('mqtt:'))
    await composed.cluster?.join(
      config.cluster?.advertise ?? url,
      mqtt === undefined ? undefined : Number(new URL(mqtt).port),
    )
    // what one host makes for an empty store would be made by each of several
    const demos =
      config.demo && composed.cluster === undefined && composed.isNew
        ? await makeDemos(composed.services, config.tenant)
        : []
    const first = given ?? (await firstPair(composed.keyPairs, config))
    const example = composed.services.find((one) => one.example !== undefined)?.example ?? '/'
    const { left } = composed
    return { url, first, also, example, demos, app, left, stop: () => stop(app, timers, composed.cluster) }
  } catch (error) {
    await stop(app, timers)
    throw error
  }
}

async function stop(app: FastifyInstance, timers: Timers, cluster?: ClusterHost): Promise<void> {
  // while it still answers: what comes for what it had goes to those that have it now
  await cluster?.leave()
  const finish = timers.after(STOP_PATIENCE, () => app.server.closeAllConnections())
  try {
    await app.close()
  } finally {
    finish()
  }
}
