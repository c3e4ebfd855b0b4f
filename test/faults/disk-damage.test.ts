/** A disk that changes bytes: nothing is served that nobody has written, the host says so, and `doctor` names all of it. */
import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runDoctor, type DoctorFlags } from '../../src/host/cli/run-doctor.ts'
import { readConfig } from '../../src/host/config.ts'
import { openMedium } from '../../src/host/open-medium.ts'
import { startHost } from '../../src/host/running-host.ts'
import { nextSeed, randomOf } from '../../src/kernel/random.ts'
import type { CollectionSpec, Sample, Storage } from '../../src/storage/contract.ts'
import { ANY_TIME } from '../support/any-time.ts'

const folder = mkdtempSync(join(tmpdir(), 'reflexarc-damage-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

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
  await acme.log('inputs').append(0, [{ a: 1 }, { b: 2 }])
  await acme.blobs.put('plan', Buffer.alloc(400_000, 'plan '))
  await storage.close()
  writeFileSync(join(whole, 'token.key'), Buffer.alloc(32, 7).toString('base64url'))
})

function copy(name: string): string {
  const data = join(folder, name)
  cpSync(whole, data, { recursive: true })
  return data
}

async function doctor(flags: DoctorFlags): Promise<{ readonly code: number; readonly text: string }> {
  let text = ''
  const code = await runDoctor(flags, {}, { out: (line) => void (text += line) })
  return { code, text }
}

function flip(file: string, places: readonly number[], mask: (i: number) => number): void {
  const bytes = readFileSync(file)
  for (const [i, place] of places.entries()) bytes[place] = (bytes[place] ?? 0) ^ mask(i)
  writeFileSync(file, bytes)
}

describe('a store in which 200 random bytes are others', () => {
  it.each(['series.db', 'state.db'])(
    'gives what was written or refuses, of %s, and doctor finds damage',
    async (file) => {
      for (let seed = 1; seed <= 3 * Number(process.env['FC_TIMES'] ?? 1); seed++) {
        const data = copy(`random-${file}-${seed}`)
        let state = seed
        const random = () => randomOf((state = nextSeed(state)))
        const { length } = readFileSync(join(data, file))
        // the first page says what the file is: without it nothing opens
        const places = Array.from({ length: 200 }, () => 4_096 + Math.floor(random() * (length - 4_096)))
        flip(join(data, file), places, () => 1 + Math.floor(random() * 255))
        const found = await doctor({ data, json: true })
        expect([found.code, found.text.includes('"damaged":[{')], `seed ${seed}`).toEqual([1, true])
        const storage = await open(data).catch(() => undefined)
        if (storage === undefined) continue
        const acme = storage.tenant('acme')
        let refused = 0
        for (let i = 0; i < SERIES; i++) {
          const read = await acme.series.range({ resources: [`r${i}`], metric: 'heat' }).catch(() => (refused++, []))
          for (const { time, value } of read) expect(value, `seed ${seed}`).toBe(valueOf(i, time))
        }
        for (let i = 0; i < NOTE_COUNT; i++) {
          const read = await acme
            .collection(NOTES)
            .get(`n${i}`)
            .catch(() => void refused++)
          if (read !== undefined) expect(read.value, `seed ${seed}`).toEqual(noteOf(i))
        }
        expect(refused, `seed ${seed}`).toBeGreaterThan(0)
        await storage.close().catch(() => undefined)
        rmSync(data, { recursive: true })
      }
    },
  )
})

describe('doctor', () => {
  it('finds nothing in what is as it was written, whether somebody has the folder or not', async () => {
    const data = copy('clean')
    const stopped = await doctor({ data })
    expect(stopped).toEqual({
      code: 0,
      text: expect.stringMatching(/^no damage: \d+ rows and 1 objects in /) as string,
    })
    const storage = await open(data)
    await storage.tenant('acme').collection(NOTES).put('late', { text: 'while it runs' })
    expect((await doctor({ data })).code).toBe(0)
    await storage.close()
  })

  it.each(['nothing', 'state.db'])('refuses a folder with %s in it', async (what) => {
    const data = mkdtempSync(join(folder, 'other-'))
    if (what !== 'nothing') copyFileSync(join(whole, 'series.db'), join(data, what))
    await expect(doctor({ data })).rejects.toMatchObject({ code: what === 'nothing' ? 'USAGE' : 'STORE' })
  })
})

describe('a host on a damaged disk', () => {
  it('refuses what is damaged, and says that it is not well; doctor names the places meanwhile', async () => {
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
    expect(text).toMatch(/^blobs +object +acme plan +The file of the object plan is not as it was written/m)
    expect(text).toContain('2 damaged places, of ')
    await host.stop()
  })
})
