/** Runs reads on threads that are started on demand. Each thread handles one read at a time; further reads wait. */
import { Worker } from 'node:worker_threads'
import { AppError, errorOf } from '#kernel'
import type { DamageWatch } from '../damage.ts'
import type { ReaderFiles, StoreRead } from './reader.ts'
import type { ThreadAnswer, ThreadRequest } from './serve-thread.ts'
import { threadEntries } from './thread-entries.ts'

interface Waiting {
  readonly read: StoreRead
  resolve(answer: unknown): void
  reject(error: unknown): void
}

type Reader = Thread<StoreRead, unknown>

export class ReaderPool {
  readonly #files: ReaderFiles
  readonly #most: number
  readonly #trouble: (error: AppError) => void
  readonly #damage: DamageWatch
  readonly #idle: Reader[] = []
  readonly #all = new Set<Reader>()
  readonly #waiting: Waiting[] = []
  /** number of threads that are working or starting */
  #working = 0
  #closed = false
  #whenIdle: (() => void) | undefined

  constructor(files: ReaderFiles, most: number, damage: DamageWatch, trouble: (error: AppError) => void) {
    this.#damage = damage
    this.#files = files
    this.#most = most
    this.#trouble = trouble
  }

  /** The type of the result depends on the kind of read. */
  read<Answer>(read: StoreRead): Promise<Answer> {
    if (this.#closed) return Promise.reject(new AppError('CLOSED', 'the store is closed and does not accept reads'))
    return new Promise<Answer>((resolve, reject) => {
      this.#waiting.push({ read, resolve: (answer) => resolve(answer as Answer), reject })
      if (this.#idle.length > 0 || this.#working < this.#most) void this.#work()
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    if (this.#working > 0) await new Promise<void>((resolve) => (this.#whenIdle = resolve))
    await Promise.all([...this.#all].map((reader) => reader.close()))
  }

  async #work(): Promise<void> {
    this.#working += 1
    let reader = this.#idle.pop()
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      try {
        reader ??= await this.#start()
        next.resolve(await reader.send(next.read))
      } catch (error) {
        this.#damage.note(error)
        next.reject(error)
        if (reader?.dead === true) {
          this.#all.delete(reader)
          reader = undefined
        }
      }
    }
    if (reader !== undefined) this.#idle.push(reader)
    this.#working -= 1
    if (this.#working === 0) this.#whenIdle?.()
  }

  async #start(): Promise<Reader> {
    const reader: Reader = await Thread.start<StoreRead, unknown>(threadEntries.reader, this.#files, this.#trouble)
    this.#all.add(reader)
    return reader
  }
}

interface Due<Answer> {
  resolve(answer: Answer): void
  reject(error: AppError): void
}

/** Runs a worker thread that keeps the process alive only while a result is pending. */
export class Thread<Request, Answer> {
  readonly #worker: Worker
  readonly #due: Due<Answer>[] = []
  readonly #exited: Promise<void>
  #dead: AppError | undefined

  readonly #trouble: (error: AppError) => void

  private constructor(worker: Worker, exited: Promise<void>, trouble: (error: AppError) => void) {
    this.#worker = worker
    this.#exited = exited
    this.#trouble = trouble
    worker.on('message', (message: ThreadAnswer<Answer>) => this.#receive(message))
    worker.on('error', (error: Error) => this.#die(`a thread of the store failed: ${error.message}`))
    worker.on('exit', () => this.#die('a thread of the store ended'))
    worker.unref()
  }

  /** Rejects with the worker's error. */
  static start<Request, Answer>(
    entry: URL,
    data: object,
    trouble: (error: AppError) => void,
  ): Promise<Thread<Request, Answer>> {
    // the worker must not inherit flags of this process, such as a test runner's hooks
    const worker = new Worker(entry, { workerData: data, execArgv: [] })
    const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
    return new Promise((resolve, reject) => {
      const failed = (error: Error): void =>
        reject(new AppError('STORE', `a thread of the store did not start: ${error.message}`, { cause: error }))
      worker.once('error', failed)
      worker.once('message', (message: ThreadAnswer<Answer>) => {
        worker.off('error', failed)
        if (message.kind === 'ready') resolve(new Thread<Request, Answer>(worker, exited, trouble))
        else if (message.kind === 'refused') void exited.then(() => reject(errorOf(message.failure)))
      })
    })
  }

  get dead(): boolean {
    return this.#dead !== undefined
  }

  /** Sends a request; results come in order. Rejects with the worker's error, or `STORE` when it has ended. */
  send(request: Request, transfer: readonly ArrayBuffer[] = []): Promise<Answer> {
    if (this.#dead !== undefined) return Promise.reject(this.#dead)
    return new Promise((resolve, reject) => {
      if (this.#due.length === 0) this.#worker.ref()
      this.#due.push({ resolve, reject })
      this.#post({ kind: 'request', request }, transfer)
    })
  }

  /** Resolves when the worker has released its resources. Call it only when no requests are in flight. */
  async close(): Promise<void> {
    if (this.#dead === undefined) {
      this.#worker.ref()
      this.#post({ kind: 'close' }, [])
    }
    await this.#exited
  }

  #post(message: ThreadRequest<Request>, transfer: readonly ArrayBuffer[]): void {
    this.#worker.postMessage(message, transfer)
  }

  #receive(message: ThreadAnswer<Answer>): void {
    switch (message.kind) {
      case 'trouble':
        return this.#trouble(errorOf(message.failure))
      case 'answer':
        return this.#next()?.resolve(message.answer)
      case 'answers':
        for (const answer of message.answers) this.#next()?.resolve(answer)
        return
      case 'failure':
        return this.#next()?.reject(errorOf(message.failure))
      case 'ready':
      case 'refused':
        // `start` has already rejected
        return
    }
  }

  #next(): Due<Answer> | undefined {
    const due = this.#due.shift()
    if (this.#due.length === 0) this.#worker.unref()
    return due
  }

  #die(text: string): void {
    this.#dead ??= new AppError('STORE', text)
    for (const due of this.#due.splice(0)) due.reject(this.#dead)
  }
}
