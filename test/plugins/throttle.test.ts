import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { throttle } from '../../plugins/throttle/plug.ts'
import { checkPlug, runPlug } from '../support/plug-context.ts'

const properties = { duration: '5m' }
const minutes = (count: number) => count * 60_000

describe('throttle', () => {
  it.each([
    ['the first run', undefined, minutes(1), 'Trigger', minutes(1)],
    ['a run within the duration', minutes(1), minutes(5), 'No Trigger', minutes(1)],
    ['a run 1 ms before the end', minutes(1), minutes(6) - 1, 'No Trigger', minutes(1)],
    ['a run at the end', minutes(1), minutes(6), 'Trigger', minutes(6)],
    ['a run after a trigger at epoch 0', 0, minutes(1), 'No Trigger', 0],
    ['a run with unreadable memory', 'yesterday', minutes(1), 'Trigger', minutes(1)],
  ])('%s: %s, %s ms -> %s', (_, internalState, now, state, lastInvocation) => {
    const ran = runPlug(throttle, { properties, internalState, now })
    expect(ran).toMatchObject({ state, rawData: { lastInvocation } })
  })

  it('keeps the duration between two triggers, at any message times', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(minutes(60))), (times) => {
        let internalState: unknown
        const triggers: number[] = []
        for (const now of times.toSorted((a, b) => a - b)) {
          const ran = runPlug(throttle, { properties, internalState, now })
          internalState = ran.internalState ?? internalState
          if (ran.state === 'Trigger') triggers.push(now)
        }
        triggers.slice(1).forEach((time, i) => expect(time - (triggers[i] ?? 0)).toBeGreaterThanOrEqual(minutes(5)))
      }),
    )
  })

  it.each([
    ['5m', 0],
    ['PT5M', 0],
    ['250ms', 0],
    ['0s', 1],
    ['-PT5M', 1],
    ['soon', 1],
  ])('with the duration %s has %i problems', (duration, count) => {
    expect(checkPlug(throttle, { duration })).toHaveLength(count)
  })

  it('fails when a duration resolved at run time is invalid', () => {
    expect(() => runPlug(throttle, { properties: { duration: 'soon' }, internalState: 0, now: 1 })).toThrow(
      expect.objectContaining({ code: 'PLUG_FAILED', message: expect.stringContaining('"soon"') as string }),
    )
    expect(checkPlug(throttle, {})).toEqual([])
  })
})
