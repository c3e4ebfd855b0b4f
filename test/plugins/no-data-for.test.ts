import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { noDataFor } from '../../plugins/no-data-for/plug.ts'
import { startBuiltins } from '../support/builtin-task.ts'
import { checkPlug, runPlug } from '../support/plug-context.ts'
import { runs } from '../support/arbitraries/runs.ts'

const rule = (more: Record<string, unknown> = {}, properties: Record<string, unknown> = {}) => ({
  sensors: [{ label: 'n', name: 'noDataFor', resource: '$', properties: { duration: '10s', ...properties }, ...more }],
})

describe('noDataFor', () => {
  it('declares that it reports silence, so that the checker recognizes it without a clock', () => {
    expect(noDataFor.tellsSilence).toBe(true)
  })

  it('returns No Data after the duration without a message, and Data with the next message', async () => {
    const live = await startBuiltins(rule())
    live.send({ v: 1 })
    live.clock.advanceTo(9999)
    live.send({ v: 2 })
    live.clock.advanceTo(19_998)
    expect(live.states('n')).toEqual(['0 Data', '9999 Data'])
    live.clock.advanceTo(30_000)
    live.send({ v: 3 })
    expect(live.states('n')).toEqual(['0 Data', '9999 Data', '19999 No Data', '30000 Data'])
  })

  it('counts the time while the engine was down', async () => {
    const live = await startBuiltins(rule())
    live.send({ v: 1 })
    live.clock.advanceTo(4000)
    const soon = await live.restart(6000)
    soon.clock.advanceTo(9999)
    expect(soon.states('n')).toEqual(['0 Data'])
    const late = await soon.restart(60_000)
    late.clock.advanceTo(60_001)
    expect(late.states('n').map((line) => line.split(' ').slice(1).join(' '))).toEqual(['Data', 'No Data'])
  })

  it('reports that no message ever arrived, once the wait has begun', async () => {
    const live = await startBuiltins(rule({ pollingPeriod: 60_000 }))
    live.clock.advanceTo(70_000)
    expect(live.states('n').at(-1)).toMatch(/No Data$/)
  })

  it('does not count the last message as new on a tick', () => {
    const properties = { duration: '10s' }
    const message = { v: 1 }
    const { internalState } = runPlug(noDataFor, { properties, message, now: 1000 })
    const tick = runPlug(noDataFor, { properties, message, messageTime: 1000, now: 4000, internalState })
    expect(tick.rawData).toEqual({ last: 1000, silence: 3000 })
  })

  it('returns No Data if and only if no message came within the duration, over ticks, data and restarts', async () => {
    const gap = fc.nat({ max: 14 }).map((seconds) => seconds * 500)
    const steps = fc.array(fc.tuple(gap, fc.constantFrom('data', 'other', 'wait', 'restart')), { maxLength: 25 })
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom(700, 2000, 5000), fc.boolean(), async (list, pollingPeriod, named) => {
        const properties = { duration: '3s', ...(named && { parameter: 'v' }) }
        let live = await startBuiltins(rule({ pollingPeriod }, properties))
        let last: number | undefined
        for (const [wait, what] of list) {
          live.clock.advanceTo(live.clock.now() + wait)
          if (what === 'restart') live = await live.restart()
          if (what === 'data') live.send({ v: 1 })
          if (what === 'other') live.send({ w: 1 })
          const now = live.clock.now()
          const counts = what === 'data' || (what === 'other' && !named)
          const began = live.task.node('n').rawData as { last: number } | undefined
          if (counts) last = now
          last ??= began?.last
          if (last === undefined) continue
          expect(live.task.node('n').mostLikelyState?.state).toBe(now - last >= 3000 ? 'No Data' : 'Data')
        }
      }),
      runs(60),
    )
  })

  it('can wait for one value of the message', () => {
    const properties = { duration: '10s', parameter: 'v' }
    const first = runPlug(noDataFor, { properties, message: { v: 1 }, now: 1000 })
    const { internalState } = first
    expect(runPlug(noDataFor, { properties, message: { w: 1 }, now: 11_000, internalState }).state).toBe('No Data')
    expect(runPlug(noDataFor, { properties, message: { v: 1 }, now: 11_000, internalState }).state).toBe('Data')
  })

  it.each(['soon', '0s', '-PT5M'])('rejects the duration %s', (duration) => {
    expect(checkPlug(noDataFor, { duration })).toHaveLength(1)
  })
})
