/** Tests that posts sharing a unit of the log become what they would be alone (POSTGROUP-1, POSTGROUP-2). */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Json, JsonText } from '../../../../src/kernel/json.ts'
import type { PostOptions } from '../../../../src/services/broker/contract.ts'
import type { PublishRequest } from '../../../../src/services/broker/posting/publish-request.ts'
import { entriesOf, nothing, projectEntry, projectPost } from '../../../../src/services/broker/posting/log-entry.ts'
import { groupsOf, type Grouped } from '../../../../src/services/broker/posting/post-group.ts'
import { readCommand, readPost } from '../../../../src/services/broker/posting/read-post.ts'
import type { LogBody, Write } from '../../../../src/storage/contract.ts'

const NOW = 1_800_000_000_000
const WRITE: Write = { kind: 'append', log: 'own', bodies: [1] }

const metrics = fc.dictionary(
  fc.constantFrom('a', 'b', 'text "quoted"'),
  fc.oneof(fc.integer(), fc.string({ unit: 'grapheme', maxLength: 5 }), fc.constant('x'.repeat(40_000)), fc.boolean()),
)
const options: fc.Arbitrary<PostOptions> = fc.record(
  { store: fc.boolean(), forward: fc.boolean(), ttl: fc.constantFrom('1h', '2h') },
  { requiredKeys: [] },
)
const post: fc.Arbitrary<PublishRequest> = fc
  .oneof(
    { weight: 8, arbitrary: fc.tuple(fc.constantFrom('r', 's'), metrics, options) },
    { weight: 1, arbitrary: fc.tuple(fc.constant('r'), fc.array(metrics, { minLength: 1, maxLength: 3 }), options) },
  )
  .map(([resource, body, how]) => readPost(resource, body, how, NOW))
const command = metrics.map((body) => readCommand('r', { ...body, name: 'on' }, {}, NOW))
const grouped: fc.Arbitrary<Grouped> = fc
  .tuple(fc.oneof({ weight: 8, arbitrary: post }, { weight: 1, arbitrary: command }), fc.nat(9))
  .map(([one, dice]) => {
    const size = one.bulk?.size ?? one.arrivals.reduce((sum, { text }) => sum + text.length, 0)
    return { post: one, size, writes: dice === 0 ? [WRITE] : [] }
  })

function again(body: LogBody): Json {
  return JSON.parse(body instanceof JsonText ? body.text : JSON.stringify(body)) as Json
}

describe('groups of posts', () => {
  it('have all posts in their order, none with writes beside one without, and entries that give series what the posts do', () => {
    fc.assert(
      fc.property(fc.array(grouped, { maxLength: 30 }), (all) => {
        const groups = groupsOf(all)
        expect(groups.flat()).toEqual(all)
        for (const group of groups) {
          const kinds = group.map(({ post: { forward, store }, writes }) => `${forward} ${store} ${writes.length > 0}`)
          expect(new Set(kinds).size).toBe(1)
          for (const { post } of group) {
            const [fromPost, fromEntries] = [nothing(), nothing()]
            projectPost(post, fromPost)
            const entries = entriesOf(post)
            if (post.bulk === undefined) expect(entries).toHaveLength(post.store ? 1 : 0)
            for (const entry of entries) expect(projectEntry(again(entry), fromEntries)).toBe(true)
            expect(fromEntries).toEqual(JSON.parse(JSON.stringify(fromPost)))
          }
        }
      }),
    )
  })

  it('are bounded by characters', () => {
    const all = Array.from({ length: 10 }, (_, n) => {
      const one = readPost('r', { n, text: 'x'.repeat(20_000) }, {}, NOW)
      return { post: one, size: 20_040, writes: [] }
    })
    expect(groupsOf(all).map((posts) => posts.length)).toEqual([3, 3, 3, 1])
  })
})
