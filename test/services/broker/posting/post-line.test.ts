/** Posts on their way: several commits are under way at once, and nobody can tell. */
import { describe, expect, it } from 'vitest'
import type { Post } from '../../../../src/services/broker/posting/arrival.ts'
import { Follower } from '../../../../src/services/broker/posting/follower.ts'
import { PostLine } from '../../../../src/services/broker/posting/post-line.ts'
import { readPost } from '../../../../src/services/broker/posting/read-post.ts'
import type { Store } from '../../../../src/storage/contract.ts'

/** A line at a store whose commits end when the test says so. */
function opened() {
  const commits: { end(): void; fail(error: Error): void }[] = []
  let position = 0
  const store: Pick<Store, 'commit'> = {
    commit: () =>
      new Promise((resolve, reject) => {
        const last = ++position
        commits.push({ end: () => resolve({ results: [last] }), fail: reject })
      }),
  }
  const projection = { apply: () => Promise.resolve(), follow: () => Promise.resolve() }
  const lag = { posts: 1_000, characters: 1e6, restMs: 0 }
  const told: string[] = []
  const line = new PostLine({
    tenant: 't',
    store: store as Store,
    follower: new Follower(projection, lag),
    limits: { posts: 1_000, characters: 1e6 },
    engine: () => undefined,
    arrived: () => undefined,
    told: ({ arrivals }: Post) => told.push(arrivals[0]?.resource ?? ''),
  })
  const posted = (names: readonly string[]) => {
    const all = names.map((name) => line.submit(readPost(name, { a: 1 }, {}, 0)))
    return Promise.allSettled(all)
  }
  return { line, commits, told, posted }
}

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}`)
/** as many leave in the middle of a turn */
const ENOUGH = 32
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

// Holds POSTLINE-2
describe('posts on their way', () => {
  it('are committed when enough have come, before the turn is over', async () => {
    const { commits, posted, line } = opened()
    const all = posted(names('a', ENOUGH))
    expect(commits).toHaveLength(1)
    commits[0]?.end()
    await all
    await line.idle()
  })

  it('that are few wait for what comes with their turn', async () => {
    const { commits, posted, line } = opened()
    const all = Promise.all([posted(['a']), posted(['b'])])
    expect(commits).toHaveLength(0)
    await nextTurn()
    expect(commits).toHaveLength(1)
    commits[0]?.end()
    await all
    await line.idle()
  })

  it('are acknowledged in their order, in whatever order commits end', async () => {
    const { commits, told, posted } = opened()
    const [first, second] = [names('a', ENOUGH), names('b', ENOUGH)]
    const all = Promise.all([posted(first), posted(second)])
    expect(commits).toHaveLength(2)
    commits[1]?.end()
    await nextTurn()
    expect(told).toEqual([])
    commits[0]?.end()
    await all
    expect(told).toEqual([...first, ...second])
  })

  it('go on when the commit before theirs has failed', async () => {
    const { commits, told, posted } = opened()
    const [first, second] = [posted(names('a', ENOUGH)), posted(names('b', ENOUGH))]
    commits[1]?.end()
    commits[0]?.fail(new Error('no disk'))
    expect((await first).map(({ status }) => status)).toEqual(names('a', ENOUGH).map(() => 'rejected'))
    await second
    expect(told).toEqual(names('b', ENOUGH))
  })

  it('wait together while two commits are under way', async () => {
    const { commits, told, posted, line } = opened()
    const all = names('c', 3 * ENOUGH)
    const done = posted(all)
    await nextTurn()
    expect(commits).toHaveLength(2)
    for (let i = 0; i < 3; i++) {
      commits[i]?.end()
      await nextTurn()
      await nextTurn()
    }
    await done
    await line.idle()
    expect(commits).toHaveLength(3)
    expect(told).toEqual(all)
  })
})
