/** Compares alarms with a model of the life cycle, over random sequences of what people, rules and time do. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EVENT_LOG } from '../../../src/services/alarms/alarm-record.ts'
import type { AlarmEvent } from '../../../src/services/alarms/contract.ts'
import { timelineOf } from '../../../src/services/alarms/timeline.ts'
import { alarmOf, bench, NOON, type Bench } from './support/bench-of-alarms.ts'
import { runs } from '../../support/arbitraries/runs.ts'

const MINUTE = 60_000

const step = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: 'raise' as const }) },
  { weight: 3, arbitrary: fc.constant({ kind: 'return' as const }) },
  { weight: 3, arbitrary: fc.constant({ kind: 'acknowledge' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('shelve' as const), minutes: fc.integer({ min: 1, max: 9 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'unshelve' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('suppress' as const), by: fc.constantFrom('w/1', 'w/2') }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('release' as const), by: fc.constantFrom('w/1', 'w/2') }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), minutes: fc.integer({ min: 1, max: 9 }) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** The life cycle as ISA-18.2 describes it, for one source and type. */
class Model {
  readonly isLatching: boolean
  state: 'none' | 'unacknowledged' | 'acknowledged' | 'returned' = 'none'
  raised = 0
  count = 0
  announced = 0
  shelvedUntil = 0
  now = NOON
  readonly by = new Set<string>()

  constructor(isLatching: boolean) {
    this.isLatching = isLatching
  }

  get isHeld(): boolean {
    return this.shelvedUntil > this.now || (this.state !== 'none' && this.by.size > 0)
  }

  apply(one: Step): void {
    const wasHeld = this.isHeld
    const { state } = this
    if (one.kind === 'raise') {
      if (state === 'none') {
        this.raised++
        this.count = 0
      }
      this.count++
      if (state !== 'acknowledged') this.state = 'unacknowledged'
      return
    }
    if (one.kind === 'wait') this.now += one.minutes * MINUTE
    if (state === 'none') return
    if (one.kind === 'return') this.#over(state === 'unacknowledged' || state === 'returned')
    if (one.kind === 'acknowledge') {
      if (state === 'returned') this.#over(false)
      else this.state = 'acknowledged'
    }
    if (one.kind === 'shelve') this.shelvedUntil = this.now + one.minutes * MINUTE
    if (one.kind === 'unshelve') this.shelvedUntil = 0
    if (one.kind === 'suppress') this.by.add(one.by)
    if (one.kind === 'release') this.by.delete(one.by)
    if (this.state !== 'none' && wasHeld && !this.isHeld) this.announced++
  }

  /** Suppressions belong to the alarm, a shelving outlasts it. */
  #over(isUnacknowledged: boolean): void {
    this.state = this.isLatching && isUnacknowledged ? 'returned' : 'none'
    if (this.state === 'none') this.by.clear()
  }
}

async function play(one: Step, alarms: Bench, id: string | undefined): Promise<void> {
  const { api, service, clock } = alarms
  if (one.kind === 'raise') await api.raise(alarmOf(), { history: 'newest' })
  else if (one.kind === 'suppress') {
    await service.suppress({ source: 'boiler-1' }, { suppression: 'suppressed', by: one.by })
  } else if (one.kind === 'release') await service.release(one.by)
  else if (one.kind === 'wait') clock.now += one.minutes * MINUTE
  else if (id !== undefined && one.kind !== 'restart') {
    if (one.kind === 'return') await api.update(id, { status: 'CLEARED' })
    else if (one.kind === 'acknowledge') await api.acknowledge(id)
    else if (one.kind === 'shelve') await api.shelve(id, { until: clock.now + one.minutes * MINUTE, reason: 'test' })
    else await api.unshelve(id)
  }
  await service.keepHouse()
}

// Holds ALARM-4
describe('the life cycle of alarms', () => {
  it('is that of the model after any steps and restarts, and its timeline replays to it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), fc.boolean(), async (steps, latching) => {
        let alarms = await bench()
        await alarms.api.types.put('HEAT', { latching })
        const model = new Model(latching)
        for (const [i, one] of steps.entries()) {
          if (one.kind === 'restart') {
            await alarms.close()
            alarms = await bench({ storage: alarms.storage, clock: alarms.clock, ids: `r${i}-` })
          }
          const [before] = (await alarms.api.list({ status: ['ACTIVE', 'ACKNOWLEDGED'] })).alarms
          await play(one, alarms, before?.id)
          model.apply(one)
          const { alarms: open } = await alarms.api.list({ status: ['ACTIVE', 'ACKNOWLEDGED'] })
          expect(open.map(({ lifecycle, count }) => [lifecycle, count])).toEqual(
            model.state === 'none' ? [] : [[model.state, model.count]],
          )
          expect(open.map(({ suppression }) => suppression !== 'none')).toEqual(open.map(() => model.isHeld))
          for (const alarm of open) {
            const { lifecycle, suppression } = timelineOf(alarm).at(-1)?.alarm ?? {}
            expect([lifecycle, suppression]).toEqual([alarm.lifecycle, alarm.suppression])
            expect((await alarms.api.list({ lifecycle: alarm.lifecycle, suppression: alarm.suppression })).total).toBe(
              1,
            )
          }
        }
        const entries = await alarms.storage.tenant('acme').log(EVENT_LOG).read(0, 10_000)
        const types = entries.map(({ body }) => (body as unknown as AlarmEvent).eventtype.split('.').at(-1))
        expect(types.filter((type) => type === 'AlarmRaised')).toHaveLength(model.raised)
        expect(types.filter((type) => type === 'AlarmAnnounced')).toHaveLength(model.announced)
        await alarms.close()
      }),
      runs(300),
    )
  })
})
