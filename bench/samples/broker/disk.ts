/**
 * Sample of disk writes under light load, which wear out the cards of small machines. Ten devices post at a fixed rate
 * to a whole host on SQLite. Linux only.
 */
import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { withFolder } from '../host/folder.ts'
import { bodyOf } from './bodies.ts'
import { openHost, posting } from './open-host.ts'
import { listen, LOG } from './tasks.ts'

export interface BrokerDiskRequest {
  readonly perSecond: number
  readonly hasTasks: boolean
}

export interface BrokerDiskSample {
  readonly posts: number
  readonly bodies: number
  readonly written: number
}

const DEVICES = 10
export const DISK_SECONDS = 60
/** ms for the work of first messages */
const SETTLE_MS = 2_000

export function brokerDiskSample({ perSecond, hasTasks }: BrokerDiskRequest): Promise<BrokerDiskSample> {
  return withFolder(async (folder) => {
    const app = await openHost(folder)
    try {
      if (hasTasks) await listen(app, { resources: DEVICES, threshold: 90, actuator: LOG })
      const post = async (device: number): Promise<number> => {
        const payload = bodyOf(device, 1)
        await posting(app)(`/resources/boiler-${device}/events`, JSON.parse(payload) as object)
        return payload.length
      }
      for (let device = 0; device < DEVICES; device++) await post(device)
      await setTimeout(SETTLE_MS)
      const before = written()
      const start = performance.now()
      let [posts, bodies] = [0, 0]
      for (; posts < DISK_SECONDS * perSecond; posts++) {
        bodies += await post(posts % DEVICES)
        await setTimeout(Math.max(0, start + ((posts + 1) * 1_000) / perSecond - performance.now()))
      }
      return { posts, bodies, written: written() - before }
    } finally {
      await app.close()
    }
  })
}

function written(): number {
  const [, bytes] = /^write_bytes: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8')) ?? []
  if (bytes === undefined) throw new Error('broker-disk: /proc/self/io lacks the written bytes')
  return Number(bytes)
}
