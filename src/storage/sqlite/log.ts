/** A log of one tenant. */
import { checkLogQuestion } from '../check-log.ts'
import { type Json, Yielder } from '#kernel'
import { machineTimers } from '#platform'
import type { Log, LogBody, LogEntry, Write } from '../contract.ts'
import type { Opened } from './opened.ts'
import type { LogRows } from './read-log.ts'

export class SqliteLog implements Log {
  readonly name: string
  readonly #opened: Opened
  readonly #tenant: string

  constructor(opened: Opened, tenant: string, name: string) {
    this.#opened = opened
    this.#tenant = tenant
    this.name = name
  }

  async append(partition: number, bodies: readonly LogBody[]): Promise<number> {
    const { results } = await this.#opened.commit(this.#tenant, [this.appending(partition, bodies)])
    return results[0] ?? 0
  }

  appending(partition: number, bodies: readonly LogBody[]): Write {
    return { kind: 'append', log: this.name, partition, bodies }
  }

  async read(partition: number, after: number, limit?: number): Promise<readonly LogEntry[]> {
    this.#opened.refuseWhenClosed()
    const most = checkLogQuestion(this.name, partition, after, limit)
    const { from, rows } = await this.#read<LogRows>({ kind: 'entries', partition, after, limit: most })
    const parsed = await new Yielder(machineTimers).map(rows, ([last, count, bodies]) =>
      (JSON.parse(bodies) as readonly Json[]).map((body, i): LogEntry => ({ position: last - count + 1 + i, body })),
    )
    return parsed
      .flat()
      .filter((entry) => entry.position >= from)
      .slice(0, most)
  }

  async bounds(partition: number): Promise<{ readonly first: number; readonly last: number }> {
    this.#opened.refuseWhenClosed()
    checkLogQuestion(this.name, partition)
    return this.#read({ kind: 'bounds', partition })
  }

  async partitions(): Promise<readonly number[]> {
    this.#opened.refuseWhenClosed()
    return this.#read({ kind: 'partitions' })
  }

  async trim(partition: number, upTo: number): Promise<void> {
    this.#opened.refuseWhenClosed()
    checkLogQuestion(this.name, partition, upTo)
    await this.#opened.trim(this.#tenant, this.name, partition, upTo)
  }

  #read<Answer>(
    read:
      | { readonly kind: 'entries'; readonly partition: number; readonly after: number; readonly limit: number }
      | { readonly kind: 'bounds'; readonly partition: number }
      | { readonly kind: 'partitions' },
  ): Promise<Answer> {
    return this.#opened.readers.read<Answer>({ of: 'log', read: { ...read, tenant: this.#tenant, log: this.name } })
  }
}
