/** Kills the process that runs a job with `kill -9`, again and again, over one data folder. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { JobRunner } from '../../src/jobs/job-runner.ts'
import { nextSeed, randomOf } from '../../src/kernel/random.ts'
import { machineTimers } from '../../src/platform/timers.ts'
import { openMemoryBlobs } from '../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../src/storage/sqlite/open-sqlite.ts'

const WORKER = fileURLToPath(new URL('./crash-worker.ts', import.meta.url))
const ITEMS = 300
const BATCH = 10
const first = Number(process.env['FC_SEED'] ?? Math.floor(Math.random() * 2 ** 31))

/**
 * Runs the worker until it has reported that much progress. Returns the number of committed items, and whether it
 * ended.
 */
function live(args: readonly string[], lines: number): Promise<{ readonly done: number; readonly isOver: boolean }> {
  const child = spawn(process.execPath, [WORKER, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (more: string) => {
      text += more
      if (text.split('\n').length > lines) child.kill('SIGKILL')
    })
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (signal !== 'SIGKILL' && code !== 0) return reject(new Error(`the worker ended with ${code ?? signal}`))
      const last = Math.max(0, ...[...text.matchAll(/^done (\d+)\n/gm)].map((match) => Number(match[1])))
      resolve({ done: last, isOver: signal !== 'SIGKILL' })
    })
  })
}

it(`a job resumes after its last commit, whenever its process is killed (seed ${first})`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'jobs-'))
  try {
    const [data, file] = [join(folder, 'data'), join(folder, 'done')]
    const committed: number[] = []
    let seed = first
    for (let isOver = false; !isOver;) {
      seed = nextSeed(seed)
      // events of earlier lives are delivered again
      const before = (committed.at(-1) ?? 0) / BATCH
      const lines = before + 1 + Math.floor(randomOf(seed) * 12)
      const life = await live([data, file, String(committed.length), String(ITEMS)], lines)
      committed.push(life.done)
      isOver = life.isOver
    }
    expect(committed.length).toBeGreaterThan(2)
    const done = readFileSync(file, 'utf8').trimEnd().split('\n')
    const seen = done
      .map((line) => line.split(' '))
      .map(([life, id, again]) => ({ life: Number(life), id: Number(id), again }))
    expect(new Set(seen.map(({ id }) => id)).size, 'no item is lost').toBe(ITEMS)
    for (const { life, id, again } of seen) {
      const before = committed[life - 1] ?? 0
      expect(id, 'what was told as committed is not done again').toBeGreaterThanOrEqual(before)
      const isKnown = seen.some((other) => other.id === id && other.life < life)
      if (isKnown) expect([id, again], 'what is done again is a repetition').toEqual([id, 'true'])
    }
    const storage = await openSqlite({ folder: data, blobs: openMemoryBlobs() })
    const store = storage.tenant('acme')
    const options = { tenant: 'acme', store, handlers: [], now: Date.now, newId: () => '', timers: machineTimers }
    const { queue } = new JobRunner(options)
    const job = await queue.get('job')
    expect(job).toMatchObject({ state: 'completed', progress: { done: ITEMS, total: ITEMS, ended: { '200': ITEMS } } })
    expect(job?.attemptsStarted).toBeLessThanOrEqual(committed.length)
    await storage.close()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
