/**
 * Tests what must hold however creations, updates, deletions and batches coincide, also with two services on one store.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Alarm, AlarmEvent } from '../../../src/services/alarms/contract.ts'
import { EVENT_LOG } from '../../../src/services/alarms/alarm-record.ts'
import { timelineOf } from '../../../src/services/alarms/timeline.ts'
import { AppError } from '../../../src/kernel/errors.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { alarmOf, bench, type Bench } from './support/bench-of-alarms.ts'
import { runs } from '../../support/arbitraries/runs.ts'

const place = fc.record({ source: fc.constantFrom('a', 'b'), type: fc.constantFrom('x', 'y') })
const step = fc.oneof(
  { weight: 5, arbitrary: place.map((at) => ({ kind: 'raise' as const, ...at })) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('update' as const),
      which: fc.nat(20),
      status: fc.constantFrom('ACTIVE', 'ACKNOWLEDGED', 'CLEARED'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), which: fc.nat(20) }) },
  { weight: 1, arbitrary: place.map(({ source }) => ({ kind: 'batch' as const, source })) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** Steps that begin together, each with the service that executes it. */
const rounds = fc.array(fc.array(fc.tuple(step, fc.boolean()), { minLength: 1, maxLength: 12 }), { maxLength: 8 })

interface Ledger {
  /** Number of successful creations by alarm id */
  readonly raised: Map<string, number>
  readonly removed: Set<string>
  readonly ids: string[]
}

async function play(one: Step, { api }: Bench, ledger: Ledger): Promise<void> {
  try {
    if (one.kind === 'raise') {
      const { id } = await api.raise(alarmOf({ source: { id: one.source }, type: one.type }))
      ledger.raised.set(id, (ledger.raised.get(id) ?? 0) + 1)
      ledger.ids.push(id)
    } else if (one.kind === 'batch') {
      const query = { source: one.source, status: 'ACTIVE' }
      await api.batches.queue({ entity: 'alarm', action: 'update', query, actionParameters: { status: 'CLEARED' } })
    } else {
      const id = ledger.ids[one.which % Math.max(1, ledger.ids.length)] ?? 'none'
      if (one.kind === 'update') await api.update(id, { status: one.status })
      else {
        await api.remove(id)
        ledger.removed.add(id)
      }
    }
  } catch (error) {
    if (!(error instanceof AppError) || (error.code !== 'FINAL' && error.code !== 'NOT_FOUND')) throw error
  }
}

/** Returns counts and states according to the events, in the order of the log. */
async function toldBy({ storage }: Bench): Promise<ReadonlyMap<string, AlarmEvent['alarm']>> {
  const told = new Map<string, AlarmEvent['alarm']>()
  for (const { body } of await storage.tenant('acme').log(EVENT_LOG).read(0, 10_000)) {
    const { alarm } = body as unknown as AlarmEvent
    expect(alarm['count'], 'counts only rise').toBeGreaterThanOrEqual(Number(told.get(alarm.id)?.['count'] ?? 0))
    told.set(alarm.id, alarm)
  }
  return told
}

function opened(alarms: readonly Alarm[]): readonly string[] {
  return alarms.filter(({ status }) => status !== 'CLEARED').map(({ source, type }) => `${source.id} ${type}`)
}

// Holds ALARM-1 to ALARM-3
describe('alarms, under any concurrent changes', () => {
  it('are open at most once per source and type, count every creation, and match their histories and events', async () => {
    await fc.assert(
      fc.asyncProperty(rounds, async (all) => {
        const storage = openMemory()
        const [one, two] = [await bench({ storage }), await bench({ storage, ids: 'b' })]
        const ledger: Ledger = { raised: new Map(), removed: new Set(), ids: [] }
        for (const round of all) {
          await Promise.all(round.map(([what, isSecond]) => play(what, isSecond ? two : one, ledger)))
          const { alarms } = await one.api.list({ size: 1000 })
          expect(new Set(opened(alarms)).size).toBe(opened(alarms).length)
        }
        await Promise.all([one.service.idle(), two.service.idle()])
        const { alarms } = await two.api.list({ size: 1000 })
        expect(new Set(opened(alarms)).size).toBe(opened(alarms).length)
        const told = await toldBy(one)
        for (const alarm of alarms) {
          expect(alarm.count).toBe(ledger.raised.get(alarm.id))
          const repeats = alarm.history.filter(({ type }) => type.endsWith('EventOccuredAgain'))
          expect(repeats.length).toBe(alarm.count - 1)
          const last = timelineOf(alarm).at(-1)
          expect(last?.alarm).toMatchObject({ status: alarm.status, severity: alarm.severity })
          expect(told.get(alarm.id)).toMatchObject({ count: alarm.count, status: alarm.status })
        }
        const there = new Set(alarms.map(({ id }) => id))
        for (const id of ledger.raised.keys()) expect([id, there.has(id)]).toEqual([id, !ledger.removed.has(id)])
        await Promise.all([one.close(), two.close()])
      }),
      runs(60),
    )
  })

  it('raised a thousand times concurrently by two services are one alarm', async () => {
    const storage = openMemory()
    const [one, two] = [await bench({ storage }), await bench({ storage, ids: 'b' })]
    const raised = await Promise.all(
      Array.from({ length: 1000 }, (_, i) => (i % 2 === 0 ? one : two).api.raise(alarmOf(), { history: 'newest' })),
    )
    expect(new Set(raised.map((alarm) => alarm.id)).size).toBe(1)
    expect(new Set(raised.map((alarm) => alarm.count)).size).toBe(1000)
    expect(await one.api.list({})).toMatchObject({ total: 1, alarms: [{ count: 1000 }] })
    await one.close()
    await two.close()
  })
})
