import { expect, it } from 'vitest'
import { splitPost } from '../../../../src/services/broker/partitions/broker-partition.ts'
import { readPost } from '../../../../src/services/broker/posting/read-post.ts'

it('each part of a post knows which of its messages came without a timestamp, and which keys do not count', () => {
  const body = [...Array(20).keys()].map((n) => ({ resource: `r${n}`, ...(n % 2 === 0 && { timestamp: 5 }) }))
  const post = readPost(undefined, body, { identityIgnores: ['receivedAt'] }, 10)
  const partition = { number: 0, count: 2, ask: () => Promise.reject(new Error()), follow: () => expect.fail() }
  const { local, others } = splitPost(post, partition)
  const parts = [local, ...others.map(([, part]) => part)]
  expect(parts.map(({ arrivals }) => arrivals.length > 0)).toEqual([true, true])
  for (const { arrivals, identityIgnores } of parts) {
    expect(identityIgnores).toEqual(['receivedAt'])
    for (const { resource, isUnstamped } of arrivals) {
      expect(isUnstamped === true).toBe(Number(resource.slice(1)) % 2 === 1)
    }
  }
})
