import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CHUNKS } from '../../../src/services/alarms/alarm-record.ts'
import type { Alarm } from '../../../src/services/alarms/contract.ts'
import { alarmOf, bench, NOON, type Bench } from './support/bench-of-alarms.ts'

let alarms: Bench
beforeEach(async () => {
  alarms = await bench()
})
afterEach(() => alarms.close())

const timesOf = ({ history }: Alarm): readonly number[] => history.map(({ timestamp }) => Date.parse(timestamp) - NOON)
const chunksStored = () => alarms.storage.tenant('acme').collection(CHUNKS).count()

/** Raises the alarm repeatedly, each time a millisecond later. */
async function repeat(times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    alarms.clock.now++
    await alarms.api.raise(alarmOf(), { history: 'newest' })
  }
}

describe('the history of an alarm', () => {
  it('contains the raising and the newest thousand repeats, in order', async () => {
    const { id } = await alarms.api.raise(alarmOf())
    let done = 0
    for (const repeats of [0, 1, 31, 32, 33, 63, 64, 65, 999, 1000, 1001, 1031, 1032, 1033, 1100]) {
      await repeat(repeats - done)
      done = repeats
      const alarm = await alarms.api.get(id)
      expect(alarm.count).toBe(1 + repeats)
      const kept = Math.min(repeats, 1000)
      expect(timesOf(alarm)).toEqual([0, ...Array.from({ length: kept }, (_, i) => repeats - kept + 1 + i)])
      expect(await chunksStored()).toBeLessThanOrEqual(32)
    }
  })

  it('keeps every update, at its position among the repeats', async () => {
    const { id } = await alarms.api.raise(alarmOf())
    const expected = [0]
    for (let i = 0; i < 70; i++) {
      await repeat(20)
      expected.push(...Array.from({ length: 20 }, (_, n) => alarms.clock.now - NOON - 19 + n))
      alarms.clock.now++
      await alarms.api.update(id, { assignee: `user/${i}` })
      expected.push(alarms.clock.now - NOON)
    }
    const alarm = await alarms.api.get(id)
    const updates = alarm.history.filter(({ changes }) => changes)
    expect(updates.map(({ changes = [] }) => changes[0]?.newValue)).toEqual(
      Array.from({ length: 70 }, (_, i) => `user/${i}`),
    )
    const isUpdate = new Set(updates.map(({ timestamp }) => Date.parse(timestamp) - NOON))
    const repeats = expected.slice(1).filter((time) => !isUpdate.has(time))
    const gone = new Set(repeats.slice(0, -1000))
    expect(timesOf(alarm)).toEqual(expected.filter((time) => !gone.has(time)))
  })

  it('is deleted with the alarm', async () => {
    const { id } = await alarms.api.raise(alarmOf())
    await repeat(100)
    for (let i = 0; i < 40; i++) await alarms.api.update(id, { assignee: `user/${i}` })
    expect(await chunksStored()).toBe(4)
    await alarms.api.remove(id)
    expect(await chunksStored()).toBe(0)
  })
})
