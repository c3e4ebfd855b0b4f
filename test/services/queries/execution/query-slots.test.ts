// Holds SLOTS-1, SLOTS-2
import { describe, expect, it } from 'vitest'
import { QuerySlots } from '../../../../src/services/queries/execution/query-slots.ts'
import { deferred } from '../../../support/deferred.ts'

describe('slots of queries', () => {
  it('run two queries at once, in order of arrival, whether they fail or not', async () => {
    const slots = new QuerySlots()
    const ends = Array.from({ length: 5 }, () => deferred<void>())
    const begun: number[] = []
    const all = ends.map((end, i) =>
      slots.run(async () => {
        begun.push(i)
        await end.promise
        if (i === 1) throw new Error('no')
        return i
      }),
    )
    expect(begun).toEqual([0, 1])
    ends[1]?.resolve()
    await expect(all[1]).rejects.toThrow('no')
    await expect.poll(() => begun).toEqual([0, 1, 2])
    for (const end of ends) end.resolve()
    expect(await Promise.all([all[0], ...all.slice(2)])).toEqual([0, 2, 3, 4])
    expect(begun).toEqual([0, 1, 2, 3, 4])
    // works again when no query waits
    expect(await slots.run(async () => 'later')).toBe('later')
  })

  it('reject queries beyond the limit of the queue', async () => {
    const slots = new QuerySlots(1)
    const end = deferred<void>()
    const held = [1, 2, 3].map(() => slots.run(() => end.promise))
    await expect(slots.run(() => end.promise)).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    end.resolve()
    await Promise.all(held)
  })
})
