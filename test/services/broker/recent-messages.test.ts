/**
 * Tests that old messages are removed for all resources together: removing them per resource would rewrite every page
 * for each resource.
 */
import { describe, expect, it } from 'vitest'
import { readPost } from '../../../src/services/broker/posting/read-post.ts'
import { RecentMessages } from '../../../src/services/broker/recent-messages.ts'
import type { Series } from '../../../src/storage/contract.ts'
import { NOON } from './support/bench-of-broker.ts'

/** Number of messages in all resources that triggers a removal */
const WORTH_IT = 16_384

function bench() {
  const removed: string[][] = []
  const refusing = new Set<string>()
  const reported: unknown[] = []
  let turn: string[] | undefined
  const series: Pick<Series, 'remove'> = {
    remove: async ({ resource, stream, keep, only }) => {
      if (turn === undefined) {
        removed.push((turn = []))
        setImmediate(() => (turn = undefined))
      }
      turn.push(`${resource} ${stream} ${keep} ${only}`)
      if (refusing.has(resource)) throw new Error(`no room for ${resource}`)
    },
  }
  const recent = new RecentMessages(series as Series, (error) => reported.push(error))
  const store = (resource: string, times: number, options = {}) => {
    for (let n = 0; n < times; n++) recent.stored(readPost(resource, { n }, options, NOON))
  }
  return { recent, removed, refusing, reported, store }
}

const named = (resource: string) => `${resource} events 100 messages`

describe('messages that are no longer among the last', () => {
  it('are removed at the next sweep, for all resources together', async () => {
    const { recent, removed, store } = bench()
    store('a', 211)
    store('b', 500)
    store('quiet', 100)
    await recent.idle()
    expect(removed).toEqual([])
    await recent.sweep()
    expect(removed).toEqual([[named('a'), named('b')]])
    await recent.sweep()
    expect(removed).toHaveLength(1)
  })

  it('do not wait for it when very many came', async () => {
    const { recent, removed, store } = bench()
    for (let i = 0; i < 64; i++) store(`r${i}`, WORTH_IT / 64 - 1)
    expect(removed).toEqual([])
    store('last', 64)
    await recent.idle()
    await new Promise(setImmediate)
    expect(removed).toEqual([Array.from({ length: 64 }, (_, i) => named(`r${i}`))])
    store('last', WORTH_IT - 1)
    await recent.idle()
    expect(removed).toHaveLength(1)
    store('last', 1)
    await recent.idle()
    expect(removed).toEqual([removed[0], [named('last')]])
  })

  it('are not counted when they are not stored', async () => {
    const { recent, removed, store } = bench()
    store('a', 2 * WORTH_IT, { store: false })
    await recent.sweep()
    expect(removed).toEqual([])
  })

  it('of one resource may stay, and it is reported; those of the others go', async () => {
    const { recent, removed, refusing, reported, store } = bench()
    refusing.add('a')
    store('a', 211)
    store('b', 211)
    await recent.sweep()
    expect(removed).toEqual([[named('a'), named('b')]])
    expect(reported).toEqual([new Error('no room for a')])
  })
})
