/** Simulates broker clients: their messages, repetitions, and the resulting series and lists. */
import { Chance } from '../world/chance.ts'
import { BEGINNING } from '../world/virtual-loop.ts'
import type { World } from '../world/world.ts'
import type { SentMessage, Shared, SimulatedService } from './simulated-service.ts'

export const RESOURCES = ['pump', 'boiler'] as const
/** rules act on values above this */
export const HIGH = 50
const HOUR = 3_600_000
/** how often a client sends a message with an unknown outcome */
const ATTEMPTS = 5

export const broker: SimulatedService = {
  name: 'messages',
  needs: ['broker'],
  asks: [
    'POST /messages',
    'POST /resources/:id',
    'POST /resources/:id/events',
    'GET /resources/:id/events',
    'GET /resources/:id/current',
    'GET /resources/:id/messages',
    'GET /resources/:id/series/:metric/raw',
  ],
  operations: {
    post: {
      weight: 20,
      draw: (chance, n) => ({
        n,
        resource: chance.of(RESOURCES),
        level: chance.below(100),
        skew: chance.weighted([
          [8, 0],
          [1, -HOUR],
          [1, HOUR],
        ]),
        way: chance.of(['events', 'old', 'messages']),
        hasKey: chance.is(0.5),
        again: chance.is(0.1),
      }),
    },
    look: {
      weight: 2,
      draw: (chance) => ({ resource: chance.of(RESOURCES), what: chance.of(['raw', 'current', 'messages', 'events']) }),
    },
  },
  model: (world, shared) => ({
    act(name, tenant, given) {
      if (name === 'look')
        world.work(`look ${world.counts.asked} ${world.now}`, () => look(world, tenant, given as never))
      else post(world, shared, tenant, given as never)
    },
    async verify(tenant) {
      for (const resource of RESOURCES) await verifySeries(world, shared, tenant, resource)
    },
  }),
}

interface Post {
  readonly n: number
  readonly resource: string
  readonly level: number
  readonly skew: number
  readonly way: 'events' | 'old' | 'messages'
  readonly hasKey: boolean
  readonly again: boolean
}

function post(world: World, shared: Shared, tenant: string, given: Post): void {
  const { n, resource, level, skew, way, hasKey, again } = given
  const timestamp = BEGINNING + n * 1000 + skew
  const sent: SentMessage = { tenant, resource, n, level, timestamp, sentAt: world.now, attempts: 0, mayBeThere: false }
  shared.messages.push(sent)
  const values = { n, level, timestamp, at: timestamp }
  const url = way === 'messages' ? '/messages' : `/resources/${resource}${way === 'old' ? '' : '/events'}`
  const question = {
    method: 'POST' as const,
    url,
    tenant,
    body: way === 'messages' ? { resource, ...values } : values,
    ...(hasKey && { headers: { 'idempotency-key': `k-${n}` } }),
  }
  const chance = new Chance(`post ${n}`)
  const send = async (): Promise<void> => {
    for (let attempt = 1; attempt <= (hasKey ? ATTEMPTS : 1); attempt++) {
      if (!hasKey) sent.attempts++
      else sent.attempts = 1
      const { kind } = await world.ask(question)
      if (kind !== 'refused') sent.mayBeThere = true
      if (kind === 'answered') {
        sent.ackedAt ??= world.now
        return
      }
      await world.pause(chance.between(500, 4000))
    }
  }
  world.work(`post ${n}`, send)
  // a client that lost its memory sends the message again
  if (again && hasKey) {
    world.work(`again ${n}`, async () => {
      await world.pause(chance.between(1, 3000))
      await send()
    })
  }
}

async function look(
  world: World,
  tenant: string,
  { resource, what }: { resource: string; what: string },
): Promise<void> {
  const path = what === 'raw' ? 'series/n/raw' : what
  await world.ask({ method: 'GET', url: `/resources/${resource}/${path}`, tenant })
}

async function verifySeries(world: World, shared: Shared, tenant: string, resource: string): Promise<void> {
  const sent = shared.messages.filter((one) => one.tenant === tenant && one.resource === resource)
  const range = `from=${BEGINNING - 3 * HOUR}&until=${BEGINNING + 30 * HOUR}`
  const answer = await world.look({
    method: 'GET',
    url: `/resources/${resource}/series/n/raw?${range}&limit=2000`,
    tenant,
  })
  const { series = [] } = answer.body as { series?: readonly (readonly [number, number])[] }
  const found = new Map(series)
  for (const one of sent) {
    const value = found.get(one.timestamp)
    found.delete(one.timestamp)
    const name = `message ${one.n} of ${tenant} ${resource}`
    if (one.ackedAt !== undefined && value !== one.n)
      world.find('acknowledged is kept', `${name} was acknowledged, and its series has ${value}`)
    if (value !== undefined && !one.mayBeThere)
      world.find('refused is not done', `${name} was refused, and is in its series`)
    if (value !== undefined && value !== one.n)
      world.find('nothing else is there', `${name} is in its series as ${value}`)
  }
  for (const [time, value] of found)
    world.find(
      'nothing else is there',
      `the series n of ${tenant} ${resource} has ${value} at ${time}, which nobody sent`,
    )
}
