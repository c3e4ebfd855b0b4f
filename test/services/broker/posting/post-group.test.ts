/** Posts that share entries of the log become what they would be by themselves (POSTGROUP-1, POSTGROUP-2). */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PostOptions } from '../../../../src/services/broker/contract.ts'
import type { Post } from '../../../../src/services/broker/posting/arrival.ts'
import { nothing, partsOf, projectEntry, projectPost } from '../../../../src/services/broker/posting/log-entry.ts'
import { apart, groupsOf, type Grouped } from '../../../../src/services/broker/posting/post-group.ts'
import { readCommand, readPost } from '../../../../src/services/broker/posting/read-post.ts'
import type { Write } from '../../../../src/storage/contract.ts'

const NOW = 1_800_000_000_000
const WRITE: Write = { kind: 'append', log: 'own', partition: 0, bodies: [1] }

const metrics = fc.dictionary(
  fc.constantFrom('a', 'b', 'text "quoted"'),
  fc.oneof(fc.integer(), fc.string({ unit: 'grapheme', maxLength: 5 }), fc.constant('x'.repeat(40_000)), fc.boolean()),
)
const options: fc.Arbitrary<PostOptions> = fc.record(
  { store: fc.boolean(), forward: fc.boolean(), ttl: fc.constantFrom('1h', '2h') },
  { requiredKeys: [] },
)
const post: fc.Arbitrary<Post> = fc
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

describe('groups of posts', () => {
  it('have all posts in their order, none with writes beside others, and entries that give series what the posts do', () => {
    fc.assert(
      fc.property(fc.array(grouped, { maxLength: 30 }), (all) => {
        const groups = groupsOf(all)
        expect(groups.flatMap(({ posts }) => posts)).toEqual(all)
        for (const { posts, entries, places } of groups) {
          const [fromPosts, fromEntries] = [nothing(), nothing()]
          for (const one of posts) if (one.post.store) projectPost(one.post, fromPosts)
          if (posts.length > 1) expect(posts.every(({ writes }) => writes.length === 0)).toBe(true)
          expect(new Set(posts.map((one) => one.post.forward)).size).toBe(1)
          for (const entry of entries) {
            const [whole, parts] = [nothing(), partsOf(entry)]
            expect(projectEntry(entry, whole)).toBe(true)
            projectEntry(entry, fromEntries)
            expect(parts.flatMap(({ samples }) => samples)).toEqual(whole.samples)
            expect(parts.flatMap(({ messages }) => messages)).toEqual(whole.messages)
          }
          expect(fromEntries).toEqual(JSON.parse(JSON.stringify(fromPosts)))
          // messages without a metric leave nothing to keep when they come several at once
          const isKept = ({ post }: Grouped): boolean => post.store && post.bulk?.parts.length !== 0
          expect(places.map((place) => place !== undefined)).toEqual(posts.map(isKept))
          for (const [i, place] of places.entries()) {
            const own = nothing()
            const one = posts[i]
            if (place === undefined || one === undefined) continue
            projectPost(one.post, own)
            const found = nothing()
            for (let at = place[0]; at <= place[1]; at++) projectEntry(entries[at] ?? null, found)
            for (const message of own.messages) expect(found.messages).toContainEqual(message)
          }
        }
      }),
    )
  })

  it('taken apart are their posts', () => {
    const all = [1, 2, 3].map((n) => ({ post: readPost('r', { n }, {}, NOW), size: 10, writes: [] }))
    const [group] = groupsOf(all)
    expect(group?.entries).toHaveLength(1)
    const parts = group === undefined ? [] : apart(group)
    expect(parts.map(({ posts, entries }) => [posts, entries.length])).toEqual(all.map((one) => [[one], 1]))
  })

  it('are bounded by characters', () => {
    const all = Array.from({ length: 10 }, (_, n) => {
      const one = readPost('r', { n, text: 'x'.repeat(20_000) }, {}, NOW)
      return { post: one, size: 20_040, writes: [] }
    })
    expect(groupsOf(all).map(({ posts }) => posts.length)).toEqual([3, 3, 3, 1])
  })
})
