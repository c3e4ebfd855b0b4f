/** A handler whose calls wait until the test ends them. */
import type { JobContext, JobHandler, JobOutcome } from '../../../src/jobs/contract.ts'
import { JobWorld } from './job-world.ts'

export const DONE: JobOutcome = { kind: 'completed' }

export class Hand {
  readonly calls: { readonly context: JobContext; readonly end: (outcome: JobOutcome | Error) => void }[] = []
  readonly type: string

  constructor(type = 'work') {
    this.type = type
  }

  handler(more: Partial<JobHandler> = {}): JobHandler {
    const run: JobHandler['run'] = (context) =>
      new Promise((resolve, reject) => {
        this.calls.push({ context, end: (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome)) })
      })
    return { type: this.type, run, ...more }
  }

  get ids(): readonly string[] {
    return this.calls.map(({ context }) => context.job.id)
  }

  context(call: number): JobContext {
    const found = this.calls[call]
    if (found === undefined) throw new Error(`there is no call ${call}, only ${this.calls.length}`)
    return found.context
  }

  end(call: number, outcome: JobOutcome | Error = DONE): void {
    this.calls[call]?.end(outcome)
  }
}

/** A world with one host, whose handler waits for the test. */
export function handed(more: Partial<JobHandler> = {}) {
  const world = new JobWorld()
  const hand = new Hand()
  return { world, hand, ...world.host([hand.handler(more)]) }
}

/** The same, after the handler was called for a job. */
export async function begun(more: Partial<JobHandler> = {}) {
  const all = handed(more)
  await all.queue.add({ type: 'work' })
  await all.world.settle()
  return all
}
