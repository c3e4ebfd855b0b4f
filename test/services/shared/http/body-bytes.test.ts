import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { bodyBytes, partsOf } from '../../../../src/services/shared/http/body-bytes.ts'

async function* pieces(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) {
    await setImmediate()
    yield new TextEncoder().encode(text)
  }
}

it.each<[string, number | undefined]>([
  ['whose length was said', 6],
  ['whose length was not said', undefined],
  ['that is shorter than it said', 9],
])('a body %s is read whole', async (_, length) => {
  expect((await bodyBytes(pieces('ab', '', 'cdef'), 10, length)).toString()).toBe('abcdef')
})

it.each<[string, number, number | undefined]>([
  ['declares its size', 5, 6],
  ['does not declare its size', 5, undefined],
  ['declares less than its size', 10, 3],
])('a body that is too large and %s is rejected', async (_, limit, length) => {
  await expect(bodyBytes(pieces('ab', 'cdef'), limit, length)).rejects.toMatchObject({ code: 'BODY_TOO_LARGE' })
})

it('yields to the event loop between parts of a large body', async () => {
  const bytes = new Uint8Array(2_000_000).fill(7)
  let turns = 0
  const turn = (): void => {
    turns += 1
    if (turns < 1_000) timer = globalThis.setImmediate(turn)
  }
  let timer = globalThis.setImmediate(turn)
  const parts: Uint8Array[] = []
  for await (const part of partsOf(bytes)) parts.push(part)
  clearImmediate(timer)
  expect(turns).toBeGreaterThanOrEqual(parts.length - 1)
  expect(Buffer.concat(parts).equals(bytes)).toBe(true)
  expect(parts.length).toBeGreaterThan(2)
  const joined = await bodyBytes(pieces('a'.repeat(600_000), 'b'.repeat(600_000)), 2_000_000, undefined)
  expect([joined.length, joined.at(0), joined.at(-1)]).toEqual([1_200_000, 97, 98])
})
