/** Tests that the text of a message, assembled from existing text, equals the text that would be generated. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { answerTo, PublishedMessage } from '../../../../src/services/broker/posting/answer.ts'
import { routedMessageOf, routedText } from '../../../../src/services/broker/posting/publish-request.ts'
import { readPost } from '../../../../src/services/broker/posting/read-post.ts'
import { messageBody } from '../../../../src/log/message-entry.ts'
import { JsonText } from '../../../../src/kernel/json.ts'
import { dataOf } from '../../../../src/services/rules/durable/input.ts'

const NOW = 1_800_000_000_000

const names = fc.oneof(
  fc.constantFrom('boiler-1', 'a"b', 'ü\\', '😀', ' x'),
  fc.string({ minLength: 1, maxLength: 20 }),
)
const metrics = fc.dictionary(
  fc.oneof(fc.constantFrom('a', 'b c', '7', 'ü', '"'), fc.string({ minLength: 1, unit: 'grapheme' })),
  fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.string(), fc.boolean(), fc.jsonValue()),
)
const readAgain = (text: string): string => JSON.stringify(JSON.parse(text))

describe('a message that was read', () => {
  it('is answered, handed to tasks and logged as the text that JSON.stringify makes', () => {
    let read = 0
    fc.assert(
      fc.property(names, metrics, fc.boolean(), (resource, values, hasTime) => {
        const post = readable(resource, hasTime ? { ...values, timestamp: 5 } : values)
        const arrival = post?.arrivals[0]
        if (post === undefined || arrival === undefined) return
        read += 1
        const answer = answerTo(post, resource, false)
        expect(answer).toBeInstanceOf(PublishedMessage)
        expect(answer instanceof PublishedMessage && answer.json).toBe(JSON.stringify(answer))
        const [message, text] = [routedMessageOf(arrival), routedText(arrival)]
        // after parsing, whole-number keys come first again
        expect(readAgain(text)).toBe(JSON.stringify(message))
        const about = { h: 1, r: 'root', at: NOW }
        const body = messageBody({ messages: message, text, kept: { s: 'events' } }, about)
        const whole = { ...dataOf(message, {}), s: 'events', ...about }
        expect(body instanceof JsonText && readAgain(body.text)).toBe(JSON.stringify(whole))
      }),
    )
    expect(read).toBeGreaterThan(50)
  })
})

/** Returns undefined when the body is rejected. */
function readable(resource: string, body: object) {
  try {
    return readPost(resource, body, {}, NOW)
  } catch {
    return undefined
  }
}
