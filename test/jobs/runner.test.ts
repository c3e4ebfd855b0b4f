import { describe, expect, it } from 'vitest'
import type { Job, JobContext, JobHandler, JobOutcome } from '../../src/jobs/contract.ts'
import type { JobQueue, PlacedEvent } from '../../src/jobs/job-queue.ts'
import { AppError } from '../../src/kernel/errors.ts'
import { JobWorld, NOON, type JobHost } from './support/job-world.ts'

const DONE: JobOutcome = { kind: 'completed' }

function handlerOf(run: JobHandler['run'], more: Partial<JobHandler> = {}): JobHandler {
  return { type: 'work', run, ...more }
}

/** A handler whose calls wait until they are told how they end. */
class Hand {
  readonly calls: { readonly context: JobContext; readonly end: (outcome: JobOutcome | Error) => void }[] = []
  readonly run: JobHandler['run'] = (context) =>
    new Promise((resolve, reject) => {
      this.calls.push({ context, end: (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome)) })
    })

  get ids(): readonly string[] {
    return this.calls.map(({ context }) => context.job.id)
  }

  end(call: number, outcome: JobOutcome | Error = DONE): void {
    this.calls[call]?.end(outcome)
  }
}

async function told(queue: JobQueue): Promise<readonly PlacedEvent[]> {
  const found: PlacedEvent[] = []
  const ending = new AbortController()
  for await (const event of queue.events({ after: 0, signal: ending.signal })) {
    found.push(event)
    if (event.event === 'completed' && event.ancestors.length === 0) ending.abort()
  }
  return found
}

const stateOf = async ({ queue }: JobHost, id: string): Promise<Job['state'] | undefined> => (await queue.get(id))?.state

describe('a job', () => {
  it('waits, is carried out, and ends with what its handler gives', async () => {
    const world = new JobWorld()
    const hand = new Hand()
    const host = world.host([handlerOf(hand.run)])
    const added = await host.queue.add({ type: 'work', data: { a: 1 }, user: 'tester', labels: ['x'] })
    expect(added).toMatchObject({ id: 'j1', state: 'waiting', data: { a: 1 }, queueTime: NOON, attemptsMade: 0 })
    await world.settle()
    expect(await stateOf(host, 'j1')).toBe('active')
    world.now += 5
    hand.end(0, { kind: 'completed', result: { b: 2 } })
    await host.queue.finished('j1')
    expect(await host.queue.get('j1')).toMatchObject({
      state: 'completed',
      result: { b: 2 },
      processedTime: NOON,
      finishedTime: NOON + 5,
      attemptsMade: 1,
      attemptsStarted: 1,
    })
  })
})
