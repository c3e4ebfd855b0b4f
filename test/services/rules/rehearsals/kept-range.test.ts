import { describe, expect, it } from 'vitest'
import type { Message } from '../../../../src/index.ts'
import type { InputRange, KeptInput, KeptInputs } from '../../../../src/services/rules/inputs/contract.ts'
import { KeptRange } from '../../../../src/services/rules/rehearsals/kept-range.ts'
import type { RehearsalHistory } from '../../../../src/services/rules/rehearsals/rehearsal-history.ts'
import { MemoryInputs } from '../inputs/memory-inputs.ts'

const RANGE = { from: 0, until: 200_000, resources: ['r'], tasks: [] }

const inputAt = (position: number, timestamp: number, values: object = { t: 1 }): KeptInput => ({
  position,
  input: { k: 'data', at: 300_000 + position, m: { resource: 'r', timestamp, ...values } },
})

function historyOf(inputs: KeptInputs, counts: Readonly<Record<string, number>> = {}): RehearsalHistory {
  return {
    metrics: async () => Object.keys(counts),
    samples: async () => ({ times: new Float64Array(), values: new Float64Array() }),
    newest: async () => undefined,
    counts: async () => counts,
    inputs,
  }
}

function memory(inputs: readonly KeptInput[]): MemoryInputs {
  const kept = new MemoryInputs()
  kept.inputs.push(...inputs)
  return kept
}

describe('a range of kept inputs', () => {
  it('is in the order of times, also if it does not fit into memory', async () => {
    const count = 120_000
    const kept = memory(Array.from({ length: count }, (_, i) => inputAt(i + 1, count - i)))
    const range = await KeptRange.of(historyOf(kept), RANGE, undefined)
    const times: number[] = []
    for await (const { timestamp } of range?.messages(new WeakMap()) ?? []) times.push(Number(timestamp))
    expect(times.length).toBe(count)
    expect(times.every((time, i) => time === i + 1)).toBe(true)
  })

  it('stops at a cancellation, however long it is', async () => {
    const cancel = new AbortController()
    let batches = 0
    const endless: KeptInputs = Object.assign(new MemoryInputs(), {
      since: async () => ({ position: 1, at: 0 }),
      async *read(_range: InputRange, signal?: AbortSignal) {
        for (;;) {
          signal?.throwIfAborted()
          if (++batches === 500) cancel.abort()
          yield Array.from({ length: 1_000 }, (_, i) => inputAt(batches, i))
        }
      },
    })
    await expect(KeptRange.of(historyOf(endless), RANGE, cancel.signal)).rejects.toThrow('aborted')
    expect(batches).toBe(500)
  })

  const cases: readonly (readonly [string, readonly object[], Readonly<Record<string, number>>, boolean])[] = [
    ['has all samples', [{ t: 1 }, { t: 2, n: 3 }], { t: 2, n: 1 }, true],
    ['has more than series, which expire', [{ t: 1 }, { t: 2 }], { t: 1 }, true],
    ['lacks a sample', [{ t: 1 }], { t: 2 }, false],
    ['lacks a metric', [{ t: 1 }], { t: 1, imported: 1 }, false],
    ['has nulls and objects, which series lack', [{ t: null }, { t: { a: 1 } }, { t: 1 }], { t: 1 }, true],
    ['has a null instead of a sample', [{ t: null }, { t: 1 }], { t: 2 }, false],
  ]
  it.each(cases)('%s', async (_, values, counts, isKept) => {
    const kept = memory(values.map((one, i) => inputAt(i + 1, i, one)))
    expect((await KeptRange.of(historyOf(kept, counts), RANGE, undefined)) !== undefined).toBe(isKept)
  })

  it('counts a repeated message once', async () => {
    const kept = memory([inputAt(1, 5), inputAt(2, 5), inputAt(3, 5)])
    expect(await KeptRange.of(historyOf(kept, { t: 2 }), RANGE, undefined)).toBeUndefined()
  })

  it('counts each time once, in whatever order its messages arrive', async () => {
    const times = [5, 9, 7, 9, 5, 7, 8, 1, 8, 1]
    const kept = memory(times.map((time, i) => inputAt(i + 1, time)))
    expect(await KeptRange.of(historyOf(kept, { t: 5 }), RANGE, undefined)).toBeDefined()
    expect(await KeptRange.of(historyOf(kept, { t: 6 }), RANGE, undefined)).toBeUndefined()
  })

  it('passes on the channel of a message', async () => {
    const input = inputAt(1, 5)
    const kept = memory([{ ...input, input: { ...input.input, c: 'commands' } as KeptInput['input'] }])
    const range = await KeptRange.of(historyOf(kept), RANGE, undefined)
    const channels = new WeakMap<Message, string>()
    const found: (string | undefined)[] = []
    for await (const message of range?.messages(channels) ?? []) found.push(channels.get(message))
    expect(found).toEqual(['commands'])
  })
})
