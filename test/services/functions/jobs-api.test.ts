import { describe, expect, it } from 'vitest'
import type { NewJob } from '../../../src/jobs/contract.ts'
import { jobsApi } from '../../../src/services/functions/jobs/jobs-api.ts'
import { Hand } from '../../jobs/support/hand.ts'
import { JobWorld } from '../../jobs/support/job-world.ts'

/** A build, then a deployment, then a check. */
const TREE: NewJob = {
  type: 'functions.verify',
  id: 'verify',
  children: [{ type: 'functions.deploy', id: 'deploy', children: [{ type: 'functions.build', id: 'build' }] }],
}

/** Returns what a follower receives that joins after `ended` jobs of the tree have ended. */
async function toldAfter(ended: number, { children, ms }: { children: boolean; ms: number }) {
  const world = new JobWorld()
  const hands = ['build', 'deploy', 'verify'].map((type) => new Hand(`functions.${type}`))
  const { queue } = world.host(hands.map((hand) => hand.handler()))
  await queue.add(TREE)
  const end = async (hand: Hand): Promise<void> => {
    await world.advance(ms)
    hand.end(0, { kind: 'completed', result: { log: [`${hand.type} is done`] } })
    await world.settle()
  }
  for (const hand of hands.slice(0, ended)) await end(hand)
  const told: string[] = []
  const followed = (async () => {
    const signal = new AbortController().signal
    for await (const event of jobsApi(queue, 'plugs').events({ id: 'verify', children, signal }))
      told.push('text' in event ? event.event : `${event.type} ${event.event}`)
  })()
  await world.settle()
  for (const hand of hands.slice(ended)) await end(hand)
  await followed
  return told
}

describe('the events of a job with children', () => {
  it.each([0, 1, 2])(
    'report all starts and ends, in order, to a reader who joins after %i of 3 ended',
    async (ended) => {
      for (const ms of [0, 40]) {
        const told = await toldAfter(ended, { children: true, ms })
        expect([told[0], told.at(-1)]).toEqual(['ack', 'close'])
        expect(told.filter((one) => / active$| completed$/.test(one))).toEqual([
          'build active',
          'build completed',
          'deploy active',
          'deploy completed',
          'verify active',
          'verify completed',
        ])
      }
    },
  )

  it('are only its own by default, and nothing once it has ended', async () => {
    expect(await toldAfter(2, { children: false, ms: 1 })).toEqual(['ack', 'verify completed', 'close'])
    for (const children of [false, true]) expect(await toldAfter(3, { children, ms: 1 })).toEqual(['ack', 'close'])
  })
})
