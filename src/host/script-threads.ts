/**
 * Threads that run the scripts of requests, so that the event loop is left to others. Each runs one script at a time,
 * what comes meanwhile waits. A thread starts when it is first needed, ends when it was idle for a while, and keeps the
 * process alive only while an answer is due.
 */
import { Worker } from 'node:worker_threads'
import type { Interpreter } from '../core/script/sandbox.ts'
import { AppError } from '../kernel/errors.ts'
import type { StartTimer } from '../kernel/start-timer.ts'
import { scriptBegins } from '../services/rules/tools/script-work.ts'
import { machineTimers } from '../machine/timers.ts'
import type { ScriptAnswer, ScriptRequest, ScriptThreadData } from './script-thread.ts'

/** The sources when this runs from sources, else what was built from them. */
const ENTRY = import.meta.url.endsWith('.ts')
  ? new URL('./script-thread.ts', import.meta.url)
  : new URL('./script-thread.js', import.meta.url)

/** Threads at once, of one host. */
const MAX_THREADS = 2
/** ms; an interpreter stops by itself after a second, unless a single step of it takes longer */
const LONGEST_MS = 10_000
const IDLE_MS = 30_000

interface Run extends ScriptRequest {
  resolve(answer: string): void
  reject(error: AppError): void
  /** told how many ms of a thread it took */
  over(took: number): void
}

interface Thread {
  readonly worker: Worker
  readonly exited: Promise<void>
  isReady: boolean
  run: Run | undefined
  /** machineTimers.elapsed() when the run was handed to it */
  began: number
  /** calls off what waits: for the end of the run, or of the thread's idle time */
  callOff: () => void
}

export interface ScriptThreadsOptions {
  /** does the work after so many ms; gives how to call it off, and keeps no process alive */
  readonly later: StartTimer
  /** The work of scripts is only counted. Default: they also end after a second */
  readonly onlyCounted?: boolean
}

export class ScriptThreads implements Interpreter {
  readonly #later: ScriptThreadsOptions['later']
  readonly #data: ScriptThreadData
  readonly #threads = new Set<Thread>()
  readonly #waiting: Run[] = []
  #closed = false

  constructor({ later, onlyCounted = false }: ScriptThreadsOptions) {
    this.#later = later
    this.#data = { onlyCounted }
  }

  /** how many threads there are */
  get running(): number {
    return this.#threads.size
  }

  /** Rejects with `TOO_LARGE` also for what did not end by itself, `CLOSED` after `close`. */
  answer(code: string, input: string): Promise<string> {
    if (this.#closed) return Promise.reject(closed())
    const over = scriptBegins()
    return new Promise((resolve, reject) => {
      this.#waiting.push({ code, input, resolve, reject, over })
      this.#takeNext()
    })
  }

  /** Ends all threads; what they were asked is refused. */
  async close(): Promise<void> {
    this.#closed = true
    for (const run of this.#waiting.splice(0)) fail(run, 0, closed())
    await Promise.all([...this.#threads].map((thread) => this.#end(thread, closed())))
  }

  #takeNext(): void {
    if (this.#waiting.length === 0) return
    const idle = [...this.#threads].find(({ run }) => run === undefined)
    if (idle === undefined && this.#threads.size >= MAX_THREADS) return
    const run = this.#waiting.shift()
    if (run === undefined) return
    const thread = idle ?? this.#start()
    thread.callOff()
    thread.run = run
    thread.worker.ref()
    if (thread.isReady) this.#hand(thread, run)
  }

  #start(): Thread {
    // flags of this process, such as a test runner's hooks, are none of the thread's business
    const worker = new Worker(ENTRY, { workerData: this.#data, execArgv: [] })
    const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
    const thread: Thread = {
      worker,
      exited,
      isReady: false,
      run: undefined,
      began: machineTimers.elapsed(),
      callOff: () => undefined,
    }
    worker.on('message', (said: ScriptAnswer) => this.#hear(thread, said))
    worker.on('error', (error: Error) => void this.#end(thread, lost(error.message)))
    worker.on('exit', () => void this.#end(thread, lost('it ended')))
    this.#threads.add(thread)
    return thread
  }

  #hand(thread: Thread, { code, input }: Run): void {
    thread.began = machineTimers.elapsed()
    thread.callOff = this.#later(LONGEST_MS, () => void this.#end(thread, tooLong()))
    thread.worker.postMessage({ code, input } satisfies ScriptRequest, [])
  }

  #hear(thread: Thread, said: ScriptAnswer): void {
    const { run } = thread
    if (run === undefined) return
    if (said.kind === 'ready') {
      thread.isReady = true
      this.#hand(thread, run)
      return
    }
    thread.callOff()
    thread.run = undefined
    thread.worker.unref()
    thread.callOff = this.#later(IDLE_MS, () => void this.#end(thread, closed()))
    const took = machineTimers.elapsed() - thread.began
    if (said.kind === 'answer') {
      run.over(took)
      run.resolve(said.answer)
    } else fail(run, took, new AppError(said.code, said.message))
    this.#takeNext()
  }

  /** Its run fails; another thread takes what waits. */
  async #end(thread: Thread, error: AppError): Promise<void> {
    if (!this.#threads.delete(thread)) return
    thread.callOff()
    if (thread.run) fail(thread.run, machineTimers.elapsed() - thread.began, error)
    thread.run = undefined
    this.#takeNext()
    await thread.worker.terminate()
    await thread.exited
  }
}

function fail(run: Run, took: number, error: AppError): void {
  run.over(took)
  run.reject(error)
}

function closed(): AppError {
  return new AppError('CLOSED', 'the host shuts down: no script is run any more')
}

function tooLong(): AppError {
  return new AppError('TOO_LARGE', 'the script was stopped: it takes too many steps')
}

function lost(why: string): AppError {
  return new AppError('TOO_LARGE', `the script broke its interpreter: ${why}; make it simpler`)
}
