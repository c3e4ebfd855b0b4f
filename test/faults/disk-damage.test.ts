/** A disk that changes bytes: nothing is served but what was written, the host says so, and `doctor` names all of it. */
import { copyFileSync, cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeAll, describe, expect, it } from 'vitest'
import { runDoctor, type DoctorFlags } from '../../src/cli/doctor.ts'
import { readConfig } from '../../src/host/config.ts'
import { openMedium } from '../../src/host/open-medium.ts'
import { startHost } from '../../src/host/running-host.ts'
import { AppError } from '../../src/kernel/errors.ts'
import { nextSeed, randomOf } from '../../src/kernel/random.ts'
import type { CollectionSpec, Sample, Storage } from '../../src/storage/contract.ts'
import { ANY_TIME } from '../support/any-time.ts'
import { until } from '../support/until.ts'
import { testFolder } from '../support/test-folder.ts'

const folder = testFolder()

const NOTES: CollectionSpec<{ readonly text: string }> = { name: 'notes', version: 1, fields: {} }
const SERIES = 20
const SAMPLES = 2_000
const NOTE_COUNT = 200

const open = (data: string): Promise<Storage> => openMedium({ store: { medium: 'sqlite' }, data })
const valueOf = (series: number, time: number): Sample['value'] => {
  return time % 50 === 0 ? `state ${time % 7}` : series * 1_000 + time / 8
}
const noteOf = (i: number) => ({ text: `note ${i} `.repeat(20) })

/** A folder with much in it, from which each test has a copy. */
const whole = join(folder, 'whole')
beforeAll(async () => {
  const storage = await open(whole)
  const acme = storage.tenant('acme')
  for (let part = 0; part < SAMPLES; part += 500) {
    const samples: Sample[] = []
    for (let i = 0; i < SERIES; i++) {
      for (let time = part; time < part + 500; time++) {
        samples.push({ resource: `r${i}`, metric: 'heat', time, value: valueOf(i, time) })
      }
    }
    await acme.series.append({ samples })
  }
  await acme.series.append({
    messages: Array.from({ length: 300 }, (_, i) => ({ resource: 'r1', stream: 'events', time: i, body: { heat: i } })),
  })
  for (let i = 0; i < NOTE_COUNT; i++) await acme.collection(NOTES).put(`n${i}`, noteOf(i))
  await acme.log('inputs').append([{ a: 1 }, { b: 2 }])
  await acme.blobs.put('plan', Buffer.alloc(400_000, 'plan '))
  // until they are in chunks, the samples stand in the order of their arrival too, and survive damage of a chunk
  await until(async () => arrivals() === 0)
  await storage.close()
  writeFileSync(join(whole, 'token.key'), Buffer.alloc(32, 7).toString('base64url'))
})

function arrivals(): unknown {
  const db = new DatabaseSync(join(whole, 'series.db'), { readOnly: true })
  const row = db.prepare('SELECT count(*) AS count FROM arrivals').get()
  db.close()
  return row?.['count']
}

function copy(name: string): string {
  const data = join(folder, name)
  cpSync(whole, data, { recursive: true })
  return data
}

async function doctor(flags: DoctorFlags): Promise<{ readonly code: number; readonly text: string }> {
  let text = ''
  const code = await runDoctor(flags, {}, { out: (line) => void (text += line) }, () => 0)
  return { code, text }
}

function flip(file: string, places: readonly number[], mask: (i: number) => number): void {
  const bytes = readFileSync(file)
  for (const [i, place] of places.entries()) bytes[place] = (bytes[place] ?? 0) ^ mask(i)
  writeFileSync(file, bytes)
}

describe('a store with 200 changed random bytes', () => {
  it.each(['series.db', 'state.db'])(
    'returns what was written or rejects, from %s, and doctor finds the damage',
    async (file) => {
      for (let seed = 1; seed <= 2 * Number(process.env['FC_TIMES'] ?? 1); seed++) {
        const data = copy(`random-${file}-${seed}`)
        let state = seed
        const random = () => randomOf((state = nextSeed(state)))
        const { length } = readFileSync(join(data, file))
        // the first page says what the file is: without it nothing opens
        const places = Array.from({ length: 200 }, () => 4_096 + Math.floor(random() * (length - 4_096)))
        flip(join(data, file), places, () => 1 + Math.floor(random() * 255))
        const found = await doctor({ data, json: true })
        expect([found.code, found.text.includes('"damaged":[{')], `seed ${seed}`).toEqual([1, true])
        const where = `seed ${seed}`
        const storage = await open(data).catch(() => undefined)
        if (storage !== undefined) expect(await readAll(storage, where), where).toBeGreaterThan(0)
        await storage?.close().catch(() => undefined)
        const repaired = await doctor({ data, repair: true, json: true }).catch((error: unknown) => error)
        // where its tables are not known any more
        if (repaired instanceof AppError) expect(repaired.code, where).toBe('DAMAGED')
        else {
          expect(await doctor({ data }), where).toMatchObject({ code: 0 })
          const again = await open(data)
          expect(await readAll(again, where), where).toBe(0)
          await again.close()
        }
        rmSync(data, { recursive: true })
      }
    },
  )
})

function change(file: string, sql: string): void {
  const db = new DatabaseSync(file)
  db.exec(sql)
  db.close()
}

/** Returns how many reads are refused; whatever is read is what was written. */
async function readAll(storage: Storage, where: string): Promise<number> {
  const acme = storage.tenant('acme')
  let refused = 0
  for (let i = 0; i < SERIES; i++) {
    const read = await acme.series.range({ resources: [`r${i}`], metric: 'heat' }).catch(() => (refused++, []))
    for (const { time, value } of read) expect(value, where).toBe(valueOf(i, time))
  }
  const notes = acme.collection(NOTES)
  for (let i = 0; i < NOTE_COUNT; i++) {
    const read = await notes.get(`n${i}`).catch(() => void refused++)
    if (read !== undefined) expect(read.value, where).toEqual(noteOf(i))
  }
  return refused
}

describe('doctor', () => {
  it('finds nothing in undamaged files, whether or not a host uses the folder', async () => {
    const data = copy('clean')
    const stopped = await doctor({ data })
    expect(stopped).toEqual({
      code: 0,
      text: expect.stringMatching(/^no damage: read \d+ rows and 1 objects in /) as string,
    })
    const storage = await open(data)
    await storage.tenant('acme').collection(NOTES).put('late', { text: 'while it runs' })
    expect((await doctor({ data })).code).toBe(0)
    await storage.close()
  })

  it.each(['nothing', 'state.db'])('rejects a folder with %s in it', async (what) => {
    const data = mkdtempSync(join(folder, 'other-'))
    if (what !== 'nothing') copyFileSync(join(whole, 'series.db'), join(data, what))
    await expect(doctor({ data })).rejects.toMatchObject({ code: what === 'nothing' ? 'USAGE' : 'STORE' })
  })
})

describe('a repair', () => {
  it('keeps intact data, lists lost data, and never reuses a log position', async () => {
    const data = copy('repair')
    change(
      join(data, 'series.db'),
      `UPDATE chunks SET sum = sum + 1 WHERE series = (SELECT key FROM series WHERE resource = 'r3')`,
    )
    change(join(data, 'state.db'), `UPDATE c_notes SET body = replace(body, 'note', 'nose') WHERE id = 'n7'`)
    change(join(data, 'state.db'), 'UPDATE entries SET count = 3')
    const { code, text } = await doctor({ data, repair: true, json: true })
    const { damaged, aside } = JSON.parse(text) as { damaged: readonly unknown[]; aside: string }
    expect([code, aside]).toEqual([0, join(data, 'damaged', '1970-01-01T00-00-00.000Z')])
    expect(damaged).toMatchObject([
      { place: 'state.db entries', what: 'log', tenant: 'acme', name: 'inputs 0 to 2', count: 3 },
      { place: 'state.db c_notes', what: 'document', tenant: 'acme', name: 'notes/n7' },
      { place: 'series.db chunks', what: 'samples', tenant: 'acme', name: 'r3', metric: 'heat', restored: 0 },
    ])
    const [, , chunk] = damaged as readonly { from: number; until: number; count: number }[]
    expect(readdirSync(aside)).toEqual(expect.arrayContaining(['series.db', 'state.db']))
    const storage = await open(data)
    const acme = storage.tenant('acme')
    const left = await acme.series.range({ resources: ['r3'], metric: 'heat' })
    expect(left.filter(({ time }) => time >= (chunk?.from ?? 0) && time <= (chunk?.until ?? 0))).toEqual([])
    expect(left).toHaveLength(SAMPLES - (chunk?.count ?? 0))
    expect(await acme.series.messages({ resource: 'r1', stream: 'events', limit: 1_000 })).toHaveLength(300)
    expect(await acme.collection(NOTES).count()).toBe(NOTE_COUNT - 1)
    expect(await acme.log('inputs').append([{ c: 3 }])).toBe(3)
    expect(await acme.log('inputs').read(0)).toEqual([{ position: 3, body: { c: 3 } }])
    await storage.close()
    expect((await doctor({ data })).code).toBe(0)
  })

  it('restores only lost entries that the log still contains, and not while a host runs', async () => {
    const data = join(folder, 'again')
    const start = () => {
      const given = { port: 0, store: 'sqlite:', data, tenant: 'acme', key: 'k', secret: 's', ...ANY_TIME }
      return startHost(readConfig(given, {}, ['broker']), { write: () => undefined }, { hashCost: 2 })
    }
    const authorization = `Basic ${btoa('k:s')}`
    const levels = async (url: string, resource: string) => {
      const answer = await fetch(`${url}/resources/${resource}/series/level?from=0&until=9000`, {
        headers: { authorization },
      })
      return ((await answer.json()) as { series: readonly (readonly [number, number])[] }).series
    }
    const host = await start()
    for (const [i, value] of [1.25, 2.25, 3.25].entries()) {
      for (const resource of ['boiler', 'gone']) {
        const headers = { authorization, 'content-type': 'application/json' }
        const body = JSON.stringify({ level: value, timestamp: 1_000 + i })
        expect((await fetch(`${host.url}/resources/${resource}`, { method: 'POST', headers, body })).ok).toBe(true)
      }
    }
    const whole = await levels(host.url, 'boiler')
    expect(whole).toHaveLength(3)
    const gone = await fetch(`${host.url}/resources/gone?until=9000`, { method: 'DELETE', headers: { authorization } })
    expect(gone.ok).toBe(true)
    await expect(doctor({ data, repair: true })).rejects.toMatchObject({ code: 'STORE' })
    await host.stop()
    for (const table of ['chunks', 'arrivals']) {
      change(join(data, 'series.db'), `UPDATE ${table} SET sum = sum + 1`)
    }
    const { code, text } = await doctor({ data, repair: true })
    expect([code, text]).toEqual([0, expect.stringMatching(/samples +acme boiler level .* 3 +3 +other bytes/)])
    const again = await start()
    expect([await levels(again.url, 'boiler'), await levels(again.url, 'gone')]).toEqual([whole, []])
    await again.stop()
  })
})

describe('a host on a damaged disk', () => {
  it('rejects reads of damaged data, and reports itself as unhealthy, while doctor lists the damage', async () => {
    const data = copy('host')
    const log: string[] = []
    const start = () => {
      const given = { port: 0, store: 'sqlite:', data, tenant: 'acme', key: 'k', secret: 's', ...ANY_TIME }
      return startHost(readConfig(given, {}, ['broker']), { write: (line) => void log.push(line) }, { hashCost: 2 })
    }
    const { stop } = await start()
    await stop()
    const chunk = readFileSync(join(data, 'series.db'))
    const bytes = Buffer.from(new Float64Array([3_000 + 701 / 8, 3_000 + 702 / 8]).buffer)
    const at = chunk.indexOf(bytes)
    expect(at).toBeGreaterThan(0)
    flip(join(data, 'series.db'), [at + 2], () => 1)
    flip(join(data, 'blobs/objects/t-acme/plan.o'), [77], () => 1)
    flip(join(data, 'token.key'), [0], () => 0)
    const host = await start()
    const headers = { authorization: `Basic ${btoa('k:s')}` }
    const ask = async (path: string) => {
      const answer = await fetch(host.url + path, { headers })
      return { status: answer.status, text: await answer.text() }
    }
    expect((await ask('/health')).status).toBe(200)
    expect((await ask('/resources/r2/series/heat?from=0&until=5000')).status).toBe(200)
    expect((await ask('/resources/r3/series/heat?from=0&until=5000')).status).toBe(500)
    const health = await ask('/health')
    expect([health.status, health.text]).toEqual([503, expect.stringContaining('heat of r3 (tenant acme) from ')])
    expect((await ask('/metrics')).text).toContain('reflexarc_things_total{thing="damaged-reads"} 1')
    expect(log.filter((line) => line.includes('the store is damaged: heat of r3'))).toHaveLength(1)

    const { code, text } = await doctor({ data })
    expect(code).toBe(1)
    expect(text).toMatch(
      /^series\.db chunks +samples +acme r3 heat +1970-\S+ +1970-\S+ +\d+ +other bytes than were written$/m,
    )
    expect(text).toMatch(/^blobs +object +acme plan +The file of the object plan is damaged/m)
    expect(text).toContain('2 damaged entries; read ')
    await host.stop()
  })
})
