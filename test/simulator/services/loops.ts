/** Simulates rules that trigger each other: chains end by themselves, and the host's limits end rings. */
import type { JsonObject } from '../../../src/kernel/json.ts'
import { MAX_HOPS } from '../../../src/kernel/hops.ts'
import { BEGINNING } from '../world/virtual-loop.ts'
import type { World } from '../world/world.ts'
import type { ServiceModel, SimulatedService } from './simulated-service.ts'

/** ms between two client messages, because each hop adds one ms to its message's time */
const APART_MS = 1000
/** client messages per loop: a task drops the oldest of more than a thousand waiting calls */
const MOST_MESSAGES = Math.floor(1000 / (MAX_HOPS + 1))
/** resources that pass messages on to each other, and the number of hops */
const SHAPES = {
  /** each resource passes messages to the next */
  chain: { links: { 'chain-0': 'chain-1', 'chain-1': 'chain-2', 'chain-2': 'chain-3' }, hops: 3 },
  /** two resources pass messages to each other, endlessly without a limit */
  ring: { links: { 'ring-0': 'ring-1', 'ring-1': 'ring-0' }, hops: MAX_HOPS },
  /** a resource passes messages to itself */
  self: { links: { 'self-0': 'self-0' }, hops: MAX_HOPS },
} as const
type Shape = keyof typeof SHAPES
const NAMES = Object.keys(SHAPES) as readonly Shape[]

interface Sent {
  readonly tenant: string
  readonly shape: Shape
  readonly n: number
  isAcked: boolean
  mayBeThere: boolean
}

export const loops: SimulatedService = {
  name: 'loops',
  onlyWhenDrawn: true,
  drawnApart: true,
  cast: 0.1,
  needs: ['broker', 'rules', 'resources'],
  asks: ['POST /api/tasks', 'POST /resources/:id/events', 'GET /resources/:id/series/:metric/raw'],
  operations: { post: { weight: 6, draw: (chance, n) => ({ n, shape: chance.of(NAMES) }) } },
  variants: NAMES,
  model: (world, _shared, variants) => new Loops(world, variants as readonly Shape[]),
}

class Loops implements ServiceModel {
  readonly #world: World
  readonly #shapes: readonly Shape[]
  readonly #sent: Sent[] = []

  constructor(world: World, shapes: readonly Shape[]) {
    this.#world = world
    this.#shapes = shapes
  }

  async prepare(tenant: string): Promise<void> {
    for (const shape of this.#shapes) {
      for (const [from, to] of Object.entries(SHAPES[shape].links))
        await this.#world.look({ method: 'POST', url: '/api/tasks', tenant, body: ruleOf(from, to, shape) })
    }
  }

  act(_name: string, tenant: string, given: JsonObject): void {
    const { n, shape: drawn } = given as { n: number; shape: Shape }
    const shape = this.#shapes.includes(drawn) ? drawn : this.#shapes[n % this.#shapes.length]
    if (shape === undefined) return
    if (this.#sent.filter((one) => one.tenant === tenant && one.shape === shape).length >= MOST_MESSAGES) return
    const sent: Sent = { tenant, shape, n, isAcked: false, mayBeThere: false }
    this.#sent.push(sent)
    const world = this.#world
    world.work(`loop ${n}`, async () => {
      const body = { n, hop: 0, at: timeOf(n) }
      const { kind } = await world.ask({ method: 'POST', url: `/resources/${shape}-0/events`, tenant, body })
      sent.isAcked = kind === 'answered'
      sent.mayBeThere = kind !== 'refused'
    })
  }

  async verify(tenant: string): Promise<void> {
    for (const shape of this.#shapes) await this.#verifyHops(tenant, shape)
  }

  /** Checks that each hop of each message was stored, at its own time. */
  async #verifyHops(tenant: string, shape: Shape): Promise<void> {
    const world = this.#world
    const range = 'from=0&until=4000000000000'
    const url = `/resources/seen-${shape}/series/n/raw?${range}&limit=2000`
    const { body } = await world.look({ method: 'GET', url, tenant })
    const { series = [] } = body as { series?: readonly (readonly [number, number])[] }
    const found = new Map(series)
    const { hops } = SHAPES[shape]
    for (const { n, isAcked, mayBeThere } of this.#sent.filter((one) => one.tenant === tenant && one.shape === shape)) {
      for (let hop = 1; hop <= hops; hop++) {
        const at = timeOf(n) + hop
        if (isAcked && found.get(at) !== n)
          world.find('rules set each other off', `message ${n} of ${tenant} ${shape} did not come to hop ${hop}`)
        if (mayBeThere) found.delete(at)
      }
    }
    for (const [at, n] of found)
      world.find('loops end', `message ${n} of ${tenant} ${shape} was written down at ${at}, after its last hop`)
  }
}

function timeOf(n: number): number {
  return BEGINNING + n * APART_MS
}

function ruleOf(from: string, to: string, shape: Shape): JsonObject {
  const next = { n: '${nodes.next.rawData.n}', hop: '${nodes.next.rawData.hop}', at: '${nodes.next.rawData.at}' }
  const noted = { n: '${nodes.next.rawData.n}', timestamp: '${nodes.next.rawData.at}' }
  const actuator = (label: string, name: string, resource: string, payload: JsonObject): JsonObject => ({
    label,
    name,
    properties: { resource, payload },
  })
  const trigger = (label: string): JsonObject => ({
    sourceLabel: 'next',
    destinationLabel: label,
    statesTrigger: ['Success'],
  })
  return {
    sensors: [
      {
        label: 'next',
        name: 'transformer',
        resource: '$',
        properties: { transformer: '{ n: n, hop: hop + 1, at: at + 1 }' },
      },
    ],
    actuators: [actuator('note', 'storeMessage', `seen-${shape}`, noted), actuator('pass', 'forwardMessage', to, next)],
    triggers: [trigger('note'), trigger('pass')],
    task: { name: `${from} to ${to}`, type: 'reactive', resource: from },
  }
}
