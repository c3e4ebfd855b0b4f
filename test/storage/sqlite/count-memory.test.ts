import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CollectionSpec, Condition } from '../../../src/storage/contract.ts'
import type { SearchedRow } from '../../../src/storage/row-filter.ts'
import { Specs } from '../../../src/storage/spec.ts'
import { CountMemory } from '../../../src/storage/sqlite/count-memory.ts'

interface Job {
  readonly status: string
}

const JOBS: CollectionSpec<Job> = {
  name: 'jobs',
  version: 1,
  fields: { status: { type: 'text', of: (job) => job.status } },
}
const KNOWN = new Specs().know(JOBS)
const ON: readonly Condition[] = [{ field: 'status', op: 'eq', value: 'on' }]

const row = (id: string, status: string): SearchedRow => ({ id, fields: [status] })

/** A store whose reads and writes complete when the test says so. */
class Slow {
  readonly counts = new CountMemory()
  readonly committed = new Map<string, SearchedRow>()
  readonly #writes: (() => void)[] = []
  readonly #answers: (() => void)[] = []
  readonly #reads: (() => void)[] = []
  /** How often the file was read */
  asked = 0

  count(): Promise<number> {
    return this.counts.count('acme', KNOWN, ON, () => {
      this.asked++
      return new Promise((resolve) => this.#reads.push(() => resolve(this.plain())))
    })
  }

  plain(): number {
    return [...this.committed.values()].filter(({ fields }) => fields[0] === 'on').length
  }

  /** Hands over a write; `commitWrite` commits it, and `answerWrite` acknowledges it. */
  put(id: string, status: string | undefined): void {
    const tells = this.counts.begun('acme', 'jobs')
    this.#writes.push(() => {
      const before = this.committed.get(id)
      const after = status === undefined ? undefined : row(id, status)
      if (after === undefined) this.committed.delete(id)
      else this.committed.set(id, after)
      const isSame = before?.fields[0] === after?.fields[0]
      const changes = isSame ? [] : tells ? [{ before, after }] : undefined
      this.#answers.push(() => this.counts.ended('acme', 'jobs', changes))
    })
  }

  /** Commits the next write: reads see it, although it is not acknowledged yet. */
  commitWrite(): void {
    this.#writes.shift()?.()
  }

  answerWrite(): void {
    if (this.#answers.length === 0) this.commitWrite()
    this.#answers.shift()?.()
  }

  async answerRead(): Promise<void> {
    this.#reads.shift()?.()
    await settled()
  }

  /** Completes all pending operations and returns the count. */
  async end(): Promise<number> {
    while (this.#writes.length + this.#answers.length > 0) this.answerWrite()
    const counted = this.count()
    while (this.#reads.length > 0) await this.answerRead()
    return counted
  }
}

const settled = () => new Promise<void>((resolve) => void setImmediate(resolve))

// Holds COUNT-1, COUNT-2
describe('a count that was requested', () => {
  it('is right after a write without another look at the file', async () => {
    const store = new Slow()
    const first = store.count()
    await store.answerRead()
    expect(await first).toBe(0)
    store.put('a', 'on')
    store.put('b', 'off')
    store.answerWrite()
    expect(await store.count()).toBe(1)
    store.answerWrite()
    store.put('a', 'off')
    store.answerWrite()
    store.put('b', undefined)
    store.answerWrite()
    expect([await store.count(), store.asked]).toEqual([0, 1])
  })

  it('is requested again when what was asked could not be read', async () => {
    const store = new Slow()
    const failing = store.counts.count('acme', KNOWN, ON, () => Promise.reject(new Error('gone')))
    await expect(failing).rejects.toThrow('gone')
    expect([await store.end(), store.asked]).toEqual([0, 1])
  })

  it('of another tenant or collection stays as it is', async () => {
    const store = new Slow()
    void store.count()
    await store.answerRead()
    store.counts.begun('globex', 'jobs')
    store.counts.ended('globex', 'jobs', undefined)
    store.counts.begun('acme', 'things')
    store.counts.ended('acme', 'things', undefined)
    await store.count()
    expect(store.asked).toBe(1)
  })

  it('is what the file has, whatever is written and asked in whatever order', async () => {
    const step = fc.oneof(
      fc.record({
        id: fc.constantFrom('a', 'b', 'c'),
        status: fc.constantFrom('on', 'off', undefined),
      }),
      fc.constantFrom('count' as const, 'commitWrite' as const, 'answerWrite' as const, 'answerRead' as const),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const store = new Slow()
        for (const one of steps) {
          if (typeof one === 'object') store.put(one.id, one.status)
          else if (one === 'count') void store.count()
          else await store[one]()
        }
        expect(await store.end()).toBe(store.plain())
      }),
    )
  })
})
