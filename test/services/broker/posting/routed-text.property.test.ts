/** What tasks get of a post is logged as text that is put together, not made anew: it says what would have been made. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { routedMessageOf, routedText } from '../../../../src/services/broker/posting/arrival.ts'
import { readPost } from '../../../../src/services/broker/posting/read-post.ts'
import { dataOf, dataText } from '../../../../src/services/rules/durable/input.ts'

const NOW = 1_800_000_000_000

const names = fc.oneof(
  fc.constantFrom('boiler-1', 'a"b', 'ü\\', '😀', ' x'),
  fc.string({ minLength: 1, maxLength: 20 }),
)
const metrics = fc.dictionary(
  fc.constantFrom('a', 'b c', '7', 'ü', '"'),
  fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.string(), fc.boolean(), fc.constant(null)),
  { minKeys: 1 },
)

describe('the text of a message for tasks', () => {
  it('is that of the message with its resource, and so is the input that is logged', () => {
    let read = 0
    fc.assert(
      fc.property(names, metrics, fc.boolean(), (resource, values, hasTime) => {
        const body = hasTime ? { timestamp: 5, ...values } : values
        const [arrival] = readable(resource, body)
        if (arrival === undefined) return
        read += 1
        const message = routedMessageOf(arrival)
        const text = routedText(arrival)
        // read back, keys that are whole numbers come first again
        expect(readAgain(text)).toBe(JSON.stringify(message))
        const input = dataText(text, {}, NOW)?.text ?? ''
        expect(readAgain(input)).toBe(JSON.stringify({ ...dataOf(message, {}), at: NOW }))
      }),
    )
    expect(read).toBeGreaterThan(50)
  })

  it('is left to be made where more is said of the message', () => {
    expect(dataText('{}', { channel: 'alarms' }, NOW)).toBeUndefined()
    expect(dataText('{}', { hops: 1, root: 'r' }, NOW)).toBeUndefined()
  })
})

const readAgain = (text: string): string => JSON.stringify(JSON.parse(text))

/** Nothing where the body is refused. */
function readable(resource: string, body: object) {
  try {
    return readPost(resource, body, {}, NOW).arrivals
  } catch {
    return []
  }
}
