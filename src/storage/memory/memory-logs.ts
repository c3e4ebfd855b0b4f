/** Keeps the logs of one tenant: for each name and partition a list of texts, and the position of the first text. */
import type { LogEntry } from '../contract.ts'
import type { Json } from '#kernel'

interface Partition {
  first: number
  readonly texts: string[]
}

export class MemoryLogs {
  readonly #logs = new Map<string, Map<number, Partition>>()

  last(log: string, partition: number): number {
    const kept = this.#logs.get(log)?.get(partition)
    return kept === undefined ? 0 : kept.first + kept.texts.length - 1
  }

  append(log: string, partition: number, texts: readonly string[]): void {
    let partitions = this.#logs.get(log)
    if (partitions === undefined) {
      partitions = new Map()
      this.#logs.set(log, partitions)
    }
    let kept = partitions.get(partition)
    if (kept === undefined) {
      kept = { first: 1, texts: [] }
      partitions.set(partition, kept)
    }
    for (const text of texts) kept.texts.push(text)
  }

  read(log: string, partition: number, after: number, limit: number): readonly LogEntry[] {
    const kept = this.#logs.get(log)?.get(partition)
    if (kept === undefined) return []
    const start = Math.max(0, after + 1 - kept.first)
    return kept.texts
      .slice(start, start + limit)
      .map((text, i) => ({ position: kept.first + start + i, body: JSON.parse(text) as Json }))
  }

  bounds(log: string, partition: number): { readonly first: number; readonly last: number } {
    const first = this.#logs.get(log)?.get(partition)?.first ?? 1
    return { first, last: this.last(log, partition) }
  }

  partitions(log: string): readonly number[] {
    return [...(this.#logs.get(log)?.keys() ?? [])].sort((a, b) => a - b)
  }

  trim(log: string, partition: number, upTo: number): void {
    const kept = this.#logs.get(log)?.get(partition)
    if (kept === undefined || upTo < kept.first) return
    const gone = Math.min(upTo + 1 - kept.first, kept.texts.length)
    kept.texts.splice(0, gone)
    kept.first += gone
  }
}
