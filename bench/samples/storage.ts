/** One sample: a kind of read or write on storage in a folder of its own, so many of them in flight. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import type { StorageSubject } from '../subjects/storage/subject.ts'

export interface StorageRequest {
  readonly subject: StorageSubject
  readonly side: 'store' | 'hand'
  /** runs under way at a time */
  readonly inFlight: number
  /** ms by the clock */
  readonly measureMs: number
}

export interface StorageSample {
  /** things written or read, per second by the clock */
  readonly perSecond: number
  /** of one run, ms */
  readonly p50: number
  readonly p99: number
  /** how late the event loop of the asking thread was, ms */
  readonly stallP99: number
  readonly stallMax: number
}

export async function storageSample({ subject, side, inFlight, measureMs }: StorageRequest): Promise<StorageSample> {
  const folder = mkdtempSync(join(tmpdir(), 'reflexarc-bench-'))
  try {
    const opened =
      side === 'store'
        ? await (await import('../subjects/storage/store.ts')).openStore(folder)
        : (await import('../subjects/storage/by-hand.ts')).openByHand(folder)
    const { things, prepare, run } = opened.subjects[subject]
    await prepare?.()
    let next = 0
    const times: number[] = []
    const drive = async (ms: number): Promise<number> => {
      const start = performance.now()
      const lane = async (): Promise<void> => {
        let turn = performance.now()
        while (performance.now() - start < ms) {
          const before = performance.now()
          await run(next++)
          times.push(performance.now() - before)
          // What never waits would keep the loop from turning, and its delay from being seen.
          if (side === 'hand' && performance.now() - turn > 10) {
            await new Promise((resolve) => setImmediate(resolve))
            turn = performance.now()
          }
        }
      }
      await Promise.all(Array.from({ length: inFlight }, lane))
      return performance.now() - start
    }
    await drive(measureMs / 4)
    times.length = 0
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    const wall = await drive(measureMs)
    delay.disable()
    await opened.close()
    const sorted = times.toSorted((a, b) => a - b)
    const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN
    // The first millisecond is the clock's own.
    const late = (nanos: number): number => Math.max(0, nanos / 1e6 - 1)
    return {
      perSecond: (times.length * things * 1_000) / wall,
      p50: at(0.5),
      p99: at(0.99),
      stallP99: late(delay.percentile(99)),
      stallMax: late(delay.max),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
