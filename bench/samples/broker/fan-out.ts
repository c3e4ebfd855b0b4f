/**
 * Sample of a message to many readers of one resource. The readers are sockets of another process, so that only the
 * host and the system are measured.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { withFolder } from '../host/folder.ts'
import type { ReadersReport } from './event-readers.ts'
import { openHost, posting } from './open-host.ts'

export interface FanOutSample {
  /** ms from the post to the last reader, per round */
  readonly allMs: readonly number[]
  /** longest block of the loop in ms */
  readonly loopMax: number
}

const ROUNDS = 10

export function fanOutSample({ subscribers }: { subscribers: number }): Promise<FanOutSample> {
  return withFolder(async (folder) => {
    const app = await openHost(folder)
    await app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = app.server.address() as AddressInfo
    const post = (temperature: number): Promise<void> => posting(app)('/resources/boiler/events', { temperature })
    // caches the credentials, so that readers do not wait for their check
    await post(0)
    const args = [port, subscribers].map(String)
    const reported = async (wanted: ReadersReport): Promise<void> => {
      const [report] = (await once(readers, 'message')) as [ReadersReport]
      if (report !== wanted) throw new Error(`readers reported ${report} instead of ${wanted}`)
    }
    const readers = fork(join(import.meta.dirname, 'event-readers.ts'), args)
    try {
      await reported('open')
      const delay = monitorEventLoopDelay({ resolution: 1 })
      delay.enable()
      const allMs: number[] = []
      for (let round = 0; round < ROUNDS; round++) {
        const started = performance.now()
        const got = reported('all')
        await post(20 + round)
        await got
        allMs.push(performance.now() - started)
      }
      return { allMs, loopMax: delay.max / 1e6 }
    } finally {
      readers.kill('SIGKILL')
      app.server.closeAllConnections()
      await app.close()
    }
  })
}
