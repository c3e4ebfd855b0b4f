import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KeyedMutex } from '../../src/kernel/keyed-mutex.ts'

describe('a keyed mutex', () => {
  it('runs the work of one key in call order, whether it fails or not', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ key: fc.constantFrom('a', 'b'), fails: fc.boolean(), turns: fc.nat(3) })),
        async (jobs) => {
          const lanes = new KeyedMutex()
          const begun: string[] = []
          const ended: string[] = []
          const outcomes = jobs.map(({ key, fails, turns }, i) =>
            lanes.run(key, async () => {
              begun.push(`${key}${i}`)
              for (let turn = 0; turn < turns; turn++) await Promise.resolve()
              ended.push(`${key}${i}`)
              if (fails) throw new Error(String(i))
              return i
            }),
          )
          const settled = await Promise.allSettled(outcomes)
          expect(settled.map(({ status }) => status === 'rejected')).toEqual(jobs.map(({ fails }) => fails))
          for (const key of ['a', 'b']) {
            const expected = jobs.flatMap((job, i) => (job.key === key ? [`${key}${i}`] : []))
            expect(begun.filter((name) => name.startsWith(key))).toEqual(expected)
            expect(ended.filter((name) => name.startsWith(key))).toEqual(expected)
          }
        },
      ),
    )
  })

  it('is idle when all its work is done', async () => {
    const lanes = new KeyedMutex()
    let done = false
    void lanes.run('a', async () => {
      await new Promise((resolve) => setImmediate(resolve))
      done = true
    })
    await lanes.idle()
    expect(done).toBe(true)
  })
})
