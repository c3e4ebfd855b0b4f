/** Tests the fast path for messages of metrics alone: it must return the same as the general path. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/kernel/errors.ts'
import { readPost } from '../../../../src/services/broker/posting/read-post.ts'

const NOW = 1_800_000_000_000

const key = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('a', 'b', 'c d', '7', 'ü') },
  { weight: 2, arbitrary: fc.constantFrom('', '__proto__', 'constructor', '\0', '\ud800', 'x'.repeat(600)) },
)
const value = fc.oneof(
  { weight: 8, arbitrary: fc.oneof(fc.double(), fc.integer(), fc.string(), fc.boolean(), fc.constant(null)) },
  { weight: 1, arbitrary: fc.jsonValue() },
  { weight: 1, arbitrary: fc.constantFrom(undefined, Number.NaN, '\ud800', new Date(0), { deep: { prototype: 1 } }) },
)
const body = fc
  .array(fc.tuple(key, value), { maxLength: 6 })
  .map((entries): object => Object.defineProperties({}, Object.fromEntries(entries.map(own))))

function own([name, given]: readonly [string, unknown]): readonly [string, PropertyDescriptor] {
  return [name, { value: given, enumerable: true, configurable: true, writable: true }]
}

function read(given: object): unknown {
  try {
    const [arrival] = readPost('r', given, {}, NOW).arrivals
    // The paths differ only in whether the message came without a time.
    return { ...arrival, isUnstamped: undefined, keys: Object.keys(arrival?.message ?? {}) }
  } catch (error) {
    if (error instanceof AppError) return { code: error.code, message: error.message, issues: error.issues }
    throw error
  }
}

describe('a message without a time', () => {
  it('is read as the same one that says its time at the end', () => {
    fc.assert(
      fc.property(body, (given) => {
        const longer = Object.defineProperties({}, Object.getOwnPropertyDescriptors(given))
        Object.defineProperty(longer, 'timestamp', { value: NOW, enumerable: true })
        expect(read(given)).toEqual(read(longer))
      }),
    )
  })
})
