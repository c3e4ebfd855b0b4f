/** Runs reads on threads that are started on demand. Each thread handles one read at a time; further reads wait. */
import { AppError } from '#kernel'
import type { DamageWatch } from '../damage.ts'
import type { ReaderFiles, StoreRead } from './reader.ts'
import { Thread } from './thread.ts'
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
