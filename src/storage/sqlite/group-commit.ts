/** Groups commits: jobs of one turn of the event loop go to the writer with one transaction and one sync. */
import { performance } from 'node:perf_hooks'
import { AppError } from '#kernel'
import type { Thread } from './reader-pool.ts'

export interface Packed<Wire> {
  readonly wire: Wire
  readonly transfer: readonly ArrayBuffer[]
}

export interface CommitFigures {
  readonly queued: number
  readonly commits: number
  readonly lastCommitMs: number
  /** monotonic ms of the last commit; 0 before the first */
  readonly lastCommitAt: number
}

interface Waiting<Job, Answer> {
  readonly job: Job
  readonly weight: number
  readonly since: number
  resolve(answer: Answer): void
  reject(error: unknown): void
}

/** So that commits stay short. */
const MAX_JOBS = 4_096
const MAX_WEIGHT = 8 * 1024 * 1024
/** Characters sent at once rather than at the end of the turn, so that the writer works meanwhile. */
const ENOUGH_OF_ONE = 3 * 1024
const ENOUGH_OF_ALL = 64 * 1024
/** Most batches at the writer: one is being written while the others wait. */
const MAX_BATCHES = 4

export class GroupCommit<Job, Wire, Answer, Answers = readonly Answer[]> {
  readonly #thread: Thread<Wire, Answers>
  readonly #pack: (jobs: readonly Job[]) => Packed<Wire>
  readonly #unpack: (answers: Answers) => readonly Answer[]
  #waiting: Waiting<Job, Answer>[] = []
  #weight = 0
  /** jobs, and batches, currently at the writer */
  #underWay = 0
  #batches = 0
  #scheduled = false
  #closed = false
  #commits = 0
  #lastCommitMs = 0
  #lastCommitAt = 0
  #whenIdle: (() => void)[] = []

  constructor(
    thread: Thread<Wire, Answers>,
    pack: (jobs: readonly Job[]) => Packed<Wire>,
    unpack: (answers: Answers) => readonly Answer[],
  ) {
    this.#thread = thread
    this.#pack = pack
    this.#unpack = unpack
  }

  /** Resolves after the commit. `weight`: approximate number of characters. */
  submit(job: Job, weight: number): Promise<Answer> {
    if (this.#closed) return Promise.reject(new AppError('CLOSED', 'the store is closed and does not accept writes'))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, weight, since: performance.now(), resolve, reject })
      this.#weight += weight
      const isEnough = weight >= ENOUGH_OF_ONE || this.#weight >= ENOUGH_OF_ALL
      if (isEnough && this.#batches < MAX_BATCHES) void this.#write()
      else this.#schedule()
    })
  }

  figures(): CommitFigures {
    return {
      queued: this.#waiting.length + this.#underWay,
      commits: this.#commits,
      lastCommitMs: this.#lastCommitMs,
      lastCommitAt: this.#lastCommitAt,
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    if (this.#waiting.length + this.#underWay > 0) {
      await new Promise<void>((resolve) => this.#whenIdle.push(resolve))
    }
  }

  /** Sends the batch after all callbacks of this turn. */
  #schedule(): void {
    if (this.#scheduled || this.#batches >= MAX_BATCHES) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      if (this.#waiting.length > 0 && this.#batches < MAX_BATCHES) void this.#write()
    })
  }

  async #write(): Promise<void> {
    const batch = this.#take()
    this.#underWay += batch.length
    this.#batches++
    try {
      const { wire, transfer } = this.#pack(batch.map(({ job }) => job))
      const answers = this.#unpack(await this.#thread.send(wire, transfer))
      this.#commits += 1
      this.#lastCommitAt = performance.now()
      this.#lastCommitMs = this.#lastCommitAt - (batch[0]?.since ?? this.#lastCommitAt)
      for (const [i, one] of batch.entries()) {
        const answer = answers[i]
        if (answer === undefined) one.reject(new AppError('STORE', 'the writer of the store did not respond'))
        else one.resolve(answer)
      }
    } catch (error) {
      for (const one of batch) one.reject(error)
    }
    this.#underWay -= batch.length
    this.#batches--
    if (this.#waiting.length > 0) this.#schedule()
    else if (this.#batches === 0) for (const idle of this.#whenIdle.splice(0)) idle()
  }

  #take(): readonly Waiting<Job, Answer>[] {
    let weight = 0
    let count = 0
    for (const one of this.#waiting) {
      if (count > 0 && (count >= MAX_JOBS || weight + one.weight > MAX_WEIGHT)) break
      weight += one.weight
      count += 1
    }
    this.#weight -= weight
    const batch = this.#waiting.slice(0, count)
    this.#waiting = count === this.#waiting.length ? [] : this.#waiting.slice(count)
    return batch
  }
}
