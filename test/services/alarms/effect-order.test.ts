/** Tests that rules change alarms in the order of their task (ALARM-5), and that clearing is one operation. */
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Alarm, AlarmCause } from '../../../src/services/alarms/contract.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import type { Storage } from '../../../src/storage/contract.ts'
import { alarmOf, bench, type Bench } from './support/bench-of-alarms.ts'
import { runs } from '../../support/arbitraries/runs.ts'

const SOURCE = 'boiler-1'
const LATE = { code: 'SUPERSEDED' }

let storage: Storage
let alarms: Bench
beforeEach(async () => {
  storage = openMemory()
  alarms = await bench({ storage })
})
afterEach(() => alarms.close())

/** Returns the cause for an effect of one task's input. */
function by(input: number, more: Partial<AlarmCause> = {}): AlarmCause {
  const task = more.task ?? 'task-1'
  return { task, node: 'n', effect: `${task}/1/${input}/0`, hops: 1, ...more }
}

const raise = (cause: AlarmCause, more: object = {}): Promise<Alarm> =>
  alarms.api.raise(alarmOf({ ...more }), { cause })
const update = (id: string, change: object, cause: AlarmCause): Promise<Alarm> =>
  alarms.api.update(id, change, { cause })
const clear = (cause: AlarmCause, type = 'HEAT'): Promise<readonly Alarm[]> => alarms.service.clear(SOURCE, type, cause)

async function open(): Promise<readonly string[]> {
  const { alarms: found } = await alarms.api.list({ status: ['ACTIVE', 'ACKNOWLEDGED'], size: 1000 })
  return found.map(({ id }) => id).toSorted()
}

describe('a late effect', () => {
  it('raises nothing after a later clear by its task', async () => {
    await raise(by(1))
    await clear(by(3))
    await expect(raise(by(2))).rejects.toMatchObject(LATE)
    expect(await open()).toEqual([])
  })

  it('raises nothing after a later clear that found no alarm', async () => {
    expect(await clear(by(2))).toEqual([])
    await expect(raise(by(1))).rejects.toMatchObject(LATE)
    expect(await open()).toEqual([])
  })

  it('clears nothing after a later raise by its task', async () => {
    await raise(by(1))
    await raise(by(3))
    await expect(clear(by(2))).rejects.toMatchObject(LATE)
    expect(await open()).toHaveLength(1)
  })

  it('names the later effect and its target', async () => {
    await clear(by(2))
    await expect(raise(by(1))).rejects.toThrow(
      'the effect task-1/1/1/0 arrived too late: task-1/1/2/0, a later effect of its task, was already applied to alarm:boiler-1/HEAT',
    )
  })

  it('changes nothing by id, even if the later effect changed nothing', async () => {
    const { id } = await raise(by(1))
    await update(id, { severity: 'MAJOR' }, by(3))
    await expect(update(id, { severity: 'CRITICAL' }, by(2))).rejects.toMatchObject(LATE)
    expect(await alarms.api.get(id)).toMatchObject({ severity: 'MAJOR' })
    await expect(clear(by(2))).rejects.toMatchObject(LATE)
  })

  it('is rejected after a restart too', async () => {
    await raise(by(1))
    await clear(by(3))
    await alarms.close()
    alarms = await bench({ storage, ids: 'b' })
    await expect(raise(by(2))).rejects.toMatchObject(LATE)
    expect(await open()).toEqual([])
  })

  it('is rejected for alarms with the same deduplication key and another type', async () => {
    await raise(by(2), { type: 'COLD', dedupKey: 'k' })
    await expect(raise(by(1), { type: 'HEAT', dedupKey: 'k' })).rejects.toMatchObject(LATE)
  })

  it('is applied when only other tasks, other types or users acted', async () => {
    await clear(by(9, { task: 'task-2' }))
    await clear(by(9), 'COLD')
    await alarms.api.raise(alarmOf())
    expect(await raise(by(1))).toMatchObject({ count: 2 })
  })

  it('is applied when its node is unordered', async () => {
    await raise(by(5))
    expect(await raise(by(4, { unordered: true }))).toMatchObject({ count: 2 })
  })

  it('is reported in `why` without its order', async () => {
    const { id } = await raise(by(1, { unordered: true }))
    expect((await alarms.api.why(id)).cause).toEqual(by(1))
  })
})

describe('effects of one task, for any delays over two services', () => {
  const act = fc.constantFrom<'raise' | 'raiseKeyed' | 'clear'>('raise', 'raiseKeyed', 'clear')
  const acts = fc
    .array(fc.record({ act, isSecond: fc.boolean(), rank: fc.nat() }), { minLength: 1, maxLength: 12 })
    .map((all) => all.map((one, i) => ({ ...one, input: i + 1 })))

  it('leave alarms in the state that the last effect requests', async () => {
    await fc.assert(
      fc.asyncProperty(acts, async (all) => {
        const both = openMemory()
        const benches = [await bench({ storage: both }), await bench({ storage: both, ids: 'b' })] as const
        const settled = await Promise.allSettled(
          all
            .toSorted((a, b) => a.rank - b.rank)
            .map(({ act: what, isSecond, input }) => {
              const { api, service } = benches[isSecond ? 1 : 0]
              const cause = by(input)
              if (what === 'clear') return service.clear(SOURCE, 'HEAT', cause)
              return api.raise(alarmOf(what === 'raise' ? {} : { dedupKey: 'k' }), { cause })
            }),
        )
        for (const one of settled) if (one.status === 'rejected') expect(one.reason).toMatchObject(LATE)
        const { alarms: left } = await benches[0].api.list({ status: ['ACTIVE'] })
        const keys = left.map(({ dedupKey }) => dedupKey)
        const last = all.at(-1)?.act
        if (last === 'clear') expect(keys).toEqual([])
        else expect(keys).toContain(last === 'raise' ? undefined : 'k')
        for (const { close } of benches) await close()
      }),
      runs(100),
    )
  })
})

describe('a clear', () => {
  it('clears all open alarms of the source and type, also those with deduplication keys', async () => {
    const ids = [
      await raise(by(1)),
      await raise(by(2), { dedupKey: 'k1' }),
      await raise(by(3), { dedupKey: 'k2', status: 'ACKNOWLEDGED' }),
    ].map(({ id }) => id)
    const others = [await raise(by(4), { type: 'COLD' }), await raise(by(5), { source: { id: 'boiler-2' } })]
    const cleared = await clear(by(6))
    expect(cleared.map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
    expect(cleared.map(({ status }) => status)).toEqual(['CLEARED', 'CLEARED', 'CLEARED'])
    expect(await open()).toEqual(others.map(({ id }) => id).toSorted())
  })

  it('that is repeated returns the same alarms, and leaves alarms that were raised since', async () => {
    const { id } = await raise(by(1))
    const { id: keyed } = await raise(by(2), { dedupKey: 'k' })
    await clear(by(3))
    const since = await alarms.api.raise(alarmOf())
    const again = await clear(by(3))
    expect(again.map((alarm) => alarm.id).toSorted()).toEqual([id, keyed].toSorted())
    expect(await open()).toEqual([since.id])
    expect((await alarms.api.get(id)).history).toHaveLength(2)
  })

  it('leaves an alarm whose key the task raised again later', async () => {
    const { id } = await raise(by(1), { dedupKey: 'k' })
    await raise(by(5), { dedupKey: 'k', type: 'COLD' })
    expect(await clear(by(4))).toEqual([])
    expect(await open()).toEqual([id])
  })

  it('is serialized with simultaneous raises: an open alarm was raised after it', async () => {
    for (let round = 0; round < 20; round++) {
      await raise(by(round * 10 + 1))
      const asked = [
        ...Array.from({ length: 5 }, () => alarms.api.raise(alarmOf())),
        clear(by(round * 10 + 2)).then((cleared) => cleared[0]),
        ...Array.from({ length: 5 }, () => alarms.api.raise(alarmOf())),
      ]
      const cleared = (await Promise.all(asked))[5]
      const [left, ...more] = await open()
      expect(more).toEqual([])
      expect(left).not.toBe(cleared?.id)
      await clear(by(round * 10 + 3))
    }
  })

  it('is rejected after a chain of seventeen rules', async () => {
    await raise(by(1))
    await expect(clear(by(2, { hops: 17 }))).rejects.toMatchObject({ code: 'TOO_LARGE' })
    expect(await open()).toHaveLength(1)
  })
})

describe('the check of an alarm before it is raised', () => {
  const check = (body: object): readonly (readonly [string, string])[] =>
    alarms.service.check(body).map(({ path, message }) => [path, message])

  it('reports what a raise would reject, and accepts missing fields', () => {
    expect(check({})).toEqual([])
    expect(check({ type: 'HEAT', escalation: { after: 'PT1H', severity: 'CRITICAL' }, floor: 2 })).toEqual([])
    expect(check({ escalation: { after: 'soon', severity: 'WORST' } })).toEqual([
      ['/escalation/after', '"soon" is not a duration'],
      ['/escalation/severity', 'Could not parse severity, valid values are: CRITICAL, MAJOR, MINOR, WARNING'],
    ])
    expect(check({ note: 'x'.repeat(70_000) })).toEqual([['', expect.stringContaining('at most 65536 are accepted')]])
  })
})
