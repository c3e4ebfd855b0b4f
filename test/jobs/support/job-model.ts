/** A model of jobs in its simplest form: a list that every query walks through. No store, no versions, no events. */
import type { JobState } from '../../../src/jobs/contract.ts'

export interface ModelJob {
  readonly id: string
  readonly parent: ModelJob | undefined
  readonly priority: number
  /** position among all jobs */
  readonly place: number
  state: JobState
  /** time at which the job must be checked */
  time: number | undefined
  attempts: number
  taken: number
}

export interface ModelTree {
  readonly id: string
  readonly priority: number
  readonly delay: number
  readonly children: readonly ModelTree[]
}

export class JobModel {
  readonly jobs: ModelJob[] = []
  now: number
  /** job that was acquired last */
  #turn: ModelJob | undefined

  constructor(now: number) {
    this.now = now
  }

  add({ id, priority, delay, children }: ModelTree, parent?: ModelJob): void {
    const isLater = delay > 0 && children.length === 0
    const job: ModelJob = {
      id,
      parent,
      priority,
      place: this.jobs.length,
      state: children.length > 0 ? 'waiting-children' : isLater ? 'delayed' : ready(priority),
      time: isLater ? this.now + delay : undefined,
      attempts: 0,
      taken: 0,
    }
    this.jobs.push(job)
    for (const child of children) this.add(child, job)
  }

  get ready(): readonly ModelJob[] {
    const found = this.jobs.filter(({ state }) => state === 'waiting' || state === 'prioritized')
    return found.toSorted((a, b) => a.priority - b.priority || a.place - b.place)
  }

  get active(): readonly ModelJob[] {
    return this.jobs.filter(({ state }) => state === 'active')
  }

  /** The first job that may be acquired, while no other one runs. */
  take(leaseMs: number): ModelJob | undefined {
    const [first] = this.ready
    if (first === undefined || (this.#turn !== first && this.#turn?.state === 'active')) return undefined
    this.#turn = first
    this.#set(first, 'active', this.now + leaseMs)
    first.taken++
    return first
  }

  end(job: ModelJob, state: 'completed' | 'failed'): void {
    job.attempts++
    this.#finish(job, state)
  }

  retry(job: ModelJob, delay: number): void {
    job.attempts++
    this.#set(job, 'delayed', this.now + delay)
  }

  release(job: ModelJob): void {
    this.#set(job, ready(job.priority))
  }

  waitForChildren(job: ModelJob, trees: readonly ModelTree[]): void {
    this.#set(job, 'waiting-children')
    for (const tree of trees) this.add(tree, job)
  }

  cancel(job: ModelJob): void {
    this.#finish(job, 'failed')
    for (const other of this.jobs) if (!isOver(other) && isBelow(other, job)) this.#set(other, 'failed')
  }

  /** Makes due jobs ready: delayed ones, and those with expired leases. */
  look(): void {
    for (const job of this.jobs) if (job.time !== undefined && job.time <= this.now) this.#set(job, ready(job.priority))
  }

  #finish(job: ModelJob, state: 'completed' | 'failed'): void {
    this.#set(job, state)
    const { parent } = job
    if (parent?.state !== 'waiting-children') return
    if (state === 'failed') return this.#finish(parent, 'failed')
    const children = this.jobs.filter((other) => other.parent === parent)
    if (children.every((child) => child.state === 'completed')) this.#set(parent, ready(parent.priority))
  }

  #set(job: ModelJob, state: JobState, time?: number): void {
    job.state = state
    job.time = time
  }
}

export function isOver({ state }: ModelJob): boolean {
  return state === 'completed' || state === 'failed'
}

function isBelow({ parent }: ModelJob, job: ModelJob): boolean {
  return parent !== undefined && (parent === job || isBelow(parent, job))
}

function ready(priority: number): JobState {
  return priority > 0 ? 'prioritized' : 'waiting'
}
