/**
 * Kills a writing process with `kill -9` at chosen moments: what was acknowledged exists, and nothing exists only in
 * part.
 */
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { nextSeed, randomOf } from '../../../src/kernel/random.ts'
import { openMemoryBlobs } from '../../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../../src/storage/sqlite/open-sqlite.ts'
import { cases } from '../../support/arbitraries/runs.ts'
import { expectedUnits, UNITS } from './crash-units.ts'
import { temporaryFolder } from './sqlite-medium.ts'

const seed = Number(process.env['FC_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const WRITER = fileURLToPath(new URL('./crash-writer.ts', import.meta.url))

interface Answered {
  readonly commit: number
  readonly series: number
}

/** Runs the writer until it has acknowledged `acks` units, kills it, and returns the last acknowledged ones. */
function writeAndKill(folder: string, foldAt: number, inFlight: number, acks: number): Promise<Answered> {
  const child = spawn(process.execPath, [WRITER, folder, String(foldAt), String(inFlight)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (more: string) => {
      text += more
      if (text.split('\n').length > acks) child.kill('SIGKILL')
    })
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (signal !== 'SIGKILL') return reject(new Error(`the writer ended by itself, with ${code ?? signal}`))
      const last = (kind: string) =>
        Math.max(0, ...[...text.matchAll(new RegExp(`^${kind} (\\d+)\n`, 'gm'))].map((match) => Number(match[1])))
      resolve({ commit: last('commit'), series: last('series') })
    })
  })
}

async function expectUnits(folder: string, answered: Answered): Promise<void> {
  const storage = await openSqlite({ folder, blobs: openMemoryBlobs() })
  try {
    const store = storage.tenant('acme')
    const log = store.log('inputs')
    const { first, last } = await log.bounds()
    expect(first).toBe(1)
    expect(last, 'STORE-4: no answered commit is lost').toBeGreaterThanOrEqual(answered.commit)
    for (let after = 0; after < last; after += 10_000) {
      const entries = await log.read(after, 10_000)
      const numbers = Array.from({ length: Math.min(10_000, last - after) }, (_, i) => after + i + 1)
      expect(entries, 'STORE-3: position n has unit n').toEqual(numbers.map((n) => ({ position: n, body: n })))
    }
    const units = store.collection(UNITS)
    const expected = expectedUnits(last)
    const found = await units.find({})
    expect(new Map(found.map(({ id, version, value }) => [id, { version, value }])), 'STORE-1, STORE-2').toEqual(
      expected,
    )
    for (const tag of ['t0', 't1', 't2', 'u0', 'u4']) {
      const tagged = [...expected].filter(([, { value }]) => value.tags.includes(tag)).map(([id]) => id)
      expect(await units.ids({ where: [{ field: 'tags', op: 'eq', value: tag }] })).toEqual(tagged.toSorted())
    }

    const { series } = store
    const applied = await series.applied('inputs')
    expect(applied, 'STORE-4 for samples').toBeGreaterThanOrEqual(answered.series)
    expect(applied).toBeLessThanOrEqual(last)
    const numbers = Array.from({ length: applied }, (_, i) => i + 1)
    const samples = await series.range({ resources: ['r'], metric: 'm', limit: 1_000_000 })
    expect(samples.map(({ time }) => time)).toEqual(numbers)
    const messages = await series.messages({ resource: 'r', stream: 'events', limit: 10_000 })
    expect(messages.map(({ time }) => time)).toEqual(numbers.toReversed().slice(0, 10_000))
    for (let r = 0; r < Math.min(5, applied); r += 1) {
      const newest = numbers.findLast((n) => n % 5 === r)
      expect((await series.latest(`r${r}`, 'last')).map(({ value }) => value)).toEqual(
        newest === undefined ? [] : [newest],
      )
    }
  } finally {
    await storage.close()
  }
}

describe(`a process that is killed while it writes (seed ${seed})`, () => {
  it.each([
    ['one unit at a time, folding all the while', 1, 1],
    ['sixteen at a time, folding often', 16, 50],
    ['sixteen at a time, folding never', 16, 1e9],
  ])('%s: keeps STORE-1 to STORE-4 over several kills', async (_, inFlight, foldAt) => {
    let moment = seed + inFlight
    const folder = temporaryFolder()
    try {
      for (let round = 0; round < cases(2); round += 1) {
        moment = nextSeed(moment)
        const acks = 1 + Math.floor(randomOf(moment) ** 2 * 400)
        await expectUnits(folder, await writeAndKill(folder, foldAt, inFlight, acks))
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
