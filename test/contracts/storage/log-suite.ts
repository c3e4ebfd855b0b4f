/** Conformance of the log: the durable order of inputs. `describeLog(name, medium)`. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { JsonText, type Json } from '../../../src/kernel/json.ts'
import type { LogEntry, Storage } from '../../../src/storage/contract.ts'
import { runs } from '../../support/arbitraries/runs.ts'
import { describeMedium, expectCode, failureOf, storeFact, type Medium, type Suite } from './medium.ts'

export function describeLog(name: string, medium: Medium): void {
  describeMedium(`logs on ${name}`, medium, (suite) => {
    definesOrder(suite)
    definesRefusals(suite)
  })
}

const positions = (entries: readonly LogEntry[]) => entries.map((entry) => entry.position)
const bodies = (entries: readonly LogEntry[]) => entries.map((entry) => entry.body)
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1)

function definesOrder(suite: Suite<Storage>): void {
  const fact = storeFact(suite)

  fact('a new log is empty', async ({ log }) => {
    expect(log.name).toBe('inputs')
    expect(await log.read(0)).toEqual([])
    expect(await log.bounds()).toEqual({ first: 1, last: 0 })
  })

  fact('entries come back as they were appended, any plain JSON', async ({ log }) => {
    const inputs: readonly Json[] = [
      null,
      true,
      0,
      -1.5,
      2 ** 60,
      '',
      'ä\u0000\ud800😀',
      [],
      {},
      { b: 1, a: [{ c: null }] },
    ]
    expect(await log.append(inputs)).toBe(inputs.length)
    const entries = await log.read(0)
    expect(entries).toEqual(inputs.map((body, i) => ({ position: i + 1, body })))
    expect(JSON.stringify(entries.at(-1)?.body)).toBe('{"b":1,"a":[{"c":null}]}')
  })

  fact('a body that is text already is the JSON that it says, and bounded as any other', async ({ log }) => {
    const body = { a: ['"', 1, null], b: { c: '😀' } }
    await log.append([{ n: 1 }, new JsonText(JSON.stringify(body)), { n: 2 }])
    expect((await log.read(0)).map((entry) => entry.body)).toEqual([{ n: 1 }, body, { n: 2 }])
    const long = new JsonText(JSON.stringify('x'.repeat(1_048_576)))
    await expectCode(() => log.append([{ n: 3 }, long]), 'TOO_LARGE')
    expect(await log.bounds()).toEqual({ first: 1, last: 3 })
  })

  fact('a body is copied on the way in, at the call, and on the way out', async ({ log }) => {
    const body = { list: ['before'] }
    const appending = log.append([body])
    body.list[0] = 'after'
    await appending
    const [entry] = await log.read(0)
    expect(entry?.body).toEqual({ list: ['before'] })
    Object.assign(entry?.body ?? {}, { list: [] })
    expect(bodies(await log.read(0))).toEqual([{ list: ['before'] }])
  })

  fact('STORE-3: positions are 1, 2, 3 ... in the order of the calls', async ({ log }) => {
    const lasts = await Promise.all(upTo(30).map((n) => log.append(Array.from({ length: (n % 3) + 1 }, () => n))))
    const entries = await log.read(0)
    expect(positions(entries)).toEqual(upTo(entries.length))
    expect(bodies(entries)).toEqual(upTo(30).flatMap((n) => Array.from({ length: (n % 3) + 1 }, () => n)))
    expect(lasts).toEqual(upTo(30).map((n) => bodies(entries).lastIndexOf(n) + 1))
  })

  fact('STORE-3: a commit that fails in the same turn takes no position', async ({ store, log, things }) => {
    const settled = await Promise.allSettled([
      store.commit([log.appending(['first']), things.putting('x', {}, 'absent')]),
      store.commit([log.appending(['lost', 'lost']), things.putting('x', {}, 'absent')]),
      log.append(['second']),
      store.commit([things.putting('y', {}, 7), log.appending(['lost'])]),
      store.commit([log.appending(['third']), things.putting('y', {}, 'absent')]),
    ])
    expect(settled.map((one) => one.status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'])
    expect(await log.read(0)).toEqual(['first', 'second', 'third'].map((body, i) => ({ position: i + 1, body })))
    expect(await log.append(['fourth'])).toBe(4)
  })

  fact('logs of other names and tenants do not meet', async ({ store, storage, tenant }) => {
    await store.log('inputs').append(['a', 'b'])
    expect(await store.log('outputs').append(['c'])).toBe(1)
    const other = storage.tenant(`${tenant}.b`).log('inputs')
    expect(await other.read(0)).toEqual([])
    expect(await other.append(['d'])).toBe(1)
    await other.trim(1)
    expect(bodies(await store.log('inputs').read(0))).toEqual(['a', 'b'])
  })

  fact('read gives what comes after a position, at most limit', async ({ log }) => {
    for (let i = 0; i < 1_100; i += 550) await log.append(upTo(550).map((n) => i + n))
    expect(bodies(await log.read(5, 3))).toEqual([6, 7, 8])
    expect(positions(await log.read(1_099, 10))).toEqual([1_100])
    expect(await log.read(1_100)).toEqual([])
    expect(await log.read(2 ** 40)).toEqual([])
    expect(await log.read(0)).toHaveLength(1_000)
    expect(await log.read(0, 10_000)).toHaveLength(1_100)
  })

  fact('trim forgets, and no position comes again', async ({ log }) => {
    await log.append(upTo(5))
    await log.trim(2)
    expect(await log.bounds()).toEqual({ first: 3, last: 5 })
    expect(positions(await log.read(0))).toEqual([3, 4, 5])
    await log.trim(1)
    expect(await log.bounds()).toEqual({ first: 3, last: 5 })
    await log.trim(99)
    expect(await log.bounds()).toEqual({ first: 6, last: 5 })
    expect(await log.read(0)).toEqual([])
    expect(await log.append(['next'])).toBe(6)
  })

  suite.alone('positions go on after opening again, trimmed ones too', async (opened) => {
    const log = opened.storage.tenant('acme').log('inputs')
    await log.append(['a', 'b'])
    const trimmed = opened.storage.tenant('acme').log('outputs')
    await trimmed.append(['c'])
    await trimmed.trim(1)
    const store = (await opened.reopen()).tenant('acme')
    const [again, other] = [store.log('inputs'), store.log('outputs')]
    expect(bodies(await again.read(0))).toEqual(['a', 'b'])
    expect(await other.bounds()).toEqual({ first: 2, last: 1 })
    expect(await again.append(['d'])).toBe(3)
    expect(await other.append(['e'])).toBe(2)
  })

  fact('any history of appends and trims keeps order, bounds and bodies', async ({ store }) => {
    let count = 0
    const step = fc.record({
      bodies: fc.array(fc.jsonValue(), { minLength: 1, maxLength: 4 }),
      trim: fc.option(fc.nat(12), { freq: 3 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 10 }), async (steps) => {
        count += 1
        const log = store.log(`log_${count}`)
        let last = 0
        let entries: LogEntry[] = []
        for (const { bodies, trim } of steps) {
          const plain = JSON.parse(JSON.stringify(bodies)) as Json[]
          if (!plain.every((body) => isTakeable(body))) {
            await expectCode(() => log.append(plain), 'VALIDATION')
            continue
          }
          for (const body of plain) entries.push({ position: (last += 1), body })
          expect(await log.append(bodies as Json[])).toBe(last)
          if (trim === null) continue
          await log.trim(trim)
          entries = entries.filter((entry) => entry.position > trim)
        }
        expect(await log.read(0)).toEqual(entries)
        expect(await log.bounds()).toEqual({ first: last - entries.length + 1, last })
      }),
      runs(30),
    )
  })
}

/** JSON that names a prototype is refused at the edge. */
function isTakeable(body: Json): boolean {
  return !/"(?:__proto__|constructor|prototype)":/.test(JSON.stringify(body))
}

function definesRefusals(suite: Suite<Storage>): void {
  const fact = storeFact(suite)

  fact('a log is named by lower-case letters, digits and _, at most 40', async ({ store }) => {
    for (const name of ['', 'Inputs', 'a-b', 'a b', 'a"b', 'x'.repeat(41), 'ä', '../x']) {
      await expectCode(() => store.log(name).append([1]), 'VALIDATION', name)
      await expectCode(() => store.log(name).read(0), 'VALIDATION', name)
    }
    expect(await store.log('x'.repeat(40)).append([1])).toBe(1)
  })

  fact('positions, limits and bodies are held to their bounds, and nothing is written', async ({ log }) => {
    await expectCode(() => log.read(-1), 'VALIDATION')
    await expectCode(() => log.read(0.5), 'VALIDATION')
    await expectCode(() => log.read(0, 0), 'VALIDATION')
    await expectCode(() => log.read(0, 1.5), 'VALIDATION')
    await expectCode(() => log.read(0, 10_001), 'TOO_LARGE')
    await expectCode(() => log.trim(-1), 'VALIDATION')
    await expectCode(() => log.append([]), 'VALIDATION')
    await expectCode(() => log.append([1, undefined as unknown as Json]), 'VALIDATION')
    await expectCode(() => log.append(['x'.repeat(1_048_575)]), 'TOO_LARGE')
    await expectCode(() => log.append(Array.from({ length: 10_001 }, () => 1)), 'TOO_LARGE')
    const nothing = undefined as unknown as Json
    const { issues } = await failureOf(() => log.append([1, nothing, 2, nothing]))
    expect(issues.map((issue) => issue.path)).toEqual(['/0/bodies/1', '/0/bodies/3'])
    expect(await log.bounds()).toEqual({ first: 1, last: 0 })
    expect(await log.append(['x'.repeat(1_048_574)])).toBe(1)
  })
}
