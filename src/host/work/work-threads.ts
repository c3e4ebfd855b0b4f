/**
 * Manages a pool of threads for heavy work of requests, which keeps the event loop responsive. A thread starts on
 * demand, does one task at a time, ends when idle for a while, and keeps the process alive only while a result is
 * pending.
 *
 * WORK-1 one tenant's work uses at most half of the threads at a time, and the number of waiting tasks is bounded
 * WORK-2 a tenant's work is measured in CPU time; work beyond its rate is rejected with `RATE_LIMITED`
 * WORK-3 work ends within its time limit; a thread that does not end by itself is terminated and replaced
 */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { AppError, CpuAllowance, type CpuRate, errorOf, failureOf, LruCache, type StartTimer } from '#kernel'
import { machineTimers } from '#platform'
import type { WorkName } from './work-inputs.ts'
import {
  ownBuffers,
  type ServiceRequest,
  type FromThread,
  type ToThread,
  type WorkThreadData,
} from './work-messages.ts'

/** The source file of the thread, or its built file. */
const ENTRY = import.meta.url.endsWith('.ts')
  ? new URL('./work-thread.ts', import.meta.url)
  : new URL('./work-thread.js', import.meta.url)

const MAX_THREADS = 4
const MAX_WAITING = 64
const IDLE_MS = 30_000
const MAX_HEAP_MB = 512
const MAX_TENANTS = 10_000
/** CPU budget of a tenant: half a core, with bursts of half a minute */
const CPU: CpuRate = { perSecond: 0.5, most: 30 }

export interface Work {
  /** Tenant whose CPU budget is charged; undefined: the time is accounted elsewhere */
  readonly tenant: string | undefined
  readonly name: WorkName
  /** Input; byte arrays that own their buffer are transferred */
  readonly input: object
  /** Time limit in ms, counted from the start of the run */
  readonly limitMs: number
  readonly answers?: (asked: ServiceRequest, signal: AbortSignal) => unknown
  readonly signal?: AbortSignal
  /** Called at the end with the ms of thread time used */
  readonly took?: (ms: number) => void
}

export interface WorkThreadsOptions {
  /**
   * Schedules work without keeping the process alive; returns a function that cancels it. Default: the machine's timer
   */
  readonly later?: StartTimer
  readonly elapsed?: () => number
  readonly cpu?: CpuRate
  /** Maximum number of threads, half of which one tenant may use. Default: the number of cores, within 2 to 4 */
  readonly most?: number
  /** Limits scripts only by the count of their steps. Default: scripts also end after a second */
  readonly onlyCounted?: boolean
  readonly allowUrl?: readonly string[]
}

interface Run extends Work {
  readonly number: number
  resolve(answer: unknown): void
  reject(error: Error): void
}

interface Thread {
  readonly worker: Worker
  readonly exited: Promise<void>
  readonly replies: Int32Array
  isReady: boolean
  run: Run | undefined
  /** When the run started, in monotonic ms */
  began: number
  /** Cancels the pending timer: the run's deadline, or the idle timeout */
  callOff: () => void
  readonly asked: Map<number, AbortController>
}

interface Taken {
  readonly allowance: CpuAllowance
  cpu: number
}

export class WorkThreads {
  readonly #later: StartTimer
  readonly #elapsed: () => number
  readonly #cpu: CpuRate
  readonly #data: Pick<WorkThreadData, 'onlyCounted' | 'allowUrl'>
  readonly #threads = new Set<Thread>()
  readonly #waiting: Run[] = []
  readonly #taken = new LruCache<string, Taken>(MAX_TENANTS)
  readonly #most: number
  #number = 0
  #closed = false

  constructor({
    later = machineTimers.later,
    elapsed = machineTimers.elapsed,
    cpu = CPU,
    most = Math.min(Math.max(2, availableParallelism()), MAX_THREADS),
    ...data
  }: WorkThreadsOptions = {}) {
    const { onlyCounted = false, allowUrl = [] } = data
    this.#later = later
    this.#elapsed = elapsed
    this.#cpu = cpu
    this.#most = most
    this.#data = { onlyCounted, allowUrl }
  }

  get running(): number {
    return this.#threads.size
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /**
   * Runs the work and returns its result as plain data. Rejects with the error of the work, `RATE_LIMITED` when the
   * tenant exceeded its CPU budget or queue (`cause`: the seconds to wait), `TIMED_OUT` at the time limit, `TOO_LARGE`
   * when the thread breaks, `CLOSED` after `close`.
   */
  async do(work: Work): Promise<unknown> {
    if (this.#closed) throw closed()
    const { tenant, signal } = work
    if (tenant !== undefined) {
      this.#requireTime(tenant)
      if (this.#waiting.filter((one) => one.tenant === tenant).length >= MAX_WAITING) {
        throw new AppError(
          'RATE_LIMITED',
          `The tenant's queue for threads is full (${MAX_WAITING} requests); retry in 1 s`,
          {
            cause: 1,
          },
        )
      }
    }
    return new Promise((resolve, reject) => {
      const run: Run = { ...work, number: ++this.#number, resolve, reject }
      signal?.addEventListener('abort', () => this.#abort(run), { once: true })
      this.#waiting.push(run)
      this.#takeNext()
    })
  }

  /**
   * Runs work that cannot run in a thread, and charges it to the tenant's budget. Throws `RATE_LIMITED`, or the error
   * of the work.
   */
  counted<T>(tenant: string, does: () => T): T {
    this.#requireTime(tenant)
    const began = this.#elapsed()
    try {
      return does()
    } finally {
      this.#takenBy(tenant).cpu += this.#elapsed() - began
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const run of this.#waiting.splice(0)) run.reject(closed())
    await Promise.all([...this.#threads].map((thread) => this.#end(thread, closed())))
  }

  /** Throws `RATE_LIMITED` when the tenant exceeded its CPU budget. */
  #requireTime(tenant: string): void {
    const { allowance, cpu } = this.#takenBy(tenant)
    const wait = allowance.waitAfter(cpu, this.#elapsed())
    if (wait === 0) return
    const text = `The tenant's CPU budget for conversions, runs and checks is used up; retry in ${wait} s`
    throw new AppError('RATE_LIMITED', text, { cause: wait })
  }

  #takenBy(tenant: string): Taken {
    const known = this.#taken.get(tenant)
    if (known !== undefined) return known
    const fresh: Taken = { allowance: new CpuAllowance(this.#cpu), cpu: 0 }
    fresh.allowance.waitAfter(0, this.#elapsed())
    this.#taken.set(tenant, fresh)
    return fresh
  }

  #takeNext(): void {
    for (let run = this.#next(); run !== undefined; run = this.#next()) {
      const idle = [...this.#threads].find((thread) => thread.run === undefined)
      if (idle === undefined && this.#threads.size >= this.#most) return
      this.#waiting.splice(this.#waiting.indexOf(run), 1)
      try {
        // runs that began in the meantime may have used up the budget
        if (run.tenant !== undefined) this.#requireTime(run.tenant)
      } catch (error) {
        run.reject(error as AppError)
        continue
      }
      const thread = idle ?? this.#start()
      thread.callOff()
      thread.run = run
      thread.worker.ref()
      if (thread.isReady) this.#hand(thread, run)
    }
  }

  /** Returns the next waiting run whose tenant uses less than its share of the threads. */
  #next(): Run | undefined {
    const working = (tenant: string): number =>
      [...this.#threads].filter(({ run }) => run !== undefined && run.tenant === tenant).length
    return this.#waiting.find(({ tenant }) => tenant === undefined || working(tenant) < this.#most / 2)
  }

  #start(): Thread {
    const replies = new SharedArrayBuffer(4)
    // flags of this process, such as hooks of a test runner, must not apply to the thread
    const worker = new Worker(ENTRY, {
      workerData: { ...this.#data, replies } satisfies WorkThreadData,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    })
    const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
    const thread: Thread = {
      worker,
      exited,
      replies: new Int32Array(replies),
      isReady: false,
      run: undefined,
      began: this.#elapsed(),
      callOff: () => undefined,
      asked: new Map(),
    }
    worker.on('message', (said: FromThread) => this.#take(thread, said))
    worker.on('error', (error: Error) => void this.#end(thread, lost(error.message)))
    worker.on('exit', () => void this.#end(thread, lost('it ended')))
    this.#threads.add(thread)
    return thread
  }

  #hand(thread: Thread, { number, name, input, limitMs }: Run): void {
    thread.began = this.#elapsed()
    thread.callOff = this.#later(limitMs, () => void this.#end(thread, tooLong(limitMs)))
    post(thread, { kind: 'begin', run: number, name, input }, ownBuffers(...(Object.values(input) as unknown[])))
  }

  #take(thread: Thread, said: FromThread): void {
    const { run } = thread
    switch (said.kind) {
      case 'ready':
        thread.isReady = true
        if (run !== undefined) this.#hand(thread, run)
        return
      case 'ask':
        return ask(thread, said.run === run?.number ? run : undefined, said.id, said.asked)
      case 'abandon':
        return thread.asked.get(said.id)?.abort()
      case 'answer':
      case 'failure':
        if (run === undefined) return
        this.#settle(thread, run, said.cpuMs)
        if (said.kind === 'answer') run.resolve(said.value)
        else run.reject(errorOf(said.failure))
        this.#takeNext()
    }
  }

  #settle(thread: Thread, { tenant, took }: Run, cpuMs: number): void {
    took?.(this.#elapsed() - thread.began)
    if (tenant !== undefined) this.#takenBy(tenant).cpu += cpuMs
    for (const asked of thread.asked.values()) asked.abort()
    thread.asked.clear()
    thread.callOff()
    thread.run = undefined
    thread.worker.unref()
    thread.callOff = this.#later(IDLE_MS, () => void this.#end(thread, closed()))
  }

  #abort(run: Run): void {
    const at = this.#waiting.indexOf(run)
    if (at >= 0) {
      this.#waiting.splice(at, 1)
      run.reject(new AppError('CLOSED', 'the work was cancelled'))
    }
    for (const thread of this.#threads) {
      if (thread.run === run && thread.isReady) post(thread, { kind: 'abort', run: run.number })
    }
  }

  async #end(thread: Thread, error: AppError): Promise<void> {
    if (!this.#threads.delete(thread)) return
    const { run } = thread
    if (run !== undefined) {
      this.#settle(thread, run, this.#elapsed() - thread.began)
      run.reject(error)
    }
    thread.callOff()
    this.#takeNext()
    await thread.worker.terminate()
    await thread.exited
  }
}

function ask(thread: Thread, run: Run | undefined, id: number, asked: ServiceRequest): void {
  const abort = new AbortController()
  const reply = (message: ToThread): void => {
    thread.asked.delete(id)
    post(thread, message)
    Atomics.add(thread.replies, 0, 1)
    Atomics.notify(thread.replies, 0)
  }
  const refuse = (error: unknown): void => reply({ kind: 'refused', id, failure: failureOf(error) })
  if (run?.answers === undefined) return refuse(new AppError('CLOSED', 'the calling work has ended'))
  thread.asked.set(id, abort)
  try {
    const value = run.answers(asked, abort.signal)
    if (asked.atOnce) return reply({ kind: 'reply', id, value })
    Promise.resolve(value)
      .then((found) => reply({ kind: 'reply', id, value: found }))
      .catch(refuse)
  } catch (error) {
    refuse(error)
  }
}

function post({ worker }: Thread, message: ToThread, moved: readonly ArrayBuffer[] = []): void {
  worker.postMessage(message, moved)
}

function closed(): AppError {
  return new AppError('CLOSED', 'the host is shutting down and does not start further work')
}

function tooLong(ms: number): AppError {
  return new AppError('TIMED_OUT', `the work exceeded its limit of ${ms / 1000} s; request less at once`)
}

function lost(why: string): AppError {
  return new AppError('TOO_LARGE', `the work crashed its thread: ${why}; request less at once`)
}
