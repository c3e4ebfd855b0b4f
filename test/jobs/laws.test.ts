/**
 * Tests the guarantees of jobs for any handlers, any crashes of hosts, and any number of hosts on one store. The names
 * JOB-1 to JOB-7 are those of the contract.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isOver } from '../../src/jobs/job-change.ts'
import { runs } from '../support/arbitraries/runs.ts'
import { HANDLED, Play, Reading, steps, type Script } from './support/job-play.ts'

describe('jobs, for any handlers and any crashes of their hosts', () => {
  it('end once, lose and repeat no committed step, wait for children, and end with their parent', () =>
    fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 4, maxLength: 25 }), async (all) => {
        const game = new Play()
        for (const one of all) await game.do(one)
        await game.world.settle()
        const jobs = new Map((await game.finish()).map((job) => [job.id, job]))
        for (const error of game.refused) expect(error).toMatchObject({ code: 'CLOSED' })
        for (const { id } of game.added) expect(jobs.get(id), `JOB-1: ${id} was answered`).toBeDefined()
        const reading = new Reading(jobs)
        expect((await game.events()).flatMap((event) => reading.take(event))).toEqual([])
        expect(reading.states).toEqual(new Map([...jobs].map(([id, { state }]) => [id, state])))
        const handled = new Map(
          (await game.store.collection(HANDLED).find({ limit: 10_000 })).map((one) => [one.id, one]),
        )
        for (const { value } of handled.values()) expect(value.times, 'JOB-3: committed once').toBe(1)
        for (const { id, type, state, data, isCancelled, ancestors } of jobs.values()) {
          expect(isOver(state), `JOB-1: ${type} ${id} is ${state}`).toBe(true)
          const { steps: count } = data as Script
          const done = Array.from({ length: count }, (_, i) => handled.has(`${id} ${i}`))
          if (state === 'completed') expect(done, `JOB-3: all steps of ${id}`).not.toContain(false)
          if (isCancelled === true) expect(state).toBe('failed')
          if (state === 'failed') {
            for (const above of ancestors) expect(jobs.get(above)?.state, `JOB-4: ${above} above ${id}`).toBe('failed')
          }
        }
        for (const id of game.cancelled) {
          const job = jobs.get(id)
          expect([id, job?.state, job?.isCancelled], 'JOB-5: it was answered').toEqual([id, 'failed', true])
        }
      }),
      runs(500),
    ))
})
