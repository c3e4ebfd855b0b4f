/** Runs a worker thread that keeps the process alive only while a result is pending. */
import { Worker } from 'node:worker_threads'
import { AppError, errorOf } from '#kernel'
import type { ThreadRequest, ThreadAnswer } from './serve-thread.ts'

interface Due<Answer> {
  resolve(answer: Answer): void
  reject(error: AppError): void
}

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
