/**
 * Runs two hosts whose handlers follow scripts and whose processes die at any store access, and checks the contract.
 */
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import type { Job, JobContext, JobEvent, JobHandler, JobOutcome, NewJob } from '../../../src/jobs/contract.ts'
import { isOver } from '../../../src/jobs/job-change.ts'
import type { CollectionSpec, Store } from '../../../src/storage/contract.ts'
import { eventsOf, JobWorld, TENANT, type JobHost } from './job-world.ts'

/** Script of a job: how many steps it commits, and how its attempts end. */
export interface Script {
  readonly steps: number
  /** of each attempt; later attempts succeed */
  readonly ends: readonly ('throws' | 'throws half-way' | 'fails' | 'adds children')[]
}

/** Number of commits of each step of each job. */
export const HANDLED: CollectionSpec<{ readonly times: number }> = { name: 'handled', version: 1, fields: {} }

async function play({ job, store, progress, breathe, signal }: JobContext): Promise<JobOutcome> {
  const { steps, ends } = job.data as Script
  const end = ends[job.attemptsMade + (job.attemptsStarted > 1 && ends[0] === 'adds children' ? 1 : 0)]
  const handled = store.collection(HANDLED)
  for (let step = job.progress?.done ?? 0; step < steps; step++) {
    await breathe()
    if (signal.aborted) return { kind: 'released' }
    if (end === 'throws half-way' && step >= steps / 2) throw new Error('half-way')
    const id = `${job.id} ${step}`
    const times = (await handled.get(id))?.value.times ?? 0
    const writes = [handled.putting(id, { times: times + 1 })]
    if (step === steps - 1 && end === undefined) {
      return { kind: 'completed', progress: { done: steps, total: steps }, writes }
    }
    await progress({ done: step + 1, total: steps }, writes)
  }
  if (end === 'throws' || end === 'throws half-way') throw new Error('no luck')
  if (end === 'fails') return { kind: 'failed', reason: 'for good' }
  if (end === 'adds children') {
    return { kind: 'waiting-children', children: [1, 2].map(() => ({ type: 'many', data: { steps: 1, ends: [] } })) }
  }
  return { kind: 'completed' }
}

const HANDLERS: readonly JobHandler[] = [
  { type: 'many', attempts: 3, run: play },
  { type: 'serial', attempts: 3, isSerial: true, run: play },
  { type: 'few', attempts: 3, concurrency: 1, run: play },
]

const script: fc.Arbitrary<Script> = fc.record({
  steps: fc.nat(4),
  ends: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    {
      weight: 2,
      arbitrary: fc.array(fc.constantFrom('throws' as const, 'throws half-way' as const, 'fails' as const), {
        maxLength: 3,
      }),
    },
    { weight: 1, arbitrary: fc.constant(['adds children' as const]) },
  ),
})
const { tree } = fc.letrec<{ tree: NewJob }>((tie) => ({
  tree: fc
    .record({
      type: fc.constantFrom('many', 'serial', 'few'),
      data: script,
      priority: fc.constantFrom(0, 0, 1, 2),
      delay: fc.constantFrom(0, 0, 0, 3_000),
      children: fc.oneof({ maxDepth: 2 }, fc.constant([]), fc.array(tie('tree'), { maxLength: 3 })),
    })
    .map(({ delay, ...job }) => ({ ...job, ...(job.children.length === 0 && { delay }) })),
}))

export const steps = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('add' as const), host: fc.nat(1), tree }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('die' as const), host: fc.nat(1), after: fc.nat(25) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('stop' as const), host: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'go down' as const }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cancel' as const), host: fc.nat(1), which: fc.nat(30) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('turns' as const), count: fc.nat(30) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.constantFrom(500, 5_000, 16_000) }),
  },
)
type Step = typeof steps extends fc.Arbitrary<infer T> ? T : never

/** Two hosts over one store. Each may die at any store access and is then replaced. */
export class Play {
  readonly world = new JobWorld()
  /** acknowledged results */
  readonly added: Job[] = []
  readonly cancelled: string[] = []
  /** why jobs were not added */
  readonly refused: unknown[] = []
  #hosts: JobHost[] = [0, 1].map(() => this.world.host(HANDLERS))

  async do(one: Step): Promise<void> {
    switch (one.kind) {
      case 'add': {
        const { queue } = await this.#alive(one.host)
        // a dead host does not respond
        void queue.add(one.tree).then(
          (job) => this.added.push(job),
          (error: unknown) => this.refused.push(error),
        )
        return
      }
      case 'die':
        return (await this.#alive(one.host)).life.dieAfter(one.after)
      case 'stop': {
        const host = await this.#alive(one.host)
        void host.runner.stop().then(() => host.life.kill())
        // later callers learn that it stops
        this.#hosts[one.host] = this.world.host(HANDLERS)
        return this.#hosts[one.host]?.runner.start()
      }
      case 'go down':
        for (const { life } of this.#hosts) life.kill()
        await this.world.reopen()
        return
      case 'cancel': {
        const open = (await this.#jobs()).filter(({ state }) => !isOver(state))
        const job = open[one.which % Math.max(1, open.length)]
        if (job === undefined) return
        const { queue } = await this.#alive(one.host)
        void queue.cancel(job.id).then(
          () => this.cancelled.push(job.id),
          () => undefined,
        )
        return
      }
      case 'turns':
        for (let i = 0; i < one.count; i++) await turn()
        return
      case 'advance':
        return this.world.advance(one.ms)
    }
  }

  /** Completes everything with one host that does not die. */
  async finish(): Promise<readonly Job[]> {
    for (const { life } of this.#hosts) life.kill()
    await this.world.settle()
    const { runner } = this.world.host(HANDLERS)
    await runner.start()
    for (let round = 0; round < 60; round++) {
      await this.world.advance(16_000)
      const jobs = await this.#jobs()
      if (jobs.every(({ state }) => isOver(state))) return jobs
    }
    return this.#jobs()
  }

  get store(): Store {
    return this.world.storage.tenant(TENANT)
  }

  async events(): Promise<readonly JobEvent[]> {
    return eventsOf(this.world.host(HANDLERS).queue)
  }

  async #alive(place: number): Promise<JobHost> {
    const known = this.#hosts[place]
    if (known !== undefined && !known.life.isDead) return known
    const host = this.world.host(HANDLERS)
    this.#hosts[place] = host
    await host.runner.start()
    return host
  }

  async #jobs(): Promise<readonly Job[]> {
    return (await this.world.host([]).queue.list({ limit: 10_000 })).toReversed()
  }
}

/** Checks the log of events against the contract. */
export class Reading {
  /** by job: its state now, and the events so far */
  readonly states = new Map<string, Job['state']>()
  readonly #jobs: ReadonlyMap<string, Job>
  readonly #parents = new Map<string, string | undefined>()
  readonly #types = new Map<string, string>()

  /** `jobs`: their final records */
  constructor(jobs: ReadonlyMap<string, Job>) {
    this.#jobs = jobs
  }

  /** The violation by the next event. */
  take({ event, job, prev, ancestors, type }: JobEvent): readonly string[] {
    const before = this.states.get(job)
    const wrong: string[] = []
    const require = (holds: boolean, what: string): void => void (holds || wrong.push(`${job} ${event}: ${what}`))
    require(prev === before, `JOB-6: it was ${before}, not ${prev}`)
    require(before === undefined || !isOver(before), 'JOB-1: it ended before')
    this.#parents.set(job, ancestors.at(-1))
    this.#types.set(job, type)
    if (event === 'progress') {
      require(before === 'active', 'JOB-2: nobody carries it out')
      return wrong
    }
    this.states.set(job, event)
    if (event === 'failed' && this.#jobs.get(job)?.isCancelled === true) {
      for (const { id, isCancelled } of this.#openBelow(job)) require(isCancelled === true, `JOB-5: ${id} goes on`)
    }
    if (event === 'active' || (before === 'waiting-children' && event !== 'failed')) {
      const children = this.#children(job)
      require(children.every((state) => state === 'completed'), `JOB-4: its children are ${children.join()}`)
    }
    if (event === 'active' && type === 'serial') {
      const active = [...this.states].filter(([id, state]) => state === 'active' && this.#types.get(id) === 'serial')
      require(active.length === 1, `JOB-7: beside ${active.join()}`)
    }
    return wrong
  }

  #openBelow(job: string): readonly Job[] {
    return [...this.#jobs.values()].filter(({ id, ancestors }) => {
      const state = this.states.get(id)
      return ancestors.includes(job) && state !== undefined && !isOver(state)
    })
  }

  #children(job: string): readonly (Job['state'] | undefined)[] {
    return [...this.#parents].filter(([, parent]) => parent === job).map(([id]) => this.states.get(id))
  }
}
