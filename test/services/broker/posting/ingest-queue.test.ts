/** Tests posts in flight: many units are processed at once without visible effects (INGEST-1 to INGEST-6). */
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/kernel/errors.ts'
import type { Forwarding } from '../../../../src/services/broker/contract.ts'
import type { PublishRequest } from '../../../../src/services/broker/posting/publish-request.ts'
import { IngestQueue } from '../../../../src/services/broker/posting/ingest-queue.ts'
import { readPost } from '../../../../src/services/broker/posting/read-post.ts'
import { SeriesProjector } from '../../../../src/services/broker/posting/series-projector.ts'
import { TenantLog } from '../../../../src/log/tenant-log.ts'
import type { Store, Write } from '../../../../src/storage/contract.ts'
import { openMemory } from '../../../../src/storage/memory/open-memory.ts'
import { withCommit } from '../../rules/durable/support/slow-store.ts'

/** Creates a queue over a store whose commits the test ends. */
function opened({ posts = 1_000, engine }: { posts?: number; engine?: Forwarding } = {}) {
  const commits: { end(): void; fail(error: Error): void }[] = []
  let position = 0
  const commit: Store['commit'] = (writes) =>
    new Promise((resolve, reject) => {
      const last = (position += bodiesOf(writes))
      commits.push({ end: () => resolve({ results: [last] }), fail: reject })
    })
  const store = withCommit(openMemory().tenant('t'), commit)
  const projector = new SeriesProjector({
    log: store.log('log'),
    series: { append: () => Promise.resolve(), applied: () => Promise.resolve(0) },
    limits: { posts: 1_000, characters: 1e6, restMs: 0 },
    report: () => undefined,
    recovered: () => undefined,
  })
  const told: string[] = []
  const queue = new IngestQueue({
    log: new TenantLog(store),
    projector,
    limits: { posts, characters: 1e6 },
    engine: () => engine,
    arrived: () => undefined,
    acknowledged: ({ arrivals }: PublishRequest) => told.push(arrivals[0]?.resource ?? ''),
    passed: () => undefined,
  })
  const post = (name: string) => queue.submit(readPost(name, { a: 1 }, {}, 0))
  const derived = (name: string) => queue.submit(readPost(name, { a: 1 }, { hops: 1 }, 0))
  const posted = (all: readonly string[]) => Promise.allSettled(all.map(post))
  return { queue, commits, told, post, derived, posted, projector }
}

function bodiesOf(writes: readonly Write[]): number {
  return writes.reduce((sum, one) => sum + (one.kind === 'append' ? one.bodies.length : 0), 0)
}

/** Ends commits until nothing is in flight; ending a commit twice has no effect. */
async function endAll(queue: IngestQueue, commits: () => readonly { end(): void }[]): Promise<void> {
  while (queue.size > 0) {
    await turn()
    for (const commit of commits()) commit.end()
  }
}

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}`)
const OWN: Write = { kind: 'append', log: 'own', bodies: [1] }
/** Number of posts that leave before the turn ends */
const ENOUGH = 32
const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('posts in flight', () => {
  it('are forwarded when enough have arrived, before the turn ends', async () => {
    const { commits, posted } = opened()
    const all = posted(names('a', ENOUGH))
    expect(commits).toHaveLength(1)
    commits[0]?.end()
    await all
  })

  it('of a batch share one commit with its writes, beside others', async () => {
    const { commits, queue, post, told } = opened()
    const batch = names('b', 3 * ENOUGH).map((name) => readPost(name, { a: 1 }, {}, 0))
    const before = post('before')
    const taken = queue.submitAll(batch, [OWN])
    const after = post('after')
    await turn()
    expect(commits).toHaveLength(3)
    for (const commit of commits) commit.end()
    await Promise.all([before, taken, after])
    expect(told).toEqual(['before', ...names('b', 3 * ENOUGH), 'after'])
  })

  it('of a batch are refused together, and are not tried one by one', async () => {
    const { commits, queue, told } = opened()
    const batch = names('b', 3).map((name) => readPost(name, { a: 1 }, {}, 0))
    const taken = queue.submitAll(batch, [OWN])
    await turn()
    commits[0]?.fail(new AppError('CONFLICT', 'another has written'))
    await expect(taken).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(commits).toHaveLength(1)
    expect([told, queue.size]).toEqual([[], 0])
  })

  it('that are few are forwarded with others of the same turn', async () => {
    const { commits, posted } = opened()
    const all = Promise.all([posted(['a']), posted(['b'])])
    expect(commits).toHaveLength(0)
    await turn()
    expect(commits).toHaveLength(1)
    commits[0]?.end()
    await all
  })

  it('with writes share a commit with each other, not with posts without', async () => {
    const { commits, queue } = opened()
    const own: Write = { kind: 'append', log: 'own', bodies: [1] }
    const submit = (name: string, writes: readonly Write[]) => queue.submit(readPost(name, { a: 1 }, {}, 0), writes)
    const all = [submit('a', [own]), submit('b', [own]), submit('c', []), submit('d', [own])]
    await turn()
    expect(commits).toHaveLength(3)
    for (const commit of commits) commit.end()
    await Promise.all(all)
  })

  it('do not wait for those before them to be committed', async () => {
    const { commits, posted } = opened()
    const all = posted(names('a', 5 * ENOUGH))
    expect(commits).toHaveLength(5)
    for (const commit of commits) commit.end()
    await all
  })

  it('are acknowledged after their commits and in their order, in whatever order commits end', async () => {
    const { commits, told, posted, queue } = opened()
    const [first, second] = [names('a', ENOUGH), names('b', ENOUGH)]
    const all = Promise.all([posted(first), posted(second)])
    expect(commits).toHaveLength(2)
    commits[1]?.end()
    await turn()
    expect([told, queue.size]).toEqual([[], 2 * ENOUGH])
    commits[0]?.end()
    await all
    expect([told, queue.size]).toEqual([[...first, ...second], 0])
  })

  it('wait here while some thousand are in progress, so that those of other tenants come in between', async () => {
    const { commits, told, posted, queue } = opened({ posts: 10_000 })
    const all = names('a', 9_000)
    const done = posted(all)
    const passed = queue.passed()
    await turn()
    const first = commits.length
    expect(first).toBe(4_000 / ENOUGH)
    commits[0]?.end()
    await turn()
    expect([commits.length, told.length]).toEqual([first + 1, ENOUGH])
    let isPassed = false
    void passed?.then(() => (isPassed = true))
    for (let i = 1; i < commits.length; i++) {
      commits[i]?.end()
      await turn()
      expect(isPassed).toBe(queue.size === 0)
    }
    await done
    expect(told).toEqual(all)
  })

  it('continue when the commit before theirs has failed', async () => {
    const { commits, told, posted } = opened()
    const [first, second] = [posted(names('a', ENOUGH)), posted(names('b', ENOUGH))]
    commits[1]?.end()
    commits[0]?.fail(new Error('no disk'))
    expect((await first).map(({ status }) => status)).toEqual(names('a', ENOUGH).map(() => 'rejected'))
    await second
    expect(told).toEqual(names('b', ENOUGH))
  })

  it('are retried by halves when their group is rejected, behind the ones that came meanwhile', async () => {
    const { commits, told, posted } = opened()
    const [first, second] = [posted(['a', 'b', 'c']), turn().then(() => posted(['d']))]
    await turn()
    await turn()
    expect(commits).toHaveLength(2)
    commits[1]?.end()
    commits[0]?.fail(new AppError('VALIDATION', 'one of them is wrong'))
    // a and b, a, b, c
    for (const place of [2, 3, 4, 5]) {
      await turn()
      expect(commits).toHaveLength(place + 1)
      if (place % 2 === 0) commits[place]?.fail(new AppError('VALIDATION', 'this one'))
      else commits[place]?.end()
    }
    expect((await first).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    await second
    expect(told).toEqual(['d', 'a', 'c'])
  })

  it('are rejected when an engine throws at once, and delay no others', async () => {
    const engine: Forwarding = {
      receive: () => {
        throw new Error('no engine')
      },
    }
    const { post, queue, told } = opened({ engine })
    await expect(post('a')).rejects.toThrow('no engine')
    await queue.submit(readPost('b', { a: 1 }, { forward: false, store: false }, 0))
    expect([queue.size, told]).toEqual([0, ['b']])
  })

  it('are rejected above the bound, and nothing of them is done', async () => {
    const { commits, post, posted, told } = opened({ posts: 2 })
    const all = posted(['a', 'b'])
    await expect(post('c')).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    await turn()
    expect(commits).toHaveLength(1)
    await expect(post('d')).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    commits[0]?.end()
    await all
    const later = post('e')
    await turn()
    commits[1]?.end()
    await later
    expect(told).toEqual(['a', 'b', 'e'])
  })

  it('are awaited by readers that need all earlier posts', async () => {
    const { commits, post, queue } = opened()
    expect(queue.passed()).toBeUndefined()
    const order: string[] = []
    const first = post('a').then(() => order.push('a'))
    const passed = queue.passed()?.then(() => order.push('passed'))
    const second = post('b').then(() => order.push('b'))
    await turn()
    commits[0]?.end()
    await Promise.all([first, passed])
    expect(order).toEqual(['a', 'passed'])
    commits[1]?.end()
    await second
    await queue.idle()
    expect(queue.size).toBe(0)
  })

  // Holds INGEST-6
  it('of rules are handed on behind those of clients, some of them at a time', async () => {
    const { commits, told, derived, posted, queue } = opened()
    const made = Promise.all(names('r', 300).map(derived))
    await turn()
    const first = commits.length
    const clients = posted(['a', 'b'])
    const passed = queue.passed()
    // posts of clients continue at once, and a reader waits only for what the store has already received
    expect(commits.length).toBe(first + 1)
    for (let i = 0; i <= first; i++) commits[i]?.end()
    await Promise.all([clients, passed])
    expect(told).toEqual([...names('r', 128), 'a', 'b'])
    await endAll(queue, () => commits.slice(first + 1))
    await made
    expect(told.filter((name) => name.startsWith('r'))).toEqual(names('r', 300))
  })

  it('of rules take no room of those of clients', async () => {
    const { commits, derived, post, queue } = opened({ posts: 2 })
    const made = Promise.all(names('r', 2).map(derived))
    await expect(derived('r2')).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    const first = post('a')
    await endAll(queue, () => commits)
    await Promise.all([made, first])
  })

  it('are reported to series before their posters and subscribers hear of them', async () => {
    const { commits, post, projector } = opened()
    let isBehind = false
    const answered = post('a').then(() => (isBehind = projector.caughtUp() !== undefined))
    await turn()
    commits[0]?.end()
    await answered
    expect(isBehind).toBe(true)
  })
})
