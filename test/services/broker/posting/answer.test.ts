import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { answerTo, PublishedMessage } from '../../../../src/services/broker/posting/answer.ts'
import { readPost } from '../../../../src/services/broker/posting/read-post.ts'

describe('an answer to one message', () => {
  it('goes out as the text that JSON.stringify gives', () => {
    const name = fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' }).filter((text) => !/[\0]/.test(text))
    const metrics = fc.dictionary(
      name.filter((key) => !['resource', 'timestamp'].includes(key)),
      fc.jsonValue(),
    )
    fc.assert(
      fc.property(name, metrics, (resource, body) => {
        let post
        try {
          post = readPost(resource, body, {}, 1_800_000_000_000)
        } catch {
          // what is refused has no answer
          return
        }
        const answer = answerTo(post, resource, false)
        expect(answer).toBeInstanceOf(PublishedMessage)
        expect(answer instanceof PublishedMessage && answer.json).toBe(JSON.stringify(answer))
      }),
    )
  })
})
