import { describe, expect, it } from 'vitest'
import type { Json } from '../../../../src/kernel/json.ts'
import { KEPT_MARK_ID, LogPruner, MARKS } from '../../../../src/log/log-pruner.ts'
import { LOG_NAME } from '../../../../src/log/message-entry.ts'
import { TenantLog } from '../../../../src/log/tenant-log.ts'
import type { RunnableTask } from '../../../../src/services/rules/runner.ts'
import type { InputCheckpoint, InputRange, KeptInput } from '../../../../src/services/rules/inputs/contract.ts'
import { deleteKept, InputKeeper, type KeeperOptions } from '../../../../src/services/rules/inputs/input-keeper.ts'
import { KEPT_INPUTS, MANIFEST_ID } from '../../../../src/services/rules/inputs/manifest.ts'
import type { Store } from '../../../../src/storage/contract.ts'
import { openFiles } from '../../../../src/storage/files/open-files.ts'
import { openMemory } from '../../../../src/storage/memory/open-memory.ts'
import { openSqlite } from '../../../../src/storage/sqlite/open-sqlite.ts'
import { testFolder } from '../../../support/test-folder.ts'
import { keptInputs } from './kept-suite.ts'

let tenants = 0
const memory = openMemory()
const newStore = (): Store => memory.tenant(`m${++tenants}`)
keptInputs('memory', async () => newStore(), 200)

const folder = testFolder()
const sqlite = openFiles({ folder: `${folder}/blobs` }).then((blobs) => openSqlite({ folder, blobs }))
keptInputs('SQLite', async () => (await sqlite).tenant(`s${++tenants}`), 30)

const HOUR = 3_600_000

async function kept(options: Partial<KeeperOptions> & { readonly store?: Store } = {}) {
  const { store = newStore() } = options
  const log = new TenantLog(store)
  const { last } = await log.log.bounds()
  log.attach({ apply: () => undefined, settled: () => undefined }, last)
  const clock = { now: 1_000 }
  const warnings: string[] = []
  const limits = { ageMs: 7 * 24 * HOUR, bytes: 1e9 }
  const keeper = new InputKeeper({
    store,
    log,
    limits,
    now: () => clock.now,
    logger: { warn: (text) => void warnings.push(text) },
    ...options,
  })
  await keeper.since()
  const add = (bodies: readonly object[]) => log.add({ entries: bodies.map((body) => ({ body: body as Json })) })
  const read = async (range: InputRange = {}) => {
    const all: KeptInput[] = []
    for await (const batch of keeper.read(range)) all.push(...batch)
    return all
  }
  return { store, log, keeper, clock, warnings, add, read }
}

function reading(resource: string, at: number, values: object = { level: at % 7 }): object {
  return { k: 'data', m: { resource, timestamp: at, ...values }, s: 'events', at }
}

describe('kept inputs', () => {
  it('need at most 60 bytes for a message of three numbers, of many resources as of few', async () => {
    for (const resources of [1, 5_000]) {
      const { keeper, add } = await kept()
      let seed = 1
      const digits = () => (seed = (seed * 48_271) % 2_147_483_647) % 10_000
      for (let i = 0; i < 20_000; i += 1_000) {
        await add(
          Array.from({ length: 1_000 }, (_, j) => {
            const at = 1_790_000_000_000 + (i + j) * 37
            const resource = `boiler-${(i + j) % resources}`
            return reading(resource, at, { temperature: digits() / 100, pressure: digits() / 1_000, flow: digits() })
          }),
        )
      }
      await keeper.round(true)
      const { bytes, messages } = keeper.figures()
      expect([messages, Math.ceil(bytes / messages)]).toEqual([20_000, expect.toSatisfy((each) => each <= 60)])
    }
  })

  it('drop the oldest beyond a size, and say since when they are complete', async () => {
    const { keeper, clock, add, read } = await kept({
      limits: { ageMs: HOUR * 100, bytes: 2_000 },
      sizes: { entries: 100 },
    })
    for (let i = 0; i < 40; i++) {
      clock.now += 1_000
      await add([reading('a', clock.now, { text: `${i}`.repeat(100) + Math.sqrt(i) })])
      if (i % 4 === 3) await keeper.round(true)
    }
    const since = await keeper.since()
    expect(keeper.figures().oldest).toBe(since?.at)
    expect(keeper.figures().bytes).toBeLessThanOrEqual(2_000)
    const all = await read()
    expect(all[0]?.position).toBe(since?.position)
    expect(all.at(-1)?.position).toBe(40)
  })

  it('leave no more characters in the log than a segment has, also when messages become larger', async () => {
    const { keeper, add } = await kept({ sizes: { characters: 100_000, restMs: Number.POSITIVE_INFINITY } })
    await add(Array.from({ length: 100 }, (_, i) => reading('a', i + 1)))
    await keeper.round()
    expect(keeper.figures().messages).toBe(0)
    await add(Array.from({ length: 100 }, (_, i) => reading('a', i + 101, { text: 'x'.repeat(2_000) })))
    await keeper.round()
    expect(keeper.figures().messages).toBeGreaterThan(100)
  })

  // Holds INPUTS-3
  it.each(['one bit', 'its end', 'all'])('read as a gap where %s of a segment is lost, by name', async (what) => {
    const { store, keeper, add, read, warnings } = await kept()
    await add([reading('a', 1), reading('a', 2)])
    await keeper.round(true)
    const [blob] = await store.blobs.list({ prefix: 'inputs/' })
    const path = blob?.path ?? ''
    const content = await contentOf(store, path)
    if (what === 'one bit') content[3] = (content[3] ?? 0) ^ 1
    if (what === 'all') await store.blobs.delete(path)
    else await store.blobs.put(path, what === 'one bit' ? content : content.subarray(0, 10))
    await add([reading('a', 3)])
    expect((await read()).map(({ position }) => position)).toEqual([3])
    expect(warnings).toEqual([expect.stringContaining(path)])
  })

  it('delete contents that no manifest names when they are opened', async () => {
    const { store, add, keeper } = await kept()
    await add([reading('a', 1)])
    await keeper.round(true)
    await store.blobs.put('inputs/0/orphan', new Uint8Array([1]))
    const { read } = await kept({ store })
    expect((await store.blobs.list({ prefix: 'inputs/' })).map(({ path }) => path)).toEqual([
      expect.not.stringContaining('orphan'),
    ])
    expect(await read()).toHaveLength(1)
  })

  it('begin at the end of a log that is older than they are, as of a backup', async () => {
    const { store, add, keeper } = await kept()
    await add([reading('a', 1)])
    await keeper.round(true)
    const manifest = await store.collection(KEPT_INPUTS).get(MANIFEST_ID)
    await store.collection(KEPT_INPUTS).put(MANIFEST_ID, { ...manifest?.value, position: 9 } as never)
    const { read, warnings, add: addMore } = await kept({ store })
    expect(await read()).toEqual([])
    await addMore([reading('a', 2)])
    expect((await read()).map(({ position }) => position)).toEqual([2])
    expect(warnings).toEqual([expect.stringContaining('for example from a backup')])
  })

  it('omit a message that has expired', async () => {
    const { keeper, clock, add, read } = await kept()
    await add([{ ...reading('a', 1_000), x: 5_000 }, reading('a', 1_001)])
    expect(await read()).toHaveLength(2)
    await keeper.round(true)
    expect(await read()).toHaveLength(2)
    clock.now = 5_000
    expect((await read()).map(({ position }) => position)).toEqual([2])
  })

  it('remove messages of a deleted resource from storage within an hour', async () => {
    const { store, keeper, clock, add } = await kept()
    await add([reading('secret', 1, { note: 'incompressible-🔑' }), reading('a', 2)])
    await keeper.round(true)
    await keeper.deleteResource('secret')
    clock.now += HOUR
    await keeper.round()
    const { value } = (await store.collection(KEPT_INPUTS).get(MANIFEST_ID)) ?? {}
    expect(value).toMatchObject({ deleted: [], inputs: [{ messages: 1 }] })
    expect(await store.blobs.list({ prefix: 'inputs/' })).toHaveLength(1)
  })

  it('end without a trace where none are kept any more', async () => {
    const { store, add, keeper } = await kept()
    await add([reading('a', 1)])
    await keeper.round(true)
    await deleteKept(store)
    expect(await store.blobs.list({ prefix: 'inputs/' })).toEqual([])
    expect(await store.collection(MARKS).get(KEPT_MARK_ID)).toBeUndefined()
  })

  // Holds KEEPER-2
  it('read each input once while segments are merged, whose contents are deleted after the last reader', async () => {
    const { store, keeper, add } = await kept()
    await add([reading('a', 1), reading('a', 2)])
    await keeper.round(true)
    await add([reading('a', 3), reading('a', 4)])
    const positions: number[] = []
    const contents: number[] = []
    for await (const batch of keeper.read({})) {
      positions.push(...batch.map(({ position }) => position))
      if (contents.length === 0) await keeper.round(true)
      contents.push((await store.blobs.list({ prefix: 'inputs/' })).length)
    }
    expect(positions).toEqual([1, 2, 3, 4])
    expect(contents[0]).toBe(3)
    expect(await store.blobs.list({ prefix: 'inputs/' })).toHaveLength(1)
  })

  it('stop a read that is aborted', async () => {
    const { add, keeper } = await kept()
    await add([reading('a', 1)])
    const reader = keeper.read({}, AbortSignal.abort(new Error('cancelled')))[Symbol.asyncIterator]()
    await expect(reader.next()).rejects.toThrow('cancelled')
  })
})

describe('checkpoints of kept inputs', () => {
  it('are those of the last round at or before an instant or a position', async () => {
    const states = new Map([
      ['t1', 1],
      ['t2', 1],
    ])
    const source = { sensors: [] }
    let position = 0
    let now = 0
    const checkpoint = (id: string): InputCheckpoint => {
      const task = { tenant: 'acme', id, epoch: 1, createTime: 0, source, settings: {} } as unknown as RunnableTask
      const record = {
        resources: [],
        delivered: states.get(id) ?? 0,
        state: {},
      } as unknown as InputCheckpoint['record']
      return { position, at: now, task, record }
    }
    const tasks = { ids: () => [...states.keys()], checkpoint }
    const { keeper, clock } = await kept({ tasks })
    const found = async (id: string, before: { at: number } | { position: number }) =>
      (await keeper.checkpoint(id, before))?.record.delivered
    clock.now = HOUR
    for (let round = 1; round <= 30; round++) {
      clock.now += HOUR
      now = clock.now
      position = round * 10
      states.set('t1', round)
      await keeper.round()
      await keeper.round()
    }
    expect(await found('t1', { at: HOUR * 5 + 1 })).toBe(4)
    expect(await found('t1', { position: 45 })).toBe(4)
    expect(await found('t1', { position: 9 })).toBeUndefined()
    expect(await found('t2', { position: 245 })).toBe(1)
    expect(await found('none', { position: 245 })).toBeUndefined()
    expect((await keeper.checkpoint('t2', { position: 300 }))?.task).toEqual(checkpoint('t2').task)
  })
})

describe('a log whose inputs are kept', () => {
  it.each([
    ['in this process', true],
    ['in another process', false],
  ])('is trimmed only up to what kept inputs have, %s', async (_where, isHere) => {
    const { store, log, add, keeper } = await kept()
    await add([reading('a', 1), reading('a', 2)])
    await keeper.round(true)
    await add([reading('a', 3)])
    const pruner = isHere ? log.pruner : new LogPruner(store, store.log(LOG_NAME))
    pruner.tasks = () => 3
    pruner.followers = () => 3
    await pruner.prune(true)
    expect((await log.log.bounds()).first).toBe(3)
  })
})

async function contentOf(store: Store, path: string): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of (await store.blobs.get(path))?.content ?? []) pieces.push(piece)
  return Buffer.concat(pieces)
}
