/** A log of one tenant. */
import { checkLogName, checkLogQuestion } from '../check-log.ts'
import type { Log, LogBody, LogEntry, Write } from '../contract.ts'
import type { Opened } from './opened.ts'

export class PostgresLog implements Log {
  readonly name: string
  readonly #opened: Opened
  readonly #tenant: string
  readonly #commit: (writes: readonly Write[]) => Promise<readonly number[]>

  constructor(
    name: string,
    opened: Opened,
    tenant: string,
    commit: (writes: readonly Write[]) => Promise<readonly number[]>,
  ) {
    checkLogName(name)
    this.name = name
    this.#opened = opened
    this.#tenant = tenant
    this.#commit = commit
  }

  async append(partition: number, bodies: readonly LogBody[]): Promise<number> {
    const [last = 0] = await this.#commit([this.appending(partition, bodies)])
    return last
  }

  appending(partition: number, bodies: readonly LogBody[]): Write {
    return { kind: 'append', log: this.name, partition, bodies }
  }

  read(partition: number, after: number, limit?: number): Promise<readonly LogEntry[]> {
    return this.#opened.act(async ({ logs }) => {
      const most = checkLogQuestion(this.name, partition, after, limit)
      return await logs.read(this.#tenant, this.name, partition, after, most)
    })
  }

  bounds(partition: number): Promise<{ readonly first: number; readonly last: number }> {
    return this.#opened.act(async ({ logs }) => {
      checkLogQuestion(this.name, partition)
      return await logs.bounds(this.#tenant, this.name, partition)
    })
  }

  partitions(): Promise<readonly number[]> {
    return this.#opened.act(async ({ logs }) => await logs.partitions(this.#tenant, this.name))
  }

  trim(partition: number, upTo: number): Promise<void> {
    return this.#opened.act(async ({ logs }) => {
      checkLogQuestion(this.name, partition, upTo)
      await logs.trim(this.#tenant, this.name, partition, upTo)
    })
  }
}
